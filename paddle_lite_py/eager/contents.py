"""What a tensor holds, as the reference's programs read and replace it: `tensor.value().get_tensor()`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arrays import as_array
from ..core.dtypes import DType


class TensorContents:
    """The array of a tensor: `np.array(t)` reads it, `t.set(array, place)` replaces it."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def set(self, array: Any, place: Any = None) -> None:
        """Replace the array, by one of another shape as well; the tensor keeps its dtype."""
        self._of._set_payload(as_array(array, self._of.dtype, place))

    def shape(self) -> list[int]:
        """Return the sizes."""
        found: list[int] = self._of.shape
        return found

    def _share_data_with(self, other: Any) -> None:
        """Move the tensor to the storage of another one, with its shape and dtype."""
        self._of._view_of(getattr(other, "_of", other))

    def _set_dims(self, shape: list[int]) -> None:
        """Give the tensor another shape; it keeps its storage."""
        self._of._view_of(self._of, [int(n) for n in shape])

    def _dtype(self) -> DType:
        """Return the dtype."""
        found: DType = self._of.dtype
        return found

    def _place(self) -> Any:
        """Return where the array is."""
        return self._of.place

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._of.numpy(), dtype=dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)
