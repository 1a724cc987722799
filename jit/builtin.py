"""Python's builtins on traced tensors."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any

from paddle_lite_py.builder import Builder
from paddle_lite_py.interpreter import state as mode
from paddle_lite_py.tensor import Tensor

from . import iterables

_MUTATORS = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard".split()
)


def replacement(f: Any) -> Callable[..., Any] | None:
    """The form of a builtin that takes tensors, or that notes what it changes; None if it has none."""
    owner = getattr(f, "__self__", None)
    if type(owner) in (list, dict, set):
        return functools.partial(_mutate, f) if f.__name__ in _MUTATORS else None
    try:
        return _TABLE.get(f)
    except TypeError:  # unhashable
        return None


def _mutate(method: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(mode.interpreter, Builder) and mode.interpreter.frame is not mode.interpreter.root:
        mode.interpreter.contents_written(method.__self__)
    return method(*args, **kwargs)


def _wrapped(original: Any, staged: Callable[..., Any], test: Callable[[Any], bool]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if any(map(test, args)) and isinstance(mode.interpreter, Builder):
            return staged(*args, **kwargs)
        return original(*args, **kwargs)

    return call


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def _holds_tensor(x: Any) -> bool:
    return isinstance(x, Tensor) or (isinstance(x, list | tuple) and any(isinstance(v, Tensor) for v in x))


def _cast(name: str) -> Callable[..., Any]:
    def cast(x: Tensor) -> Tensor:
        if x.size != 1:
            raise ValueError(f"{name} needs a tensor of one element, got shape {x.shape}")
        return x.reshape([]).astype(name)

    return cast


def _reduce(method: str, pair: str) -> Callable[..., Any]:
    """min or max: of one tensor, of a list, or of several arguments."""

    def reduce(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise TypeError(f"{method}() of tensors takes no {', '.join(kwargs)}=")
        if len(args) == 1 and isinstance(args[0], Tensor):
            return getattr(args[0], method)(axis=0)
        items = list(args[0] if len(args) == 1 else args)
        out = items[0]
        for x in items[1:]:
            out = getattr(out, pair)(_like(x, out)) if isinstance(out, Tensor) else getattr(x, pair)(_like(out, x))
        return out

    return reduce


def _like(x: Any, other: Tensor) -> Any:
    return x if isinstance(x, Tensor) else other * 0 + x


def _sum(items: Any, start: Any = 0) -> Any:
    if isinstance(items, Tensor):
        return items.sum(axis=0) + start
    out = start
    for x in items:
        out = x + out
    return out


def _fold(method: str) -> Callable[..., Any]:
    """any or all."""

    def fold(items: Any) -> Any:
        if isinstance(items, Tensor):
            return getattr(items.astype("bool"), method)()
        out: Any = None
        for x in items:
            truth = x.astype("bool") if isinstance(x, Tensor) else bool(x)
            if out is None:
                out = truth
            elif isinstance(out, Tensor):
                out = getattr(out, f"logical_{'or' if method == 'any' else 'and'}")(_as_bool(truth, out))
            else:
                out = truth if out is (method == "all") else out
        return out

    return fold


def _as_bool(x: Any, like: Tensor) -> Any:
    return x if isinstance(x, Tensor) else (like == like) if x else (like != like)


def _print(*args: Any, sep: str = " ", end: str = "\n", **kwargs: Any) -> None:
    from paddle_lite_py.ops.effects import print_

    flat = [a if isinstance(a, Tensor) else str(a) for a in args]
    print_(
        [a for a in flat if isinstance(a, Tensor)],
        tuple(a.stop_gradient if isinstance(a, Tensor) else a for a in flat),
        sep,
        end,
    )


_STAGED: dict[Any, tuple[Callable[..., Any], Callable[[Any], bool]]] = {
    builtins.range: (iterables.StagedRange, _is_tensor),
    builtins.enumerate: (iterables.StagedEnumerate, iterables.is_staged),
    builtins.zip: (iterables.StagedZip, iterables.is_staged),
    builtins.reversed: (iterables.StagedReversed, iterables.is_staged),
    builtins.len: (lambda x: iterables.length_of(x), iterables.is_staged),
    builtins.int: (_cast("int64"), _is_tensor),
    builtins.float: (_cast("float32"), _is_tensor),
    builtins.bool: (_cast("bool"), _is_tensor),
    builtins.min: (_reduce("min", "minimum"), _holds_tensor),
    builtins.max: (_reduce("max", "maximum"), _holds_tensor),
    builtins.sum: (_sum, _holds_tensor),
    builtins.any: (_fold("any"), _holds_tensor),
    builtins.all: (_fold("all"), _holds_tensor),
    # Text as well: it is printed by each run, where eager code would print it.
    builtins.print: (_print, lambda x: True),
}
_TABLE = {f: _wrapped(f, staged, test) for f, (staged, test) in _STAGED.items()}
