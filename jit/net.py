"""Detection of changes that a trace has not noted: by unconverted code, or in an unknown container.

A run would not change it again, and so the function is refused. What the guards know of is compared before and after a
trace, and what objects of the standard library hold.
"""

from __future__ import annotations

import contextlib
import contextvars
import dis
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from paddle_lite_py.core.errors import UNKNOWN, Where, is_own
from paddle_lite_py.nn.base import Layer
from paddle_lite_py.tracing.places import KINDS, MISSING, copy_of, is_as, refill, set_attribute, set_item

from .code_facts import Codebase, is_foreign
from .errors import UnnotedChangeError
from .guards import ABSENT, BY_VALUE, Guard, Items, Lacking
from .host_random import told
from .implicit import Implicit
from .library_state import LibraryState, is_iterator
from .reads import NO_STATE, READ_ALL, Walk, walk_reads


def trace_watching_containers(
    function: Callable[..., Any],
    values: list[Any],
    implicit: Implicit,
    code: Codebase,
    name: str,
    run: Callable[..., Any],
) -> Any:
    """Return the result of the trace `run`, which knows the containers that existed before it.

    Arguments:
        function: that is traced.
        values: the Python values among its arguments.
        implicit: its methods that Python calls by itself.
        code: that earlier walks from the function have found.
        name: of the function.

    Raises:
        UnnotedChangeError: the trace has changed something that runs would not change again, or would have.
    """
    walk, own = walk_reads(function, values, code), getattr(getattr(function, "__func__", function), "__code__", None)
    around = UNKNOWN if own is None else Where(own.co_filename, own.co_firstlineno)
    refuse_iterators(walk, name, around)

    def once() -> Any:
        with implicit.converted(walk.classes), told(name):
            return run(outside=_containers(walk), reads_all=bool(walk.names & READ_ALL))

    return Net(walk).trace(name, once, around)


class Net:
    """The state that a function can reach, as it is before a trace.

    Arguments:
        walk: over the function.
    """

    def __init__(self, walk: Walk) -> None:
        reached = [*walk.visited.values(), *walk.growing.values()]
        layers = [v for v in walk.visited.values() if isinstance(v, Layer)]
        self.places = [*walk.places.values(), *[p for layer in layers for p in _plain(layer, walk.names)]]
        lacking = [Lacking.of(vars(v), frozenset(walk.names), f"a {type(v).__name__}") for v in layers]
        self.attributes = [*lacking, *[g for g in walk.guards if isinstance(g, Lacking)]]
        names = {id(g.container): g.name for g in walk.guards if isinstance(g, Items)}
        self.contents = [
            _Contents(c, copy_of(c), names.get(id(c), f"a {type(c).__name__}")) for c in reached if isinstance(c, KINDS)
        ]
        self.library = [LibraryState.of(obj, f"a {type(obj).__name__}") for obj in walk.library]
        self.caches = [f for f in reached if hasattr(type(f), "cache_clear")]

    def trace(self, name: str, run: Callable[[], Any], around: Where) -> Any:
        """Return `run()` if it has left everything unchanged; otherwise, and after an error, restore all.

        Arguments:
            name: of the function.
            around: where it stands.
        """
        try:
            found = run()
        except BaseException:
            self.put_back()
            raise
        changed = next((g for g in self._guards() if not g.holds()), None)
        if changed is None:
            return found
        what = changed.name
        self.put_back()
        where = _line_of(run, changed) or around
        self.put_back()
        raise UnnotedChangeError(name, what, where, undone=all(g.holds() for g in self._guards()))

    def _guards(self) -> list[Any]:
        return [*[g for _, g in self.places], *self.attributes, *self.contents, *self.library]

    def put_back(self) -> None:
        """Make everything what it was."""
        if all(g.holds() for g in self._guards()):
            return
        for owner, guard in self.places:
            if not guard.holds():
                _put(owner, guard)
        for lacking in self.attributes:
            for key in (lacking.held.keys() & lacking.asked) - lacking.value:
                del lacking.held[key]
        for contents in self.contents:
            if not contents.holds():
                refill(contents.container, contents.value)
        for state in self.library:
            state.put_back()
        for f in self.caches:  # what they have found while tracing, they have done as well
            f.cache_clear()


