"""Lists of tensors: Python's while a program is built, and one stacked tensor where a loop of a run fills them."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from .table import KnownValue, P, number, operator, tensor


def stacked(array: list[Any], element: tuple[list[int], str]) -> Any:
    """A list as one tensor, whose first axis grows; of an empty one the shape and dtype of its elements are given."""
    return P.stack(tensor(array)) if array else P.zeros([0, *element[0]], element[1])


@operator("create_array")
def create_array() -> list[Any]:
    return []


@operator("array_length", "lod_array_length")
def array_length(array: Any) -> Any:
    return KnownValue([len(array) if isinstance(array, list) else array._payload.shape[0]])


@operator("array_write_")
def array_write(array: Any, x: Any, i: Any) -> Any:
    at, value = number(i), tensor(x)
    if isinstance(array, list):
        if isinstance(at, Tensor):
            raise ValueError("the place that is written is known only when the model runs")
        array += [None] * (at + 1 - len(array))
        array[at] = value
        return array
    return P.concat([array[:at], P.unsqueeze(value, 0), array[at + 1 :]], 0)


@operator("array_read")
def array_read(array: Any, i: Any) -> Any:
    at = number(i)
    if isinstance(array, list) and not isinstance(at, Tensor):
        return array[at]
    whole = stacked(array, ([], "float32")) if isinstance(array, list) else array
    return whole[at]


@operator("array_to_tensor")
def array_to_tensor(array: Any, *, axis: int = 0, use_stack: bool = False) -> Any:
    if isinstance(array, list):
        parts = tensor(array)
        sizes = KnownValue([1 if use_stack else p.shape[axis] for p in parts], "int32")
        return (P.stack(parts, axis) if use_stack else P.concat(parts, axis)), sizes
    if not use_stack:
        order = [*range(1, axis + 1), 0, *range(axis + 1, array.ndim)]
        shape = [-1 if k == axis else n for k, n in enumerate(array._payload.shape[1:])]
        return P.reshape(P.transpose(array, order), shape), None
    return P.transpose(array, [*range(1, axis + 1), 0, *range(axis + 1, array.ndim)]), None


@operator("create_array_like")
def create_array_like(array: Any, *, val: float = 0.0) -> list[Any]:
    return [P.full_like(tensor(v), val) for v in array]


@operator("assign_array")
def assign_array(array: Any) -> Any:
    return list(array) if isinstance(array, list) else array


@operator("array_pop")
def array_pop(array: Any, *, index: int = -1) -> Any:
    rest = list(array)
    return rest, rest.pop(index)


@operator("slice_array")
def slice_array(array: Any, starts: Any, ends: Any) -> Any:
    return array[number(starts) : number(ends)]


@operator("slice_array_dense")
def slice_array_dense(array: Any, starts: Any) -> Any:
    return tensor(array[number(starts)])
