"""The arguments of a call: their tensors, names and declared shapes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.arrays import as_array
from paddle_lite_py.eager.tensor import Tensor, wrap
from paddle_lite_py.tracing.input_spec import InputSpec


def is_tensor(x: Any) -> bool:
    """True for what is a leaf of the arguments."""
    return isinstance(x, Tensor | InputSpec)


def as_tensor(value: Any) -> Any:
    """Return a NumPy array as a tensor; other values as they are."""
    return wrap(as_array(value)) if isinstance(value, np.ndarray) else value


def describe_tensors(tensors: list[Any]) -> str:
    """Dtypes and shapes of tensors, for people."""
    return ", ".join(f"{t.dtype.name}{[*t.shape]}" for t in tensors) or "no tensors"


def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Structure and tensors of a call's arguments; NumPy arrays count as tensors."""
    leaves: list[Any] = []
    return nested.flatten((args, kwargs), is_tensor, leaves), leaves


class SpecifiedCall(NamedTuple):
    """The arguments of a call, with InputSpecs in the place of tensors."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def call_of(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> SpecifiedCall:
    """Return a call with its tensors as specs, and its arguments by position where they have one."""
    try:
        bound = inspect.signature(f).bind(*args, **kwargs)
        bound.apply_defaults()
        args, kwargs = bound.args, bound.kwargs
    except (TypeError, ValueError):
        pass
    return SpecifiedCall(*_as_specs((args, kwargs)))


def _as_specs(value: Any) -> Any:
    leaves: list[Any] = []
    structure = nested.flatten(value, is_tensor, leaves)
    specs = [InputSpec.from_tensor(x, x._name) if isinstance(x, Tensor) else x for x in leaves]
    return nested.unflatten(structure, iter(specs))


def find_declared_specs(f: Any, specs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[InputSpec | None]:
    """Return the declared spec of each tensor of a call, in the order of flatten(); None where nothing is declared.

    Arguments:
        f: the static function.
        specs: what the user has declared, in the order of the parameters.
    """
    values = dict(_by_name(f.dygraph_function, args, kwargs))
    given, found = list(specs), {}
    for name in [n for n in values if n not in kwargs] + [n for n in parameters_of(f.dygraph_function) if n in kwargs]:
        tensors = _tensors(values[name])
        while given and not _tensors(given[0]) and tensors:
            given.pop(0)  # a Python value among the specs
        found[name] = _match_spec(given.pop(0) if given and (tensors or not _tensors(given[0])) else None, values[name])
    if left := [s for s in given if _tensors(s)]:
        names = ", ".join(argument_names(f.dygraph_function, args, kwargs))
        raise ValueError(
            f"{f.__name__}: input_spec declares {len(_tensors(specs))} tensors, the call has "
            f"{len(_tensors(specs)) - len(_tensors(left))} ({names})"
        )
    order = [*[n for n in values if n not in kwargs], *kwargs]
    return [s for n in order for s in found.get(n, [None] * len(_tensors(values[n])))]


def _by_name(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    names = parameters_of(f)
    return [(names[i] if i < len(names) else f"*{i}", a) for i, a in enumerate(args)] + list(kwargs.items())


def _tensors(value: Any) -> list[Any]:
    leaves: list[Any] = []
    nested.flatten(value, is_tensor, leaves)
    return leaves


def _match_spec(spec: Any, value: Any) -> list[InputSpec | None]:
    """Return the spec of each tensor in a value, found by keys and positions."""
    if isinstance(value, Tensor):
        return [InputSpec.from_tensor(spec) if isinstance(spec, Tensor) else spec]
    if isinstance(spec, dict) and isinstance(value, dict):
        return [s for k, v in value.items() for s in _match_spec(spec.get(k), v)]
    if isinstance(spec, list | tuple) and isinstance(value, list | tuple):
        items = [*spec, *[None] * len(value)]
        return [s for k, v in zip(items, value, strict=False) for s in _match_spec(k, v)]
    leaves = _tensors(value)
    return [*_tensors(spec), *[None] * len(leaves)][: len(leaves)] if spec is not None else [None] * len(leaves)


def parameters_of(f: Callable[..., Any]) -> list[str]:
    """Return the names of a function's parameters that take one argument each."""
    try:
        found = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def in_order(f: Callable[..., Any], kwargs: dict[str, Any]) -> list[str]:
    """Return the names of keyword arguments, in the order in which a function declares them."""
    if len(kwargs) < 2:
        return list(kwargs)
    known = {n: i for i, n in enumerate(parameters_of(f))}
    return sorted(kwargs, key=lambda n: known.get(n, len(known)))


class ArgumentNames(NamedTuple):
    """The user's names of the arguments."""

    tensors: list[str]
    parameters: list[str]


def names_of(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> ArgumentNames:
    """Names of the tensors among the arguments, and of the function's parameters."""
    try:
        parameters = list(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        parameters = []
    return ArgumentNames(argument_names(f, args, kwargs), parameters)


def argument_names(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """Return a name for each tensor among the arguments, from the function's parameters."""
    try:
        bound = inspect.signature(f).bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):
        bound = {f"arg{i}": a for i, a in enumerate(args)} | kwargs
    names = []
    for name, value in bound.items():
        found = _names(name, value)
        names += [f"{name}_{n}" if n in names else n for n in found] if len(found) != 1 else [name]
    return names


def _names(name: str, value: Any) -> list[str]:
    """Return a name for each tensor in an argument: its key in a dict, else that of the argument and a number."""
    if isinstance(value, dict):
        return [n for k, v in value.items() for n in _names(str(k), v)]
    if isinstance(value, list | tuple):
        return [n for i, v in enumerate(value) for n in _names(f"{name}_{i}", v)]
    return [name] * (len(_tensors(value)) == 1) or [f"{name}_{i}" for i in range(len(_tensors(value)))]
