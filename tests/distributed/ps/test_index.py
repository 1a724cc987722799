"""The index of a table: a dict of ids and rows, whatever its form."""

from __future__ import annotations

import numpy as np
import pytest

from paddle_lite_py.distributed.ps.compiled import HAS_NUMBA
from paddle_lite_py.distributed.ps.growing import GrowingArray
from paddle_lite_py.distributed.ps.hashing import PARTS
from paddle_lite_py.distributed.ps.index import PlainIndex, SegmentedIndex
from paddle_lite_py.distributed.ps.rows import RowStore
from paddle_lite_py.distributed.ps.sums import distinct, sum_rows

needs_numba = pytest.mark.skipif(not HAS_NUMBA, reason="loops are not compiled")


def parts_of(index) -> dict[int, int]:
    """All ids and rows, from the parts."""
    found: dict[int, int] = {}
    for part in range(PARTS):
        ids, rows = index.part(part)
        assert not found.keys() & set(ids.tolist())
        found.update(zip(ids.tolist(), rows.tolist(), strict=True))
    return found


@needs_numba
def test_both_kinds_do_the_same_while_they_grow_and_shrink():
    rng = np.random.default_rng(0)
    fast, plain = SegmentedIndex(), PlainIndex()
    used = 0
    for _ in range(40):
        ids = rng.integers(0, 300_000, 6000).astype(np.uint64)  # with repeats: a foreign client may send them
        fresh = np.arange(used, used + len(ids), dtype=np.int32)
        (rows, new_at), (expected, expected_at) = fast.place(ids, fresh), plain.place(ids, fresh)
        assert np.array_equal(rows, expected)
        assert np.array_equal(new_at, expected_at)
        used += len(new_at)
        gone = rng.integers(0, 300_000, 1500).astype(np.uint64)
        assert np.array_equal(fast.remove(gone), plain.remove(gone))
        asked = rng.integers(0, 300_000, 5000).astype(np.uint64)
        assert np.array_equal(fast.find(asked), plain.find(asked))
        assert len(fast) == len(plain)
    assert len(fast) > 64 * 768  # so segments were split
    assert parts_of(fast) == parts_of(plain)


@pytest.mark.parametrize("kind", [PlainIndex, pytest.param(SegmentedIndex, marks=needs_numba)])
def test_every_id_of_64_bits_is_one(kind):
    index = kind()
    ids = np.array([0, 1, 2**63, 2**64 - 1], np.uint64)
    index.place(ids, np.arange(4, dtype=np.int32))
    assert index.find(ids[::-1]).tolist() == [3, 2, 1, 0]
    assert index.remove(ids[:2]).tolist() == [0, 1]
    assert index.find(ids).tolist() == [-1, -1, 2, 3]


def test_rows_of_removed_ids_are_used_again():
    rows = RowStore(2)
    ids = np.arange(5000, dtype=np.uint64)
    rows.place(ids)
    before = rows.bytes
    for _ in range(5):
        rows.remove(ids[:3000])
        assert len(rows) == 2000
        at, new_at = rows.place(ids)
        assert sorted(at.tolist()) == list(range(5000))
        assert len(new_at) == 3000
    assert rows.bytes == before


@pytest.mark.parametrize("held", [False, True])
def test_an_array_keeps_its_numbers_when_it_grows(held):
    array = GrowingArray(10, 3, np.float32)
    array.array[:] = np.arange(30).reshape(10, 3)
    view = array.array[:2] if held else None
    array.grow(100_000)
    assert np.array_equal(array.array[:10], np.arange(30).reshape(10, 3))
    assert not array.array[10:].any()
    assert view is None or view[1, 2] == 5


def test_distinct_ids_and_their_sums():
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 50, 400).astype(np.uint64)
    values = rng.integers(0, 9, (400, 3)).astype(np.float32)
    unique, inverse, counts = distinct(ids)
    first = list(dict.fromkeys(ids.tolist()))
    assert unique.tolist() == first
    assert np.array_equal(unique[inverse], ids)
    assert counts.tolist() == [ids.tolist().count(i) for i in first]
    expected = [values[ids == i].sum(axis=0).tolist() for i in first]
    assert sum_rows(values, inverse, len(unique)).tolist() == expected


def test_no_ids_at_all():
    unique, inverse, counts = distinct(np.empty(0, np.uint64))
    assert [len(unique), len(inverse), len(counts)] == [0, 0, 0]
