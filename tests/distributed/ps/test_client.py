"""Clients and servers: the same numbers whatever the number of servers, and clear errors for all that is not right."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zmq

import house
from paddle_lite_py.distributed import ps
from paddle_lite_py.distributed.members import job_secret
from paddle_lite_py.distributed.ps import seals, server, wire
from parameter_servers import client_of, clients, serving

EMBEDDING = ps.SparseConfig("words", 3, ps.Rule("adagrad", 0.1), {"kind": "uniform", "bound": 0.1}, seed=5)
BIAS = ps.DenseConfig("bias", (2, 3), ps.Rule("adam", 0.1))
TRAINING = """
import hashlib, numpy as np
from parameter_servers import clients
from test_client import trained
with clients(2) as client:
    print(hashlib.sha256(b"".join(a.tobytes() for a in trained(client))).hexdigest())
"""


def trained(client: ps.Client) -> list[np.ndarray]:
    """Some steps on both kinds of tables; what they hold then."""
    rng = np.random.default_rng(0)
    client.create(EMBEDDING)
    client.create(BIAS)
    for _ in range(8):
        ids = rng.zipf(1.3, (16, 5)) - 3  # some are negative
        client.push_sparse("words", ids, client.pull_sparse("words", ids) + 1)
        client.push_dense("bias", client.pull_dense("bias") + 1)
    client.add_sparse("words", [[1, 1]], np.ones((1, 2, 3)))
    client.add_dense("bias", np.ones((2, 3)))
    return [client.pull_sparse("words", np.arange(-3, 200)), client.pull_dense("bias")]


def test_any_number_of_servers_gives_the_same_numbers():
    results = []
    for count in (1, 3):
        with clients(count) as client:
            results.append(trained(client))
    for one, other in zip(*results, strict=True):
        assert one.tobytes() == other.tobytes()


def test_without_compiled_loops_the_numbers_are_the_same():
    here = os.path.dirname(__file__)
    found = []
    for compiled in "01":
        path = os.pathsep.join([str(house.ROOT), str(house.ROOT / "tests"), str(house.ROOT / "tests/helpers"), here])
        settings = {**os.environ, "PADDLE_PS_NUMBA": compiled, "PYTHONPATH": path}
        found.append(subprocess.check_output([sys.executable, "-c", TRAINING], env=settings, text=True))
    assert found[0] == found[1]


def test_gradients_of_one_id_are_added_up_first():
    with clients(2) as client:
        client.create(ps.SparseConfig("t", 1, ps.Rule("adagrad", 1.0, {"epsilon": 0.0})))
        client.push_sparse("t", [4, 4, 9], [[1.0], [2.0], [3.0]])
        assert client.pull_sparse("t", np.array([[4], [9]], np.uint64)).tolist() == [[[-1.0]], [[-1.0]]]


@pytest.mark.parametrize("shape", [(0,), (2, 0), (), (2, 3, 4)])
def test_ids_have_any_shape(shape):
    with clients(2) as client:
        client.create(EMBEDDING)
        ids = np.zeros(shape, np.int64)
        client.push_sparse("words", ids, np.ones((*shape, 3)))
        assert client.pull_sparse("words", ids).shape == (*shape, 3)


def test_what_runs_in_the_background_runs_in_order():
    with clients() as client:
        client.create(ps.SparseConfig("t", 2, ps.Rule("sgd", -1.0)))
        ones = np.ones((1, 2))
        for _ in range(20):
            client.push_sparse_async("t", [1], ones)
        assert client.pull_sparse_async("t", [1]).result().tolist() == [[20.0, 20.0]]


def test_threads_share_a_client():
    with clients(2) as client, ThreadPoolExecutor(4) as pool:
        client.create(ps.SparseConfig("t", 1, ps.Rule("sgd", -1.0)))
        list(pool.map(lambda _: client.push_sparse("t", [1, 2], np.ones((2, 1))), range(40)))
        assert client.pull_sparse("t", [1, 2]).tolist() == [[40.0], [40.0]]


def test_workers_wait_for_each_other():
    arrived: list[int] = []
    with serving(2, workers=3) as endpoints, ThreadPoolExecutor(3) as pool:

        def work(worker: int) -> None:
            with client_of(endpoints, worker=worker, workers=3) as client:
                for turn in range(5):
                    arrived.append(turn)
                    client.barrier()
                    assert arrived.count(turn) == 3
                    client.barrier()

        list(pool.map(work, range(3)))
    assert sorted(arrived) == sorted([*range(5)] * 3)


def test_a_table_is_made_once():
    with clients(2) as client:
        for _ in range(2):
            client.create(EMBEDDING)
        with pytest.raises(ValueError, match=r"'words' exists \(sparse with 3 columns, adagrad\).* columns: 3 and 4"):
            client.create(ps.SparseConfig("words", 4, EMBEDDING.rule, EMBEDDING.initializer, seed=5))
        with pytest.raises(ValueError, match=r"dense of shape \[3\]"):
            client.create(ps.DenseConfig("words", (3,)))


def test_another_client_knows_the_tables():
    with serving(2) as endpoints, client_of(endpoints) as one, client_of(endpoints) as other:
        one.create(EMBEDDING)
        assert other.config("words") == EMBEDDING
        assert np.array_equal(other.pull_sparse("words", [7]), one.pull_sparse("words", [7]))


NAN = np.full((1, 3), np.nan)
MISTAKES = {
    "unknown table": (LookupError, r"127.0.0.1:\d+: there is no table 'x'; .*bias, seen, words",
                      lambda c: c.pull_sparse("x", [1])),
    "dense as sparse": (ValueError, "'bias' is dense", lambda c: c.pull_sparse("bias", [1])),
    "sparse as dense": (ValueError, "'words' is sparse", lambda c: c.pull_dense("words")),
    "float ids": (TypeError, r"ids are float64\[1\]; expected int64", lambda c: c.pull_sparse("words", [1.5])),
    "narrow ids": (TypeError, "ids are int32", lambda c: c.push_sparse("words", np.int32([1]), NAN)),
    "wrong columns": (ValueError, r"expected values of shape \[1, 3\], found \[1, 2\]",
                      lambda c: c.push_sparse("words", [1], [[1.0, 2.0]])),
    "too few rows": (ValueError, r"expected values of shape \[2, 3\], found \[1, 3\]",
                     lambda c: c.push_sparse("words", [1, 2], [[1.0, 2.0, 3.0]])),
    "nan": (ValueError, "for id -7 are .*nan.*Nothing was applied", lambda c: c.push_sparse("words", [-7], NAN)),
    "dense shape": (ValueError, r"float32\[3\]; expected float32\[2, 3\]", lambda c: c.push_dense("bias", np.ones(3))),
    "dense inf": (ValueError, r"index \[1, 0\] is inf", lambda c: c.push_dense("bias", [[1, 1, 1], [np.inf, 1, 1]])),
    "rate": (ValueError, "rate is nan", lambda c: c.push_dense("bias", np.ones((2, 3)), rate=np.nan)),
    "shows": (ValueError, "1 numbers for 2 ids",
              lambda c: c.push_sparse("seen", [1, 2], np.ones((2, 1)), shows=[1])),
}  # fmt: skip


@pytest.fixture(scope="module")
def client():
    with clients(2) as client:
        client.create(EMBEDDING)
        client.create(BIAS)
        client.create(ps.SparseConfig("seen", 1, delete_threshold=0.0))
        yield client


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(client, mistake):
    kind, said, call = MISTAKES[mistake]
    before = client.pull_sparse("words", [-7, 1, 2]), client.pull_dense("bias")
    with pytest.raises(kind, match=said):
        call(client)
    assert np.array_equal(client.pull_sparse("words", [-7, 1, 2]), before[0])
    assert np.array_equal(client.pull_dense("bias"), before[1])


def test_a_server_checks_for_itself(client):
    ask = client._channel.ask
    ids, bad = np.array([4], np.uint64), np.full((1, 3), np.inf, np.float32)
    with pytest.raises(ValueError, match="the value at id 4 is inf"):
        ask({0: ({"op": "push_sparse", "table": "words"}, [ids, bad])})
    with pytest.raises(ValueError, match=r"came with uint64\[1\]; expected uint64\[1\], float32\[1, 3\]"):
        ask({0: ({"op": "push_sparse", "table": "words"}, [ids])})
    with pytest.raises(ValueError, match="the request is 'format'"):
        ask({0: ({"op": "format", "table": "words"}, [])})
    with pytest.raises(TypeError, match="unhashable"):
        ask({0: ({"op": "pull_dense", "table": ["words"]}, [])})


def test_a_wrong_token():
    with serving(token="right") as endpoints, client_of(endpoints, token="wrong") as client:
        with pytest.raises(PermissionError, match=f"{endpoints[0]}: the token is not that of the server"):
            client.create(EMBEDDING)


def test_servers_in_another_order():
    with serving(2) as endpoints, client_of(endpoints[::-1]) as client:
        with pytest.raises(ValueError, match=r"server \d of 2, and was taken for"):
            client.create(EMBEDDING)


class Stranger:
    """A socket that speaks to a server by hand, with the token that the test's servers have, or another one."""

    def __init__(self, endpoint, token="", channel=b"c" * 16):
        self.key = seals.key_of(token or job_secret(wire.SERVERS))
        self.to = seals.Sealed(channel, seals.UNKNOWN, True, [])
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.connect(f"tcp://{endpoint}")

    def sealed(self, frames):
        return seals.seal(self.key, seals.ASKS, self.to, frames)

    def said(self, frames, seconds=10.0):
        """The header of the answer to raw frames; None if none comes."""
        self.socket.send_multipart(frames)
        if not self.socket.poll(int(1000 * seconds)):
            return None
        found = seals.unseal(self.key, seals.ANSWERS, self.socket.recv_multipart())
        header, _ = wire.unpack(found.frames)
        if header.get("stale"):
            self.to = self.to._replace(server=found.server)
        return header

    def ask(self, header, arrays=()):
        """The same for a request; the first one tells which server this is."""
        if self.to.server == seals.UNKNOWN:
            self.said(self.sealed(wire.pack({"op": "stats", "id": 0, "shard": [0, 2]}, [])))
        return self.said(self.sealed(wire.pack(header, list(arrays))))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.socket.close(0)
        self.context.term()


