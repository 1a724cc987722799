"""Functions that come down to one op: eager mode remembers which, and skips what leads there.

A public function may check its arguments, fill in what was left out and bring attributes into one form, before it
applies an op to the tensors that it was given. For the same attributes, and tensors of the same shapes and dtypes, that
is the same op again: the second such call goes there at once.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import public
from .bound import BoundOp
from .dtypes import DType
from .eager import EAGER, Eager
from .interpreter import state, use
from .tensor import Tensor

Function = Callable[..., Any]
MAX_CALLS = 1024  # of one function: shapes may change for ever
# Attributes that are equal only if they mean the same, given that their classes are compared as well.
_PLAIN = frozenset((int, float, bool, str, DType, type, type(None)))
_ABSENT = object()


class Call(NamedTuple):
    """What a call comes down to."""

    bound: BoundOp | None = None  # None: more than one op
    scalars: tuple[Any, ...] = ()
    order: tuple[int, ...] | None = None  # of the tensors and then the scalars; None: as they stand
    listed: bool = False  # the results are given as a list


def remembered(*tensors: str) -> Callable[[Function], Function]:
    """Give a function a memory of the ops that its calls came down to.

    It must depend on nothing but its arguments, and on tensors only by shape and dtype.

    Arguments:
        tensors: its parameters that may be tensors; the first always is one.
    """

    def remembering(function: Function) -> Function:
        made = public.deferred(function.__name__, functools.partial(_text, function, tensors))
        return functools.update_wrapper(made, function)

    return remembering


def _text(function: Function, tensors: tuple[str, ...], env: public.Env) -> str:
    """The function with a memory, written out: each step shows in the time of an op."""
    params = list(inspect.signature(function).parameters.values())
    memory = _Memory(function, tensors, {p.name: p.default for p in params})
    env |= {
        "_state": state,
        "_eager": EAGER,
        "_run": EAGER.run,
        "_T": Tensor,
        "_SEQ": (list, tuple),
        "_sequence": _sequence,
        "_memory": memory,
    }
    env |= {"_again": memory.again, "_watched": memory.watched, "_calls": memory.calls}
    given = "{" + ", ".join(f"{p.name!r}: {p.name}" for p in params) + "}"
    away = "".join([f" or {p.name} is not None" for p in params if p.name in ("name", "out")])
    key = "".join([_part(p, p.name in tensors, p.name == tensors[0]) for p in params if p.name not in ("name", "out")])
    flat = "".join([f"*(({n},) if isinstance({n}, _T) else ()), " for n in tensors[1:]])
    return f"""({", ".join(_heads(params, env))}):
    if _state.interpreter is not _eager or _rest or _more{away}:
        return _again({given}, _rest, _more)
    _key = _found = None
    try:
        _key = ({key})
        _found = _calls[_key]
    except (KeyError, TypeError, AttributeError):
        pass
    if _found is None:
        return _watched(_key, {given})
    _bound, _scalars, _order, _listed = _found
    if _bound is None:
        return _again({given})
    _all = ({tensors[0]}, {flat}*_scalars)
    _out = _run(_bound, _all if _order is None else tuple(map(_all.__getitem__, _order)))
    return list(_out) if _listed else _out
