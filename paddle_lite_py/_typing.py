"""Types of arguments, for annotations: what `from paddle._typing import DTypeLike` gives."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from .core.dtypes import DType
from .core.place import Place
from .eager.tensor import Tensor

_T = TypeVar("_T")

Numeric: TypeAlias = int | float | bool | complex | np.number | Tensor
NumericSequence: TypeAlias = Sequence[Numeric]
NestedSequence: TypeAlias = _T | Sequence[Any]
NestedList: TypeAlias = _T | list[Any]
NestedStructure: TypeAlias = _T | dict[str, Any] | Sequence[Any]
NestedNumericSequence: TypeAlias = Numeric | Sequence[Any]
TensorLike: TypeAlias = np.ndarray | Numeric
TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
TensorIndex: TypeAlias = int | slice | EllipsisType | None | Tensor | Sequence[Any]
ParamAttrLike: TypeAlias = Any
DTypeLike: TypeAlias = DType | np.dtype | type | str
PlaceLike: TypeAlias = Place | str
ShapeLike: TypeAlias = Tensor | Sequence[Any]
Size1: TypeAlias = int | Sequence[int]
Size2 = Size3 = Size4 = Size5 = Size6 = SizeN = Size1
DataLayout0D: TypeAlias = Literal["NC"]
DataLayout1D: TypeAlias = Literal["NCL", "NLC"]
DataLayout1DVariant: TypeAlias = Literal["NCW", "NWC"]
DataLayout2D: TypeAlias = Literal["NCHW", "NHWC"]
DataLayout3D: TypeAlias = Literal["NCDHW", "NDHWC"]
DataLayoutND: TypeAlias = DataLayout0D | DataLayout1D | DataLayout2D | DataLayout3D
DataLayoutImage: TypeAlias = Literal["HWC", "CHW"]
