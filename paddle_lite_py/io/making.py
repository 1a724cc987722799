"""How samples become batches. This file stands alone, since worker processes start without the package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np


def batches(indices: Iterable[Any], batch_size: int, drop_last: bool) -> Iterator[list[Any]]:
    """Lists of batch_size items."""
    it = iter(indices)
    while batch := list(islice(it, batch_size)):
        if len(batch) == batch_size or not drop_last:
            yield batch


def collate(batch: list[Any], tensor: Callable[[np.ndarray], Any] | None = None) -> Any:
    """Samples as one batch: arrays and tensors stacked, numbers as an array, containers field by field.

    Arguments:
        tensor: makes a tensor of the array of stacked tensors, if such a one is wanted.
    """
    first = batch[0]
    if isinstance(first, np.ndarray):
        return stack(batch)
    if isinstance(first, int | float | np.number | np.bool_):
        return np.array(batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return {key: _field(batch, key, tensor) for key in first}
    if isinstance(first, tuple | list):
        if len({len(sample) for sample in batch}) > 1:
            sizes = [len(sample) for sample in batch]
            raise ValueError(
                f"the samples of a batch have {sorted(set(sizes))} fields; expected the same number{_odd(sizes)}"
            )
        return [_field(batch, i, tensor) for i in range(len(first))]
    if hasattr(first, "_array"):  # a tensor
        stacked = stack([np.asarray(t._array("DataLoader")) for t in batch])
        return stacked if tensor is None else tensor(stacked)
    raise TypeError(
        f"a sample holds a {type(first).__name__}, which cannot be batched; give the DataLoader a collate_fn"
    )


def _field(batch: list[Any], key: Any, tensor: Any) -> Any:
    try:
        return collate([sample[key] for sample in batch], tensor)
    except Exception as e:
        e.add_note(f"in the field {key!r} of the samples")
        raise


def stack(arrays: list[Any]) -> np.ndarray:
    """Arrays of one shape as one."""
    if not all(isinstance(a, np.ndarray) for a in arrays):
        kinds = [type(a).__name__ for a in arrays]
        raise TypeError(f"the samples of a batch hold {sorted(set(kinds))}; expected one kind{_odd(kinds)}")
    shapes = [a.shape for a in arrays]
    if len(set(shapes)) > 1:
        raise ValueError(
            f"the samples of a batch have the shapes {sorted(set(shapes))}; expected one: pad them, or give a "
            f"collate_fn{_odd(shapes)}"
        )
    return np.stack(arrays)


def _odd(kinds: list[Any]) -> str:
    """Which samples of a batch are unlike most of it."""
    usual = max(kinds, key=kinds.count)
    other = [i for i, k in enumerate(kinds) if k != usual]
    return f". Unlike the others: {', '.join(f'number {i} ({kinds[i]})' for i in other[:5])} of the batch"


class Loading(NamedTuple):
    """How batches are made."""

    dataset: Any
    collate_fn: Callable[[list[Any]], Any] | None  # None: collate
    single: bool  # samples as they are, not batched
    batch_size: int
    drop_last: bool
    worker: int | None = None

    def load(self, indices: list[int]) -> Any:
        """Return the batch of some samples of a data set by index."""
        samples = []
        for i in indices:
            try:
                samples.append(self.dataset[i])
            except Exception as e:
                e.add_note(f"while loading sample {i} of {type(self.dataset).__name__}{self._where()}")
                raise
        return self._batch(samples, f"samples {list(indices)}")

    def stream(self) -> Iterator[Any]:
        """Yield the batches of a data set that is a stream."""
        samples, count = iter(self.dataset), 0
        while True:
            try:
                batch = list(islice(samples, self.batch_size))
            except Exception as e:
                e.add_note(f"while reading on after {count} samples of {type(self.dataset).__name__}{self._where()}")
                raise
            if not batch or (len(batch) < self.batch_size and self.drop_last):
                return
            count += len(batch)
            yield self._batch(batch, "the next samples")

    def _batch(self, samples: list[Any], what: str) -> Any:
        function = self.collate_fn or collate
        try:
            return function(samples[0] if self.single else samples)
        except Exception as e:
            e.add_note(f"while batching {what} of {type(self.dataset).__name__}{self._where()}")
            raise

    def _where(self) -> str:
        return "" if self.worker is None else f" in worker {self.worker}"
