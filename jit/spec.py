"""InputSpec, and the signature of a call: what two calls must share to run the same program."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
from jax import export

from paddle_lite_py import dtypes
from paddle_lite_py import structure as nested
from paddle_lite_py.tensor import Tensor


class InputSpec:
    """Shape, dtype and name of a tensor argument; an unknown dimension is None or -1.

    Examples:
        >>> InputSpec([None, 784], "float32", "x")
        InputSpec(shape=(-1, 784), dtype=paddle.float32, name=x, stop_gradient=False)
    """

    def __init__(
        self, shape: Any, dtype: Any = "float32", name: str | None = None, stop_gradient: bool = False
    ) -> None:
        if isinstance(shape, int):
            shape = [shape]
        bad = [n for n in shape if not (n is None or isinstance(n, str) or (isinstance(n, int) and n >= -1))]
        if bad:
            raise ValueError(f"InputSpec shape {list(shape)}: {bad[0]!r} is no dimension; use a number >= 0, None or a name")
        self.shape = tuple([-1 if n is None else n for n in shape])
        self.dtype = dtypes.as_dtype(dtype)
        self.name = name
        self.stop_gradient = stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> InputSpec:
        """The spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name or tensor.name, tensor.stop_gradient)

    @classmethod
    def from_numpy(cls, ndarray: Any, name: str | None = None) -> InputSpec:
        """The spec of a NumPy array."""
        return cls(ndarray.shape, ndarray.dtype, name)

    def batch(self, batch_size: Any) -> InputSpec:
        """Put a batch dimension in front."""
        self.shape = (int(batch_size), *self.shape)
        return self

    def unbatch(self) -> InputSpec:
        """Take the first dimension off."""
        if not self.shape:
            raise ValueError("unbatch() of a spec without dimensions")
        self.shape = self.shape[1:]
        return self

    def __repr__(self) -> str:
        return f"InputSpec(shape={self.shape}, dtype={self.dtype}, name={self.name}, stop_gradient={self.stop_gradient})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputSpec) and (self.shape, self.dtype, self.name) == (other.shape, other.dtype, other.name)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.name))

    def check(self, tensor: Tensor, argument: str) -> None:
        """Raise if a tensor does not fit."""
        found = tensor.shape
        fits = len(found) == len(self.shape) and all(
            not isinstance(w, int) or w < 0 or w == g for w, g in zip(self.shape, found, strict=True)
        )
        if not fits or tensor.dtype != self.dtype:
            raise ValueError(
                f"argument `{argument}` is {tensor.dtype.name}{found}, but its InputSpec asks for "
                f"{self.dtype.name}{list(self.shape)}; pass such a tensor, or change the input_spec of to_static"
            )


class Signature(NamedTuple):
    """What a program is traced for: the structure of the arguments, and shape and dtype of the tensors in them."""

    structure: Any
    specs: tuple[tuple[Any, ...], ...]  # (shape, dtype, stop_gradient) of each tensor


def is_tensor(x: Any) -> bool:
    """True for what is a leaf of the arguments."""
    return isinstance(x, Tensor | InputSpec)


def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Structure and tensors of a call's arguments; NumPy arrays count as tensors."""
    leaves: list[Any] = []
    return nested.flatten((args, kwargs), is_tensor, leaves), leaves


def signature(structure: Any, tensors: list[Tensor]) -> Signature:
    """The signature of a call."""
    return Signature(structure, tuple([(t._data.shape, t._data.dtype, t.stop_gradient) for t in tensors]))


def symbolic(specs: list[InputSpec]) -> list[jax.ShapeDtypeStruct]:
    """JAX specs; each unknown dimension becomes a symbol: unknown first dimensions share `batch`."""
    scope = export.SymbolicScope()
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
