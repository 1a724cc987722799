"""How workers keep step, each a thread with connections of its own to servers that are there."""

from __future__ import annotations

import io

import numpy as np
import pytest

from paddle_lite_py.distributed import ps
from paddle_lite_py.distributed.fleet.dataset.shuffling import spread
from paddle_lite_py.distributed.fleet.dataset.slots import SlotValues
from paddle_lite_py.distributed.fleet.peers import PeerError, Peers, packed, unpacked
from paddle_lite_py.distributed.fleet.places import WORKER, ServedPlace
from paddle_lite_py.distributed.fleet.served.geo import Geo
from paddle_lite_py.distributed.fleet.served.modes import Asynchronous, Synchronous
from paddle_lite_py.distributed.fleet.served.step import Gradients, IdRows, mean, merged
from parameter_servers import client_of, serving
from serving_workers import RULE, TABLE, places, rows, step, together


def test_rows_are_merged():
    ones = np.ones(2, np.float32)
    parts = [
        IdRows(np.array([5, 1]), np.ones([2, 1]), ones, ones),
        IdRows(np.array([5]), np.ones([1, 1]), ones[:1], 0 * ones[:1]),
    ]
    both = merged(parts)
    assert both.ids.tolist() == [1, 5] and both.values.tolist() == [[1], [2]] and both.clicks.tolist() == [1, 1]
    halves = mean([step([1, 2], 2.0, 4.0), step([2], 4.0, 8.0)])
    assert halves.sparse["t"].values[:, 0].tolist() == [1, 3] and halves.dense.tolist() == [6] * 3


def test_peers_exchange():
    peers = [Peers(p, "secret") for p in places(3)]
    parts = [[{"n": np.arange(200_000) + 10 * i + r} for r in range(3)] for i in range(3)]
    found = together(*[lambda i=i: peers[i].exchange(parts[i]) for i in range(3)])
    assert [[int(f["n"][0]) for f in each] for each in found] == [[0, 10, 20], [1, 11, 21], [2, 12, 22]]
    peers[2].close()

    def parted(peers):
        with pytest.raises(PeerError, match="worker 2 at .* has ended"):
            peers.gather({})
        peers.close()

    together(lambda: parted(peers[0]), lambda: parted(peers[1]))


def test_peers_know_each_other():
    a, b = places(2)
    first, second = Peers(a, "secret", 2.0), Peers(b, "other", 0.5)
    outcome = []

    def meets(peers):
        try:
            peers.barrier()
        except Exception as e:
            outcome.append(type(e).__name__)

    together(lambda: meets(first), lambda: meets(second))
    assert len(outcome) == 2
    with pytest.raises(PeerError, match="set PADDLE_TRAINER_ENDPOINTS"):
        Peers(ServedPlace(WORKER, 0, 2, ("-:0",)), "").barrier()
    with pytest.raises(PeerError, match=r"workers \[1\] are not here"):
        Peers(places(2)[0], "", 0.1).barrier()


def test_nothing_is_unpickled():
    out = io.BytesIO()
    np.savez(out, a=np.array([object()]))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        unpacked(out.getvalue())
    with pytest.raises(ValueError, match="allow_pickle=False"):
        packed({"a": np.array([object()])})


def test_synchronous_workers_make_one_step_with_the_mean():
    with serving(2) as endpoints, client_of(endpoints) as a, client_of(endpoints) as b:
        a.create(TABLE)
        a.create(ps.DenseConfig("dense", (3,), RULE))
        first, second = [Synchronous(c, Peers(p, "")) for c, p in zip((a, b), places(2), strict=True)]
        together(lambda: first.push(step([1, 2], 2.0, 4.0)), lambda: second.push(step([2, 3], 6.0, 8.0)))
        assert rows(a, [1, 2, 3]) == [-1, -4, -3] and second.dense().tolist() == [-6] * 3
        # One that has no batch left takes part until nobody has.
        together(first.settle, lambda: (second.push(step([3], 1.0, 1.0)), second.settle()))
        assert rows(b, [3]) == [-4] and first.dense().tolist() == [-7] * 3 and first.dense() is None


@pytest.mark.parametrize(("under_way", "merge"), [(16, 1), (0, 1), (4, 2)])
def test_an_asynchronous_worker_waits_for_nobody(under_way, merge):
    with serving() as endpoints, client_of(endpoints) as client:
        client.create(TABLE)
        client.create(ps.DenseConfig("dense", (3,), RULE))
        mode = Asynchronous(client, under_way, merge)
        for _ in range(4):
            mode.push(step([1], 1.0, 1.0))
        if under_way == 0:
            assert rows(client, [1]) == [-4]
        mode.settle()
        assert rows(client, [1]) == [-4 / merge] and mode.dense().tolist() == [-4 / merge] * 3
        assert mode.reads_ahead == (under_way > 0)


def test_an_error_behind_a_step_comes_out():
    with serving() as endpoints, client_of(endpoints) as client:
        client.create(TABLE)
        mode = Asynchronous(client)
        mode.push(Gradients({"t": IdRows(np.array([1]), np.ones([1, 5], np.float32))}, None, 1.0))
        with pytest.raises(ValueError, match="2 columns"):
            mode.settle()


def test_geo_workers_add_their_changes():
    dense = [np.zeros(3, np.float32), np.zeros(3, np.float32)]
    with serving(2) as endpoints, client_of(endpoints) as a, client_of(endpoints) as b:
        a.create(TABLE)
        a.create(ps.DenseConfig("dense", (3,), RULE))
        modes = [Geo(c, {"t": TABLE}, 2, 2, lambda i=i: dense[i]) for i, c in enumerate((a, b))]
        assert [m.rows("t", np.array([1, 2]))[:, 0].tolist() for m in modes] == [[0, 0], [0, 0]]
        for i, mode in enumerate(modes):
            mode.push(step([1], 1.0))
            assert mode.rows("t", np.array([1]))[0, 0] == -1 and rows(a, [1]) == [-i]
            dense[i] = np.full(3, 4.0, np.float32)
            mode.push(step([1], 1.0))
        assert rows(b, [1]) == [-2] and modes[0].rows("t", np.array([1]))[0, 0] == -1
        modes[0].push(step([1, 2], 1.0))
        modes[0].settle()
        assert modes[0].rows("t", np.array([1, 2]))[:, 0].tolist() == [-2.5, -0.5]
        assert modes[1].dense().tolist() == [4.0] * 3


def test_instances_are_dealt_to_all_workers():
    values = [np.arange(10 * i, 10 * i + 5) for i in range(2)]
    counts = np.array([0, 1, 3, 5])  # instances of 1, 2 and 2 values
    peers = [Peers(p, "") for p in places(2)]
    rng = np.random.default_rng(0)
    orders = [rng.permutation(3) for _ in range(2)]
    found = together(
        *[lambda i=i: spread(peers[i].exchange, i, 2, [SlotValues(values[i], counts)], orders[i]) for i in range(2)]
    )
    assert sorted(np.concatenate([f[0].values for f in found])) == sorted(np.concatenate(values))
    assert sorted(len(f[0].starts) - 1 for f in found) == [3, 3]
