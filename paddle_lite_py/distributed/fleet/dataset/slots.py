"""Lines of slots: each holds, for each slot, a count and that many numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .numbers import Numbers, in_pieces, numbers


class SlotValues(NamedTuple):
    """The values of one slot for many instances: one after another, and where each instance begins."""

    values: np.ndarray
    starts: np.ndarray  # one more than there are instances

    def batch(self, rows: np.ndarray, shape: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Instances as one array, padded with zeros where their lengths differ, and these lengths."""
        first, lengths = self.starts[rows], self.starts[rows + 1] - self.starts[rows]
        width = int(lengths.max(initial=0))
        index = first[:, None] + np.arange(width)
        inside = np.arange(width) < lengths[:, None]
        found = np.where(inside, self.values[np.where(inside, index, 0)], 0).astype(self.values.dtype)
        sizes = [n if isinstance(n, int) and n >= 0 else -1 for n in shape[1:]]
        return (found.reshape(len(rows), *sizes) if sizes.count(-1) <= 1 else found), lengths


def parse(
    text: bytes, kinds: Sequence[np.dtype], name: str = "the text", threads: int = 0, slots: Sequence[str] = ()
) -> list[SlotValues]:
    """Return the slots of a text, one for each dtype.

    Arguments:
        name: of the text, for errors.
        threads: how many read; 0: one for each processor.
        slots: their names, for errors.

    Raises:
        ValueError: naming the line and the slot, if one does not hold what its counts say.

    Examples:
        >>> parse(b"1 7 2 0.5 1.5\\n1 8 1 2.5\\n", [np.dtype("int64"), np.dtype("float32")])[1]
        SlotValues(values=array([0.5, 1.5, 2.5], dtype=float32), starts=array([0, 2, 3]))
    """

    def read(piece: bytes, before: int) -> list[SlotValues]:
        try:
            return _slots(numbers(piece), kinds)
        except ValueError as e:
            raise ValueError(f"{name} holds something else than numbers: {e}") from None
        except _Line as e:
            at = before + e.line
            lines = text.split(b"\n", at + 1)
            raise ValueError(
                f"line {at + 1} of {name} does not hold {len(kinds)} slots, each a count and that many numbers, as "
                f"'2 0.1 0.2 1 7' does: {_what(e, len(kinds), slots)}; the line is {_shorten(lines[at])}"
            ) from None

    parts = in_pieces(text, read, threads) or [[SlotValues(np.zeros(0, k), np.zeros(1, np.int64)) for k in kinds]]
    return [join_slots([p[i] for p in parts]) for i in range(len(kinds))]


class _Line(Exception):
    """A line, by its number in the piece, does not hold what its counts say, from a slot on."""

    def __init__(self, line: int, slot: int) -> None:
        super().__init__(line, slot)
        self.line, self.slot = line, slot


def _what(error: _Line, count: int, names: Sequence[str]) -> str:
    if error.slot == count:
        return f"something follows after slot {_slot_name(count - 1, names)}, the last one"
    return f"slot {_slot_name(error.slot, names)} has no count, or another number of values than its count says"


def _slot_name(slot: int, names: Sequence[str]) -> str:
    return f"'{names[slot]}'" if slot < len(names) else str(slot)


def _shorten(line: bytes, most: int = 60) -> str:
    text = line.decode(errors="replace").strip()
    return repr(text if len(text) <= most else text[:most] + "...")


def _slots(found: Numbers, kinds: Sequence[np.dtype]) -> list[SlotValues]:
    lines = np.flatnonzero(found.per_line)
    ends = np.cumsum(found.per_line)[lines]
    at, slots = ends - found.per_line[lines], []
    for i, kind in enumerate(kinds):
        lost = at >= ends
        first = np.where(lost, 0, at)
        counts = found.integers[first] if len(lines) else first
        _check(lost | (found.floats[first] != counts) | (counts < 0) | (at + 1 + counts > ends), lines, i)
        starts = np.concatenate([[0], np.cumsum(counts)])
        index = np.repeat(at + 1 - starts[:-1], counts) + np.arange(starts[-1])
        slots.append(SlotValues((found.integers if kind.kind in "iu" else found.floats)[index].astype(kind), starts))
        at = at + 1 + counts
    _check(at != ends, lines, len(kinds))
    return slots


def _check(wrong: np.ndarray, lines: np.ndarray, slot: int) -> None:
    if wrong.any():
        raise _Line(int(lines[np.argmax(wrong)]), slot)


def join_slots(parts: list[SlotValues]) -> SlotValues:
    """Return the instances of several, one after another."""
    if len(parts) == 1:
        return parts[0]
    counts = np.concatenate([np.diff(p.starts) for p in parts])
    return SlotValues(np.concatenate([p.values for p in parts]), np.concatenate([[0], np.cumsum(counts)]))