def test_bad_messages_of_members_are_answered_and_do_no_harm(client):
    good = wire.pack({"op": "stats", "id": 1, "shard": [0, 2]}, [np.ones(3, np.float32)])
    older = [wire.pack({"op": "stats"}, [])[0].replace(b'"v": 2', b'"v": 99')]
    bad = [
        [b""], [b"", b""], [b"{}", b""], [b"[1]", b"x"], [b"\xff" * 100] * 3, good[:1], good[1:], [*good, b"more"],
        [good[0].replace(b"float32", b"object"), *good[1:]], [good[0].replace(b"[3]", b"[-3]"), *good[1:]],
        [good[0].replace(b"[3]", b"[4e9]"), *good[1:]], [good[0].replace(b"[3]", b'"3"'), *good[1:]], older,
    ]  # fmt: skip
    with Stranger(client.endpoints[0]) as member:
        for frames in bad:
            answer = member.said(member.sealed(frames))
            assert answer["error"] in ("ValueError", "PermissionError", "TypeError", "LookupError")
        assert "version 99 of the protocol, this side is of version 2" in answer["message"]
    assert client.pull_dense("bias").shape == (2, 3)


def test_what_strangers_send_is_not_read(client):
    """Be it as long as it may: neither a header is parsed nor a table touched before the token is known."""
    header, arrays = {"op": "add_dense", "table": "bias", "id": 1, "shard": [0, 2]}, [np.full((2, 3), -1e6, np.float32)]
    rng = random.Random(3)
    before = client.pull_dense("bias")
    with Stranger(client.endpoints[0], "no such token") as stranger, Stranger(client.endpoints[0]) as member:
        sealed = stranger.sealed(wire.pack({**header, "deep": "[" * (1 << 20)}, arrays))
        stranger.socket.send_multipart(sealed)
        stranger.key = member.key  # to read what the server says
        assert stranger.socket.poll(10_000)
        found = seals.unseal(member.key, seals.ANSWERS, stranger.socket.recv_multipart())
        assert "the token is not that of the server" in wire.unpack(found.frames)[0]["message"]
        for _ in range(int(os.environ.get("BAD_MESSAGES", "30"))):
            frames = [rng.randbytes(rng.randrange(200)) for _ in range(rng.randrange(1, 5))]
            stranger.socket.send_multipart(frames)
        assert member.ask({"op": "stats", "id": 5, "shard": [0, 2]}).get("error") is None
    assert np.array_equal(client.pull_dense("bias"), before)


