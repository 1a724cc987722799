"""Which row an id has: a hash table that grows by small pieces, so that no insertion waits for the whole.

It is extendible hashing: the first bits of an id's hash choose a segment by the directory, and in the segment it is
looked for from a place on. A segment that is full is split in two, which takes microseconds; when the directory has no
bit to tell the two apart, it doubles. A segment holds 1024 places of 12 bytes and is three quarters full at most.
"""

from __future__ import annotations

import numpy as np

from .compiled import HAS_NUMBA, compiled
from .growing import GrowingArray
from .hashing import PART_BITS, mix, part_of

SLOTS = 1024  # of a segment
FULL = 768
_MASK = np.uint64(SLOTS - 1)
_PLACE = np.uint64(16)  # bits of the hash below those of the directory, above those of the server
_DEPTH, _SEGMENTS, _SIZE = 0, 1, 2  # of the directory in bits; segments in use; ids


# mix() of one number, within compiled loops.
mixed = compiled(mix)


@compiled
def _slot(number, h, first, keys, rows):
    """Where an id is, or where it would be put."""
    at = (h >> _PLACE) & _MASK
    while rows[first + np.int64(at)] >= 0 and keys[first + np.int64(at)] != number:
        at = (at + np.uint64(1)) & _MASK
    return first + np.int64(at)


@compiled
def _find(ids, keys, rows, directory, state, out):
    shift = np.uint64(64 - state[_DEPTH])
    for i in range(len(ids)):
        h = mixed(ids[i])
        out[i] = rows[_slot(ids[i], h, np.int64(directory[h >> shift]) * SLOTS, keys, rows)]


@compiled
def _split(h, segment, keys, rows, directory, depths, counts, state):
    """Give a full segment's ids with the next bit set to a new segment; h is the hash of any of them."""
    new, depth = state[_SEGMENTS], depths[segment] + 1
    state[_SEGMENTS] += 1
    depths[segment] = depths[new] = depth
    first, other = segment * SLOTS, new * SLOTS
    old_keys, old_rows = keys[first : first + SLOTS].copy(), rows[first : first + SLOTS].copy()
    rows[first : first + SLOTS] = -1
    rows[other : other + SLOTS] = -1
    counts[segment] = counts[new] = 0
    for i in range(SLOTS):
        if old_rows[i] >= 0:
            moved = mixed(old_keys[i])
            target = new if (moved >> np.uint64(64 - depth)) & np.uint64(1) else segment
            at = _slot(old_keys[i], moved, target * SLOTS, keys, rows)
            keys[at], rows[at] = old_keys[i], old_rows[i]
            counts[target] += 1
    width = 1 << (state[_DEPTH] - depth)
    begin = (np.int64(h >> np.uint64(64 - depth)) | 1) * width
    directory[begin : begin + width] = new


@compiled
def _place(ids, start, fresh, used, keys, rows, directory, depths, counts, state, out, new_at):
    """Find ids or give them fresh rows, up to the first that needs a split; (how far it came, fresh rows used)."""
    shift = np.uint64(64 - state[_DEPTH])
    for i in range(start, len(ids)):
        h = mixed(ids[i])
        segment = np.int64(directory[h >> shift])
        at = _slot(ids[i], h, segment * SLOTS, keys, rows)
        if rows[at] < 0:
            if counts[segment] >= FULL:
                return i, used
            keys[at], rows[at] = ids[i], fresh[used]
            counts[segment] += 1
            state[_SIZE] += 1
            new_at[used] = i
            used += 1
        out[i] = rows[at]
    return len(ids), used


@compiled
def _remove(ids, keys, rows, directory, counts, state, out):
    """Take ids out; those behind them move up, so that a search still ends at the first free place."""
    shift = np.uint64(64 - state[_DEPTH])
    for i in range(len(ids)):
        h = mixed(ids[i])
        segment = np.int64(directory[h >> shift])
        first = segment * SLOTS
        at = _slot(ids[i], h, first, keys, rows)
        out[i] = rows[at]
        if rows[at] < 0:
            continue
        counts[segment] -= 1
        state[_SIZE] -= 1
        hole = at - first
        after = (hole + 1) % SLOTS
        while rows[first + after] >= 0:
            home = np.int64((mixed(keys[first + after]) >> _PLACE) & _MASK)
            if (after - home) % SLOTS >= (after - hole) % SLOTS:
                keys[first + hole], rows[first + hole] = keys[first + after], rows[first + after]
                hole = after
            after = (after + 1) % SLOTS
        rows[first + hole] = -1


