"""Samples to batches, and batches to tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..eager.tensor import Tensor, as_array, wrap
from .making import collate


def default_collate_fn(batch: list[Any]) -> Any:
    """Samples as one batch: arrays and tensors stacked, numbers as an array, containers field by field.

    Raises:
        TypeError: if a field is none of these.
        ValueError: if the shapes of a field differ between samples.

    Examples:
        >>> default_collate_fn([(1, "a"), (2, "b")])
        [array([1, 2]), ['a', 'b']]
    """
    return collate(batch, lambda stacked: wrap(as_array(stacked)))


def default_convert_fn(sample: Any) -> Any:
    """A sample as it is, for loading without batches.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.io.default_convert_fn([np.ones(2, "float32"), 3])[1]
        3
    """
    return sample


def to_tensors(batch: Any, place: Any = None) -> Any:
    """The arrays of a batch as tensors, at a place if one is given."""
    if isinstance(batch, np.ndarray) and batch.dtype.kind in "biufc":
        return wrap(as_array(batch, place=place))
    if isinstance(batch, Tensor) and place is not None:
        return batch.to(place)
    if isinstance(batch, Mapping):
        return {k: to_tensors(v, place) for k, v in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*[to_tensors(v, place) for v in batch])
    if isinstance(batch, tuple | list):
        return [to_tensors(v, place) for v in batch]
    return batch
