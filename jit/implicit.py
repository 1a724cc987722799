"""Methods that Python calls by itself (operators, iteration, cached properties), converted once a trace has met one.

Converted code calls what it names. What stands behind `a + b`, `sorted(objects)` or `for x in obj` it leaves to Python:
to ask for each operator would be slow. So where such a method of the user's class fails because it asks a traced tensor
for its value, the function is traced again with the method converted, for as long as the trace lasts.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dy2static.registry import is_converted
from paddle_lite_py.core.errors import is_own

from .runtime import RUNTIME, callee

_FRAMES = 200  # of a traceback that are looked at


class Implicit:
    """Methods of the user's classes that one function needs converted."""

    def __init__(self) -> None:
        self._known: dict[tuple[type, str], tuple[Any, Any]] = {}  # as it is, and converted
        self._local: set[types.CodeType] = set()  # methods of classes that each trace makes anew

    def learn(self, error: BaseException) -> bool:
        """Note the methods that led to an error as they are; False if there is no such method."""
        known, tb = len(self._known) + len(self._local), error.__traceback__
        for _ in range(_FRAMES):
            if tb is None:
                break
            code, values = tb.tb_frame.f_code, tb.tb_frame.f_locals
            if code.co_argcount and not is_own(code.co_filename) and not is_converted(code):
                self._note(type(values.get(code.co_varnames[0])), code)
            tb = tb.tb_next
        return len(self._known) + len(self._local) > known

    def _note(self, kind: type, code: types.CodeType) -> None:
        for owner in kind.__mro__:
            for name, held in vars(owner).items():
                f = _function(held)
                if f is None or f.__code__ is not code or (owner, name) in self._known:
                    continue
                if "<locals>" in owner.__qualname__:
                    self._local.add(code)
                elif (converted := callee(f)) is not f:
                    self._known[owner, name] = held, _like(held, converted, name)

    def _made(self, cls: type) -> None:
        """Convert the methods of a class that the trace has made."""
        for name, held in list(vars(cls).items()):
            f = _function(held)
            if f is not None and f.__code__ in self._local:
                setattr(cls, name, _like(held, callee(f), name))

    @contextmanager
    def converted(self) -> Iterator[None]:
        """The classes hold the converted methods, which are the same to Python values."""
        before, RUNTIME.on_class = RUNTIME.on_class, self._made if self._local else None
        try:
            for (owner, name), (_, converted) in self._known.items():
                setattr(owner, name, converted)
            yield
        finally:
            RUNTIME.on_class = before
            for (owner, name), (held, _) in self._known.items():
                setattr(owner, name, held)


def _function(held: Any) -> types.FunctionType | None:
    f = held.func if isinstance(held, functools.cached_property) else held
    return f if isinstance(f, types.FunctionType) else None


def _like(held: Any, converted: Any, name: str) -> Any:
    if not isinstance(held, functools.cached_property):
        return converted
    made = functools.cached_property(converted)
    made.attrname = name
    return made
