"""DataLoader: batches of a data set, loaded by processes or threads ahead of their use."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterator
from types import GeneratorType
from typing import Any

from ..core.no_effect import Immaterial, no_effect
from ..core.place import as_place, current, is_host
from . import collate  # noqa: F401  (paddle.io.dataloader.collate)
from .collate import default_collate_fn, default_convert_fn, to_tensors
from .dataset import IterableDataset, TensorDataset
from .draw import worker_seed
from .generator_loader import from_generator
from .making import Loading
from .position import Position
from .processes import Processes, Unfit
from .sampler import BatchSampler
from .worker import END, Workers, get_worker_info, one_ahead

_DataLoaderIterBase = GeneratorType  # what iterating gives


class DataLoader:
    """Iterate over a data set in batches of tensors, with optional worker processes.

    Workers are processes that receive a copy of the data set, including objects defined in the main program: no `if
    __name__ == "__main__"` is needed. They are threads for data sets that cannot be pickled or that have a true
    attribute `in_threads`, and for all data sets with PADDLE_LITE_WORKERS=threads. Without a worker_init_fn the random
    numbers of Python and NumPy in a worker depend only on the batch, not on the number of workers.

    Arguments:
        dataset: a Dataset, an IterableDataset, or any object with __getitem__ and __len__.
        feed_list: in static mode, the variables to feed; with return_list=False a batch is a feed [{name: tensor}].
        places: device of the batches, a place or a list of one; None: the current device.
        return_list: return batches as lists; see feed_list. Default: True.
        batch_sampler: iterable of lists of indices, one for each batch; it replaces batch_size, shuffle and drop_last.
        batch_size: number of samples in a batch; None: no batching, each item is one sample. Default: 1.
        shuffle: draw the samples in random order. Default: False.
        drop_last: drop the last batch if it is smaller than batch_size. Default: False.
        collate_fn: function from a list of samples to a batch; None: default_collate_fn.
        num_workers: number of workers that load batches in advance; 0: load in the main process on demand. Default: 0.
        prefetch_factor: number of batches that each worker loads in advance. Default: 2.
        timeout: seconds to wait for a batch of a worker; 0: no limit. Default: 0.
        worker_init_fn: function that is called with the worker's id when a worker starts.
        persistent_workers: keep the workers alive between epochs. Default: False.

    Raises:
        ValueError: if arguments contradict each other.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> data = paddle.io.TensorDataset([paddle.arange(5)])
        >>> [x.tolist() for x, in paddle.io.DataLoader(data, batch_size=2, num_workers=2)]
        [[0, 1], [2, 3], [4]]
    """

    from_generator = staticmethod(from_generator)

    @no_effect(
        use_buffer_reader=Immaterial("num_workers says whether batches are loaded ahead"),
        reader_buffer_size="prefetch_factor says how many batches each worker is ahead",
        use_shared_memory=Immaterial("batches of workers always come through shared memory"),
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
        self._workers: Any = None
        self._position = Position()
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
        seed, indices = self._position.begin(self._drawn)
        found = self._ahead(seed, indices) if self.num_workers else self._here(indices)
        if self.num_workers and not is_host(device_of(self._place)):
            found = one_ahead(found)
        return self._position.counted(found, self.batch_sampler is None)

    def _drawn(self) -> tuple[int, Iterator[Any] | None]:
        """Return what an epoch draws at its start: a seed for workers, and the order of the samples."""
        seed = worker_seed() if self.num_workers else 0
        if self.batch_sampler is None:
            return seed, None
        batches = iter(self.batch_sampler)  # which may draw only when its first batch is taken
        return seed, itertools.chain([*itertools.islice(batches, 1)], batches)

    # -- where and when --------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """Return the position in the data; after load_state_dict() the next epoch continues with the remaining batches.

        Examples:
            >>> loader = DataLoader(list(range(6)), batch_size=2)
            >>> passing = iter(loader); _ = next(passing); state = loader.state_dict()
            >>> other = DataLoader(list(range(6)), batch_size=2)
            >>> other.load_state_dict(state); [batch.tolist() for batch in other]
            [[2, 3], [4, 5]]
        """
        return self._position.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume at the position that state_dict() returned.

        For a stream, and for a sampler that draws lazily, the earlier batches are read and dropped.

        Arguments:
            state: the dict that state_dict() returned.

        Raises:
            ValueError: if `state` is not such a dict.
        """
        self._position.load_state_dict(state)

    def _here(self, indices: Iterator[Any] | None) -> Iterator[Any]:
        return map(self._batch, self._loading().stream() if indices is None else map(self._load, indices))

    def _ahead(self, seed: int, indices: Iterator[Any] | None) -> Iterator[Any]:
        if not self._threaded():
            try:
                workers = self._kept(Processes) or Processes(
                    self.num_workers, self._loading()._replace(collate_fn=self._own), self.worker_init_fn, seed
                )
            except Unfit:
                self._unfit = True
            else:
                return self._by_processes(workers, indices)
        kept = self._kept(Workers) or Workers(self.num_workers, self.dataset, self.worker_init_fn, seed)
        return self._by_threads(kept, indices)

    _unfit = False  # has turned out not to be one for processes

    def _threaded(self) -> bool:
        asked = getattr(self.dataset, "in_threads", False) or os.environ.get("PADDLE_LITE_WORKERS") == "threads"
        return bool(self._unfit or asked or os.name != "posix")

    def _kept(self, kind: type) -> Any:
        """Return the workers of the last pass, if they are to persist."""
        workers, self._workers = self._workers, None
        if isinstance(workers, kind) and (not isinstance(workers, Processes) or workers.drained()):
            return workers
        return None

    def _by_processes(self, workers: Processes, indices: Iterator[Any] | None) -> Iterator[Any]:
        done = False
        try:
            made = functools.partial(to_tensors, place=self._place)
            first = self._position.skipped if indices is not None else 0
            for batch in workers.run(indices, self.prefetch_factor, self.timeout, made, first):
                yield self._fed(batch)
            done = True
        finally:
            if self._persistent and workers.workers:
                self._workers = workers
            elif done:
                workers.release()
            else:
                workers.close()

    def _by_threads(self, workers: Workers, indices: Iterator[Any] | None) -> Iterator[Any]:
        self._workers = workers if self._persistent else None
        shared = None if indices is None else (functools.partial(self._load, batch) for batch in indices)
        try:
            own = (lambda i: shared) if shared is not None else (lambda i: self._stream_tasks())
            for batch in workers.run(own, self.num_workers * self.prefetch_factor, self.timeout):
                yield self._batch(batch)
        finally:
            if not self._persistent:
                workers.close()

    # -- batches ---------------------------------------------------------------------------------------------------
    @property
    def _own(self) -> Any:
        """The user's collate_fn; None for the default one, which workers have."""
        return None if self.collate_fn is default_collate_fn else self.collate_fn

    def _loading(self) -> Loading:
        info = get_worker_info()
        number = None if info is None else info.id
        return Loading(self.dataset, self.collate_fn, self._single, self.batch_size or 1, self.drop_last, number)

    def _load(self, indices: list[int]) -> Any:
        data = self.dataset
        if self._own is None and not self._single and isinstance(data, TensorDataset) and data.by_rows:
            return data.rows(indices)
        return self._loading().load(indices)

    def _batch(self, batch: Any) -> Any:
        return self._fed(to_tensors(batch, self._place))

    def _fed(self, batch: Any) -> Any:
        return batch if self._feeds is None else [dict(zip(self._feeds, batch, strict=True))]

    def _stream_tasks(self) -> Iterator[Callable[[], Any]]:
        """Tasks that each take the next batch of a stream; the stream begins in the worker that runs the first."""
        stream: list[Iterator[Any]] = []

        def take() -> Any:
            if not stream:
                stream.append(self._loading().stream())
            return next(stream[0], END)

        return itertools.repeat(take)


def device_of(place: Any) -> Any:
    """Return the device of a place, or that of new tensors if there is none."""
    return (current() if place is None else place).device


def _one_place(places: Any) -> Any:
    found = {as_place(p) for p in (places if isinstance(places, list | tuple) else [places]) if p is not None}
    if len(found) > 1:
        raise ValueError(f"DataLoader: places are {places}; expected one device, on which the batches are wanted")
    return next(iter(found), None)
