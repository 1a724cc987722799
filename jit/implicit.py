"""Methods that Python or a library calls by itself (operators, iteration, properties, callbacks), in a trace.

Converted code calls what it names. What stands behind `a + b`, `sorted(objects)` or `for x in obj` it leaves to Python:
to look it up for each operator would be slow. So as long as a trace lasts, the user's classes that the function can
reach hold other methods, which convert themselves when they are first called.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from operator import index
from typing import Any

from dy2static.calls import LATE
from dy2static.registry import is_converted
from paddle_lite_py.core.errors import is_own
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.traced_number import TracedNumber
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.nn.base import Layer
from paddle_lite_py.tracing.builder import Builder

from .runtime import RUNTIME, callee

# Methods whose results Python itself needs to be plain values, not traced numbers or tensors.
_PLAIN: dict[str, Any] = {"__int__": int, "__index__": index, "__len__": index, "__hash__": index, "__float__": float}
_PLAIN |= {"__bool__": bool, "__contains__": bool, "__complex__": complex}
_FRAMES = 200  # of a traceback that are looked at
# Attributes that instances get from `type` and `object` in other ways, and the method behind all reads, those of the
# converter included (`isinstance` reads `__class__`): converted, it would call itself without end.
_NO_METHODS = frozenset({"__class__", "__dict__", "__weakref__", "__slots__", "__doc__", "__annotate__"})
_NO_METHODS |= {"__getattribute__"}


class Implicit:
    """The methods of the user's classes in the traces of one function."""

    def __init__(self) -> None:
        self._found: dict[type, None] = {}  # classes that an error has led to

    def learn(self, error: BaseException) -> bool:
        """Note the classes whose methods led to an error as they are; False if there is none."""
        known, tb = len(self._found), error.__traceback__
        for _ in range(_FRAMES):
            if tb is None:
                break
            code, values = tb.tb_frame.f_code, tb.tb_frame.f_locals
            if code.co_argcount and not is_own(code.co_filename) and not is_converted(code):
                self._note(type(values.get(code.co_varnames[0])), code)
            tb = tb.tb_next
        return len(self._found) > known

    def _note(self, kind: type, code: types.CodeType) -> None:
        for owner in kind.__mro__:
            if any(f.__code__ is code for held in vars(owner).values() for f in _functions(held)):
                self._found[owner] = None

    @contextmanager
    def converted(self, classes: Iterable[type]) -> Iterator[None]:
        """These classes, and those that are made in the block, hold methods that are converted."""
        held: list[tuple[type, str, Any]] = []
        before, RUNTIME.on_class = RUNTIME.on_class, _convert
        try:
            for owner in dict.fromkeys([*classes, *self._found]):
                held += _convert(owner)
            yield
        finally:
            RUNTIME.on_class = before
            for owner, name, method in reversed(held):
                type.__setattr__(owner, name, method)


def _convert(owner: type) -> list[tuple[type, str, Any]]:
    """Give a class methods that convert themselves; returns those that it had."""
    found = []
    for name, method in list(vars(owner).items()):
        if name in _NO_METHODS or not (name.startswith("__") or _may_be_called(owner, method)):
            continue
        if (made := _converted(method)) is not None:
            with suppress(TypeError):  # a class that C code has made
                type.__setattr__(owner, name, made)
                found.append((owner, name, method))
    return found


def _may_be_called(owner: type, method: Any) -> bool:
    """Whether somebody else than converted code may call a method that has no name of Python's."""
    return not (isinstance(method, types.FunctionType) and issubclass(owner, Layer))


def _functions(held: Any) -> list[types.FunctionType]:
    """Return the functions behind what a class holds."""
    inner = [held, *[getattr(held, name, None) for name in ("fget", "fset", "fdel", "func", "__func__")]]
    return [f for f in inner if isinstance(f, types.FunctionType)]


def _converted(held: Any) -> Any:
    """Return the namespace of a class, with self-converting functions; None if there is nothing to convert."""
    if isinstance(held, types.FunctionType):
        return None if is_own(held.__code__.co_filename) or is_converted(held.__code__) else _late(held)
    kind = type(held)
    if kind in (staticmethod, classmethod):
        inner = _converted(held.__func__)
        return None if inner is None else kind(inner)
    if kind is property:
        parts = (held.fget, held.fset, held.fdel)
        return property(*[_converted(f) or f for f in parts])
    if kind is functools.cached_property:
        return _Cached(held)
    if kind is functools.partialmethod:
        inner = _converted(held.func)
        return None if inner is None else functools.partialmethod(inner, *held.args, **held.keywords)
    if kind is functools.singledispatchmethod:
        made = functools.singledispatchmethod(held.func)
        for cls, f in held.dispatcher.registry.items():
            made.dispatcher.register(cls, _converted(f) or f)
        return made
    return None


def _late(f: types.FunctionType) -> Any:
    """Return a function that calls the converted form of another one, found when it is called first."""
    needs = _PLAIN.get(f.__name__)

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        out = callee(f)(*args, **kwargs)
        return needs(out) if needs is not None and (isinstance(out, Tensor) or type(out) is TracedNumber) else out

    call.__dict__[LATE] = f
    return call


class _Cached(functools.cached_property[Any]):
    """A cached property whose function is converted, and which notes what it keeps."""

    def __init__(self, held: functools.cached_property[Any]) -> None:
        super().__init__(_converted(held.func) or held.func)
        self.attrname = held.attrname

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        if obj is None:
            return self
        if self.attrname not in obj.__dict__:
            value = self.func(obj)
            if isinstance(mode.interpreter, Builder):
                mode.interpreter.item_written(obj.__dict__, self.attrname)
            obj.__dict__[self.attrname] = value
        return obj.__dict__[self.attrname]