"""


def _heads(params: list[inspect.Parameter], env: public.Env) -> list[str]:
    """The parameters as text, and what catches other spellings of them; their defaults go into `env`."""
    env |= {f"_d_{p.name}": _ABSENT if p.default is p.empty else p.default for p in params}
    heads = [f"{p.name}=_d_{p.name}" for p in params if p.kind is not p.KEYWORD_ONLY]
    return [*heads, "*_rest", *[f"{p.name}=_d_{p.name}" for p in params if p.kind is p.KEYWORD_ONLY], "**_more"]


def _part(p: inspect.Parameter, tensor: bool, first: bool) -> str:
    """What an argument adds to the key of a call."""
    n = p.name
    if tensor:
        held = f"{n}._data.shape, {n}._data.dtype"
        return f"{held}, " if first else f"*(({held}) if isinstance({n}, _T) else ({n}.__class__, {n})), "
    if isinstance(p.default, bool | str):
        return f"{n}.__class__, {n}, "
    return f"{n}.__class__, {n} if {n}.__class__ not in _SEQ else _sequence({n}), "


def _sequence(values: Any) -> tuple[Any, ...]:
    """A list as part of a key."""
    kinds = tuple(map(type, values))
    if list in kinds or tuple in kinds:
        values = [_sequence(v) if isinstance(v, list | tuple) else v for v in values]
    return (*values, *kinds)


class _Memory:
    """The calls of a function, and what they came down to."""

    def __init__(self, function: Function, tensors: tuple[str, ...], defaults: dict[str, Any]) -> None:
        self.function, self.tensors, self.defaults = function, tensors, defaults
        self.calls: dict[Any, Call] = {}

    def again(self, given: dict[str, Any], rest: tuple[Any, ...] = (), more: dict[str, Any] | None = None) -> Any:
        """Call the function as it was called."""
        if rest:
            keywords = {k: v for k, v in given.items() if k == "out"}
            return self.function(*[v for k, v in given.items() if k not in keywords], *rest, **keywords, **(more or {}))
        given = {k: v for k, v in given.items() if v is not _ABSENT and v is not self.defaults[k]}
        return self.function(**given, **(more or {}))

    def watched(self, key: Any, given: dict[str, Any]) -> Any:
        """Call the function, and note what the call came down to."""
        tensors = [t for name in self.tensors if isinstance(t := given[name], Tensor)]
        if key is None or not _is_plain(key) or len(set(map(id, tensors))) < len(tensors):
            return self.again(given)
        watcher = _Watcher()
        with use(watcher):
            out = self.again(given)
        if len(self.calls) >= MAX_CALLS:
            del self.calls[next(iter(self.calls))]  # the oldest
        self.calls[key] = _call(watcher.seen, out, tensors)
        return out


def _is_plain(value: Any) -> bool:
    return value.__class__ in _PLAIN or (
        all(map(_is_plain, value)) if isinstance(value, tuple) else isinstance(value, np.dtype)
    )


class _Watcher(Eager):
    """Eager mode that notes what a function does."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def run(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Apply a bound op; see interpreter.Interpreter."""
        out = EAGER.run(bound, args)
        self.seen.append((bound, args, out))
        return out

    def rebind(self, tensor: Tensor, data: Any) -> None:
        """A change, which is more than an op."""
        self.looked_at(tensor)
        super().rebind(tensor, data)

    def looked_at(self, tensor: Tensor) -> None:
        """The op depends on data."""
        self.seen += (None, None)

    def static_value(self, tensor: Tensor, what: str) -> Any:
        """The Python value of a tensor used as an attribute."""
        self.looked_at(tensor)
        return super().static_value(tensor, what)

    def item(self, tensor: Tensor, index: tuple[int, ...]) -> Any:
        """One number of a tensor."""
        self.looked_at(tensor)
        return super().item(tensor, index)


def _call(seen: list[Any], out: Any, tensors: list[Tensor]) -> Call:
    """What a call comes down to, if to one op that takes the tensors of the call and gives its result."""
    if len(seen) != 1:
        return Call()
    bound, args, made = seen[0]
    place = {id(t): i for i, t in enumerate(tensors)}
    scalars = tuple([a for a in args if not isinstance(a, Tensor)])
    after = iter(range(len(tensors), len(tensors) + len(scalars)))
    order = tuple([place.get(id(a), -1) if isinstance(a, Tensor) else next(after) for a in args])
    listed = out is not made and out.__class__ is list and made.__class__ is tuple and _same(out, made)
    if -1 in order or not all(map(_is_plain, scalars)) or not (listed or out is made):
        return Call()
    return Call(bound, scalars, None if order == tuple(range(len(tensors) + len(scalars))) else order, listed)


def _same(xs: Any, ys: Any) -> bool:
    return len(xs) == len(ys) and all(x is y for x, y in zip(xs, ys, strict=True))
