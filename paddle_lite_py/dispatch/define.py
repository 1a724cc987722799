"""Defining an op: the decorator that makes of a JAX function a public one, methods, and an entry of the registry."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..core.keywords import other_keywords
from ..eager.tensor import Tensor
from ..registry.op import REGISTRY, Op
from ..registry.view import ViewRule
from . import codegen
from .codegen import Signature, without_out

Function = Callable[..., Any]


def op(
    fn: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    methods: Iterable[str] = (),
    operators: Iterable[str] = (),
    inplace: str | None = None,
    grad: bool = True,
    amp: str | None = None,
    random: bool = False,
    effect: bool = False,
    loops: bool = False,
    windows: bool | Callable[[dict[str, Any]], bool] = False,
    plain: bool = False,
    keeps: bool = False,
    broadcasts: bool = False,
    variadic: str | None = None,
    spread: Function | None = None,
    wider: Function | None = None,
    out_first: bool = False,
    reshapes: bool = False,
    views: ViewRule | Callable[[dict[str, Any]], ViewRule | None] | None = None,
) -> Any:
    """Define an op from a JAX function. Other keywords for its parameters stand in `core/keywords.txt`.

    Arguments:
        name: of the op, the function's own by default.
        methods: names under which Tensor has it.
        operators: Python operators that it serves ("__add__"); one that starts with "__r" swaps its operands.
        inplace: name of the in-place method that it serves as well ("add_").
        grad: False where no gradient is defined.
        amp: under mixed precision, "white" (low precision helps), "black" (float32, but not at level O2), "float32"
            (always), "keep" (takes its inputs as they come) or None (float32 if an input is).
        effect: True if it acts on the world (prints, checks), so that it stays though nothing reads its result.
        loops: True if its function holds a JAX loop (scan, while_loop).
        windows: True if it goes over windows of an image, for which XLA has better code than its library; or which
            attributes say so.
        plain: True if XLA's plain emitters of kernels, which compile in half the time, serve it as well.
        keeps: True if its gradient had better begin with what the forward found than with its inputs.
        broadcasts: True if it is elementwise, with NumPy's broadcasting, whatever the shapes.
        random: True if the function takes a JAX key first; the key is the framework's and not in the public signature.
        variadic: the list parameter that may be spread out as well: reshape(x, 2, 3).
        spread: a function of the arguments so spread out that gives the list, where that is not the list itself.
        wider: a function of the same parameters and more keywords, called where one of those is given.
        out_first: True if `out` may be given by position, before `name`.
        reshapes: True if the in-place form may change shape and dtype.
        views: the rule that makes its result a view of its first argument, or which attributes have one.
    """
    if fn is None:
        names: dict[str, Any] = {"name": name, "methods": methods, "operators": operators, "inplace": inplace}
        kinds: dict[str, Any] = {"grad": grad, "amp": amp, "random": random, "effect": effect}
        kinds |= {"loops": loops, "windows": windows, "plain": plain, "keeps": keeps}
        spellings: dict[str, Any] = {"variadic": variadic, "wider": wider, "out_first": out_first}
        spellings |= {"spread": spread, "reshapes": reshapes}
        return functools.partial(op, **names, **kinds, **spellings, broadcasts=broadcasts, views=views)
    made = Op(fn, name or fn.__name__, grad, amp, random, effect, loops, windows, keeps, plain)
    if made.name in REGISTRY:
        raise ValueError(f"op {made.name!r} is defined twice")
    REGISTRY[made.name] = made
    made.is_operator, made.views, made.broadcasts = bool(operators), views, broadcasts
    aliases = other_keywords(made.name, [p.name for p in made.tensor_params + made.attr_params])
    front = codegen.CallSpelling(aliases, variadic, wider, out_first, spread=spread)
    return _install(*codegen.make(made, front), methods, operators, inplace, reshapes)


def composite(
    fn: Callable[..., Any] | None = None,
    *,
    methods: Iterable[str] = (),
    operators: Iterable[str] = (),
    inplace: str | None = None,
    variadic: str | None = None,
    reshapes: bool = False,
    creates: bool = False,
    around: Callable[[Function], Function] | None = None,
) -> Any:
    """Return a public function written with other ops, with the Tensor methods and spellings that an op may have.

    Arguments:
        around: a decorator for the function with all its spellings, such as `call_cached`.
        creates: True if it makes a new tensor, for which device, requires_grad and pin_memory may be given.
    """
    if fn is None:
        names: dict[str, Any] = {"methods": methods, "operators": operators, "inplace": inplace}
        spellings: dict[str, Any] = {"variadic": variadic, "reshapes": reshapes, "creates": creates}
        return functools.partial(composite, **names, **spellings, around=around)
    params = list(inspect.signature(fn).parameters)
    at = None if variadic is None else params.index(variadic)
    dropped = {} if "name" in params else {"name": ""}
    front = codegen.accepting(fn, {**dropped, **other_keywords(fn.__name__, params)}, at, creates)
    if around is not None:
        fn = front = around(front)
    return _install(fn, front, methods, operators, inplace, reshapes)


# The in-place methods by name: functions of the public namespace as well.
INPLACE: dict[str, Function] = {}


def add_methods(methods: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
    """Give Tensor methods and properties: name, and function of self."""
    for name, method in dict(methods).items():
        setattr(Tensor, name, method)


def _install(
    strict: Function, front: Function, methods: Any, operators: Any, inplace: str | None, reshapes: bool
) -> Function:
    add_methods((m, front) for m in methods)
    # Python itself calls operators, always with positional arguments.
    add_methods((m, _reverse(strict) if m.startswith("__r") and m != "__rshift__" else strict) for m in operators)
    if inplace:
        INPLACE[inplace] = _inplace(front, inplace, reshapes)
        add_methods({inplace: INPLACE[inplace]})
    return front


def _reverse(front: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return front(other, self)

    return functools.update_wrapper(method, front)


def _first_by_keyword(front: Callable[..., Any], name: str, kwargs: dict[str, Any]) -> Any:
    """Take the first argument of a function out of its keywords."""
    first = next(iter(inspect.signature(front).parameters))
    for key in (first, *[k for k, param in front.__dict__.get("__aliases__", {}).items() if param == first]):
        if key in kwargs:
            return kwargs.pop(key)
    raise TypeError(f"{name}() missing 1 required positional argument: {first!r}")


def _inplace(front: Callable[..., Any], name: str, reshapes: bool) -> Callable[..., Any]:
    def method(x: Any = None, *args: Any, **kwargs: Any) -> Any:
        if x is None:
            x = _first_by_keyword(front, name, kwargs)
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}(): the first argument is a {type(x).__name__}; expected a tensor to change")
        return x._rebind(front(x, *args, **kwargs), reshapes)

    method.__name__ = method.__qualname__ = name
    method.__wrapped__ = Signature(functools.partial(without_out, front), front.__doc__)  # type: ignore[attr-defined]
    method.__dict__["__inplace_of__"] = front
    method.__doc__ = f"In-place form of `{front.__name__}`: the result replaces this tensor's value."
    return method
