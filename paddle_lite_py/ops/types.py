"""Type aliases of the arguments of public functions."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from ..core.dtypes import DType
from ..eager.tensor import Tensor

# An array inside of an op; callers pass tensors.
Array = jax.Array
# A tensor or what converts to one: a number takes the dtype of the other operand.
TensorLike = Tensor | np.ndarray | complex
# One axis, several, or all.
Axis = int | Sequence[int] | None
# A number for each dimension of an image, or one for all.
Ints = int | Sequence[int]
# Sizes, of which some or all may be tensors.
Shape = int | Sequence[int | Tensor] | Tensor
# "same", "valid", or numbers: for all sides, each axis, each side, or each side of each axis.
Padding = str | int | Sequence[int] | Sequence[Sequence[int]]
# A dtype by name, as the class of the reference, of NumPy, or of Python; None: the default or that of the argument.
DTypeLike = str | DType | np.dtype | type | None
