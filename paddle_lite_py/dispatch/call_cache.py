"""The call cache: functions that come down to ops on their tensors; eager mode keeps which, and skips what leads there.

A public function may check its arguments, fill in what was left out and bring attributes into one form, before it
applies an op to the tensors that it was given. For the same attributes, and tensors of the same shapes and dtypes, that
is the same op again: the second such call goes there at once. Where they are a few ops, these are compiled as one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core import cache_checks
from ..core.dtypes import DType
from ..core.interpreter import state, use
from ..core.keywords import other_keywords
from ..core.memo import Memo
from ..eager import template
from ..eager.deferred import Deferred
from ..eager.execute import EAGER, Eager
from ..eager.tensor import Tensor
from ..eager.waiting import begun
from ..registry.bound import BoundOp
from . import codegen
from .fusion import fused
from .wrong_types import of_no_tensor

Function = Callable[..., Any]
MAX_CALLS = 1024  # of one function: shapes may keep changing
# Attributes that are equal only if they mean the same, given that their classes are compared as well.
_PLAIN = frozenset((int, float, bool, str, DType, type, type(None)))


class CachedCall(NamedTuple):
    """The op that a call reduces to: a bound op on its tensors; None if the call does more."""

    bound: BoundOp | None = None
    kind: type = Tensor  # of the result: a tensor, or a tuple, a list or a named tuple of them


def call_cached(*tensors: str, views: bool = False) -> Callable[[Function], Function]:
    """Give a function a cache of the ops that its calls came down to.

    It must depend on nothing but its arguments, and on tensors only by shape and dtype.

    Arguments:
        tensors: its parameters that are tensors, or None where that is the default; "y?" may be a number as well. Of
            those in "y*", a list of indices, which take no gradient, only the dtypes count, and nothing of those in
            "y!": where there are such, only a call that comes down to one op is cached.
        views: its results are views of the first of them.
    """

    def caching(function: Function) -> Function:
        if "__aliases__" not in function.__dict__:
            params = inspect.signature(function).parameters
            function.__dict__["__aliases__"] = other_keywords(function.__name__, params)
        made = codegen.deferred(function.__name__, functools.partial(_text, function, tensors, views))
        return functools.update_wrapper(made, function)

    return caching


def _text(function: Function, tensors: tuple[str, ...], views: bool, env: codegen.Env) -> str:
    """Return the function with a cache, written out: each step shows in the time of an op."""
    params = list(inspect.signature(function).parameters.values())
    names = [n.rstrip("?*!") for n in tensors]
    cache = _CallCache(function, params, names, joins=names == [n.rstrip("?") for n in tensors])
    env |= {**template.NAMES, "_state": state, "_eager": EAGER, "_run": EAGER.run, **codegen.LISTS}
    env |= {"_function": function, "_again": cache.again, "_expect_same": _expect_same}
    env |= {"_recorded": cache.recorded, "_calls": cache.calls, "_remade": codegen.remade}
    given = "{" + ", ".join(f"{p.name!r}: {p.name}" for p in params) + "}"
    lacks = "".join([f" or {p.name} is _absent" for p in params if p.default is p.empty])
    passed = [f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else p.name for p in params]
    away = "".join([f" or {p.name} is not _d_{p.name}" for p in params if p.name in _ASIDE])
    parts = {p.name: _part(p, tensors) for p in params if p.name not in _ASIDE}
    key = "".join(["_default.name, ", *[part.key for part in parts.values()]])
    among = [parts[n] for n in names]
    still = " and ".join([part.still for part in among])
    run = f"_run(_bound, ({''.join([part.tensor for part in among])}))"
    noted = [f"    if _bound.views is not None: _link({names[0]}, _made, _bound, ())"] if views else ()
    calls = template.at_once(still, _jitted(among), run, "_kind is not _T", viewed=noted)
    others, lines = codegen.respelling(function.__dict__["__aliases__"], [p.name for p in params])
    checks = [f"_expect_same(_function, _made, lambda: _again({given}))"] * bool(cache_checks.EVERY)
    heads, placed = _heads(function.__name__, params, others, env)
    return f"""({", ".join(heads)}):
{placed}{lines}    if _rest or _more{away}{lacks}:
        return _again({given}, _rest, _more)
    if _state.interpreter is not _eager:
        return _function({", ".join(passed)})
    _key = _found = None
    try:
        _key = ({key})
        _found = _calls[_key]
    except (KeyError, TypeError, AttributeError):
        pass
    if _found is None:
        return _recorded(_key, {given})
    _bound, _kind = _found
    if _bound is None:
        return _function({", ".join(passed)})
{codegen.indented([*calls, *checks])}    return _made if _kind is _T or _kind is tuple else _remade(_kind, _made)
"""


def _expect_same(function: Function, made: Any, call: Callable[[], Any]) -> None:
    if cache_checks.is_due() and state.interpreter.is_eager:
        cache_checks.expect_same(function.__name__, _payloads(made), lambda: _payloads(call()))


def _payloads(made: Any) -> list[Any]:
    return [t._payload for t in ([made] if isinstance(made, Tensor) else made)]


def _jitted(among: list[_Part]) -> str:
    """The call of XLA, written once more for the usual case: a tuple for each tensor that may be none would show."""
    call = f"_bound.jitted({''.join([part.data for part in among])})"
    usual = f"_bound.jitted({''.join([part.usually if part.usual else part.data for part in among])})"
    conditions = [part.usual for part in among if part.usual]
    return f"{usual} if {' and '.join(conditions)} else {call}" if conditions else call


_ASIDE = ("name", "out", "device", "requires_grad", "pin_memory")  # which a cached call leaves at their defaults


def _heads(name: str, params: list[inspect.Parameter], others: list[str], env: codegen.Env) -> tuple[list[str], str]:
    """Return the parameters as text and what catches other spellings of them; their defaults go into `env`. Also the
    lines for one that changes its place."""
    env |= {f"_d_{p.name}": codegen.ABSENT if p.default is p.empty else p.default for p in params}
    env |= {"_absent": codegen.ABSENT, "_one_of": codegen.one_of}
    heads = [f"{p.name}=_d_{p.name}" for p in params if p.kind is not p.KEYWORD_ONLY]
    heads, moved, placed = codegen.placing(name, heads, env)
    keywords = [f"{p.name}=_d_{p.name}" for p in params if p.kind is p.KEYWORD_ONLY]
    return [*heads, "*_rest", *moved, *others, *keywords, "**_more"], placed


class _Part(NamedTuple):
    """The role of an argument in the text: in the key, among tensors and data, without gradient; and where
    it may be no tensor, the usual case, and its data then."""

    key: str
    tensor: str = ""
    data: str = ""
    still: str = ""
    usual: str = ""
    usually: str = ""


def _part(p: inspect.Parameter, tensors: tuple[str, ...]) -> _Part:
    n = p.name
    held, still = f"(_of_{n} := {n}._payload).shape, _of_{n}.dtype", f"{n}.stop_gradient"
    if f"{n}*" in tensors:
        return _Part(
            f"tuple([_t._payload.dtype for _t in {n}]), ", f"*{n}, ", f"*[_t._payload for _t in {n}], ", "True"
        )
    if f"{n}!" in tensors:
        return _Part(f"(_of_{n} := {n}._payload) is None, ", f"{n}, ", f"_of_{n}, ", still)
    if f"{n}?" in tensors:
        is_one = f"_is_{n}"
        key = f"{codegen.quick_kind(p)}, ({held}) if ({is_one} := isinstance({n}, _T)) else {n}, "
        return _Part(
            key,
            f"*(({n},) if {is_one} else ()), ",
            f"*((_of_{n},) if {is_one} else ()), ",
            f"(not {is_one} or {still})",
            is_one,
            f"_of_{n}, ",
        )
    if n in tensors and p.default is None:
        present = f"if {n} is not None else ()), "
        key = f"None if {n} is None else ({held}), "
        return _Part(key, f"*(({n},) {present}", f"*((_of_{n},) {present}", f"({n} is None or {still})", f"{n} is None")
    if n in tensors:
        return _Part(f"{held}, ", f"{n}, ", f"_of_{n}, ", still)
    if isinstance(p.default, bool | str):  # where equal values mean the same
        return _Part(f"{n}, ")
    value = n if isinstance(p.default, float) else f"({codegen.as_tuple(n)}) if {codegen.is_listed(n)} else {n}"
    return _Part(f"{codegen.quick_kind(p)}, {value}, ")


class _CallCache:
    """The calls of a function, and what they came down to."""

    def __init__(self, function: Function, params: list[inspect.Parameter], tensors: list[str], joins: bool) -> None:
        self.function, self.params, self.tensors, self.joins = function, params, tensors, joins
        # Key: the default dtype, shapes and dtypes of tensors, and attributes by kind: all that such a function may
        # read.
        self.calls: Memo[Any, CachedCall] = Memo(f"calls of {function.__name__}", MAX_CALLS)
        # Key: as of `calls`.
        self.met: Memo[Any, bool] = Memo(f"calls of {function.__name__} met once", MAX_CALLS)

    def again(self, given: dict[str, Any], rest: tuple[Any, ...] = (), more: dict[str, Any] | None = None) -> Any:
        """Call the function as it was called."""
        spread = rest or given.get("name") is not None
        first = [given[p.name] for p in self.params if spread and p.kind is not p.KEYWORD_ONLY]
        others = self.params[len(first) :]
        named = {p.name: v for p in others if (v := given[p.name]) is not codegen.ABSENT and v is not p.default}
        try:
            return self.function(*first, *rest, **named, **(more or {}))
        except AttributeError as e:
            if (told := of_no_tensor(self.function, (*first, *rest), {**named, **(more or {})}, e)) is None:
                raise
            raise told from None

    def recorded(self, key: Any, given: dict[str, Any]) -> Any:
        """Call the function, and note what the call came down to."""
        among = [given[name] for name in self.tensors]
        tensors = [t for a in among for t in (a if a.__class__ in (list, tuple) else [a]) if isinstance(t, Tensor)]
        if key is None or not all(map(_is_plain, key)) or len(set(map(id, tensors))) < len(tensors):
            return self.again(given)
        recorder = _Recorder()
        with use(recorder):
            out = self.again(given)
        if recorder.queue is not None:  # the next call comes while ops wait, and so not here
            recorder.queue.enter()
            return out
        call = _call(recorder.seen, out, tensors)
        if call is None and not self.joins:
            call = CachedCall()
        if call is None and key in self.met:  # what changes with each call is nothing to compile for
            call = _fused(self.function.__name__, recorder.seen, out, tensors)
        if call is not None:
            self.calls.put(key, call)
        else:
            self.met.put(key, True)
        return out


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):  # the key does not tell its zeros apart
        return all(_is_plain(v) and (v.__class__ is not float or v) for v in value)
    return value.__class__ in _PLAIN or isinstance(value, np.dtype)


class _Recorder(Eager):
    """Eager mode that notes what a function does."""

    def __init__(self) -> None:
        self.seen: list[Any] = []  # calls of ops, and None for anything else
        self.records = state.grad_enabled
        self.queue: Deferred | None = None  # of the ops that wait, where the function is called on what makes them

    def run(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Apply a bound op; see interpreter.Interpreter."""
        if self.queue is not None:
            return self.queue.run(bound, args)
        found = begun(bound, args)
        if found is not None:
            self.queue, out = found
            return out
        out = EAGER.run(bound, args)
        self.seen.append((bound, args, out) if state.grad_enabled == self.records else None)
        return out

    def rebind(self, tensor: Tensor, data: Any) -> None:
        """A change, which is more than an op."""
        self.looked_at(tensor)
        super().rebind(tensor, data)

    overwrite = rebind

    def looked_at(self, tensor: Tensor) -> None:
        """The op depends on data."""
        self.seen.append(None)

    def static_value(self, tensor: Tensor, what: str) -> Any:
        """Return the Python value of a tensor used as an attribute."""
        self.looked_at(tensor)
        return super().static_value(tensor, what)

    def item(self, tensor: Tensor, index: tuple[int, ...]) -> Any:
        """Return one number of a tensor."""
        self.looked_at(tensor)
        return super().item(tensor, index)


