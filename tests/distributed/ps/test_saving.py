"""Tables in files, written and read by different numbers of servers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from paddle_lite_py.distributed import ps
from parameter_servers import clients

IDS = np.arange(500)
COUNTED = ps.SparseConfig("words", 3, ps.Rule("adam", 0.1), "normal", {"kind": "count_filter", "count": 2})
BIAS = ps.DenseConfig("bias", (2, 3), ps.Rule("adagrad", 0.1))


def fill(client: ps.Client) -> None:
    client.create(COUNTED)
    client.create(BIAS)
    train(client)


def train(client: ps.Client) -> None:
    for ids in (IDS[:400], IDS[200:]):
        client.push_sparse("words", ids, np.full((len(ids), 3), 0.5))
    client.push_dense("bias", np.ones((2, 3)))


def contents(client: ps.Client) -> list[np.ndarray]:
    return [client.pull_sparse("words", IDS), client.pull_dense("bias")]


@pytest.mark.parametrize("readers", [1, 2, 3])
def test_any_number_of_servers_reads_and_goes_on_to_the_same(tmp_path, readers):
    with clients(2) as client:
        fill(client)
        client.save(tmp_path)
        train(client)
        expected, rows = contents(client), client.stats()["words"]["rows"]
    with clients(readers) as client:
        client.load(tmp_path)
        train(client)
        assert client.stats()["words"]["rows"] == rows
        assert all(np.array_equal(a, b) for a, b in zip(contents(client), expected, strict=True))


def test_files_are_read_by_numpy(tmp_path):
    with clients() as client:
        fill(client)
        client.save(tmp_path)
        weights = client.pull_sparse("words", IDS)
    [file] = [
        t["file"] for t in json.loads((tmp_path / "tables.json").read_text())["tables"] if "columns" in t["config"]
    ]
    with np.load(tmp_path / file) as arrays:
        rows = {i: v for p in range(64) for i, v in zip(arrays[f"{p}.ids"], arrays[f"{p}.values"], strict=True)}
    assert len(rows) == 200
    assert all(np.array_equal(values[:3], weights[i]) for i, values in rows.items())


def test_a_save_replaces_the_one_before_as_a_whole(tmp_path):
    with clients(2) as client:
        fill(client)
        client.save(tmp_path)
        first = {path.name for path in tmp_path.iterdir()}
        client.save(tmp_path)
        second = {path.name for path in tmp_path.iterdir()}
        assert first & second == {"tables.json"}
        assert len(first) == len(second) == 4


def test_loading_replaces_what_is_there_for_good(tmp_path):
    with clients(folder=str(tmp_path / "state")) as client:
        fill(client)
        before = contents(client)
        client.save(tmp_path / "saved")
        train(client)
        client.load(tmp_path / "saved")
        assert all(np.array_equal(a, b) for a, b in zip(contents(client), before, strict=True))
    with clients(folder=str(tmp_path / "state")) as client:
        assert all(np.array_equal(a, b) for a, b in zip(contents(client), before, strict=True))


OTHERS = {
    "has columns 4, the saved one 3": ps.SparseConfig("words", 4, COUNTED.rule),
    "is trained by sgd, the saved one by adam": ps.SparseConfig("words", 3),
    "has kind dense, the saved one sparse": ps.DenseConfig("words", (3,)),
    "has statistics": ps.SparseConfig("words", 3, COUNTED.rule, delete_threshold=1.0),
}


@pytest.mark.parametrize("said", OTHERS)
def test_a_table_that_is_another_one(tmp_path, said):
    with clients() as client:
        fill(client)
        client.save(tmp_path)
    with clients() as client:
        client.create(OTHERS[said])
        with pytest.raises(ValueError, match=said.replace("has statistics", "only one of .* has statistics")):
            client.load(tmp_path)


def test_damaged_saves_leave_the_tables_as_they_were(tmp_path):
    with clients() as client:
        with pytest.raises(ValueError, match=r"tables.json cannot be read"):
            client.load(tmp_path)
        fill(client)
        client.save(tmp_path)
        train(client)
        before = contents(client)
        path = max(tmp_path.glob("table-*"), key=lambda path: path.stat().st_size)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        with pytest.raises(ValueError, match=f"{path.name} cannot be read"):
            client.load(tmp_path)
        assert all(np.array_equal(a, b) for a, b in zip(contents(client), before, strict=True))


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with clients(2) as client:
        fill(client)
        with pytest.raises(OSError, match="file"):
            client.save(tmp_path / "file")


def test_servers_may_save_in_one_folder_only(tmp_path):
    (tmp_path / "saves").mkdir()
    (tmp_path / "saves" / "link").symlink_to(tmp_path)
    with clients(2, saves=str(tmp_path / "saves")) as client:
        fill(client)
        for folder in (tmp_path / "other", tmp_path / "saves" / ".." / "other", tmp_path / "saves" / "link" / "other"):
            with pytest.raises(PermissionError, match="is outside of .*saves, where this server's clients may save"):
                client.save(folder)
        client.save(tmp_path / "saves" / "one")
        client.load(tmp_path / "saves" / "one")
    assert not (tmp_path / "other").exists()