class _Contents(NamedTuple):
    """All that a container holds, each thing itself."""

    container: Any
    value: Any
    name: str

    def holds(self) -> bool:
        return is_as(self.container, self.value)


def _plain(layer: Layer, names: set[str]) -> list[tuple[Layer, Guard]]:
    """Return the numbers, texts and the like that a layer holds under names that occur in the code."""
    held, kind = vars(layer), type(layer).__name__
    found = [n for n in sorted(names & held.keys()) if isinstance(held[n], BY_VALUE)]
    return [(layer, Guard(held.get, n, held[n], f"`{kind}.{n}`")) for n in found]


def _put(owner: Any, guard: Guard) -> None:
    value = MISSING if guard.value is ABSENT else guard.value
    if isinstance(owner, types.CellType):
        if value is not MISSING:
            owner.cell_contents = value
        elif owner != types.CellType():  # which is empty as well
            del owner.cell_contents
    elif isinstance(owner, contextvars.ContextVar):
        if value is not MISSING:  # a variable that has a value cannot lose it: the plain run sets it again
            owner.set(value)
    elif isinstance(owner, dict):
        set_item(owner, guard.key, value)
    else:
        set_attribute(owner, guard.key, value)


# -- iterators -----------------------------------------------------------------------------------------------------
def refuse_iterators(walk: Walk, name: str, around: Where) -> None:
    """Look for iterators that were there before.

    Raises:
        UnnotedChangeError: the function can reach one, which only the trace would read.
    """
    for value in walk.library:
        if is_iterator(value):
            key = next((g.key for _, g in walk.places.values() if g.value is value), None)
            what = "an argument" if key is None else f"`{key}`"
            what = f"{what}, a {type(value).__name__} from outside,"
            raise UnnotedChangeError(name, what, _use_of(walk, key) or around, splits=key is not None)


def _use_of(walk: Walk, key: Any) -> Where | None:
    """Return the first line that names a variable or attribute."""
    for code in sorted(walk.code.codes, key=lambda code: (code.co_filename, code.co_firstlineno)):
        for line, used in _lines(code):
            if key is not None and used == key:
                return Where(code.co_filename, line)
    return None


def _lines(code: types.CodeType) -> Iterator[tuple[int, Any]]:
    line = code.co_firstlineno
    for step in dis.get_instructions(code):
        position = step.positions.lineno if step.positions else None
        line = position or line
        yield line, step.argval


# -- lines ---------------------------------------------------------------------------------------------------------
def _line_of(run: Callable[[], Any], changed: Any) -> Where | None:
    """Return the line of the user's that changes something: it is looked at after each line of another trace."""
    found: list[Where] = []
    last = UNKNOWN

    def step(frame: Any, event: str, _: Any) -> Any:
        nonlocal last
        if not found and not changed.holds():
            found.append(last)
        if not found and event == "line":
            last = Where(frame.f_code.co_filename, frame.f_lineno)
        return None if found else step

    def enter(frame: Any, event: str, _: Any) -> Any:
        filename = frame.f_code.co_filename
        made = filename == "<string>"  # by a named tuple or a data class
        foreign = made or is_own(filename) or is_foreign(frame.f_globals.get("__name__", ""))
        return None if foreign else step(frame, event, None)

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        with contextlib.suppress(Exception):
            run()
    finally:
        sys.settrace(before)
    return found[0] if found else None


def _containers(walk: Walk) -> dict[int, tuple[Any, bool]]:
    """Return the containers that a walk has come to, by id, and whether the function only puts things into them."""
    states = [vars(v) for v in walk.visited.values() if not isinstance(v, NO_STATE) and hasattr(v, "__dict__")]
    held = [v for v in (walk.visited | walk.growing).values() if isinstance(v, (*KINDS, tuple))]
    return {id(v): (v, id(v) in walk.growing) for v in [*states, *held]}
