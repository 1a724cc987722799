"""The control-flow graph of a function body, after the jumps have been made structural."""

from __future__ import annotations

from typing import Any

import gast

from .notes import Notes
from .scope import Access

LOOPS = (gast.For, gast.While, gast.AsyncFor)
TRIES = (gast.Try, gast.TryStar)


class FlowNode:
    """A point of the program: a simple statement, a header of a compound one, or a mark between statements."""

    __slots__ = ("label", "parts", "access", "next", "previous")

    def __init__(self, label: str, parts: list[Any], access: Access) -> None:
        self.label, self.parts, self.access = label, parts, access
        self.next: list[FlowNode] = []
        self.previous: list[FlowNode] = []


class Graph:
    """The graph of a block of statements.

    Arguments:
        functions: made for one expression: the names each of them reads.
        notes: on the statements.

    Attributes:
        entry: where it starts.
        nodes: all nodes, in the order of the text.
        before, after, head: for each compound statement, the points where it starts, ends, and begins an iteration
            (a loop) or a branch (an `if`).

    Example:
        >>> graph = Graph(gast.parse("while x:\\n    x = x - 1").body)
        >>> [node.label for node in graph.nodes]
        ['entry', 'before', 'head', 'Assign', 'after']
    """

    def __init__(
        self, body: list[gast.stmt], functions: dict[str, set[str]] | None = None, notes: Notes | None = None
    ) -> None:
        self.functions = functions
        self._guards = {} if notes is None else notes.guards
        self.nodes: list[FlowNode] = []
        self.before: dict[gast.stmt, FlowNode] = {}
        self.after: dict[gast.stmt, FlowNode] = {}
        self.head: dict[gast.stmt, FlowNode] = {}
        self._handlers: list[list[FlowNode]] = []  # for each `try` around, where an exception may go
        self._loops: list[tuple[FlowNode, FlowNode]] = []  # for each loop around: its head and its end
        self.entry = self._add("entry", [], None)
        self._block(body, self.entry)

    def __str__(self) -> str:
        number = {node: i for i, node in enumerate(self.nodes)}
        lines = [f"  n{i} [label={node.label!r}];" for node, i in number.items()]
        lines += [f"  n{number[node]} -> n{number[to]};" for node in self.nodes for to in node.next]
        return "\n".join(["digraph {", *lines, "}"])

    def _add(self, label: str, parts: list[Any], at: FlowNode | None) -> FlowNode:
        node = FlowNode(label, parts, Access(parts, self.functions))
        self.nodes.append(node)
        if at is not None:
            _edge(at, node)
        for targets in self._handlers[-1:]:
            for target in targets:
                _edge(node, target)
        return node

    def _block(self, body: list[gast.stmt], at: FlowNode | None) -> FlowNode | None:
        for stmt in body:
            at = self._statement(stmt, at)
        return at

    def _statement(self, stmt: gast.stmt, at: FlowNode | None) -> FlowNode | None:
        method = getattr(self, f"_{type(stmt).__name__}", None)
        if method is None:
            return self._add(type(stmt).__name__, [stmt], at)
        self.before[stmt] = before = self._add("before", [], at)
        after = FlowNode("after", [], Access([]))
        self.after[stmt] = after
        method(stmt, before, after)
        self.nodes.append(after)
        return after if after.previous else None

    def _If(self, stmt: gast.If, at: FlowNode, after: FlowNode) -> None:
        self.head[stmt] = head = self._add("head", [stmt.test], at)
        _edge(self._block(stmt.body, head), after)
        _edge(self._block(stmt.orelse, head), after)

    def _While(self, stmt: gast.While, at: FlowNode, after: FlowNode) -> None:
        self.head[stmt] = head = self._add("head", [stmt.test], at)
        endless = isinstance(stmt.test, gast.Constant) and bool(stmt.test.value)
        self._loop(stmt, head, head, after, leaves=not endless)

    def _For(self, stmt: Any, at: FlowNode, after: FlowNode) -> None:
        first = self._add("iterable", [stmt.iter], at)
        self.head[stmt] = head = self._add("head", [], first)
        target = self._add("target", [stmt.target], head)
        self._loop(stmt, head, target, after, leaves=True)

    _AsyncFor = _For

    def _loop(self, stmt: Any, head: FlowNode, start: FlowNode, after: FlowNode, leaves: bool) -> None:
        self._loops.append((head, after))
        last = self._block(stmt.body, start)
        self._loops.pop()
        guards = self._guards.get(stmt)
        if guards and last is not None:
            last = self._add("guards", [], last)
            last.access.read.update(guards)
            _edge(last, after)
        _edge(last, head)
        _edge(self._block(stmt.orelse, head if leaves else None), after)

    def _Break(self, stmt: gast.Break, at: FlowNode, after: FlowNode) -> None:
        if self._loops:
            _edge(at, self._loops[-1][1])

    def _Continue(self, stmt: gast.Continue, at: FlowNode, after: FlowNode) -> None:
        if self._loops:
            _edge(at, self._loops[-1][0])

    def _Return(self, stmt: gast.Return, at: FlowNode, after: FlowNode) -> None:
        self._add("Return", [stmt.value], at)

    def _Raise(self, stmt: gast.Raise, at: FlowNode, after: FlowNode) -> None:
        self._add("Raise", [stmt.exc, stmt.cause], at)

    def _With(self, stmt: Any, at: FlowNode, after: FlowNode) -> None:
        head = self._add("With", list(stmt.items), at)
        self._handlers.append([*(self._handlers[-1] if self._handlers else []), after])  # it may swallow an exception
        last = self._block(stmt.body, self._add("enter", [], head))
        self._handlers.pop()
        _edge(last, after)

    _AsyncWith = _With

    def _Match(self, stmt: gast.Match, at: FlowNode, after: FlowNode) -> None:
        point: FlowNode = self._add("subject", [stmt.subject], at)
        for case in stmt.cases:
            matched = self._add("case", [case.pattern, case.guard], point)
            _edge(self._block(case.body, matched), after)
            point = self._add("next case", [], point)
            _edge(matched, point)
        _edge(point, after)

    def _Try(self, stmt: Any, at: FlowNode, after: FlowNode) -> None:
        finish = FlowNode("finally", [], Access([]))
        catches = [FlowNode("except", [], Access([])) for _ in stmt.handlers]
        outer = self._handlers[-1] if self._handlers else []
        beyond = [finish] if stmt.finalbody else outer
        self._handlers.append([*catches, *beyond])
        last = self._block(stmt.body, self._add("try", [], at))
        self._handlers[-1] = list(beyond)
        _edge(self._block(stmt.orelse, last), finish)
        for handler, catch in zip(stmt.handlers, catches, strict=True):
            self.nodes.append(catch)
            caught = self._add("handler", [handler.type, handler.name], catch)
            last = self._block(handler.body, caught)
            _edge(self._unbind(handler, last), finish)
        self._handlers.pop()
        self.nodes.append(finish)
        end = self._block(stmt.finalbody, finish)
        _edge(end, after)
        for target in outer if end is not None and stmt.finalbody else []:
            _edge(end, target)

    _TryStar = _Try

    def _unbind(self, handler: gast.ExceptHandler, at: FlowNode | None) -> FlowNode | None:
        if at is None or handler.name is None:
            return at
        node = self._add("unbind", [], at)
        node.access.deleted.add(handler.name.id)
        return node


def _edge(source: FlowNode | None, target: FlowNode) -> None:
    if source is not None and target not in source.next:
        source.next.append(target)
        target.previous.append(source)
