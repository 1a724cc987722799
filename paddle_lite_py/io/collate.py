"""Collating: samples to batches, and batches to tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..eager.tensor import Tensor, as_array, wrap
from .making import collate


def default_collate_fn(batch: list[Any]) -> Any:
    """Combine samples into a batch: stack arrays and tensors, collect numbers in an array, recurse into containers.

    Arguments:
        batch: a list of samples of the same structure: arrays, tensors, numbers, strings, or lists, tuples and dicts of
            these.

    Returns:
        The structure of one sample, with a leading batch dimension in each array or tensor.

    Raises:
        TypeError: if a field has another type.
        ValueError: if the shapes of a field differ between samples.

    Examples:
        >>> default_collate_fn([(1, "a"), (2, "b")])
        [array([1, 2]), ['a', 'b']]
    """
    return collate(batch, lambda stacked: wrap(as_array(stacked)))


def default_convert_fn(batch: Any) -> Any:
    """Return a sample unchanged, for loading without batching.

    Arguments:
        batch: the sample.

    Returns:
        The sample.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.io.default_convert_fn([np.ones(2, "float32"), 3])[1]
        3
    """
    return batch


def to_tensors(batch: Any, place: Any = None) -> Any:
    """Return the arrays of a batch as tensors, at a place if one is given."""
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
