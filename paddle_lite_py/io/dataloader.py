"""DataLoader: batches of a data set, loaded by threads ahead of their use."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from types import GeneratorType
from typing import Any

from ..core.no_effect import Immaterial, no_effect
from ..core.place import as_place
from . import collate  # noqa: F401  (paddle.io.dataloader.collate)
from .collate import default_collate_fn, default_convert_fn, to_tensors
from .dataset import IterableDataset
from .draw import source
from .sampler import BatchSampler, batches
from .worker import END, Workers, get_worker_info

_DataLoaderIterBase = GeneratorType  # what iterating gives


class DataLoader:
    """Iterates over a data set in batches of tensors.

    Arguments:
        dataset: a Dataset, an IterableDataset, or anything with __getitem__ and __len__.
        batch_sampler: gives the indices of each batch, instead of batch_size, shuffle and drop_last.
        batch_size: samples in a batch; None: single samples, not batched.
        shuffle: in random order.
        drop_last: leave out a last batch that is smaller.
        collate_fn: function of a list of samples that makes the batch.
        num_workers: threads that load batches ahead; 0: they are loaded when they are asked for.
        prefetch_factor: batches that each worker is ahead.
        timeout: seconds to wait for a batch of a worker; 0: as long as it takes.
        worker_init_fn: called with the worker's id when it starts.
        feed_list, return_list: with the data of a static program and False, a batch is a feed, [{name: tensor}].
        places: the device of the batches, or a list of one.
        persistent_workers: keep the workers from one pass over the data to the next.

    Raises:
        ValueError: if arguments contradict each other.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> data = paddle.io.TensorDataset([paddle.arange(5)])
        >>> [x.tolist() for x, in paddle.io.DataLoader(data, batch_size=2, num_workers=2)]
        [[0, 1], [2, 3], [4]]
    """

    @no_effect(
        use_buffer_reader=Immaterial("num_workers says whether batches are loaded ahead"),
        reader_buffer_size="prefetch_factor says how many batches each worker is ahead",
        use_shared_memory=Immaterial("workers are threads, which share all memory"),
    )
    def __init__(
        self,
        dataset: Any,
        feed_list: Any = None,
        places: Any = None,
        return_list: bool = True,
        batch_sampler: Any = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        reader_buffer_size: int = 2,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        if num_workers < 0 or timeout < 0 or prefetch_factor < 1:
            raise ValueError(
                f"DataLoader: num_workers {num_workers}, timeout {timeout} and prefetch_factor {prefetch_factor} "
                "must be at least 0, 0 and 1"
            )
        self.dataset, self.num_workers, self.prefetch_factor = dataset, num_workers, prefetch_factor
        self.timeout, self.worker_init_fn = timeout, worker_init_fn
        self._place, self._persistent = _one_place(places), persistent_workers
        self._workers: Workers | None = None
        self.batch_size, self.drop_last, self.return_list = batch_size, drop_last, return_list
        self._feeds = None if return_list or feed_list is None else [f.name for f in feed_list]
        self._single = batch_size is None and batch_sampler is None
        self.batch_sampler = self._sampler(batch_sampler, shuffle)
        self.collate_fn = collate_fn or (default_convert_fn if self._single else default_collate_fn)

    def _sampler(self, given: Any, shuffle: bool) -> Any:
        stream = isinstance(self.dataset, IterableDataset)
        if stream and (shuffle or given is not None):
            raise ValueError(
                "DataLoader: an IterableDataset is taken in its own order; shuffle and batch_sampler do not go with it"
            )
        if given is not None:
            if self.batch_size != 1 or shuffle or self.drop_last:
                raise ValueError("DataLoader: batch_size, shuffle and drop_last do not go with a batch_sampler")
            self.batch_size = None
            return given
        if self.batch_size is not None and (not isinstance(self.batch_size, int) or self.batch_size < 1):
            raise ValueError(
                f"DataLoader: batch_size is {self.batch_size!r}; expected an integer of at least 1, or None"
            )
        if stream:
            return None
        if not hasattr(self.dataset, "__getitem__") or not hasattr(self.dataset, "__len__"):
            raise TypeError(f"DataLoader: dataset is a {type(self.dataset).__name__}; it needs __getitem__ and __len__")
        return BatchSampler(
            dataset=self.dataset, batch_size=self.batch_size or 1, shuffle=shuffle, drop_last=self.drop_last
        )

    def __len__(self) -> int:
        if self.batch_sampler is None:
            raise TypeError("the length of an IterableDataset, and so of its DataLoader, is not known")
        return len(self.batch_sampler)

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers:
            return self._ahead()
        tasks = self._tasks() if self.batch_sampler is not None else self._stream_tasks()
        return (self._batch(batch) for batch in itertools.takewhile(lambda b: b is not END, (task() for task in tasks)))

    def _ahead(self) -> Iterator[Any]:
        workers = self._workers or Workers(
            self.num_workers, self.dataset, self.worker_init_fn, int(source().random() * 2**31)
        )
        self._workers = workers if self._persistent else None
        shared = self._tasks() if self.batch_sampler is not None else None
        try:
            own = (lambda i: shared) if shared is not None else (lambda i: self._stream_tasks())
            for batch in workers.run(own, self.num_workers * self.prefetch_factor, self.timeout):
                yield self._batch(batch)
        finally:
            if not self._persistent:
                workers.close()

    def _batch(self, batch: Any) -> Any:
        found = to_tensors(batch, self._place)
        return found if self._feeds is None else [dict(zip(self._feeds, found, strict=True))]

    def _tasks(self) -> Iterator[Callable[[], Any]]:
        return (functools.partial(self._load, indices) for indices in self.batch_sampler)

    def _load(self, indices: list[int]) -> Any:
        samples = []
        for i in indices:
            try:
                samples.append(self.dataset[i])
            except Exception as e:
                e.add_note(f"while loading sample {i} of {type(self.dataset).__name__}{_in_worker()}")
                raise
        return self._collate(samples, f"samples {indices}")

    def _collate(self, samples: list[Any], what: str) -> Any:
        if self._single:
            return self.collate_fn(samples[0])
        try:
            return self.collate_fn(samples)
        except Exception as e:
            e.add_note(f"while batching {what} of {type(self.dataset).__name__}{_in_worker()}")
            raise

    def _stream_tasks(self) -> Iterator[Callable[[], Any]]:
        """Tasks that each take the next batch of a stream; the stream begins in the worker that runs the first."""
        stream: list[Iterator[Any]] = []

        def take() -> Any:
            if not stream:
                stream.append(batches(self.dataset, self.batch_size or 1, self.drop_last))
            samples = next(stream[0], None)
            return END if samples is None else self._collate(samples, "the next samples")

        return itertools.repeat(take)


def _one_place(places: Any) -> Any:
    found = {as_place(p) for p in (places if isinstance(places, list | tuple) else [places]) if p is not None}
    if len(found) > 1:
        raise ValueError(f"DataLoader: places are {places}; expected one device, on which the batches are wanted")
    return next(iter(found), None)


def _in_worker() -> str:
    info = get_worker_info()
    return "" if info is None else f" in worker {info.id}"
