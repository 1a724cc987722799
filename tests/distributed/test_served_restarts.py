"""Workers of servers that are killed and started again: each life is a new object on the folder of the one before."""

from __future__ import annotations

import numpy as np
import pytest

from paddle_lite_py.distributed import fleet, ps
from paddle_lite_py.distributed.elastic import WORKER_FOLDER
from paddle_lite_py.distributed.fleet.peers import PeerError, Peers
from paddle_lite_py.distributed.fleet.places import WORKER, ServedPlace
from paddle_lite_py.distributed.fleet.served.geo import Geo
from paddle_lite_py.distributed.fleet.served.modes import Asynchronous
from paddle_lite_py.distributed.fleet.served.progress import Progress
from paddle_lite_py.distributed.fleet.served.session import DenseState, Plan, Session
from parameter_servers import client_of, serving
from serving_workers import RULE, TABLE, places, rows, step, together


def test_a_worker_that_comes_back_gets_what_it_has_missed(tmp_path):
    one, two = places(2)
    first = Peers(one, "", folder=str(tmp_path / "0"))
    gone = Peers(two, "", folder=str(tmp_path / "1"))
    together(lambda: first.gather({"n": np.int64(0)}), lambda: gone.gather({"n": np.int64(10)}))

    def ends_in_the_midst():
        gone.patience = 0.0  # has given, and does not take
        with pytest.raises(PeerError):
            gone.gather({"n": np.int64(11)})
        gone.close()

    def goes_on():
        ends_in_the_midst()
        again = Peers(two, "", folder=str(tmp_path / "1"), count=1)
        found = [again.gather({"n": np.int64(20 - 9 * (i > 0) + i)})[0]["n"].item() for i in range(3)]
        again.close()
        return found

    found, missed = together(lambda: [first.gather({"n": np.int64(1 + i)})[1]["n"].item() for i in range(3)], goes_on)
    assert found == [11, 12, 13] and missed == [1, 2, 3]
    first.patience = 0.3
    with pytest.raises(PeerError, match=r"worker 1 at .* has ended .*and it has not come back for 0.3 s"):
        first.gather({})
    first.close()


def test_a_worker_that_is_started_again_does_nothing_twice(tmp_path):
    with serving(2) as endpoints, client_of(endpoints) as client:
        client.create(TABLE)
        client.create(ps.DenseConfig("dense", (3,), RULE))

        def life(made):
            """Steps from the beginning, of which the last is cut off before it is noted."""
            progress = Progress(str(tmp_path))
            with client_of(endpoints, session=progress.session) as own:
                mode = Asynchronous(own, 0, progress=progress)
                skipped = 0
                for _ in range(made):
                    if progress.skips():
                        skipped += 1
                    else:
                        mode.push(step([1, 2, 3], 1.0, 1.0))
                return skipped, progress

        def cut(made):
            skipped, progress = life(made)
            with client_of(endpoints, session=progress.session) as own, own.once("step", progress.begin()):
                own.push_sparse("t", np.array([1, 2, 3]), np.ones([3, 2], np.float32))
            return skipped

        assert [cut(2), cut(4), life(5)[0]] == [0, 2, 4]
        assert rows(client, [1, 2, 3]) == [-5] * 3 and client.pull_dense("dense").tolist() == [-5] * 3


def test_what_exchanges_gave_is_kept(tmp_path):
    place = ServedPlace(WORKER, 0, 1, ("-:0",))
    for life in range(2):
        progress = Progress(str(tmp_path))
        found = progress.recall()
        assert (found is None) == (life == 0)
        if found is None:
            number = progress.begin()
            found = progress.keep(Peers(place, "").gather({"a/b": np.arange(3)}))
            progress.done(number, 1)
        assert [{n: a.tolist() for n, a in f.items()} for f in found] == [{"a/b": [0, 1, 2]}]


def test_two_workers_that_are_killed_at_once_hear_each_other_again(tmp_path):
    """The one has noted an exchange that the other has not: it says once more what it said then."""

    def life(first_count, second_count, said):
        counts = zip(places(2), (first_count, second_count), strict=True)
        workers = [Peers(p, "", folder=str(tmp_path / str(p.number)), count=c) for p, c in counts]

        def work(worker):
            while worker.count < said:
                found = worker.gather({"n": np.int64(100 * worker.rank + worker.count)})
            return [int(f["n"]) for f in found]

        found = together(*[lambda w=w: work(w) for w in workers])
        for worker in workers:
            worker.close()
        return found

    assert life(0, 0, 4) == [[3, 103]] * 2
    assert life(4, 2, 5) == [[4, 104]] * 2


