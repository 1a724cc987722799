"""Calls of Python's library that act on the world: each run makes them, where eager code would."""

from __future__ import annotations

import builtins
import dataclasses
import functools
import io
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from dy2static.undefined import Undefined
from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.arrays import as_array
from paddle_lite_py.core.errors import calls_back, is_own, user_frame
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.interpreter import use
from paddle_lite_py.core.traced_number import ScalarInputs, TracedNumber, same
from paddle_lite_py.core.unknown_size import UnknownSize
from paddle_lite_py.custom.host import HostCall, host_call
from paddle_lite_py.eager.execute import EAGER
from paddle_lite_py.eager.tensor import Tensor, wrap
from paddle_lite_py.tracing import places
from paddle_lite_py.tracing.traced_scalars import NUMBER_LEAF, as_number, is_number

from . import acting, text
from .acting import Acts, Makes, Needed, Tells
from .errors import acts_now

_DTYPES = {int: "int64", float: "float64", bool: "bool"}
_ABSENT = object()


class Following:
    """What a trace knows of the outside world.

    Attributes:
        acts: each run does something to the world that the function may ask for afterwards.
        loops: how many staged loops the trace is in.
        asks: the function has queried something in one, which may get there again.
        made: text in memory that it has made, and what writes to that, with the frame in which; by id.
    """

    def __init__(self) -> None:
        self.stdout, self.filters = sys.stdout, warnings.filters
        self.acts = self.asks = False
        self.loops = 0
        self.made: dict[int, tuple[Any, Any]] = {}

    def is_diverted(self, f: Any) -> bool:
        """Whether the function has changed where the call of a function goes."""
        if f is builtins.print:
            return sys.stdout is not self.stdout
        return acting.name_of(f).startswith("warnings.") and warnings.filters is not self.filters

    def may_see(self, values: list[Any]) -> bool:
        """Whether the function may find out at once what a call does, of these objects."""
        return self.asks or bool(self.made and not any(isinstance(v, io.IOBase) for v in values))

    def made_among(self, values: Any) -> Any:
        """Return the frame in which the first of the values that the trace has made was made; None if there is none."""
        return next((self.made[id(v)][1] for v in values if id(v) in self.made), None)


_followed: list[Following] = []  # of the traces under way


@contextmanager
def record_effects() -> Iterator[None]:
    """Calls that act on the world in the block, while a function is traced, become those of each run."""
    _followed.append(Following())
    try:
        yield
    finally:
        _followed.pop()


@contextmanager
def repeated() -> Iterator[None]:
    """Trace a block that may run several times."""
    trace = _followed[-1] if _followed else Following()
    trace.loops += 1
    try:
        yield
    finally:
        trace.loops -= 1


def is_repeated() -> bool:
    """Whether the block under way may run several times."""
    return bool(_followed and _followed[-1].loops)


def is_followed() -> bool:
    """Whether a function is traced whose calls each run makes."""
    return bool(_followed) and mode.interpreter.is_tracing


def form_of(f: Any) -> Callable[..., Any] | None:
    """Return the form of a function or class that acts on the world where each run does; None for any other."""
    how = acting.entry(f)
    return None if how is None else lambda *args, **kwargs: call(f, how, args, kwargs)


def environment(method: str, *args: Any) -> Any:
    """Return the result of a method of os.environ."""
    f: Any = getattr(type(os.environ), method)
    return call(f, acting.environment(method), (os.environ, *args), {})


def print_(*args: Any, **kwargs: Any) -> None:
    """print()."""
    file = kwargs.get("file")
    if places.is_users(getattr(type(file), "write", None)):
        return print(*args, **kwargs)  # to the user's own method, which is converted
    if file is None and not (_followed and _followed[-1].is_diverted(print)):
        return text.print_(*args, **{name: kwargs[name] for name in kwargs.keys() - {"file", "flush"}})
    call(print, Acts(may_fail=False), args, kwargs)
    return None


def call(f: Any, how: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str = "") -> Any:
    """Make a call, or have each run make it.

    Arguments:
        how: what it does to the world.

    Raises:
        StagingError: no run can make it.
    """
    if not is_followed():
        return f(*args, **kwargs)
    trace, name = _followed[-1], name or acting.name_of(f)
    builder: Any = mode.interpreter
    given = [getattr(f, "__self__", None), *args, *kwargs.values()]
    frame = trace.made_among(given)
    if isinstance(how, Makes):
        return _made(trace, builder, f(*args, **kwargs), frame)
    if frame is not None:
        if frame is not builder.frame or any(map(_is_traced, given)):
            raise acts_now(name, "what that writes to, which the function has made,", user_frame())
        return f(*args, **kwargs)
    if isinstance(how, Tells) and not trace.acts:
        trace.asks = trace.asks or bool(trace.loops)
        return _told(builder, f, args, kwargs, name)
    how = Needed("the exception that is handled") if kwargs.get("exc_info") else how
    if not isinstance(how, Acts):
        raise acts_now(name, getattr(how, "why", "what earlier calls have left"), user_frame())
    if trace.is_diverted(f) or (how.may_fail and builder.catching) or (how.is_seen and trace.may_see(given)):
        raise acts_now(name, "what comes of it", user_frame())
    trace.acts = trace.acts or how.is_seen
    if how.gives is None:
        return _emit(f, None, args, kwargs, name)
    if isinstance(given[0], io.TextIOBase) and all(type(a) is str for a in args):
        _emit(f, None, args, kwargs, name)
        return len(args[0])
    if trace.loops:  # which may run again for a gradient, without what gives nothing
        _emit(f, None, args, kwargs, name)
        return Undefined(f"what {name}() gives")
    return as_number(_emit(f, how.gives, args, kwargs, name))


