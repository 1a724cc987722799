"""Records of many files for many processes: each is seen once an epoch, whatever is begun again."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddle_lite_py as paddle
from paddle_lite_py.distributed import RecordStream, RecordWriter

COUNTS = (7, 0, 12, 30)
ALL = list(range(sum(COUNTS)))


def written(folder):
    urls, start = [], 0
    for i, count in enumerate(COUNTS):
        urls.append(f"{folder}/part-{i}")
        with RecordWriter(urls[-1]) as writer:
            for n in range(start, start + count):
                writer.write(b"%d" % n + b"." * (n % 5))
        start += count
    return urls


def number(record):
    return int(record.rstrip(b"."))


def streams(urls, count, **more):
    more = {"batch_size": 3, "block": 4, "window": 2, "decode": number, **more}
    return [RecordStream(urls, rank=r, world_size=count, **more) for r in range(count)]


@pytest.fixture(scope="module")
def urls(tmp_path_factory):
    return written(tmp_path_factory.mktemp("records"))


def test_each_record_goes_to_one_process(urls):
    orders = []
    for count in (1, 2, 5):
        for epoch in range(2):
            each = streams(urls, count)
            for s in each:
                s.set_epoch(epoch)
            found = [list(s) for s in each]
            assert sorted(n for own in found for n in own) == ALL
            assert all(s.epoch == epoch + 1 and s.position == 0 for s in each)
            orders.append(found[0])
    assert orders[0] != orders[1] and orders[0] != ALL
    assert list(streams(urls, 1, shuffle=False)[0]) == ALL


def test_a_new_start_with_another_number_of_processes_goes_on(urls):
    seen, state = [], None
    for count, steps in ((2, 3), (3, 2), (1, 1), (4, 99)):
        each = streams(urls, count)
        for s in each:
            if state is not None:
                s.load_state_dict(state)
        running = [s.batches() for s in each]
        for _ in range(steps):
            taken = [next(r, []) for r in running]
            seen += [n for batch in taken for n in batch]
        state = each[0].state_dict()
        assert all(s.state_dict() == state for s in each)
    assert sorted(seen) == ALL and state["epoch"] == 1 and state["position"] == 0


def test_a_loader_makes_batches_of_it(urls):
    loader = paddle.io.DataLoader(streams(urls, 2)[1], batch_size=4)
    assert all(batch.shape[0] <= 4 for batch in loader)


def test_urls_are_read_by_fsspec():
    pytest.importorskip("fsspec")
    (stream,) = streams(written("memory://records"), 1)
    assert sorted(stream) == ALL


def test_what_is_damaged_is_named(urls, tmp_path):
    broken = tmp_path / "broken"
    data = bytearray(Path(urls[2]).read_bytes())
    broken.write_bytes(data[:-3])
    with pytest.raises(ValueError, match="broken is no file of records, or was cut off"):
        RecordStream([str(broken)])
    data[30] ^= 1
    broken.write_bytes(data)
    with pytest.raises(ValueError, match=r"broken: record \d is damaged"):
        list(RecordStream([str(broken)]))
    with pytest.raises(ValueError, match="the state is of 49 records, and there are 7"):
        RecordStream(urls[:1]).load_state_dict(RecordStream(urls).state_dict())
    with pytest.raises(ValueError, match="batch_size is 0"):
        RecordStream(urls, batch_size=0)
    with pytest.raises(RuntimeError), RecordWriter(str(tmp_path / "half")) as writer:
        writer.write(b"x")
        raise RuntimeError
    assert not (tmp_path / "half").exists()
