"""What a trace has changed past all notes: by code that is not converted, or in a container that nothing is known of.

A run would not change it again, and so the function is refused. What the guards know of is compared before and after a
trace, and what objects of the standard library hold.
"""

from __future__ import annotations

import contextlib
import contextvars
import copyreg
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from paddle_lite_py.core.errors import UNKNOWN, Where, is_own
from paddle_lite_py.tracing.places import KINDS, MISSING, copy_of, is_as, namespace, refill, set_attribute, set_item

from .errors import UnnotedChangeError
from .guards import ABSENT, Guard, Lacking
from .reads import Walk, is_foreign

# What moves on when it is read. Files are such too, but are not read by accident.
_ITERATORS = tuple({type(iter(v)) for v in ([], (), {}, {}.values(), {}.items(), set(), "", b"", range(1))}) + (
    types.GeneratorType,
    type(iter(int, 1)),
    type(reversed([])),
    enumerate,
    filter,
    map,
    zip,
)
_NO_STATE = (types.ModuleType, types.CodeType, type)


class Net:
    """What a function can reach, as it is before a trace.

    Arguments:
        walk: over the function.
    """

    def __init__(self, walk: Walk) -> None:
        reached = [*walk.visited.values(), *walk.growing.values()]
        self.places = list(walk.places.values())
        self.attributes = [g for g in walk.guards if isinstance(g, Lacking)]
        self.contents = [(c, copy_of(c)) for c in reached if isinstance(c, KINDS)]
        self.library = [(obj, state) for obj in walk.library if (state := _state(obj)) is not None]

    def trace(self, name: str, run: Callable[[], Any]) -> Any:
        """What `run` gives, if it has left everything as it was; `name` is that of the function.

        Raises:
            UnnotedChangeError: it has not. What is known of is put back then, and after any error.
        """
        try:
            found = run()
        except BaseException:
            self.put_back()
            raise
        changed = next(self._changes(), None)
        if changed is None:
            return found
        self.put_back()
        where = _line_of(run, changed)
        self.put_back()
        raise UnnotedChangeError(name, changed[0], where)

    def _changes(self) -> Iterator[tuple[str, Callable[[], bool]]]:
        """What is not as it was: its name, and what tells whether it still is."""
        for _, guard in self.places:
            if not guard.holds():
                yield guard.name, guard.holds
        for lacking in self.attributes:
            if not lacking.holds():
                yield f"the attributes of {lacking.name}", lacking.holds
        for container, held in self.contents:
            if not is_as(container, held):
                yield f"a {type(container).__name__}", lambda c=container, h=held: is_as(c, h)  # type: ignore[misc]
        for obj, state in self.library:
            if not _same_state(_state(obj), state):
                yield f"a {type(obj).__name__}", lambda o=obj, s=state: _same_state(_state(o), s)  # type: ignore[misc]

    def put_back(self) -> None:
        """Make everything what it was."""
        for owner, guard in self.places:
            if not guard.holds():
                _put(owner, guard)
        for lacking in self.attributes:
            for key in (lacking.held.keys() & lacking.asked) - lacking.value:
                del lacking.held[key]
        for container, held in self.contents:
            if not is_as(container, held):
                refill(container, held)
        for obj, state in self.library:
            if not _same_state(_state(obj), state):
                _restore(obj, state)


def _put(owner: Any, guard: Guard) -> None:
    value = MISSING if guard.value is ABSENT else guard.value
    if isinstance(owner, types.CellType):
        owner.cell_contents = value
    elif isinstance(owner, contextvars.ContextVar):
        owner.set(value)
    elif isinstance(owner, dict):
        set_item(owner, guard.key, value)
    else:
        set_attribute(owner, guard.key, value)


# -- objects of the standard library -------------------------------------------------------------------------------
def _state(obj: Any) -> Any:
    """What an object holds: its attributes, the containers among them, and what C code keeps; None if unknown."""
    if isinstance(obj, (*_NO_STATE, *_ITERATORS)):
        return None
    held = dict(namespace(obj))
    inner = [(c, copy_of(c)) for c in held.values() if isinstance(c, KINDS)]
    return held, inner, None if held else _reduced(obj)


def _reduced(obj: Any) -> Any:
    """What a copy of an object of C code would be made of."""
    try:
        found = obj.__reduce_ex__(2)
    except Exception:  # nothing is known of it
        return None
    return None if isinstance(found, str) or found[0] is copyreg.__newobj__ else found[1:3]  # type: ignore[attr-defined]


def _same_state(now: Any, then: Any) -> bool:
    (held, _, reduced), (before, inner, known) = now, then
    same = held.keys() == before.keys() and all(v is before[k] for k, v in held.items() if k in before)
    return same and all(is_as(c, content) for c, content in inner) and (reduced == known)


def _restore(obj: Any, state: Any) -> None:
    held, inner, _ = state
    now = namespace(obj)
    for key in [*held, *now]:
        if now.get(key, MISSING) is not held.get(key, MISSING):
            set_item(now, key, held.get(key, MISSING))
    for container, content in inner:
        refill(container, content)


# -- iterators -----------------------------------------------------------------------------------------------------
def is_iterator(value: Any) -> bool:
    """Whether a value moves on when it is read, by code that is not converted."""
    return isinstance(value, _ITERATORS) or type(value).__module__ == "itertools"


def refuse_iterators(walk: Walk, name: str) -> None:
    """Look for iterators that were there before.

    Raises:
        UnnotedChangeError: the function can reach one, which only the trace would read.
    """
    for value in walk.library:
        if is_iterator(value):
            key = next((g.key for _, g in walk.places.values() if g.value is value), None)
            what = "an argument" if key is None else f"`{key}`"
            raise UnnotedChangeError(name, f"{what}, a {type(value).__name__} from outside,", _use_of(walk, key))


def _use_of(walk: Walk, key: Any) -> Where:
    """The first line that names a variable or attribute."""
    for code in walk.codes:
        for line, used in _lines(code):
            if used == key:
                return Where(code.co_filename, line)
    return UNKNOWN


def _lines(code: types.CodeType) -> Iterator[tuple[int, Any]]:
    import dis

    line = code.co_firstlineno
    for step in dis.get_instructions(code):
        position = step.positions.lineno if step.positions else None
        line = position or line
        yield line, step.argval


# -- lines ---------------------------------------------------------------------------------------------------------
def _line_of(run: Callable[[], Any], changed: tuple[str, Callable[[], bool]]) -> Where:
    """The line of the user's that changes something: it is looked at after each line of another trace."""
    found: list[Where] = []
    last = UNKNOWN

    def step(frame: Any, event: str, _: Any) -> Any:
        nonlocal last
        if not found and not changed[1]():
            found.append(last)
        if not found and event == "line":
            last = Where(frame.f_code.co_filename, frame.f_lineno)
        return None if found else step

    def enter(frame: Any, event: str, _: Any) -> Any:
        filename = frame.f_code.co_filename
        foreign = is_own(filename) or is_foreign(frame.f_globals.get("__name__", ""))
        return None if foreign else step(frame, event, None)

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        with contextlib.suppress(Exception):
            run()
    finally:
        sys.settrace(before)
    return found[0] if found else last