@pytest.mark.parametrize("part", ["header", "array", "last byte", "another array", "seal", "nonce"])
def test_a_message_that_was_altered_on_its_way_is_refused(client, part):
    before = client.pull_dense("bias")
    with Stranger(client.endpoints[0]) as member:
        member.ask({"op": "stats", "id": 1, "shard": [0, 2]})
        header = {"op": "add_dense", "table": "bias", "id": 2, "session": "s", "seq": 1, "shard": [0, 2]}
        frames = [bytearray(f) for f in member.sealed(wire.pack(header, [np.ones((2, 3), np.float32)]))]
        if part == "another array":
            frames[1][:] = np.full((2, 3), -1e6, np.float32).tobytes()
        else:
            places = {"header": (0, -3), "array": (1, 5), "last byte": (1, -1), "seal": (0, 40), "nonce": (0, 20)}
            frame, at = places[part]
            frames[frame][at] ^= 1
        assert "the token is not that of the server" in member.said(frames)["message"]
        frames[0][0] ^= 1
        assert member.said(frames, 0.2) is None  # of another form: nothing says how its answer would be sealed
    assert np.array_equal(client.pull_dense("bias"), before)


def test_what_was_recorded_is_good_for_nothing(tmp_path):
    with serving(folder=str(tmp_path)) as endpoints, client_of(endpoints) as client:
        client.create(BIAS)
        with Stranger(endpoints[0]) as member:
            assert member.ask({"op": "stats", "id": 1, "shard": [0, 1]}).get("stale") is None
            save = member.sealed(
                wire.pack({"op": "save", "id": 2, "folder": str(tmp_path / "a"), "word": "w", "shard": [0, 1]}, [])
            )
            assert "shares" in member.said(save)
            (tmp_path / "a").rename(tmp_path / "b")
            assert "shares" in member.said(save)  # the last one is answered again, and not done again
            assert not (tmp_path / "a").exists()
            stop = member.sealed(wire.pack({"op": "stop", "id": 4, "shard": [0, 1]}, []))
            assert member.ask({"op": "stats", "id": 5, "shard": [0, 1]}).get("error") is None
            assert "a request of before has come again" in member.said(stop)["message"]
            assert "a request of before has come again" in member.said(save)["message"]
    with serving(folder=str(tmp_path), endpoint=endpoints[0]) as again, client_of(again) as client:
        with Stranger(again[0]) as member:
            assert member.said(stop)["stale"] and member.said(save)["stale"]
        assert client.pull_dense("bias").shape == (2, 3)  # it was not stopped


