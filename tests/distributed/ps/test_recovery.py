"""A server that ends at any moment comes back as it was, and does no change twice."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections import OrderedDict

import numpy as np
import pytest

from paddle_lite_py.distributed import ps
from paddle_lite_py.distributed.ps.config import to_json
from paddle_lite_py.distributed.ps.files import StateError
from paddle_lite_py.distributed.ps.hashing import PARTS
from paddle_lite_py.distributed.ps.recovery import Recovery
from paddle_lite_py.distributed.ps.tables import Tables
from paddle_lite_py.distributed.ps.wire import pack, unpack
from parameter_servers import ServerProcess, client_of, serving

ADAM = ps.Rule("adam", 0.1)
CONFIGS = [
    ps.SparseConfig("plain", 2, ADAM, "normal"),
    ps.SparseConfig("counted", 2, ADAM, "normal", {"kind": "count_filter", "count": 2}, delete_after_unseen_days=2),
    ps.SparseConfig("drawn", 2, ADAM, "normal", {"kind": "probability", "probability": 0.5}, memory_rows=64),
    ps.DenseConfig("dense", (3,), ADAM),
]


def change(rng: np.random.Generator) -> tuple[dict, list]:
    """Some change of some table."""
    config = CONFIGS[rng.integers(len(CONFIGS))]
    if isinstance(config, ps.DenseConfig):
        return {"op": "push_dense", "table": config.name}, [rng.normal(size=3).astype("float32")]
    if rng.random() < 0.1:
        return {"op": "shrink", "table": config.name}, []
    ids = np.unique(rng.integers(0, 400, 60)).astype(np.uint64)
    counts = [np.ones(len(ids), np.float32), np.zeros(len(ids), np.float32)] if config.wants_counts else []
    return {"op": "push_sparse", "table": config.name}, [ids, rng.normal(size=(len(ids), 2)).astype("float32"), *counts]


def contents(tables: Tables) -> dict:
    """All rows of all tables by id, with what waits for a row."""
    found: dict = {}
    for name, table in tables.all.items():
        for part in range(PARTS if name != "dense" else 1):
            held = table.part(part)
            for keys, values in (("ids", "values"), ("counted_ids", "counted")):
                if values in held:
                    ids = held.get(keys, np.zeros(1)).tolist()
                    found |= {(name, values, i): row.tobytes() for i, row in zip(ids, held[values], strict=True)}
    return found


class Life:
    """A server's tables and their recovery, without a network."""

    def __init__(self, folder, snapshot_bytes: int) -> None:
        self.tables, self.last = Tables(), OrderedDict()
        self.recovery = Recovery(str(folder), 0, snapshot_bytes)
        self.recovery.restore(self.tables, self.last)

    def make(self, number: int, header: dict, arrays: list) -> None:
        """Make a change, as a server does."""
        frames = pack({**header, "session": "s", "seq": number}, arrays)
        header, arrays = unpack(frames)
        self.tables.check(header, arrays)
        self.tables.make_room(header, arrays)
        self.recovery.record(frames)
        self.last["s"] = (number, self.tables.apply(header, arrays)[0])
        self.recovery.step(self.tables, self.last)


def test_it_comes_back_as_it_was_at_any_moment(tmp_path):
    rng, moments = np.random.default_rng(0), random.Random(0)
    life = Life(tmp_path / "first", snapshot_bytes=20_000)
    for number, config in enumerate(CONFIGS, 1):
        life.make(number, {"op": "create", "config": to_json(config)}, [])
    snapshots = set()
    for number in range(len(CONFIGS) + 1, 300):
        life.make(number, *change(rng))
        if moments.random() < 0.1:
            copy = tmp_path / f"at-{number}"
            life.recovery._writer.submit(int).result()  # nothing is renamed while the files are copied
            shutil.copytree(tmp_path / "first", copy)
            again = Life(copy, snapshot_bytes=20_000)
            assert again.last == life.last
            assert contents(again.tables) == contents(life.tables)
            snapshots |= {path.name for path in copy.glob("snapshot-*")}
            again.recovery.close()
    life.recovery.close()
    assert len({name.split("-")[1] for name in snapshots}) > 3


