"""Lists of tensors, under the names of PaddlePaddle's tensor arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ..core.no_effect import Immaterial, no_effect
from ..eager.tensor import Tensor
from .convert import to_tensor
from .joining import concat, stack
from .types import DTypeLike

__all__ = ["array_length", "array_read", "array_write", "create_array"]


@no_effect(dtype=Immaterial("each tensor has a dtype of its own"))
def create_array(dtype: DTypeLike = "float32", initialized_list: Sequence[Tensor] | None = None) -> list[Tensor]:
    """Create a list of tensors (a tensor array).

    Arguments:
        initialized_list: list of tensors to start with; None: empty.

    Returns:
        A list.

    Raises:
        TypeError: if an element is not a tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.tensor.create_array("float32")
        []
    """
    held = list(initialized_list or ())
    for i, t in enumerate(held):
        if not isinstance(t, Tensor):
            raise TypeError(f"create_array: initialized_list[{i}] is a {type(t).__name__}; expected a Tensor")
    return held


def _position(i: Any, array: list[Tensor], most: int, who: str) -> int:
    at = operator.index(i.item() if isinstance(i, Tensor) else i)
    if not 0 <= at < most:
        raise IndexError(f"{who}: i is {at}, and the array holds {len(array)} tensors; expected 0 to {most - 1}")
    return at


def array_write(x: Tensor, i: Any, array: list[Tensor] | None = None) -> list[Tensor]:
    """Write a tensor at position `i` of a list, or append it; without `array` a new list is created.

    Returns:
        The list.

    Raises:
        IndexError: if i is above the length of the list.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> array = paddle.tensor.array_write(paddle.ones([1]), paddle.to_tensor(0))
        >>> paddle.tensor.array_write(paddle.zeros([1]), 1, array)[1].tolist()
        [0.0]
    """
    held = [] if array is None else array
    held[(at := _position(i, held, len(held) + 1, "array_write")) : at + 1] = [x]
    return held


def array_read(array: list[Tensor], i: Any) -> Tensor:
    """Return the tensor at position `i` of a list.

    Raises:
        IndexError: if there is no such element.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.tensor.array_read([paddle.ones([1])], paddle.to_tensor([0])).tolist()
        [1.0]
    """
    return array[_position(i, array, len(array), "array_read")]


def tensor_array_to_tensor(input: Sequence[Tensor], axis: int = 1, use_stack: bool = False) -> tuple[Tensor, Tensor]:
    """Join the tensors of a list along a dimension.

    Arguments:
        axis: the dimension. Default: 1.
        use_stack: stack them along a new one. Default: False.

    Returns:
        The tensor, and an integer tensor with the size of each input along the dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> joined, sizes = tensor_array_to_tensor([paddle.ones([2, 1]), paddle.ones([2, 3])])
        >>> joined.shape, sizes.tolist()
        (paddle.Size([2, 4]), [1, 3])
    """
    held = list(input)
    return (stack if use_stack else concat)(held, axis), to_tensor([tensor.shape[axis] for tensor in held])


def array_length(array: list[Tensor]) -> int:
    """Return the number of tensors in a list.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.tensor.array_length([paddle.ones([1])])
        1
    """
    return len(array)
