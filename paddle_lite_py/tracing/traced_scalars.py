"""Traced Python numbers: what int(), float(), bool() and item() of a traced tensor give.

They have no gradient, do not decide the dtype of what they are combined with, and print as numbers: as the Python
numbers do that eager code has in their place.
"""

from __future__ import annotations

from typing import Any

from ..core.dtypes import rank
from ..eager.tensor import Tensor
from .frame import TracedValue

# Conversions beside those of f-strings: of a tensor that stands for a number, and of one with `!s` or `!r`.
NUMBER, NUMBER_TEXT = -2, -3


def is_number(x: Any) -> bool:
    """True for a tensor that stands for a Python number."""
    return isinstance(x, Tensor) and isinstance(x._data, TracedValue) and x._data.is_number


def number_text(value: Any, conversion: int, spec: str) -> str:
    """The number in an array or tensor as a text shows it."""
    return format(str(value.item()) if conversion == NUMBER_TEXT else value.item(), spec)


def chosen(tensor: Any, index: tuple[int, ...]) -> Tensor:
    """The element that item(*index) means, as a tensor of no dimensions.

    Raises:
        ValueError: there are several, and no index.
    """
    if index:
        tensor = tensor.flatten()[index[0]] if len(index) == 1 else tensor[index]
    if tensor.size != 1:
        raise ValueError(f"item() needs a tensor of one element, got shape {[*tensor.shape]}; give it an index")
    return tensor.reshape([])


def following(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands of an operator, with the numbers among them in the dtype of the tensor they are combined with."""
    kinds = [a.dtype.np for a in args if isinstance(a, Tensor) and not is_number(a)]
    if not kinds:
        return args
    return tuple([_as(a, kinds[0]) if is_number(a) else a for a in args])


def _as(number: Tensor, dtype: Any) -> Tensor:
    own = number.dtype.np
    return number.astype(dtype) if rank(own) <= rank(dtype) and own != dtype else number
