"""Functions that cannot be staged as a whole run in parts: compiled, then the statement that stays Python, compiled."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from dy2static import ConversionError
from dy2static.split import RETURN, Part, Split, build, cut, reads, split, stored
from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.errors import calls_back, is_own, warn_user
from paddle_lite_py.core.memo import Memo
from paddle_lite_py.core.no_effect import RefusedArgumentError
from paddle_lite_py.nn.base import Layer

from .containers import put_back
from .errors import InnerGradientError, UnnotedChangeError
from .raising import raised_by_user
from .runtime import convert

Compile = Callable[[Callable[..., Any]], Callable[..., Any]]
MAX_CALLEES = 256


class Parts:
    """A function in parts.

    Arguments:
        function: a function or method of the user.
        error: what kept it from being traced.
        compile: makes a static function, which may run in parts again.
    """

    def __init__(self, function: Callable[..., Any], error: Exception, compile: Compile) -> None:
        self.function, self.compile = function, compile
        self.owner = getattr(function, "__self__", None)
        plain: Any = getattr(function, "__func__", function)
        self._first: tuple[Any, ...] = ()  # arguments that come before those of a call
        if self.owner is not None and _has_no_self(plain):
            self.function, self.owner, self._first = plain, None, (self.owner,)
        self.split: Split | None = None
        self._made: dict[Any, Callable[..., Any]] = {}
        self._pieces: dict[Any, list[Part]] = {}
        # Key: the function that is called.
        self._callees: Memo[Any, Any] = Memo(f"static functions that {plain.__name__} calls", MAX_CALLEES)
        name, place, reason = plain.__name__, "", ""
        try:
            self.split = split(plain, _lines(plain, error))
            place = f"{plain.__code__.co_filename.rpartition('/')[2]}:{self.split.line}"
        except (ConversionError, AttributeError, SyntaxError) as e:
            reason = f"; it runs as plain Python as a whole: {e}"
        what = f"the statement at {place} runs as Python, compiled parts before and after" if place else "no part of it"
        self.text = (
            f"`{name}` cannot be staged as a whole: {what}{reason}. Why: {type(error).__name__}: {str(error)[:300]}. "
            "With full_graph=True this is an error"
        )

    def run_first(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function, and tell the user why it runs so; what it raises itself says enough."""
        out = self.run(args, kwargs)
        warn_user(self.text)
        return out

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function."""
        args = (*self._first, *args)
        if self.split is None:
            return self.function(*args, **kwargs)
        bound = inspect.signature(self.split.function, follow_wrapped=False).bind(*self._self(), *args, **kwargs)
        bound.apply_defaults()
        values = dict(bound.arguments)
        given, left = list(bound.arguments.values()), list(self.split.parts)
        while left:
            part = left.pop(0)
            # A compiled part would take arrays for tensors, as it does those of a call.
            arrays = {n for n, v in values.items() if not any(v is a for a in given) and _holds_array(v)}
            plain = part is self.split.parts[self.split.at]
            if not plain and arrays & (reads(part) | stored(part)):
                part, *rest = self._cut(part, frozenset(arrays))
                plain, left = True, rest + left
            wanted = (reads(part) | part.later) - (set() if plain else arrays)
            names = tuple([n for k, n in enumerate(values) if n in wanted or (k == 0 and self._self())])
            out = self._part(part, names, plain)(*[values[n] for n in names[len(self._self()) :]])
            if part.last:
                return out
            kind, found = out
            if kind == RETURN:
                return found
            new = stored(part)
            values.update({n: v if n in new else put_back(values[n], v) for n, v in found.items()})
        raise AssertionError("the last part returns")

    def _self(self) -> tuple[Any, ...]:
        return () if self.owner is None else (self.owner,)

    def _cut(self, part: Part, arrays: frozenset[str]) -> list[Part]:
        key = id(part), arrays  # parts stay: those of self.split, and the values here
        if key not in self._pieces:
            self._pieces[key] = cut(part, set(arrays))
        return self._pieces[key]

    def _part(self, part: Part, names: tuple[str, ...], plain: bool) -> Callable[..., Any]:
        key = id(part), names, plain
        if key not in self._made:
            assert self.split is not None
            made: Any = build(self.split, part, names, self.callee if plain else None)
            made = made if self.owner is None else types.MethodType(made, self.owner)
            self._made[key] = made if plain else self.compile(made)
        return self._made[key]

    def callee(self, f: Any) -> Any:
        """Return what the plain statement calls in place of a user's function or layer: its static form."""
        if isinstance(f, Layer):
            hooked = f._forward_pre_hooks or f._forward_post_hooks
            return f if hooked or not _is_convertible(type(f).forward) else _unless_arrays(self._static(f.forward), f)
        plain = isinstance(f, types.FunctionType | types.MethodType) and not inspect.isgeneratorfunction(f)
        return _unless_arrays(self._static(f), f) if plain and _is_convertible(f) else f

    def _static(self, f: Any) -> Any:
        plain = getattr(f, "__func__", f)
        made = self._callees.get(plain) or self._callees.put(plain, self.compile(plain))
        return made if plain is f else made.__get__(f.__self__)


def _holds_array(values: Any) -> bool:
    arrays: list[Any] = []
    nested.flatten(values, lambda v: isinstance(v, np.ndarray), arrays)
    return bool(arrays)


def _unless_arrays(static: Callable[..., Any], f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the static form of a function, which is called as it is with arrays: it may write to them."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return (f if _holds_array((args, kwargs)) else static)(*args, **kwargs)

    return call


def may_break(error: Exception) -> bool:
    """Whether a function that could not be traced as a whole may run in parts: unless they would fail alike."""
    lasting = isinstance(error, Warning | RefusedArgumentError)  # in parts, it would be no better or go unseen
    return getattr(error, "undone", True) and not (raised_by_user(error) or lasting)


def _has_no_self(f: Any) -> bool:
    """Whether a method takes its object as one of any number of arguments, as wrappers of decorators do."""
    first = next(iter(inspect.signature(f, follow_wrapped=False).parameters.values()), None)
    return first is not None and first.kind is first.VAR_POSITIONAL


def _is_convertible(f: Any) -> bool:
    """Whether a static form of a function is another one than the function itself."""
    plain = getattr(f, "__func__", f)
    if not _is_users(plain):
        return False
    try:
        return convert(plain) is not plain
    except ConversionError:
        return False


def _is_users(f: Any) -> bool:
    code: Any = getattr(getattr(f, "__func__", f), "__code__", None)
    of_others = code is None or is_own(code.co_filename) or calls_back(code.co_filename)
    return not of_others and "-packages" not in code.co_filename


def _lines(f: Any, error: Exception) -> list[int]:
    """Return the lines of the function that the error came through."""
    if isinstance(error, InnerGradientError):
        return [error.where.lineno]
    if isinstance(error, UnnotedChangeError):
        return [error.where.lineno] if error.splits and error.where.filename == f.__code__.co_filename else []
    tb, code = error.__traceback__, f.__code__
    while tb is not None:
        if (tb.tb_frame.f_code.co_filename, tb.tb_frame.f_code.co_name) == (code.co_filename, code.co_name):
            return [tb.tb_lineno]
        tb = tb.tb_next
    return []
