"""Strangers at the doors of a job: whatever they say or do not say, members are met, and nobody waits for them."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import random
import socket
import threading
import time
from collections import deque
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener

import numpy as np
import pytest

from paddle_lite_py.distributed import members
from paddle_lite_py.distributed.fleet.line import LineSeal, PeerLine
from paddle_lite_py.distributed.fleet.peers import Peers
from paddle_lite_py.distributed.fleet.places import WORKER, ServedPlace
from paddle_lite_py.distributed.launch import meeting
from paddle_lite_py.distributed.launch.link import Link
from paddle_lite_py.distributed.launch.membership import Terms
from paddle_lite_py.distributed.messenger import Messenger, PeerGone
from paddle_lite_py.distributed.spawning import free_ports

# `make fuzz-wires` tries many more.
COUNT = int(os.environ.get("BAD_MESSAGES", "30"))
KEY = members.key_of("a secret")


class Strangers:
    """Those who are silent, leave at once, reset the connection, send what is no word, or know another secret."""

    def __init__(self, at):
        self.at, self.held, self.rng = at, deque(maxlen=200), random.Random(5)  # more are closed

    def come(self, count=COUNT):
        for kind in range(count):
            with contextlib.suppress(OSError, EOFError, AuthenticationError):
                self._one(kind % 6)
        return self

    def _one(self, kind):
        if kind == 5:
            return members.connect(self.at, members.key_of("another secret"), 5.0)
        s = socket.create_connection(self.at, 5.0)
        if kind == 0:
            self.held.append(s)  # says nothing
            return None
        if kind == 1:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # closing resets it
        elif kind == 2:
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        elif kind == 3:
            s.sendall(self.rng.randbytes(self.rng.randrange(1, 200)))
        elif kind == 4:
            s.sendall(b"\0\0\0\7#CHALL")  # half a word
            self.held.append(s)
            return None
        s.close()
        return None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for s in self.held:
            s.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(members, "HANDSHAKE", 2.0)
    monkeypatch.setenv("PADDLE_JOB_KEY", "a secret")


def at_once(run):
    """What it gives, which may not take long."""
    start = time.monotonic()
    found = run()
    assert time.monotonic() - start < 20  # a wait without end, not speed, is looked for
    return found


def test_a_reception_waits_for_nobody_and_names_those_it_drops(caplog):
    listener = Listener(("127.0.0.1", 0), backlog=64)
    address, met = listener.address, queue.SimpleQueue()
    reception = members.Reception(listener, KEY, met.put, "the test")
    with Strangers(listener.address) as strangers, caplog.at_level(logging.WARNING):
        strangers.come()
        for _ in range(3):
            with at_once(lambda: members.connect(listener.address, KEY)) as connection:
                connection.send_bytes(b"hello")
                assert met.get(timeout=10).recv_bytes() == b"hello"
        with pytest.raises((AuthenticationError, EOFError, OSError)):
            members.connect(listener.address, b"wrong")
        until = time.monotonic() + 10
        while "unavailable" not in caplog.text and time.monotonic() < until:
            time.sleep(0.05)  # the silent ones are dropped in their turn
    assert "the test: a connection from ('127.0.0.1'" in caplog.text and "unavailable" in caplog.text
    reception.close()
    Listener(address).close()  # the port is free


def test_a_flood_of_silent_connections_keeps_no_member_out(monkeypatch):
    monkeypatch.setattr(members, "PENDING", 5)
    monkeypatch.setattr(members, "HANDSHAKE", 600.0)
    listener, met = Listener(("127.0.0.1", 0), backlog=64), queue.SimpleQueue()
    address, reception = listener.address, members.Reception(listener, KEY, met.put, "the test")
    silent = [socket.create_connection(address) for _ in range(50)]
    at_once(lambda: members.connect(address, KEY, 10.0)).close()
    met.get(timeout=10).close()
    for s in silent:
        s.close()
    reception.close()


def test_whoever_answers_with_nothing_is_not_waited_for():
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises((OSError, EOFError)):
        at_once(lambda: members.connect(silent.getsockname(), KEY, 1.0))


def test_messengers_answer_among_strangers():
    one, two = Messenger(0, "127.0.0.1"), Messenger(1, "127.0.0.1")
    try:
        one.peers = two.peers = {0: ("127.0.0.1", one.port), 1: ("127.0.0.1", two.port)}
        with Strangers(("127.0.0.1", two.port)) as strangers:
            strangers.come()
            one.send(1, 0, np.arange(3))
            assert at_once(lambda: two.receive(0, 0, 10.0)).tolist() == [0, 1, 2]
            two.journal(0).begin("sum")
            assert at_once(lambda: one.ask(1, 0, 1, True).answer()) == "sum"
        one.key = b"wrong"
        with pytest.raises(PeerGone):
            one.connect(1)
    finally:
        one.reception.close()
        two.reception.close()


def test_workers_exchange_among_strangers():
    ports = free_ports(2)
    endpoints = tuple(f"127.0.0.1:{p}" for p in ports)
    both = [Peers(ServedPlace(WORKER, n, 2, ("127.0.0.1:1",), endpoints), "token", 90.0) for n in range(2)]
    found = {}
    threads = [
        threading.Thread(target=lambda p=p: found.update({p.rank: p.gather({"n": np.int64(p.rank)})})) for p in both
    ]
    with Strangers(("127.0.0.1", ports[0])) as strangers:
        threads[0].start()
        until = time.monotonic() + 10
        while both[0]._reception is None and time.monotonic() < until:
            time.sleep(0.01)
        strangers.come()
        threads[1].start()
        at_once(lambda: [t.join(20) for t in threads])
    assert [int(a["n"]) for a in found[0]] == [0, 1] == [int(a["n"]) for a in found[1]]
    for p in both:
        p.close()


def test_a_message_between_workers_that_was_altered_is_not_taken():
    """A relay between two workers, who show each other the secret through it, flips a bit of what they say."""
    ours, theirs = socket.socketpair()
    sent, got = Connection(ours.detach()), Connection(theirs.detach())
    one, other = PeerLine(0), PeerLine(0)
    key = b"a secret"
    one.connect(sent, 0, LineSeal(key, "from 0", "from 1"))
    other.connect(got, 0, LineSeal(key, "from 1", "from 0"))
    one.send(0, b"gradients")
    assert other.receive(10.0) == b"gradients"
    for altered in (
        lambda m: m[:-1] + b"x",
        lambda m: m[:39] + b"\7" + m[40:],
        lambda m: b"x" + m[1:],
        lambda m: m[:30],
    ):
        one.send(1, b"gradients")
        message = got.recv_bytes()
        sent.send_bytes(altered(message))
        with pytest.raises(AuthenticationError):
            other.receive(10.0)
    got.send_bytes(message)  # what it said itself comes back
    with pytest.raises(AuthenticationError):
        one.receive(10.0)
    one.close()
    other.close()


def test_launchers_meet_among_strangers():
    (port,) = free_ports(1)
    found = {}
    meet = lambda n: found.update({n: meeting.meet(f"127.0.0.1:{port}", 2, n, 1, "127.0.0.1", "job", 0)})  # noqa: E731
    leader = threading.Thread(target=meet, args=(0,), daemon=True)
    leader.start()
    with Strangers(("127.0.0.1", port)) as strangers:
        while not strangers.held:
            strangers.come()
        at_once(lambda: meet(1))
        leader.join(20)
    assert found[0].endpoints == found[1].endpoints and found[1].number == 1


def test_a_launcher_with_another_secret_is_told(monkeypatch):
    (port,) = free_ports(1)
    leader = threading.Thread(
        target=meeting.meet, args=(f"127.0.0.1:{port}", 2, 0, 1, "127.0.0.1", "job", 0), daemon=True
    )
    leader.start()
    time.sleep(0.3)
    monkeypatch.setenv("PADDLE_JOB_KEY", "another")
    with pytest.raises(PermissionError, match="has another secret.*PADDLE_JOB_KEY or PADDLE_JOB_KEY_FILE"):
        meeting.meet(f"127.0.0.1:{port}", 2, 1, 1, "127.0.0.1", "job", 0)
    monkeypatch.setenv("PADDLE_JOB_KEY", "a secret")
    assert at_once(lambda: meeting.meet(f"127.0.0.1:{port}", 2, 1, 1, "127.0.0.1", "job", 0)).nodes == 2
    leader.join(20)


def test_a_leader_hears_launchers_among_strangers():
    (port,) = free_ports(1)
    link = Link(f"127.0.0.1:{port}", "job", Terms(1, 2, 1, 0, 5.0, 10.0))
    link.connect(10.0, lambda: False)
    with Strangers(("127.0.0.1", port)) as strangers:
        strangers.come()
        other = Link(f"127.0.0.1:{port}", "job", Terms(1, 2, 1, 0, 5.0, 10.0))
        at_once(lambda: other.connect(10.0, lambda: False))
        assert len(link.leader.connections) >= 1
    other.close()
    link.close()


def test_a_secret_is_of_the_environment_of_a_file_or_of_the_user(monkeypatch, tmp_path):
    assert members.job_secret("a") == "a secret"
    monkeypatch.delenv("PADDLE_JOB_KEY")
    first = members.job_secret("a", "b")
    assert len(first) == 64 and first == members.job_secret("a", "b") != members.job_secret("ab")
    (tmp_path / "key").write_text("from a file\n")
    monkeypatch.setenv("PADDLE_JOB_KEY_FILE", str(tmp_path / "key"))
    assert members.job_secret("a") == "from a file"
    (tmp_path / "key").write_text("")
    with pytest.raises(ValueError, match="is empty"):
        members.job_secret("a")
