"""Tensors by the names of torch's types of tensors, of data or of sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.argument_docs import document as _document
from ..core.size import Size
from ..eager.tensor import Tensor
from ..ops.convert import to_tensor
from ..ops.creation import empty

__all__ = [
    *("BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor"),
    *("IntTensor", "LongTensor", "ShortTensor"),
]
_DOC = """Return a {dtype} tensor of data, or of given sizes, also those of a shape, whose values do not matter.

Arguments:
    args: the sizes, a shape, a list, an array, or a tensor, whose elements are shared.

Raises:
    TypeError: the argument is a tensor of another kind of numbers.

Examples:
    >>> import paddle_lite_py as paddle
    >>> x = paddle.ones([2, 3])
    >>> paddle.compat.{name}(x.shape).shape, paddle.compat.{name}([1]).dtype == "{dtype}"
    (paddle.Size([2, 3]), True)
"""


def _constructor(name: str, dtype: dtypes.DType) -> Any:
    def new(*args: Any) -> Tensor:
        given = args[0] if args else []
        if isinstance(given, Size) or (args and all(isinstance(a, int | np.integer) for a in args)):
            return empty([int(n) for n in (given if isinstance(given, Size) else args)], dtype)
        if not isinstance(given, Tensor):
            return to_tensor(given, dtype)
        if given.dtype != dtype and not (dtype.is_floating and given.is_floating_point()):
            raise TypeError(f"{name}: the argument is a {given.dtype.name} tensor; expected {dtype.name}: write .to()")
        return given.detach()

    new.__doc__ = _DOC.format(dtype=dtype.name, name=name)
    new.__name__ = new.__qualname__ = name
    return new


FloatTensor = _constructor("FloatTensor", dtypes.float32)
DoubleTensor = _constructor("DoubleTensor", dtypes.float64)
HalfTensor = _constructor("HalfTensor", dtypes.float16)
BFloat16Tensor = _constructor("BFloat16Tensor", dtypes.bfloat16)
IntTensor = _constructor("IntTensor", dtypes.int32)
LongTensor = _constructor("LongTensor", dtypes.int64)
ShortTensor = _constructor("ShortTensor", dtypes.int16)
CharTensor = _constructor("CharTensor", dtypes.int8)
ByteTensor = _constructor("ByteTensor", dtypes.uint8)
BoolTensor = _constructor("BoolTensor", dtypes.bool_)

_document(globals())
