"""Samplers: in which order, and in which batches, samples are taken."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.processes import world
from .dataset import IterableDataset
from .draw import permutation, source, split_order
from .making import batches


class Sampler:
    """Base class of samplers: define __iter__(), which yields indices, and __len__().

    Arguments:
        data_source: the data set to sample from.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Backwards(paddle.io.Sampler):
        ...     def __iter__(self):
        ...         return iter(range(len(self.data_source))[::-1])
        ...     def __len__(self):
        ...         return len(self.data_source)
        >>> list(Backwards([4, 5, 6]))
        [2, 1, 0]
    """

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} must define __iter__")

    def __len__(self) -> int:
        return len(self.data_source)


class SequenceSampler(Sampler):
    """Yield the indices 0, 1, ..., len - 1 in order.

    Arguments:
        data_source: the data set. Default: None.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> list(paddle.io.SequenceSampler([7, 8, 9]))
        [0, 1, 2]
    """

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))


# Programs that count steps and not epochs draw 10**10 indices: more than a few are drawn in parts, when they are read.
_AT_ONCE, _PART = 1 << 20, 1 << 16


class RandomSampler(Sampler):
    """Yield indices in random order.

    Arguments:
        data_source: the data set.
        replacement: draw with replacement. Default: False.
        num_samples: number of indices; None: the length of the data set.
        generator: a random generator, or an iterator of indices; None: the global generator.

    Raises:
        ValueError: if num_samples exceeds the length of the data set without replacement.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> sorted(paddle.io.RandomSampler([7, 8, 9]))
        [0, 1, 2]
    """

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        super().__init__(data_source)
        if num_samples is not None and (num_samples <= 0 or not (replacement or num_samples <= len(data_source))):
            raise ValueError(
                f"RandomSampler: num_samples is {num_samples}; expected 1 to {len(data_source)}, or replacement=True"
            )
        self.replacement, self.generator, self._num_samples = replacement, generator, num_samples

    @property
    def num_samples(self) -> int:
        """Number of indices of one iteration."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        if isinstance(self.generator, Iterator):
            return itertools.islice(self.generator, self.num_samples)
        if self.replacement:
            draw, n, size = source(self.generator), len(self.data_source), self.num_samples
            if size <= _AT_ONCE:
                return iter(draw.choice(n, size).tolist())
            parts = (draw.choice(n, min(_PART, size - at)).tolist() for at in range(0, size, _PART))
            return itertools.chain.from_iterable(parts)
        return iter(permutation(len(self.data_source), self.generator)[: self.num_samples])

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Yield the given indices in random order.

    Arguments:
        indices: the indices.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> sorted(paddle.io.SubsetRandomSampler([4, 2]))
        [2, 4]
    """

    def __init__(self, indices: Sequence[int]) -> None:
        if not len(indices):
            raise ValueError("SubsetRandomSampler: indices are empty")
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        return (self.indices[i] for i in split_order(len(self.indices)))

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Yield indices with probabilities proportional to weights.

    Arguments:
        weights: non-negative weight of each index; a matrix is sampled row by row.
        num_samples: number of indices to draw.
        replacement: draw with replacement. Default: True.

    Raises:
        ValueError: if a weight is negative, or num_samples exceeds the number of positive weights without replacement.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> list(paddle.io.WeightedRandomSampler([0.0, 1.0], 3))
        [1, 1, 1]
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        found = np.asarray(weights, np.float64)
        if found.ndim not in (1, 2) or not (found >= 0).all() or not found.sum(-1).all() or np.isinf(found).any():
            raise ValueError("WeightedRandomSampler: weights must be rows of numbers of at least 0, not all 0")
        most = int(np.count_nonzero(found, axis=-1).min())
        if not replacement and num_samples > most:
            raise ValueError(f"WeightedRandomSampler: {num_samples} samples without replacement of {most} weights")
        self.weights, self.num_samples, self.replacement = found, num_samples, replacement

    def __iter__(self) -> Iterator[int]:
        rows = np.atleast_2d(self.weights)
        drawn = [
            source().choice(len(row), self.num_samples, self.replacement, row / row.sum()).tolist() for row in rows
        ]
        return iter(itertools.chain.from_iterable(drawn))

    def __len__(self) -> int:
        return self.num_samples * len(np.atleast_2d(self.weights))


class BatchSampler(Sampler):
    """Yield lists of batch_size indices.

    Arguments:
        dataset: data set whose indices are batched; give either dataset or sampler.
        sampler: sampler whose indices are batched.
        shuffle: with `dataset`, draw the indices in random order. Default: False.
        batch_size: number of indices in a batch. Default: 1.
        drop_last: drop the last batch if it is smaller than batch_size. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> list(paddle.io.BatchSampler(dataset=range(5), batch_size=2))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        dataset: Any = None,
        sampler: Any = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        if (dataset is None) == (sampler is None):
            raise ValueError("BatchSampler: one of dataset and sampler must be given, and not both")
        if isinstance(dataset, IterableDataset):
            raise TypeError("BatchSampler: an IterableDataset has no indices")
        if sampler is not None and shuffle:
            raise ValueError("BatchSampler: shuffle=True is for a dataset; the order of a sampler is its own")
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size <= 0:
            raise ValueError(f"BatchSampler: batch_size is {batch_size!r}; expected an integer of at least 1")
        self.sampler = sampler or (RandomSampler(dataset) if shuffle else SequenceSampler(dataset))
        self.batch_size, self.drop_last, self.shuffle = batch_size, drop_last, shuffle

    def __iter__(self) -> Iterator[list[int]]:
        return batches(self.sampler, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        n = len(self.sampler)
        return n // self.batch_size if self.drop_last else math.ceil(n / self.batch_size)


class DistributedBatchSampler(BatchSampler):
    """Yield the batches of one process in distributed training; all processes receive the same number of samples.

    Arguments:
        dataset: the data set.
        batch_size: number of indices in a batch of one process.
        num_replicas: number of processes; None: that of the environment.
        rank: number of this process; None: that of the environment.
        shuffle: shuffle in an order that depends only on the epoch, so that all processes agree; call set_epoch().
            Default: False.
        drop_last: drop the last batch if it is smaller than batch_size. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> list(paddle.io.DistributedBatchSampler(range(4), 2, num_replicas=2, rank=0))
        [[0, 1]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        super().__init__(dataset=dataset, batch_size=batch_size, drop_last=drop_last)
        self.nranks = world().size if num_replicas is None else num_replicas
        self.local_rank = world().rank if rank is None else rank
        if not 0 <= self.local_rank < self.nranks:
            raise ValueError(f"DistributedBatchSampler: rank is {self.local_rank}; expected 0 to {self.nranks - 1}")
        self.dataset, self.shuffle, self.epoch = dataset, shuffle, 0
        self.num_samples = math.ceil(len(dataset) / self.nranks)
        self.total_size = self.num_samples * self.nranks

    def __iter__(self) -> Iterator[list[int]]:
        order = np.arange(len(self.dataset)).tolist()
        order += order[: self.total_size - len(order)]
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(order)
            self.epoch += 1
        return batches(self._own(order), self.batch_size, self.drop_last)

    def _own(self, order: list[int]) -> list[int]:
        """This process's part: every nranks-th batch, and its share of what is left."""
        if self.nranks == 1:
            return order
        step = self.batch_size * self.nranks
        left = len(order) % step
        share, whole = left // self.nranks, len(order) - left
        own = [
            i
            for start in range(self.local_rank * self.batch_size, whole, step)
            for i in order[start : start + self.batch_size]
        ]
        return own + order[whole:][self.local_rank * share : (self.local_rank + 1) * share]

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, which is the seed of the shuffle."""
        self.epoch = epoch

    def __len__(self) -> int:
        n = self.num_samples
        return n // self.batch_size if self.drop_last else math.ceil(n / self.batch_size)
