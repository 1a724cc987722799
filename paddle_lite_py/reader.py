"""Readers: functions without arguments that give an iterator of samples, and what is made of them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .core.argument_docs import document as _document
from .core.no_effect import Immaterial, no_effect

__all__ = ["batch", "buffered", "cache", "chain", "compose", "firstn", "map_readers", "shuffle", "xmap_readers"]

Reader = Callable[[], Iterator[Any]]


def batch(reader: Reader, batch_size: int, drop_last: bool = False) -> Reader:
    """Lists of batch_size samples.

    Examples:
        >>> list(batch(lambda: iter(range(5)), 2)())
        [[0, 1], [2, 3], [4]]
    """
    if int(batch_size) <= 0:
        raise ValueError(f"batch: batch_size is {batch_size}; expected a positive number")

    def batches() -> Iterator[Any]:
        samples = iter(reader())
        while found := list(itertools.islice(samples, int(batch_size))):
            if len(found) == batch_size or not drop_last:
                yield found

    return batches


def _ahead(tasks: Iterator[Callable[[], Any]], count: int, size: int) -> Iterator[Any]:
    """Results of tasks in order, `size` of them under way at a time."""
    with ThreadPoolExecutor(count) as pool:
        waiting = [pool.submit(t) for t in itertools.islice(tasks, size)]
        while waiting:
            yield waiting.pop(0).result()
            waiting += [pool.submit(t) for t in itertools.islice(tasks, 1)]


_END = object()


def buffered(reader: Reader, size: int) -> Reader:
    """Return the samples, up to `size` of them read ahead in a thread.

    Examples:
        >>> list(buffered(lambda: iter(range(3)), 2)())
        [0, 1, 2]
    """

    def read() -> Iterator[Any]:
        samples = iter(reader())
        ahead = _ahead(itertools.repeat(lambda: next(samples, _END)), 1, max(1, size))
        yield from itertools.takewhile(lambda s: s is not _END, ahead)

    return read


@no_effect(order=Immaterial("the order is always kept"))
def xmap_readers(
    mapper: Callable[[Any], Any], reader: Reader, process_num: int, buffer_size: int, order: bool = False
) -> Reader:
    """mapper(sample) of each sample, by several threads; the order is always kept.

    Examples:
        >>> list(xmap_readers(lambda x: x * 2, lambda: iter(range(3)), 2, 4)())
        [0, 2, 4]
    """

    def read() -> Iterator[Any]:
        return _ahead((functools.partial(mapper, s) for s in reader()), process_num, max(1, buffer_size))

    return read


def map_readers(func: Callable[..., Any], *readers: Reader) -> Reader:
    """func of one sample of each reader.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> def numbers():
        ...     return iter([1, 2, 3])
        >>> list(paddle.reader.map_readers(lambda a: a * 2, numbers)())
        [2, 4, 6]
    """
    return lambda: map(func, *[r() for r in readers])


def chain(*readers: Reader) -> Reader:
    """Return the samples of one reader after those of another.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> def numbers():
        ...     return iter([1, 2, 3])
        >>> list(paddle.reader.chain(numbers, numbers)())
        [1, 2, 3, 1, 2, 3]
    """
    return lambda: itertools.chain(*[r() for r in readers])


def firstn(reader: Reader, n: int) -> Reader:
    """Return the first n samples.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> def numbers():
        ...     return iter([1, 2, 3])
        >>> list(paddle.reader.firstn(numbers, 2)())
        [1, 2]
    """
    return lambda: itertools.islice(reader(), n)


def cache(reader: Reader) -> Reader:
    """Return the samples, read once and kept.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> def numbers():
        ...     return iter([1, 2, 3])
        >>> list(paddle.reader.cache(numbers)())
        [1, 2, 3]
    """
    kept = list(reader())
    return lambda: iter(kept)


def shuffle(reader: Reader, buf_size: int) -> Reader:
    """Yield the samples, in random order within stretches of buf_size.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> def numbers():
        ...     return iter([1, 2, 3])
        >>> sorted(paddle.reader.shuffle(numbers, 2)())
        [1, 2, 3]
    """
    from .eager.random import host_draw

    def read() -> Iterator[Any]:
        for found in batch(reader, buf_size)():
            for i in host_draw().permutation(len(found)):
                yield found[i]

    return read


class ComposeNotAligned(ValueError):
    """Readers that are composed have different numbers of samples."""


def compose(*readers: Reader, check_alignment: bool = True) -> Reader:
    """Tuples of one sample of each reader.

    Raises:
        ComposeNotAligned: when read, if check_alignment and one reader ends before another; a ValueError.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> def numbers():
        ...     return iter([1, 2, 3])
        >>> list(paddle.reader.compose(numbers, numbers)())
        [(1, 1), (2, 2), (3, 3)]
    """

    def flat(sample: Any) -> tuple[Any, ...]:
        return sample if isinstance(sample, tuple) else (sample,)

    def read() -> Iterator[Any]:
        ended = object()
        for samples in itertools.zip_longest(*[r() for r in readers], fillvalue=ended):
            short = [i for i, sample in enumerate(samples) if sample is ended]
            if short and check_alignment:
                raise ComposeNotAligned(f"reader {short[0]} ends before another one")
            if short:
                return
            yield tuple(itertools.chain(*map(flat, samples)))

    return read


_document(globals())