class SegmentedIndex:
    """Ids and their rows, compiled."""

    def __init__(self) -> None:
        start = 1 << PART_BITS  # so that each part of the table has its own segments
        self._keys, self._rows = GrowingArray(start * SLOTS, 0, np.uint64), GrowingArray(start * SLOTS, 0, np.int32)
        self._rows.array[:] = -1
        self._directory = np.arange(start, dtype=np.int32)
        self._depths, self._counts = np.full(start, PART_BITS, np.int64), np.zeros(start, np.int64)
        self._state = np.array([PART_BITS, start, 0], np.int64)

    def __len__(self) -> int:
        return int(self._state[_SIZE])

    def find(self, ids: np.ndarray) -> np.ndarray:
        """Return the row of each id, -1 where there is none."""
        out = np.empty(len(ids), np.int32)
        _find(ids, self._keys.array, self._rows.array, self._directory, self._state, out)
        return out

    def place(self, ids: np.ndarray, fresh: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the row of each id, of the fresh ones in their order where it had none, and which ids got those."""
        out, new_at = np.empty(len(ids), np.int32), np.empty(len(ids), np.int64)
        at, used = 0, 0
        while True:
            at, used = _place(
                ids, at, fresh, used, self._keys.array, self._rows.array, self._directory, self._depths,
                self._counts, self._state, out, new_at,
            )  # fmt: skip
            if at == len(ids):
                return out, new_at[:used]
            self._make_room(ids[at : at + 1])

    def _make_room(self, number: np.ndarray) -> None:
        """Split the segment that an id belongs to."""
        h = mix(number)[0]
        depth, segments, _ = self._state.tolist()
        segment = self._directory[int(h) >> (64 - depth)]
        if self._depths[segment] == depth:
            self._directory = np.repeat(self._directory, 2)
            self._state[_DEPTH] += 1
        if segments == len(self._depths):
            self._keys.grow(2 * segments * SLOTS)
            self._rows.grow(2 * segments * SLOTS)
            self._depths = np.concatenate([self._depths, np.zeros_like(self._depths)])
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
        _split(
            h, np.int64(segment), self._keys.array, self._rows.array, self._directory, self._depths, self._counts,
            self._state,
        )  # fmt: skip

    def remove(self, ids: np.ndarray) -> np.ndarray:
        """Forget ids; the rows that they had, -1 where none."""
        out = np.empty(len(ids), np.int32)
        _remove(ids, self._keys.array, self._rows.array, self._directory, self._counts, self._state, out)
        return out

    def part(self, part: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of one part of the table, and their rows."""
        width = len(self._directory) >> PART_BITS
        segments = np.unique(self._directory[part * width : (part + 1) * width])
        rows = self._rows.array.reshape(-1, SLOTS)[segments]
        there = rows >= 0
        return self._keys.array.reshape(-1, SLOTS)[segments][there], rows[there]


class PlainIndex:
    """Ids and their rows in a dict: for where nothing compiles."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, ids: np.ndarray) -> np.ndarray:
        """Return the row of each id, -1 where there is none."""
        get = self._rows.get
        return np.array([get(i, -1) for i in ids.tolist()], np.int32)

    def place(self, ids: np.ndarray, fresh: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the row of each id, of the fresh ones in their order where it had none, and which ids got those."""
        rows = self._rows
        new_at: list[int] = []
        for i, number in enumerate(ids.tolist()):
            if number not in rows:
                rows[number] = int(fresh[len(new_at)])
                new_at.append(i)
        return self.find(ids), np.array(new_at, np.int64)

    def remove(self, ids: np.ndarray) -> np.ndarray:
        """Forget ids; the rows that they had, -1 where none."""
        return np.array([self._rows.pop(i, -1) for i in ids.tolist()], np.int32)

    def part(self, part: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of one part of the table, and their rows."""
        ids = np.fromiter(self._rows, np.uint64, len(self._rows))
        rows = np.fromiter(self._rows.values(), np.int32, len(self._rows))
        there = part_of(ids) == part
        return ids[there], rows[there]


Index = SegmentedIndex | PlainIndex


def new_index() -> Index:
    """Return an empty index of the faster kind that is there."""
    return SegmentedIndex() if HAS_NUMBA else PlainIndex()
