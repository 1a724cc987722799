"""The arguments of a call: their tensors, names and declared shapes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
from jax import export

from paddle_lite_py.core import structure as nested
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.tracing.input_spec import InputSpec


def is_tensor(x: Any) -> bool:
    """True for what is a leaf of the arguments."""
    return isinstance(x, Tensor | InputSpec)


def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Structure and tensors of a call's arguments; NumPy arrays count as tensors."""
    leaves: list[Any] = []
    return nested.flatten((args, kwargs), is_tensor, leaves), leaves


def symbolic(specs: list[InputSpec], constraints: Sequence[str] = ()) -> list[jax.ShapeDtypeStruct]:
    """JAX specs; each unknown dimension becomes a symbol: unknown first dimensions share `batch`."""
    scope = export.SymbolicScope(constraints)
    out = []
    for i, spec in enumerate(specs):
        text = ", ".join([_symbol(n, i, k) for k, n in enumerate(spec.shape)])
        shape = export.symbolic_shape(text, scope=scope) if spec.shape else ()
        out.append(jax.ShapeDtypeStruct(shape, spec.dtype.np))
    return out


def _symbol(n: Any, position: int, axis: int) -> str:
    if isinstance(n, int) and n >= 0:
        return str(n)
    return n if isinstance(n, str) else "batch" if axis == 0 else f"d{position}_{axis}"


class ArgumentNames(NamedTuple):
    """What the user calls the arguments."""

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
    """A name for each tensor among the arguments, from the function's parameters."""
    try:
        bound = inspect.signature(f).bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):
        bound = {f"arg{i}": a for i, a in enumerate(args)} | kwargs
    names = []
    for name, value in bound.items():
        leaves: list[Any] = []
        nested.flatten(value, is_tensor, leaves)
        names += [name] if len(leaves) == 1 else [f"{name}_{i}" for i in range(len(leaves))]
    return names
