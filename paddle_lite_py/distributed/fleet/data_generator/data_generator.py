"""Writers of slots: a program of the user's that a data set runs as its `pipe_command`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

__all__ = ["DataGenerator", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator"]

# One instance: names of slots, each with its values.
Sample = Sequence[tuple[str, Sequence[Any]]]


class DataGenerator:
    """Lines of raw data in, lines of slots out; generate_sample() is the user's.

    Examples:
        >>> import io, sys
        >>> class Words(MultiSlotDataGenerator):
        ...     def generate_sample(self, line):
        ...         def samples():
        ...             label, *words = map(int, line.split())
        ...             yield [("words", words), ("label", [label])]
        ...         return samples
        >>> before, sys.stdin = sys.stdin, io.StringIO("1 1926 8 17\\n0 3\\n")
        >>> Words().run_from_stdin()
        3 1926 8 17 1 1
        1 3 1 0
        >>> sys.stdin = before
    """

    def __init__(self) -> None:
        self._proto_info: list[tuple[str, str]] | None = None
        self.batch_size_ = 32

    def set_batch(self, batch_size: int) -> None:
        """Set the number of samples that generate_batch() is given at a time."""
        self.batch_size_ = batch_size

    def generate_sample(self, line: Any) -> Callable[[], Iterable[Sample | None]]:
        """To be written by the user: a function that gives the samples of a line, [(slot, values), ...] each.

        Arguments:
            line: a line of the raw data; None in run_from_memory().
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no generate_sample(line): give a function that yields [(slot, values), ...]"
        )

    def generate_batch(self, samples: list[Any]) -> Callable[[], Iterable[Sample]]:
        """Return a function that gives the samples of a batch; the user's own may pad them to one length."""
        return lambda: iter(samples)

    def run_from_stdin(self) -> None:
        """Write the slots of each line that comes from outside."""
        self._write(sample for line in sys.stdin for sample in self.generate_sample(line)())

    def run_from_memory(self) -> None:
        """Write the slots of what generate_sample(None) gives."""
        self._write(self.generate_sample(None)())

    def _write(self, samples: Iterable[Any]) -> None:
        for batch in _batches((s for s in samples if s is not None), self.batch_size_):
            sys.stdout.writelines(self._gen_str(sample) for sample in self.generate_batch(batch)())

    def _gen_str(self, line: Any) -> str:
        """Return a sample as a line of text."""
        raise NotImplementedError("DataGenerator writes no lines; inherit from MultiSlotDataGenerator")


class MultiSlotStringDataGenerator(DataGenerator):
    """Generator of samples whose slots are strings, which are not checked; faster than MultiSlotDataGenerator.

    Examples:
        >>> MultiSlotStringDataGenerator()._gen_str([("words", ["1926", "08"]), ("label", ["1"])])
        '2 1926 08 1 1\\n'
    """

    def _gen_str(self, line: Any) -> str:
        return " ".join(" ".join([str(len(values)), *values]) for _, values in _sample(line)) + "\n"


class MultiSlotDataGenerator(DataGenerator):
    """Generator of samples with slots of numbers; all samples must have the slots of the first one.

    Raises:
        ValueError: naming the slot, if a sample has others, or a value that is no number, or none.

    Examples:
        >>> MultiSlotDataGenerator()._gen_str([("words", [1926, 8]), ("label", [1])])
        '2 1926 8 1 1\\n'
    """

    def _gen_str(self, line: Any) -> str:
        line = _sample(line)
        kinds = [(name, self._kind(name, values)) for name, values in line]
        known = self._proto_info or kinds
        if [name for name, _ in known] != [name for name, _ in kinds]:
            raise ValueError(
                f"{type(self).__name__}: a sample has the slots {[name for name, _ in kinds]}, the first one had "
                f"{[name for name, _ in known]}; give all samples the same slots in one order"
            )
        # A slot that has held a float once is one of floats.
        self._proto_info = [
            (name, "float" if "float" in (kind, now) else kind)
            for (name, kind), (_, now) in zip(known, kinds, strict=True)
        ]
        return " ".join(" ".join(map(str, [len(values), *values])) for _, values in line) + "\n"

    def _kind(self, name: Any, values: Any) -> str:
        if not isinstance(name, str) or not isinstance(values, list) or not values:
            raise ValueError(
                f"{type(self).__name__}: slot {name!r} has {values!r}; expected a name and a list of numbers that "
                "is not empty: pad it, with 0 say"
            )
        if wrong := [v for v in values if not isinstance(v, int | float)]:
            raise ValueError(f"{type(self).__name__}: slot '{name}' holds {wrong[0]!r}; expected int or float")
        return "float" if any(isinstance(v, float) for v in values) else "uint64"


def _sample(line: Any) -> Any:
    if isinstance(line, zip):
        line = list(line)
    if not isinstance(line, list | tuple):
        raise ValueError(
            f"generate_sample: a sample is a {type(line).__name__}; expected a list or tuple of (slot, values), "
            "such as [('words', [1926, 8, 17]), ('label', [1])]"
        )
    return line


def _batches(samples: Iterable[Any], size: int) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for sample in samples:
        batch.append(sample)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