def _call(seen: list[Any], out: Any, tensors: list[Tensor]) -> CachedCall | None:
    """Return the cached form of a call that is one op taking its tensors as they are."""
    if len(seen) != 1 or seen[0] is None:
        return None
    bound, args, made = seen[0]
    results = made if isinstance(made, tuple) else (made,)
    if _same(args, tensors) and (out is made or (isinstance(out, list | tuple) and _same(out, results))):
        return CachedCall(bound, out.__class__)
    return None


def _fused(name: str, seen: list[Any], out: Any, tensors: list[Tensor]) -> CachedCall:
    """Return the cached form of a call that is a few ops on its tensors."""
    results = [out] if isinstance(out, Tensor) else out
    if any(t._view is not None for t in results if isinstance(t, Tensor)):
        return CachedCall()  # fused, it would not be known as one
    if None in seen or out.__class__ not in (Tensor, tuple, list) or not all(isinstance(t, Tensor) for t in results):
        return CachedCall()
    bound = fused(name, seen, results, tensors) if seen and results else None
    return (
        CachedCall(bound, out.__class__)
        if bound is not None and (len(results) > 1 or out is results[0])
        else CachedCall()
    )


def _same(xs: Any, ys: Any) -> bool:
    return len(xs) == len(ys) and all(x is y for x, y in zip(xs, ys, strict=True))
