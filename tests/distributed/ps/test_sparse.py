"""Sparse tables without a network: first values, who gets a row, for how long, and rows on disk."""

from __future__ import annotations

import numpy as np
import pytest

from paddle_lite_py.distributed.ps.config import Rule, SparseConfig
from paddle_lite_py.distributed.ps.hashing import PARTS, first_values, part_of, shard_of
from paddle_lite_py.distributed.ps.sparse import Push, SparseTable

IDS = np.array([3, 5, 8], np.uint64)


def push(table: SparseTable, ids=IDS, value=1.0, shows=None, clicks=None, seq=0) -> None:
    """Push one gradient to all ids."""
    ids = np.asarray(ids, np.uint64)
    gradients = np.full((len(ids), table.config.columns), value, np.float32)
    shows = np.ones(len(ids), np.float32) if shows is None else np.asarray(shows, np.float32)
    clicks = np.zeros(len(ids), np.float32) if clicks is None else np.asarray(clicks, np.float32)
    table.push(Push(ids, gradients, shows, clicks, None, (0, seq)))


def test_first_values_depend_on_seed_and_id():
    ids = np.arange(20_000, dtype=np.uint64)
    uniform = first_values(ids, 4, 7, {"kind": "uniform", "bound": 0.5})
    assert np.array_equal(first_values(ids[::-1], 4, 7, {"kind": "uniform", "bound": 0.5})[::-1], uniform)
    assert not np.array_equal(first_values(ids, 4, 8, {"kind": "uniform", "bound": 0.5}), uniform)
    assert -0.5 <= uniform.min() < -0.499 < 0.499 < uniform.max() < 0.5
    assert abs(uniform.mean()) < 0.005
    normal = first_values(ids, 4, 7, {"kind": "normal", "std": 2.0})
    assert normal.std() == pytest.approx(2.0, rel=0.01)
    assert abs(normal.mean()) < 0.03
    assert np.abs(np.corrcoef(np.hstack([uniform, normal]).T) - np.eye(8)).max() < 0.05


def test_ids_are_spread_evenly():
    ids = np.arange(60_000, dtype=np.uint64)
    for counts in (np.bincount(shard_of(ids, 3)), np.bincount(part_of(ids), minlength=PARTS)):
        assert counts.max() < 1.15 * counts.mean()


def test_a_row_is_there_from_first_sight():
    table = SparseTable(SparseConfig("t", 2, Rule("sgd", 1.0), initializer=3.0))
    assert table.pull(IDS).tolist() == [[3, 3]] * 3
    push(table, [5, 9])
    assert table.pull(np.array([5, 9, 3], np.uint64)).tolist() == [[2, 2], [2, 2], [3, 3]]
    assert len(table) == 4


def test_count_filter():
    table = SparseTable(SparseConfig("t", 1, Rule("sgd", 1.0), 3.0, entry={"kind": "count_filter", "count": 3}))
    assert table.pull(IDS).tolist() == [[0]] * 3
    push(table, shows=[1, 2, 3])
    assert table.pull(IDS).tolist() == [[0], [0], [3]]
    push(table)
    assert table.pull(IDS).tolist() == [[0], [3], [2]]
    push(table)
    assert table.pull(IDS).tolist() == [[3], [2], [1]]
    assert table.stats()["waiting"] == 0


def test_probability():
    config = SparseConfig("t", 1, Rule("sgd", 1.0), 3.0, entry={"kind": "probability", "probability": 0.25})
    table, ids, rows = SparseTable(config), np.arange(8000, dtype=np.uint64), []
    for seq in range(1, 4):
        push(table, ids, seq=seq)
        rows.append(len(table))
    assert np.allclose(rows, [8000 * (1 - 0.75**n) for n in (1, 2, 3)], rtol=0.05)
    again = SparseTable(config)
    push(again, ids, seq=1)
    assert len(again) == rows[0]


def test_show_click():
    entry = {"kind": "show_click", "nonclk_coeff": 0.5, "click_coeff": 2.0, "threshold": 3.0}
    table = SparseTable(SparseConfig("t", 1, Rule("sgd", 1.0), 3.0, entry=entry, delete_threshold=2.0, decay=0.5))
    push(table, shows=[4, 6, 2], clicks=[0, 0, 2])  # scores 2, 3, 4
    assert table.pull(IDS).tolist() == [[0], [3], [3]]
    assert table.shrink() == 1  # the scores of the two rows are now 1.5 and 2
    assert table.pull(IDS).tolist() == [[0], [0], [3]]


def test_rows_that_are_not_seen_are_deleted():
    table = SparseTable(SparseConfig("t", 1, initializer=1.0, delete_after_unseen_days=1))
    push(table)
    assert table.shrink() == 0
    push(table, IDS[:1])
    assert table.shrink() == 2
    assert len(table) == 1
    assert table.shrink() == 1


def test_shrink_leaves_tables_without_statistics():
    table = SparseTable(SparseConfig("t", 1))
    push(table)
    assert table.shrink() == 0
    assert len(table) == 3


@pytest.mark.parametrize("entry", [None, {"kind": "count_filter", "count": 2}])
def test_rows_on_disk_are_the_same_rows(entry, tmp_path):
    rng = np.random.default_rng(0)
    settings = {"columns": 3, "rule": Rule("adam", 0.1), "initializer": "normal", "entry": entry}
    settings["delete_after_unseen_days"] = 2
    whole = SparseTable(SparseConfig("t", **settings))
    limited = SparseTable(SparseConfig("t", memory_rows=500, folder=str(tmp_path), **settings))
    for step in range(40):
        ids = np.unique(rng.zipf(1.2, 400) % 5000).astype(np.uint64)
        limited.rows.make_room(len(ids))
        assert np.array_equal(whole.pull(ids), limited.pull(ids))
        for table in (whole, limited):
            push(table, ids, step - 20.0)
        if step % 10 == 9:
            assert whole.shrink() == limited.shrink()
        assert len(whole) == len(limited)
    assert len(limited) > 1000
    limited.rows.make_room(1)
    assert limited.stats()["bytes"] < whole.stats()["bytes"] / 2
    for part in range(PARTS):
        ones, others = whole.part(part), limited.part(part)
        order, other_order = np.argsort(ones["ids"]), np.argsort(others["ids"])
        assert np.array_equal(ones["ids"][order], others["ids"][other_order])
        assert np.array_equal(ones["values"][order], others["values"][other_order])
    assert not list(tmp_path.iterdir())  # nothing to clean up after a kill


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"columns": 0}, "columns is 0"),
        ({"columns": 2, "initializer": "ones"}, "initializer is 'ones'"),
        ({"columns": 2, "initializer": {"kind": "uniform", "std": 1.0}}, "no number 'std'"),
        ({"columns": 2, "entry": {"kind": "count_filter"}}, "count is None"),
        ({"columns": 2, "entry": 3}, "entry is"),
        ({"columns": 2, "decay": 1.5}, "decay is 1.5"),
        ({"columns": 2, "seed": -1}, "seed is -1"),
        ({"columns": 2, "memory_rows": 0}, "memory_rows is 0"),
    ],
)
def test_configs_that_cannot_be(settings, said):
    with pytest.raises(ValueError, match=said):
        SparseConfig("t", **settings)
