"""InputSpec: what a tensor argument looks like."""

from __future__ import annotations

from typing import Any

from ..core import dtypes
from ..eager.tensor import Tensor


class InputSpec:
    """Specification of a tensor argument: shape, dtype and name.

    Arguments:
        shape: the shape, a list of integers; None or -1 for a dimension of unknown size.
        dtype: the dtype. Default: 'float32'.
        name: name of the argument; None: that of the function's signature.
        stop_gradient: the argument does not require gradients. Default: False.

    Examples:
        >>> InputSpec([None, 784], "float32", "x")
        InputSpec(shape=(-1, 784), dtype=paddle.float32, name=x, stop_gradient=False)
    """

    def __init__(
        self, shape: Any, dtype: Any = "float32", name: str | None = None, stop_gradient: bool = False
    ) -> None:
        if isinstance(shape, int):
            shape = [shape]
        if isinstance(shape, str) or not hasattr(shape, "__iter__"):
            raise TypeError(f"InputSpec: shape is {shape!r}; expected a list such as [None, 3]")
        bad = [n for n in shape if not (n is None or isinstance(n, str) or (isinstance(n, int) and n >= -1))]
        if bad:
            raise ValueError(
                f"InputSpec shape {list(shape)}: {bad[0]!r} is no dimension; use a number >= 0, None or a name"
            )
        self.shape = tuple([-1 if n is None else n for n in shape])
        self.dtype = dtypes.as_dtype(dtype)
        self.name = name
        self.stop_gradient = stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> InputSpec:
        """Return the spec of a tensor, which can be differentiated."""
        return cls(tensor.shape, tensor.dtype, name or tensor.name)

    @classmethod
    def from_numpy(cls, ndarray: Any, name: str | None = None) -> InputSpec:
        """Return the spec of a NumPy array."""
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
        return (
            f"InputSpec(shape={self.shape}, dtype={self.dtype}, name={self.name}, stop_gradient={self.stop_gradient})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputSpec) and (self.shape, self.dtype, self.name) == (
            other.shape,
            other.dtype,
            other.name,
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.name))

    def takes(self, shape: tuple[Any, ...]) -> bool:
        """True if a shape is such as is declared."""
        pairs = zip(self.shape, shape, strict=False)
        return len(shape) == len(self.shape) and all(not isinstance(w, int) or w < 0 or w == g for w, g in pairs)

    def sized(self, tensor: Tensor) -> InputSpec:
        """This spec; or one with the sizes of a tensor where it asks for others."""
        found = tensor.shape
        if len(found) != len(self.shape):
            return InputSpec(list(found), self.dtype, self.name, self.stop_gradient)
        differ = [isinstance(w, int) and 0 <= w != g for w, g in zip(self.shape, found, strict=True)]
        if not any(differ):
            return self
        shape = [g if d else w for w, g, d in zip(self.shape, found, differ, strict=True)]
        return InputSpec(shape, self.dtype, self.name, self.stop_gradient)

    def check(self, tensor: Tensor, argument: str) -> None:
        """Raise if a tensor does not fit."""
        found = [*tensor.shape]
        if not self.takes(tuple(found)) or tensor.dtype != self.dtype:
            raise ValueError(
                f"argument `{argument}` is {tensor.dtype.name}{found}, but its InputSpec asks for "
                f"{self.dtype.name}{list(self.shape)}; pass such a tensor, or change the input_spec of to_static"
            )
