"""Samples to batches, and batches to tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..eager.tensor import Tensor, as_array, wrap


def default_collate_fn(batch: list[Any]) -> Any:
    """Samples as one batch: arrays and tensors stacked, numbers as an array, containers field by field.

    Raises:
        TypeError: if a field is none of these.
        ValueError: if the shapes of a field differ between samples.

    Examples:
        >>> default_collate_fn([(1, "a"), (2, "b")])
        [array([1, 2]), ['a', 'b']]
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return wrap(as_array(_stack([np.asarray(t._array("DataLoader")) for t in batch])))
    if isinstance(first, np.ndarray):
        return _stack(batch)
    if isinstance(first, int | float | np.number | np.bool_):
        return np.array(batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate_fn([sample[key] for sample in batch]) for key in first}
    if isinstance(first, tuple | list):
        if len({len(sample) for sample in batch}) > 1:
            raise ValueError(
                f"the samples of a batch have {sorted({len(s) for s in batch})} fields; expected the same number"
            )
        return [default_collate_fn(list(field)) for field in zip(*batch, strict=True)]
    raise TypeError(
        f"a sample holds a {type(first).__name__}, which cannot be batched; give the DataLoader a collate_fn"
    )


def _stack(arrays: list[Any]) -> np.ndarray:
    shapes = {a.shape for a in arrays}
    if len(shapes) > 1:
        raise ValueError(
            f"the samples of a batch have the shapes {sorted(shapes)}; expected one: pad them, or give a collate_fn"
        )
    return np.stack(arrays)


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