def test_a_barrier_that_was_passed_is_not_waited_for_again(tmp_path):
    with serving(folder=str(tmp_path)) as endpoints, client_of(endpoints) as client:
        client.barrier()
        seq, session = client._channel._seq, client._channel._session
    with serving(folder=str(tmp_path)) as endpoints:
        with client_of(endpoints, workers=1) as client, client._channel.numbered(session, seq - 1):
            client.barrier()


def test_the_end_of_a_server_is_no_loss(tmp_path):
    with serving(folder=str(tmp_path)) as endpoints, client_of(endpoints) as client:
        client.create(CONFIGS[0])
        client.push_sparse("plain", [1], np.ones((1, 2)))
        before = client.pull_sparse("plain", [1])
    with serving(folder=str(tmp_path)) as endpoints, client_of(endpoints) as client:
        assert np.array_equal(client.pull_sparse("plain", [1]), before)


def test_a_folder_is_of_one_server(tmp_path):
    with serving(folder=str(tmp_path)), pytest.raises(OSError, match="is in use by another server"):
        ps.Server(folder=str(tmp_path))


@pytest.mark.parametrize("file", ["state.json", "snapshot-1-0.npz"])
def test_damaged_state_is_told(tmp_path, file):
    life = Life(tmp_path, snapshot_bytes=1 << 30)
    life.make(1, {"op": "create", "config": to_json(CONFIGS[0])}, [])
    life.make(2, {"op": "push_sparse", "table": "plain"}, [np.uint64([1, 2]), np.ones((2, 2), np.float32)])
    life.recovery.snapshot(life.tables, life.last)
    life.recovery.close()
    path = tmp_path / file
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(StateError, match=file):
        Life(tmp_path, snapshot_bytes=1 << 30)


def test_a_server_that_stands_still_is_no_hang():
    with ServerProcess() as server, client_of([server.endpoint]) as patient:
        patient.create(CONFIGS[0])
        os.kill(server.process.pid, signal.SIGSTOP)
        with client_of([server.endpoint], timeout=0.5) as client:
            with pytest.raises(ps.ServerGone, match=f"{server.endpoint} .* has not answered describe plain for 0.5 s"):
                client.pull_sparse("plain", [1])
        os.kill(server.process.pid, signal.SIGCONT)
        assert patient.pull_sparse("plain", [1]).shape == (1, 2)


def test_a_full_disk_refuses_changes_and_keeps_what_was_there(tmp_path):
    ids = np.arange(100)
    with ServerProcess("--folder", str(tmp_path), file_bytes=100_000) as server, client_of([server.endpoint]) as client:
        client.create(ps.SparseConfig("t", 8, ps.Rule("sgd", -1.0)))
        done = 0
        with pytest.raises(OSError, match=f"{server.endpoint}: .*the change was not made"):
            for done in range(100):  # noqa: B007
                client.push_sparse("t", ids, np.ones((100, 8)))
        assert done > 10
        assert np.array_equal(client.pull_sparse("t", ids), np.full((100, 8), done))
        server.kill()
        server.start()
        server.ready()
        assert np.array_equal(client.pull_sparse("t", ids), np.full((100, 8), done))


def test_a_full_disk_loses_no_rows(tmp_path):
    with ServerProcess(file_bytes=400_000) as server, client_of([server.endpoint]) as client:
        client.create(ps.SparseConfig("t", 8, ps.Rule("sgd", -1.0), memory_rows=1000, folder=str(tmp_path)))
        done = 0
        with pytest.raises(OSError, match=f"{server.endpoint}: rows cannot be kept on disk"):
            for done in range(90):  # noqa: B007
                client.push_sparse("t", np.arange(300) + 300 * done, np.ones((300, 8)))
        assert done > 5
        for n in range(done):  # of each push one row, for which memory still has room
            assert np.array_equal(client.pull_sparse("t", [300 * n]), np.ones((1, 8))), n
