"""The log of changes: what was written is read, whatever moment it ended at, and damage is told from an end."""

from __future__ import annotations

import os

import pytest

from paddle_lite_py.distributed.ps.files import StateError
from paddle_lite_py.distributed.ps.log import Log, log_files, read_log


def written(folder, groups):
    """A log of some files, with a record for each text."""
    log = Log(folder, 0, sync=0)
    for group in groups:
        log.rotate()
        for text in group:
            log.append([text.encode(), b"", memoryview(b"tail")])
    log.close()


def texts(folder, after=0):
    return [(number, bytes(frames[0]).decode()) for number, frames in read_log(folder, after)]


def test_records_are_read_from_any_number_on(tmp_path):
    written(tmp_path, [["a", "b"], ["c"], ["d", "e"]])
    assert texts(tmp_path) == [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e")]
    assert texts(tmp_path, 3) == [(4, "d"), (5, "e")]
    assert texts(tmp_path, 5) == []
    assert [bytes(f) for f in next(read_log(tmp_path, 0))[1]] == [b"a", b"", b"tail"]


def test_a_record_that_is_cut_off_anywhere_is_none(tmp_path, capsys):
    written(tmp_path, [["a", "b"]])
    path = log_files(tmp_path)[0][1]
    whole = path.read_bytes()
    for size in range(len(whole) // 2, len(whole)):
        path.write_bytes(whole[:size])
        assert texts(tmp_path) == [(1, "a")]
        assert path.stat().st_size == len(whole) // 2
    log = Log(tmp_path, 1, sync=0)
    log.append([b"c"])
    log.close()
    assert texts(tmp_path) == [(1, "a"), (2, "c")]


def test_damage_before_other_records_is_an_error(tmp_path):
    written(tmp_path, [["a", "b"], ["c"]])
    path = log_files(tmp_path)[0][1]
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    with pytest.raises(StateError, match=f"{path.name}: damaged at byte {len(data) // 2}"):
        texts(tmp_path)
    path.unlink()
    with pytest.raises(StateError, match="the log has no record 1"):
        texts(tmp_path)


@pytest.mark.parametrize("at", [0, 3, 8, 12, 16, 24, 40])
def test_a_flipped_bit_in_the_middle_is_no_torn_tail(tmp_path, at):
    """Whatever it hits: the number, the length, the code, or the data."""
    written(tmp_path, [["a", "b", "c", "d"]])
    path = log_files(tmp_path)[0][1]
    whole = path.read_bytes()
    size = len(whole) // 4
    for bit in range(8):
        data = bytearray(whole)
        data[size + at] ^= 1 << bit
        path.write_bytes(data)
        with pytest.raises(StateError, match=f"damaged at byte {size}.*go on from a copy.*truncate -s {size} {path}"):
            texts(tmp_path)
        assert path.read_bytes() == data  # nothing is cut off
    os.truncate(path, size)
    assert texts(tmp_path) == [(1, "a")]


def test_a_tail_that_was_not_filled_is_cut_off(tmp_path):
    """What a machine leaves that loses its power: room for a record, and zeros in it."""
    written(tmp_path, [["a"]])
    path = log_files(tmp_path)[0][1]
    size = path.stat().st_size
    os.truncate(path, size + 4096)
    assert texts(tmp_path) == [(1, "a")] and path.stat().st_size == size


def test_what_cannot_be_written_is_not_there(tmp_path):
    log = Log(tmp_path, 0, sync=0)
    log.append([b"a"])
    file = log._file
    log._file = os.open(log_files(tmp_path)[0][1], os.O_RDONLY)  # as a disk that takes nothing
    with pytest.raises(OSError, match="the change was not made"):
        log.append([b"b"])
    os.close(log._file)
    log._file, log._broken = file, None
    log.append([b"c"])
    log.close()
    assert texts(tmp_path) == [(1, "a"), (2, "c")]