@pytest.mark.parametrize("mode", ["half", "merged", "geo"])
def test_what_a_worker_alone_has_is_that_of_its_last_step(tmp_path, mode):
    """Steps are done in twos but for half asynchronous ones; what the third has left is lost with it."""

    def life(made):
        progress, seen = Progress(str(tmp_path)), np.zeros(1, np.int64)
        with serving() as endpoints, client_of(endpoints, session=progress.session) as client:
            client.create(TABLE)
            every = 1 if mode == "half" else 2
            geo = mode == "geo"
            way = Geo(client, {"t": TABLE}, 2, 1, None, progress) if geo else Asynchronous(client, 0, every, progress)
            for _ in range(made):
                if progress.skips():
                    seen = progress.own().get("seen", seen)
                else:
                    seen = seen + 1
                    way.push(step([1], 1.0)._replace(own=lambda seen=seen: {"seen": seen}))
        return seen.tolist()

    assert life(3) == [3]
    assert life(3) == [3]
    lasting = Progress(str(tmp_path))
    skipped = [lasting.skips() for _ in range(4)]
    assert skipped == [True, True, mode == "half", False]


def dense(read):
    """Dense parameters that are read so, and are set to nothing."""
    return DenseState(read, lambda _: None, lambda: True, lambda _: np.zeros(4, np.float32))


def session(endpoints, state):
    """A worker, alone among servers, with four dense parameters."""
    made = Session(ServedPlace(WORKER, 0, 1, tuple(endpoints)), fleet.DistributedStrategy())
    made.plan, made.state = Plan(4, RULE), state
    return made


def test_a_worker_that_is_killed_while_it_makes_the_tables_gives_their_values_nevertheless(tmp_path, monkeypatch):
    monkeypatch.setenv(WORKER_FOLDER, str(tmp_path))
    values = np.arange(4, dtype=np.float32)

    def killed():
        raise KeyboardInterrupt

    with serving(2) as endpoints:
        first = session(endpoints, dense(killed))
        with pytest.raises(KeyboardInterrupt):
            first.begin()
        assert first.client.pull_dense("dense").tolist() == [0] * 4  # there, and without values
        first.close()
        for later in range(2):
            own = dense(lambda more=later: values + more)
            again = session(endpoints, own)
            again.begin()
            # What a later one has does not count: the servers may have been trained since.
            assert again.client.pull_dense("dense").tolist() == [0, 1, 2, 3]
            again.close()


def test_a_worker_that_is_killed_in_its_last_meeting_meets_the_others_and_ends(tmp_path, monkeypatch):
    """It had noted that nothing else is left; whether the servers have heard it is not known."""
    monkeypatch.setenv(WORKER_FOLDER, str(tmp_path))
    ready = dense(lambda: np.zeros(4, np.float32))
    with serving(2) as endpoints:
        first = session(endpoints, ready)
        first.begin()
        first.settle()
        first.progress.end()
        first.close()
        role = fleet.UserDefinedRoleMaker(current_id=0, role=1, worker_num=1, server_endpoints=endpoints)
        with pytest.raises(SystemExit) as left:
            fleet.init(role)
        assert left.value.code == 0
        with pytest.raises(ps.ServerGone), client_of(endpoints, timeout=0.5) as client:
            client.stats()  # the first worker has ended the servers
    fleet.init(is_collective=True)


def test_a_worker_in_geo_mode_has_the_numbers_of_its_optimizer_again(tmp_path):
    """Steps that are done with and without a restart after each exchange come to the same weights."""
    table = ps.SparseConfig("t", 2, ps.Rule("adagrad", 0.5))
    made = [step([1, 2 + i % 3], 1.0 + i) for i in range(12)]

    def trained(folder, lives):
        with serving(2) as endpoints, client_of(endpoints) as client:
            client.create(table)
            for steps in lives:
                progress = Progress(folder)
                with client_of(endpoints, session=progress.session) as own:
                    way = Geo(own, {"t": table}, 1, 1, None, progress)
                    for each in made[:steps]:
                        if not progress.skips():
                            way.rows("t", each.sparse["t"].ids)
                            way.push(each._replace(rate=0.5))
            return client.pull_sparse("t", np.arange(1, 5))

    whole = trained(None, [12])
    np.testing.assert_allclose(trained(str(tmp_path), range(1, 13)), whole, rtol=1e-5)
    assert len(list(tmp_path.glob("rows-*"))) < 8  # those that newer ones replace are gone
