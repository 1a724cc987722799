"""Size and TensorSize: the sizes of the dimensions of a tensor, and the number of its elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .interpreter import state
from .unknown_size import are_equal


class Size(list):
    """A list of sizes that equals tuples as well as lists.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> shape = paddle.ones([2, 3]).shape
        >>> shape, shape == (2, 3) == shape[:], shape + (1,), shape.numel()
        (paddle.Size([2, 3]), True, paddle.Size([2, 3, 1]), 6)
    """

    __slots__ = ()
    __hash__ = None
    # Above that of NumPy's scalars, which leave operators to this class then, and below that of its arrays.
    __array_priority__ = -1.0

    def __repr__(self) -> str:
        return f"paddle.Size({list.__repr__(self)})"

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, list | tuple):
            return NotImplemented
        return list.__eq__(self, list(other)) if state.interpreter.size_answers is None else are_equal(self, other)

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        if isinstance(same, bool):
            return not same
        return same if same is NotImplemented else state.interpreter.size_answers.negated(same)

    def __getitem__(self, index: Any) -> Any:
        found = list.__getitem__(self, index)
        return Size(found) if index.__class__ is slice else found

    # Only lists and tuples are appended: an array adds and multiplies element by element, in either order.
    def __add__(self, other: Any) -> Size:
        if hasattr(other, "_static_value"):  # a Tensor, which is defined above this module
            raise TypeError(
                "a paddle.Size and a Tensor are added, which could append or add by element: write "
                "size + tensor.tolist(), or paddle.to_tensor(size) + tensor"
            )
        return Size([*self, *other]) if isinstance(other, (list, tuple)) else NotImplemented

    def __radd__(self, other: Any) -> Size:
        return Size([*other, *self]) if isinstance(other, (list, tuple)) else NotImplemented

    def __mul__(self, times: Any) -> Size:
        return NotImplemented if isinstance(times, np.ndarray) else Size(list.__mul__(self, times))

    __rmul__ = __mul__

    def numel(self) -> int:
        """Return the number of elements of a tensor of these sizes."""
        return math.prod(self)


class TensorSize(int):
    """The number of elements of a tensor, and called, its sizes: x.size, x.size(), x.size(0).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.ones([2, 3])
        >>> x.size, x.size(), x.size(-1)
        (6, paddle.Size([2, 3]), 3)
    """

    shape: Size

    def __new__(cls, shape: Size) -> TensorSize:
        out = int.__new__(cls, math.prod(shape))
        out.shape = shape
        return out

    def __call__(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorSize, (self.shape,)
