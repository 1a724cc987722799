"""Loaders of the first programs: batches of a Python generator, `DataLoader.from_generator()`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.arrays import as_array
from ..core.interpreter import state
from ..core.no_effect import Immaterial, no_effect
from ..eager.tensor import Tensor, wrap

Reader = Callable[[], Iterator[Any]]
_AT_ONCE = Immaterial("batches are made when they are asked for")
_PLACED = Immaterial("XLA places them")
_ONE_DEVICE = Immaterial("a batch is for one device")


class GeneratorLoader:
    """Gives batches of a generator; made by `DataLoader.from_generator()`.

    Arguments:
        names: of the data of a static program that take the fields; None: there are none.
        return_list: lists in a static program, where its dicts are the default.

    Examples:
        >>> loader = GeneratorLoader(None, True).set_sample_generator(lambda: iter([[1.0], [3.0]]), 2)
        >>> [batch[0].tolist() for batch in loader]
        [[1.0, 3.0]]
    """

    def __init__(self, names: list[str] | None, return_list: bool) -> None:
        self._names, self._return_list = names, return_list
        self._batches: Callable[[], Iterator[Any]] | None = None

    @no_effect(places=_PLACED)
    def set_sample_generator(
        self, reader: Reader, batch_size: int, drop_last: bool = True, places: Any = None
    ) -> GeneratorLoader:
        """Take samples, a list of fields each, and make batches of them.

        Arguments:
            reader: function that returns an iterator over samples.
            batch_size: number of samples of a batch.
            drop_last: leave out a last batch that is not full. Default: True.

        Returns:
            The loader itself.
        """
        if batch_size < 1:
            raise ValueError(f"set_sample_generator: batch_size is {batch_size}; expected a positive number")

        def lists() -> Iterator[Any]:
            samples = reader()
            while part := list(itertools.islice(samples, batch_size)):
                if len(part) == batch_size or not drop_last:
                    yield part

        return self.set_sample_list_generator(lists)

    @no_effect(places=_PLACED)
    def set_sample_list_generator(self, reader: Reader, places: Any = None) -> GeneratorLoader:
        """Take lists of samples, and make a batch of each.

        Arguments:
            reader: function that returns an iterator over lists of samples.

        Returns:
            The loader itself.
        """

        def stacked() -> Iterator[Any]:
            for samples in reader():
                yield [np.stack(field) for field in zip(*[map(np.asarray, _fields(s)) for s in samples], strict=True)]

        return self.set_batch_generator(stacked)

    @no_effect(places=_PLACED)
    def set_batch_generator(self, reader: Reader, places: Any = None) -> GeneratorLoader:
        """Take batches as they are: an array or a tensor for each field.

        Arguments:
            reader: function that returns an iterator over batches.

        Returns:
            The loader itself.
        """
        self._batches = reader
        return self

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        if self._batches is None:
            raise ValueError(
                "DataLoader.from_generator: the loader has no generator; call set_sample_generator(), "
                "set_sample_list_generator() or set_batch_generator() first"
            )
        for fields in self._batches():
            tensors = [v if isinstance(v, Tensor) else wrap(as_array(np.asarray(v))) for v in _fields(fields)]
            if state.interpreter.is_eager:
                yield tensors
            elif self._return_list:
                yield [tensors]
            else:
                yield [self._fed(tensors)]

    def _fed(self, tensors: list[Tensor]) -> dict[str, Tensor]:
        if self._names is None or len(self._names) != len(tensors):
            raise ValueError(
                f"DataLoader.from_generator: the generator gives {len(tensors)} fields; feed_list has "
                f"{len(self._names or ())}"
            )
        return dict(zip(self._names, tensors, strict=True))


def _fields(sample: Any) -> Sequence[Any]:
    return sample if isinstance(sample, list | tuple) else (sample,)


@no_effect(capacity=_AT_ONCE, use_double_buffer=_AT_ONCE, use_multiprocess=_AT_ONCE, drop_last=_ONE_DEVICE)
def from_generator(
    feed_list: Sequence[Any] | None = None,
    capacity: int | None = None,
    use_double_buffer: bool = True,
    iterable: bool = True,
    return_list: bool = False,
    use_multiprocess: bool = False,
    drop_last: bool = True,
) -> GeneratorLoader:
    """Return a loader of the batches of a generator, which one of its methods takes.

    Arguments:
        feed_list: data of a static program, in the order of the fields.
        return_list: lists in a static program; dicts, to feed, are the default.

    Raises:
        NotImplementedError: `iterable=False`, where the program itself reads the loader.

    Examples:
        >>> loader = from_generator().set_batch_generator(lambda: iter([[[1.0]], [[2.0]]]))
        >>> [batch[0].tolist() for batch in loader()]
        [[1.0], [2.0]]
    """
    if not iterable:
        raise NotImplementedError(
            "DataLoader.from_generator(iterable=False): programs do not read loaders here; go over the loader, and "
            "feed what it gives: exe.run(feed=batch)"
        )
    return GeneratorLoader(None if feed_list is None else [v.name for v in feed_list], return_list)