def _is_traced(value: Any) -> bool:
    return isinstance(value, Tensor | text.StagedText | TracedNumber)


def _made(trace: Following, builder: Any, found: Any, frame: Any) -> Any:
    """Return a new object: text in memory, or a writer to that."""
    if isinstance(found, io.IOBase) or frame is not None:
        trace.made[id(found)] = found, frame or builder.frame
    return found


class Told(NamedTuple):
    """A guard on the answers of the outside world."""

    ask: Callable[[], Any]
    value: Any
    cause: str

    def holds(self, _given: ScalarInputs) -> bool:
        """True if it still tells the same."""
        return same(self.ask(), self.value)


def _told(builder: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Any:
    def ask() -> Any:
        try:
            return f(*args, **kwargs)
        except Exception:
            return _ABSENT

    found = f(*args, **kwargs)
    builder.seen.append(Told(ask, found, f"what `{name}` gave when it was traced, {found!r:.60}, changed"))
    return found


# -- in each run ---------------------------------------------------------------------------------------------------
@dataclasses.dataclass
class Standard:
    """Stands for a standard stream among arguments: that of a run."""

    name: str

    def settled(self) -> Any:
        """Return the stream; see structure.unflatten."""
        return getattr(sys, self.name)


def _place(value: Any, tensors: list[Any]) -> Any:
    """Where an argument comes from in a run."""
    if value is sys.stdout or value is sys.stderr:
        return nested.Nest(Standard, ("name",), (nested.Static("stdout" if value is sys.stdout else "stderr"),))
    value = value.number() if isinstance(value, UnknownSize) else text.shown_value(value)
    tensors.append(value)
    return NUMBER_LEAF if is_number(value) else nested.LEAF


class CallAtRun:
    """A call of Python as each run makes it.

    Arguments:
        name: of the function, for people.
        where: the user's line.
        line: makes the call from that line.
        structure: of the function, its arguments and keyword arguments.
        gives: the type of the number that it gives; None if it gives nothing.
    """

    def __init__(self, name: str, where: Any, line: Any, structure: Any, gives: type | None) -> None:
        self.__name__ = name
        self.where, self.line, self.structure, self.gives = where, line, structure, gives

    def __call__(self, *arrays: Any) -> Any:
        with use(EAGER):
            f, args, kwargs = nested.unflatten(self.structure, iter([wrap(as_array(a)) for a in arrays]))
            found = self.line(f, args, kwargs)
        return () if self.gives is None else np.asarray(found, _DTYPES[self.gives])


def _emit(f: Any, gives: type | None, args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Any:
    owner: Any = getattr(f, "__self__", None)
    if owner is not None and (owner is sys.stdout or owner is sys.stderr):
        f = functools.partial(_method, f.__name__)
        args = owner, *args
    leaves: list[Any] = []
    structure = nested.flatten((f, args, kwargs), _varies, leaves)
    tensors: list[Any] = []
    places = iter([_place(v, tensors) for v in leaves])
    made = CallAtRun(name, user_frame(), _from_line(), nested.replace_leaves(structure, places), gives)
    results = () if gives is None else (((), _DTYPES[gives]),)
    op: Any = host_call
    found = op(tensors, call=HostCall(made, is_left_out=True), results=results)
    return found[0] if gives else None


def _varies(value: Any) -> bool:
    return isinstance(value, Tensor | UnknownSize) or type(value) is TracedNumber or value is sys.stdout or (
        value is sys.stderr
    )  # fmt: skip


def _method(name: str, owner: Any, *args: Any, **kwargs: Any) -> Any:
    return getattr(owner, name)(*args, **kwargs)


def _call(f: Any, args: Any, kwargs: Any) -> Any:
    return f(*args, **kwargs)


def _from_line() -> Any:
    """Return a function that makes a call from the user's line, which logs and warnings show."""
    frame: Any = sys._getframe(1)
    while is_own(frame.f_code.co_filename) or calls_back(frame.f_code.co_filename):
        frame = frame.f_back
    name, user = frame.f_code.co_name, frame.f_code
    code = _call.__code__.replace(
        co_filename=user.co_filename, co_name=name, co_qualname=name, co_firstlineno=frame.f_lineno - 1
    )
    return types.FunctionType(code, frame.f_globals)


def calls_at_run(program: Any) -> Iterator[tuple[str, Any]]:
    """Yield the calls that a program makes of Python's library, with their lines."""
    for op in program.ops():
        found = op.bound.attrs[0].function if op.name == "py_func" else None
        if isinstance(found, CallAtRun):
            yield found.__name__, found.where
