"""Bucketing: sequences of many lengths in few shapes: batches of similar lengths, padded to one of a few bounds.

A compiled program serves one shape. Padding each batch to the longest of its samples would make a new one for almost
every batch; padding all to the longest of all would waste most of the work.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..eager.tensor import Tensor
from .collate import default_collate_fn
from .draw import permutation
from .sampler import Sampler

__all__ = ["BucketBatchSampler", "PadCollate", "bucket_bounds"]


def bucket_bounds(lengths: Sequence[int], count: int = 8, multiple: int = 8) -> list[int]:
    """Compute bounds that divide lengths into groups of about equal size, rounded up to a multiple.

    Arguments:
        lengths: the lengths of the samples.
        count: largest number of groups. Default: 8.
        multiple: bounds are multiples of this number. Default: 8.

    Returns:
        An increasing list of integers.

    Examples:
        >>> bucket_bounds([3, 5, 9, 20, 33], count=2, multiple=4)
        [12, 36]
    """
    if count < 1 or multiple < 1 or not len(lengths):
        raise ValueError(f"bucket_bounds: count is {count}, multiple {multiple}; expected at least 1, and some lengths")
    cuts = np.quantile(np.asarray(lengths), np.arange(1, count + 1) / count, method="higher")
    return sorted({int(-(-c // multiple) * multiple) for c in cuts})


class BucketBatchSampler(Sampler):
    """Batches of samples of similar length, each within one bound.

    Arguments:
        lengths: of the samples, in the order of the data set.
        bounds: the longest length of each bucket, rising; see bucket_bounds(). A sample longer than the last belongs
            to the last.
        batch_size: samples in a batch, or a list with a number for each bucket: fewer of the longer ones.
        shuffle: draw the samples of a bucket, and the order of the batches.
        drop_last: leave out the smaller last batch of each bucket, so that all batches of a bucket have one shape.

    Raises:
        ValueError: if the bounds do not rise, or the batch sizes do not fit them.

    Examples:
        >>> list(BucketBatchSampler([3, 9, 4, 8, 2], bounds=[4, 9], batch_size=2))
        [[0, 2], [4], [1, 3]]
    """

    def __init__(
        self,
        lengths: Sequence[int],
        bounds: Sequence[int],
        batch_size: int | Sequence[int] = 1,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        sizes = [batch_size] * len(bounds) if isinstance(batch_size, int) else list(batch_size)
        if not len(bounds) or any(a >= b for a, b in zip(bounds, bounds[1:], strict=False)):
            raise ValueError(f"BucketBatchSampler: bounds are {list(bounds)}; expected rising numbers")
        if len(sizes) != len(bounds) or any(n < 1 for n in sizes):
            raise ValueError(
                f"BucketBatchSampler: batch sizes {sizes} for {len(bounds)} buckets; expected one for each"
            )
        self.bounds, self.sizes, self.shuffle, self.drop_last = list(bounds), sizes, shuffle, drop_last
        self._buckets: list[list[int]] = [[] for _ in bounds]
        for i, length in enumerate(lengths):
            self._buckets[min(bisect_left(self.bounds, length), len(bounds) - 1)].append(i)

    def _batches(self) -> list[list[int]]:
        found = []
        for bucket, size in zip(self._buckets, self.sizes, strict=True):
            order = [bucket[k] for k in permutation(len(bucket))] if self.shuffle and bucket else bucket
            parts = [order[k : k + size] for k in range(0, len(order), size)]
            found += [p for p in parts if len(p) == size or not self.drop_last]
        return found

    def __iter__(self) -> Iterator[list[int]]:
        found = self._batches()
        return iter([found[k] for k in permutation(len(found))] if self.shuffle and found else found)

    def __len__(self) -> int:
        whole = sum(len(b) // n for b, n in zip(self._buckets, self.sizes, strict=True))
        rest = sum(len(b) % n > 0 for b, n in zip(self._buckets, self.sizes, strict=True))
        return whole if self.drop_last else whole + rest


class PadCollate:
    """Puts samples of different lengths into one batch: arrays are padded along an axis, all else is as usual.

    Padding is part of the data from here on: what must not see it (a mean, a softmax, batch statistics) needs the
    lengths.

    Arguments:
        bounds: lengths to pad to: the least that fits; longer batches are padded to their longest sample.
        pad_value: what fills the end.
        axis: of the sequences, or several: (1, 2) for images [channels, height, width] of many sizes.
        with_lengths: append the true lengths of the first field: int64[batch], or int64[batch, axes] for several axes.

    Examples:
        >>> collate = PadCollate(bounds=[4, 8], with_lengths=True)
        >>> ids, lengths = collate([(np.array([1, 2, 3]),), (np.array([4]),)])
        >>> ids.tolist(), lengths.tolist()
        ([[1, 2, 3, 0], [4, 0, 0, 0]], [3, 1])
        >>> PadCollate(bounds=[4, 8], axis=(1, 2))([np.ones([3, 2, 5]), np.ones([3, 4, 3])]).shape
        (2, 3, 4, 8)
    """

    def __init__(
        self,
        bounds: Sequence[int] = (),
        pad_value: float = 0,
        axis: int | Sequence[int] = 0,
        with_lengths: bool = False,
    ) -> None:
        self.bounds, self.pad_value, self.axis, self.with_lengths = sorted(bounds), pad_value, axis, with_lengths
        self._axes = (axis,) if isinstance(axis, int) else tuple(axis)

    def __call__(self, batch: list[Any]) -> Any:
        first = batch[0]
        if isinstance(first, Mapping):
            out: Any = {k: self._field([sample[k] for sample in batch]) for k in first}
            return out | {"lengths": self._lengths([s[next(iter(first))] for s in batch])} if self.with_lengths else out
        samples = batch if isinstance(first, tuple | list) else [(sample,) for sample in batch]
        fields = [self._field(list(field)) for field in zip(*samples, strict=True)]
        if self.with_lengths:
            fields.append(self._lengths([s[0] for s in samples]))
        return fields if len(fields) > 1 or isinstance(first, tuple | list) else fields[0]

    def _lengths(self, values: list[Any]) -> np.ndarray:
        found = np.array([[np.shape(v)[axis] for axis in self._axes] for v in values], np.int64)
        return found[:, 0] if isinstance(self.axis, int) else found

    def _field(self, values: list[Any]) -> Any:
        arrays = [v.numpy() if isinstance(v, Tensor) else v for v in values]
        if not all(isinstance(a, np.ndarray) and a.ndim > max(self._axes) for a in arrays):
            return default_collate_fn(values)
        longest = {axis: max(a.shape[axis] for a in arrays) for axis in self._axes}
        sizes = {axis: next((b for b in self.bounds if b >= n), n) for axis, n in longest.items()}
        return default_collate_fn([self._padded(a, sizes) for a in arrays])

    def _padded(self, array: np.ndarray, sizes: Mapping[int, int]) -> np.ndarray:
        widths = [(0, sizes.get(axis, n) - n) for axis, n in enumerate(array.shape)]
        return np.pad(array, widths, constant_values=self.pad_value)
