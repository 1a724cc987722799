"""Facts for the control-flow pass about each statement: the variables that it changes, and their uses around it."""

from __future__ import annotations

from typing import Any, NamedTuple

import gast

from .cfg import LOOPS, Graph
from .flow import Flow
from .names import Namer
from .notes import Notes
from .scope import Access, function_access, parameters, places, statements_in


class Composite(NamedTuple):
    """A variable of the form `obj.key` or `obj[key]`."""

    name: str
    obj: str
    key: gast.expr | str


class Changes(NamedTuple):
    """The variables which a compound statement changes.

    Attributes:
        names: the plain ones.
        live_out, carried: see `State`, for each name.
        uncertain: those that may have no value while the statement runs.
        composites: `self.h`, `d["k"]`.
        touched: the variables which the statement uses or changes, but for `Facts.cells`.
        shared: whether it uses one of those.
    """

    names: tuple[str, ...]
    live_out: tuple[bool, ...]
    carried: tuple[bool, ...]
    uncertain: frozenset[str]
    composites: tuple[Composite, ...]
    touched: tuple[str, ...]
    shared: bool


class Facts:
    """The facts on one function, gathered before its expressions are rewritten.

    Arguments:
        function: its tree, with structural jumps.
        namer: the names made so far.
        notes: on its statements.

    Attributes:
        cells: the variables that inner functions share with this one.
        plain: the other local ones.
    """

    def __init__(self, function: Any, namer: Namer, notes: Notes) -> None:
        self.namer, self.notes = namer, notes
        self.access = function_access(function, namer.functions)
        self.globals = self.access.globals
        self.params = parameters(function.args)
        self.first = {arg.id for arg in [*function.args.posonlyargs, *function.args.args][:1]}
        self.graph = Graph(function.body, namer.functions, notes)
        self._position = {node: i for i, node in enumerate(self.graph.nodes)}
        local = self.access.bound | self.access.nonlocals | self.access.globals
        always = self.access.captured | self.access.nonlocals | self.access.globals | self.access.rebound
        unset = self.access.bound - self.params
        self.cells = always.union(*namer.functions.values())
        self.plain = (self.access.bound | self.params) - self.cells
        self.flow = Flow(self.graph, local, unset, always & local)

    def changes(self, stmt: Any) -> Changes:
        """Return the variables that an `if` or a loop changes."""
        inside = self._inside(stmt)
        names = (inside.written | inside.deleted | inside.rebound) - set(self.namer.functions)
        if inside.calls:
            names |= self.access.rebound & (self.access.bound | self.access.nonlocals)
        ordered = tuple(sorted(names, key=lambda n: (self.namer.made(n), n)))
        live = self.flow.live_before(self.graph.after[stmt])
        starts = self.flow.live_after if isinstance(stmt, gast.If) else self.flow.live_before  # a loop tests each time
        guards = self.notes.guards.get(stmt, ())
        carried = starts(self.graph.head[stmt]).union(guards)
        uncertain = self.flow.undefined_before(self.graph.before[stmt]) | inside.deleted
        used = inside.read | names | set(guards)
        used |= self.first if "super" in used else set()
        return Changes(ordered, tuple(n in live for n in ordered), tuple(n in carried or n in live for n in ordered),
                       frozenset(uncertain), tuple(_composites(stmt, names)), tuple(sorted(self.plain & used)),
                       not used.isdisjoint(self.cells))  # fmt: skip

    def _inside(self, stmt: Any) -> Access:
        """Return the accesses between the start and the end of a statement."""
        start, end = self._position[self.graph.before[stmt]], self._position[self.graph.after[stmt]]
        inside = Access([])
        for node in self.graph.nodes[start:end]:
            inside.add(node.access)
        return inside


def compound(body: list[Any]) -> list[Any]:
    """Return all branches and loops among the statements, in this scope."""
    return [stmt for stmt in statements_in(body) if isinstance(stmt, (gast.If, *LOOPS))]


def _composites(stmt: Any, changed: set[str]) -> list[Composite]:
    """The stores to places; where the object is replaced meanwhile, the place is that of the object at the start."""
    found: dict[str, Composite] = {}
    for node in _stores([*stmt.body, *stmt.orelse]):
        place = _place(node)
        if place is not None and _key_name(place.key) not in changed:
            found[place.name] = place
    return [found[name] for name in sorted(found)]


def _stores(body: list[Any]) -> list[Any]:
    targets: list[Any] = []
    for stmt in statements_in(body):
        targets += getattr(stmt, "targets", ())
        targets += [stmt.target] if isinstance(stmt, gast.AugAssign) else []
    return [place for target in targets for place in places(target)]


def _place(node: Any) -> Composite | None:
    if not isinstance(node, (gast.Attribute, gast.Subscript)) or not isinstance(node.value, gast.Name):
        return None
    obj = node.value.id
    if isinstance(node, gast.Attribute):
        return Composite(f"{obj}.{node.attr}", obj, node.attr)
    key = node.slice
    if isinstance(key, gast.Name):
        return Composite(f"{obj}[{key.id}]", obj, key)
    if isinstance(key, gast.Constant):
        return Composite(f"{obj}[{key.value!r}]", obj, key)
    return None


def _key_name(key: Any) -> str | None:
    return key.id if isinstance(key, gast.Name) else None