def test_an_answer_that_was_altered_on_its_way_is_refused(monkeypatch):
    with serving() as endpoints, client_of(endpoints) as client:
        client.create(BIAS)
        monkeypatch.setattr(server, "seal", lambda *args: [*seals.seal(*args)[:1], np.ones((2, 3), np.float32).data])
        with pytest.raises(PermissionError, match="the token is not that of the server"):
            client.pull_dense("bias")


def test_answers_of_others_are_not_taken():
    """What takes the place of a server, and does not know the token, is no server."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as fake:
        port = fake.bind_to_random_port("tcp://127.0.0.1")
        with client_of([f"127.0.0.1:{port}"], timeout=5.0) as client:

            def answer():
                caller, first, *_ = fake.recv_multipart()
                header = wire.pack({"id": 1, "config": {}}, [])
                to = seals.Sealed(first[1:17], b"s" * 16, True, [])
                fake.send_multipart([caller, *seals.seal(seals.key_of("no key"), seals.ANSWERS, to, header)])

            thread = threading.Thread(target=answer)
            thread.start()
            with pytest.raises(PermissionError, match="the token is not that of the server"):
                client.config("words")
            thread.join()


def test_a_server_that_is_not_there():
    with serving() as endpoints:
        pass
    with client_of(endpoints, timeout=0.3) as client:
        with pytest.raises(ps.ServerGone, match=f"{endpoints[0]} cannot be reached .* create for 0.3 s"):
            client.create(EMBEDDING)


def test_an_endpoint_that_is_taken():
    with serving() as endpoints, pytest.raises(OSError, match=f"cannot listen at {endpoints[0]}"):
        ps.Server(endpoints[0])


@pytest.mark.parametrize("endpoint", ["here", ":80", "here:", "here:http", "here:99999"])
def test_what_is_no_endpoint(endpoint):
    for make in (ps.Server, lambda e: ps.Client([e])):
        with pytest.raises(ValueError, match=f"endpoint is '{endpoint}'; expected 'host:port'"):
            make(endpoint)


def test_a_host_has_a_name():
    with serving(endpoint="localhost:0") as endpoints, client_of(["localhost:" + endpoints[0].split(":")[1]]) as client:
        client.create(EMBEDDING)
        assert client.pull_sparse("words", [1]).shape == (1, 3)


def test_a_dense_table_lies_on_one_server():
    with clients(3) as client:
        client.create(BIAS)
        client.push_dense("bias", np.ones((2, 3)))
        assert client.stats()["bias"] == {"numbers": 6, "bytes": 4 * (6 + 14)}


def test_stopping_ends_all_servers():
    servers = [ps.Server(index=i, servers=2) for i in range(2)]
    threads = [threading.Thread(target=server.run) for server in servers]
    for thread in threads:
        thread.start()
    with client_of([server.endpoint for server in servers]) as client:
        client.stop_servers()
    for thread in threads:
        thread.join()
