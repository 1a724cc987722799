"""Readers of old programs: functions that give iterators."""

from __future__ import annotations

import pytest

from paddle_lite_py import reader


def test_readers():
    def numbers():
        return iter(range(7))

    assert list(reader.batch(numbers, 3, drop_last=True)()) == [[0, 1, 2], [3, 4, 5]]
    assert sorted(reader.shuffle(numbers, 4)()) == list(range(7))
    assert list(reader.firstn(reader.chain(numbers, numbers), 9)()) == [*range(7), 0, 1]
    assert list(reader.buffered(numbers, 3)()) == list(range(7))
    assert list(reader.compose(numbers, numbers)())[1] == (1, 1)
    with pytest.raises(reader.ComposeNotAligned, match="reader 1 ends before another one"):
        list(reader.compose(numbers, reader.firstn(numbers, 2))())
