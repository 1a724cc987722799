"""Data sets: by index, or as streams."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..eager.random import Generator
from ..eager.tensor import Tensor, as_array, wrap
from .draw import split_order


def is_host_memory(payload: Any) -> bool:
    """Whether the array of a tensor can be read by NumPy as it lies there."""
    return isinstance(payload, np.ndarray) or all(d.platform == "cpu" for d in payload.devices())


class Dataset:
    """Base class of map-style data sets: define __getitem__(index) and __len__().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Squares(paddle.io.Dataset):
        ...     def __getitem__(self, index):
        ...         return index * index
        ...     def __len__(self):
        ...         return 4
        >>> [batch.tolist() for batch in paddle.io.DataLoader(Squares(), batch_size=2)]
        [[0, 1], [4, 9]]
    """

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} must define __len__")


class IterableDataset(Dataset):
    """Base class of iterable data sets (streams): define __iter__().

    With several workers, each of them iterates over its own copy; split the samples with get_worker_info().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Count(paddle.io.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(3))
        >>> list(Count())
        [0, 1, 2]
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} must define __iter__")

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError(f"{type(self).__name__} is a stream: iterate over it instead of indexing it")

    def __len__(self) -> int:
        raise TypeError(f"{type(self).__name__} is a stream: it has no length")


class TensorDataset(Dataset):
    """Data set of tensors: sample i is the tuple of row i of each tensor.

    Arguments:
        tensors: tensors with the same first dimension.

    Raises:
        ValueError: if their first dimensions differ.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> data = paddle.io.TensorDataset([paddle.arange(3), paddle.ones([3, 2])])
        >>> len(data), data[1][0].item()
        (3, 1)
    """

    in_threads = True  # its samples are in memory: to send them from another process would take longer

    def __init__(self, tensors: Sequence[Any]) -> None:
        if len({t.shape[0] for t in tensors}) > 1:
            raise ValueError(f"TensorDataset: the first sizes differ: {[t.shape[0] for t in tensors]}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(t[index] for t in self.tensors)

    def rows(self, indices: Sequence[int]) -> list[Any]:
        """Return samples as a batch with one gather, at an eighth of the time of reading them one by one."""
        return [wrap(as_array(np.asarray(t._array("DataLoader"))[list(indices)])) for t in self.tensors]

    @property
    def by_rows(self) -> bool:
        """Whether rows() gives what single samples would: they are in this process's memory, and no subclass's own."""
        own = type(self).__getitem__ is TensorDataset.__getitem__
        return own and all(isinstance(t, Tensor) and is_host_memory(t._payload) for t in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


class ComposeDataset(Dataset):
    """Zip data sets of the same length: a sample is the concatenated fields of all of them.

    Arguments:
        datasets: map-style data sets of the same length.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> data = paddle.io.TensorDataset([paddle.to_tensor([1, 2])])
        >>> len(paddle.io.ComposeDataset([data, data])[0])
        2
    """

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self.datasets = list(datasets)
        if not self.datasets or len({len(d) for d in self.datasets}) > 1:
            raise ValueError(
                f"ComposeDataset: data sets of one length are expected, got {[len(d) for d in self.datasets]}"
            )

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        samples = [d[index] for d in self.datasets]
        return tuple(itertools.chain.from_iterable(s if isinstance(s, tuple | list) else (s,) for s in samples))

    def __len__(self) -> int:
        return len(self.datasets[0])


class ChainDataset(IterableDataset):
    """Chain iterable data sets one after the other.

    Arguments:
        datasets: the iterable data sets.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Count(paddle.io.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(2))
        >>> list(paddle.io.ChainDataset([Count(), Count()]))
        [0, 1, 0, 1]
    """

    def __init__(self, datasets: Iterable[IterableDataset]) -> None:
        self.datasets = list(datasets)
        for i, d in enumerate(self.datasets):
            if not isinstance(d, IterableDataset):
                raise TypeError(f"ChainDataset: datasets[{i}] is a {type(d).__name__}; expected an IterableDataset")

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)


class ConcatDataset(Dataset):
    """Concatenate map-style data sets.

    Arguments:
        datasets: the data sets; at least one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> len(paddle.io.ConcatDataset([[1, 2], [3]]))
        3
    """

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset: at least one data set is expected")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Sequence[Any]) -> list[int]:
        """Return the cumulative lengths."""
        return list(itertools.accumulate(len(d) for d in sequence))

    def __getitem__(self, index: int) -> Any:
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range: the data set has {len(self)} samples")
        index %= len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class Subset(Dataset):
    """Subset of a data set, by indices.

    Arguments:
        dataset: the data set.
        indices: the indices of the samples.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.io.Subset([5, 6, 7], [2])[0]
        7
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset]:
    """Split a data set at random into disjoint subsets.

    Arguments:
        dataset: the data set.
        lengths: sizes of the subsets, or fractions that sum to 1.
        generator: generator of the random permutation; None: the global one.

    Returns:
        A list of Subsets.

    Raises:
        ValueError: if the sizes do not sum to the length of the data set.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [len(part) for part in paddle.io.random_split(list(range(10)), [0.7, 0.3])]
        [7, 3]
    """
    total = len(dataset)
    if any(n < 0 for n in lengths):
        raise ValueError(f"random_split: the lengths are {list(lengths)}; expected numbers of at least 0")
    sizes = _sizes(lengths, total) if math.isclose(sum(lengths), 1) and sum(lengths) <= 1 + 1e-9 else list(lengths)
    if sum(sizes) != total:
        raise ValueError(
            f"random_split: the lengths {list(lengths)} add up to {sum(lengths)}; the data set has {total} samples"
        )
    order = split_order(total, generator)
    ends = list(itertools.accumulate(sizes))
    return [Subset(dataset, order[end - int(n) : end]) for end, n in zip(map(int, ends), sizes, strict=True)]


def _sizes(fractions: Sequence[float], total: int) -> list[int]:
    sizes = [math.floor(total * f) for f in fractions]
    for i in range(total - sum(sizes)):
        sizes[i % len(sizes)] += 1
    return sizes
