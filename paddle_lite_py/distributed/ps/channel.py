"""Connections of a client to all servers: requests go out again when a server has come back."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import zmq
from zmq.utils.monitor import recv_monitor_message

from .seals import ANSWERS, ASKS, NONCE, UNKNOWN, Key, Sealed, key_of, seal, unseal
from .wire import pack, raised, split, unpack

# Milliseconds: between signs of life, after which silence a connection is closed, and between attempts to connect.
HEARTBEAT, SILENCE = 1000, 5000
RETRY, RETRY_MOST = 20, 500
# Requests without changes have no number: a client that replaces another may make more of them, or fewer.
READS = ("describe", "pull_sparse", "pull_dense", "stats")
# Seconds without a connection after which the server's address is looked up again.
SEEK = 1.0
Finder = Callable[[int], str | None]
Request = tuple[dict[str, Any], list[np.ndarray]]


class ServerGone(ConnectionError):
    """A server that has not answered in time.

    Example:
        >>> from paddle_lite_py.distributed import ps
        >>> with ps.Client(["127.0.0.1:9"], timeout=0.1) as client:
        ...     client.pull_dense("bias")
        Traceback (most recent call last):
        ...
        paddle_lite_py.distributed.ps.channel.ServerGone: parameter server 127.0.0.1:9 cannot be reached ...
    """


class _Link:
    """The connection to one server, and the request that is under way there."""

    def __init__(self, context: zmq.Context, endpoint: str, key: Key, nonce: bytes) -> None:
        self.endpoint, self._key = endpoint, key
        self._to = Sealed(nonce, UNKNOWN, True, [])
        self._request: Request | None = None
        self.socket = context.socket(zmq.DEALER)
        self.socket.set(zmq.LINGER, 0)
        self.socket.set(zmq.SNDHWM, 0)
        self.socket.set(zmq.HEARTBEAT_IVL, HEARTBEAT)
        self.socket.set(zmq.HEARTBEAT_TIMEOUT, SILENCE)
        self.socket.set(zmq.RECONNECT_IVL, RETRY)
        self.socket.set(zmq.RECONNECT_IVL_MAX, RETRY_MOST)
        self.events = self.socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED)
        self.socket.connect("tcp://{}:{}".format(*split(endpoint)))
        self.sought = 0.0  # when the server's address was last looked up
        self.connected = self._lost = False
        self.sent: list[Any] | None = None
        self.since = 0.0  # when the request was sent, or the connection was lost

    def send(self, header: dict[str, Any], arrays: list[np.ndarray]) -> None:
        self._request, self.since = (header, arrays), time.monotonic()
        self._send_again()

    def _send_again(self) -> None:
        """Seal the request for the server as it is now, and send it."""
        assert self._request is not None
        self.sent = seal(self._key, ASKS, self._to, pack(*self._request))
        self.socket.send_multipart(self.sent, copy=False)

    def notice(self) -> None:
        """Look at what has become of the connection; a request that may have been lost with it is sent again."""
        while self.events.poll(0):
            self.connected = recv_monitor_message(self.events)["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED
            if not self.connected:
                self._lost, self.since = True, time.monotonic()
            elif self._lost:
                self._lost = False
                if self.sent is not None:
                    self.socket.send_multipart(self.sent, copy=False)

    def move(self, endpoint: str) -> None:
        """Connect to where the server is now; what was sent to where it was is sent again."""
        if endpoint != self.endpoint:
            self.socket.disconnect(f"tcp://{self.endpoint}")
            self.socket.connect(f"tcp://{endpoint}")
            self.endpoint, self._lost = endpoint, True

    def receive(self, number: int) -> Request | None:
        """Return the answer to the request of a number, if it is that which has come.

        Raises:
            PermissionError: if who answers does not know the token.
        """
        frames = [frame.buffer for frame in self.socket.recv_multipart(copy=False)]
        found = unseal(self._key, ANSWERS, frames)
        if not found.authentic:
            raise PermissionError(f"parameter server {self.endpoint}: the token is not that of the server")
        header, arrays = unpack(found.frames)
        if found.channel != self._to.channel or header.get("id") not in (number, None) or self.sent is None:
            return None
        if header.get("stale"):  # it was started since, or was not heard yet
            self._to = self._to._replace(server=found.server)
            self._send_again()
            return None
        return (header, arrays) if found.server == self._to.server or "error" in header else None

    def close(self) -> None:
        self.socket.disable_monitor()
        self.events.close(0)
        self.socket.close(0)


class Channel:
    """One thread's connections to all servers. At most one request is under way at each of them.

    Args:
        endpoints: "host:port" of each server, in the order of their numbers.
        token: what the servers know.
        worker: number of this worker.
        timeout: seconds that a server may take to answer.
        find: tells where a server is now, by its number, or None if that is not known.
    """

    def __init__(
        self, endpoints: list[str], token: str, worker: int, timeout: float, find: Finder | None = None
    ) -> None:
        self._worker, self._timeout, self._find = worker, timeout, find
        self._session, self._seq, self._id = uuid.uuid4().hex, 0, 0
        key, nonce = key_of(token), os.urandom(NONCE)
        # One that lives as long as the process: it would wait for its sockets where a client is not closed.
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
        self._links = [_Link(context, endpoint, key, nonce) for endpoint in endpoints]
        self._poller = zmq.Poller()
        for link in self._links:
            self._poller.register(link.socket, zmq.POLLIN)
            self._poller.register(link.events, zmq.POLLIN)

    @contextmanager
    def numbered(self, session: str, seq: int) -> Iterator[None]:
        """Requests within are those of another session, from a number on."""
        before = self._session, self._seq
        self._session, self._seq = session, seq
        try:
            yield
        finally:
            self._session, self._seq = before

    def ask(self, requests: dict[int, Request], patient: bool = False) -> dict[int, Request]:
        """Send requests to servers, by their numbers, and wait for all answers.

        Args:
            requests: header and arrays for each server.
            patient: whether a server that is there may take as long as it likes.

        Raises:
            ServerGone: one has not answered in time; the others may have done their part.
            ValueError, LookupError, PermissionError, OSError: what a server has objected.
        """
        self._seq += any(header["op"] not in READS for header, _ in requests.values())
        self._id += 1
        common = {"id": self._id, "session": self._session, "seq": self._seq, "worker": self._worker}
        for n, (header, arrays) in requests.items():
            full = {**header, **common, "shard": [n, len(self._links)]}
            self._links[n].send(full, arrays)
        answers: dict[int, Request] = {}
        try:
            while len(answers) < len(requests):
                self._wait(requests, answers, patient)
        finally:
            for link in self._links:
                link.sent = link._request = None
        for n, (header, _) in answers.items():
            if "error" in header:
                raise raised(header, self._links[n].endpoint)
        return answers

    def _wait(self, requests: dict[int, Request], answers: dict[int, Request], patient: bool) -> None:
        """Wait until something comes, or a server has taken too long."""
        now = time.monotonic()
        for n in requests.keys() - answers.keys():
            link = self._links[n]
            if now - link.since > self._timeout and not (patient and link.connected):
                what = " ".join(str(requests[n][0][key]) for key in ("op", "table") if key in requests[n][0])
                state = "is connected, but" if link.connected else "cannot be reached and"
                raise ServerGone(
                    f"parameter server {link.endpoint} {state} has not answered {what} for {self._timeout:g} s; "
                    "look whether it runs, or give the client a longer timeout"
                )
            if self._find is not None and not link.connected and now - max(link.since, link.sought) > SEEK:
                link.sought = now
                link.move(self._find(n) or link.endpoint)
        ready = dict(self._poller.poll(100))
        for n, link in enumerate(self._links):
            if link.events in ready:
                link.notice()
            if link.socket in ready:
                answer = link.receive(self._id)
                if answer is not None:
                    answers[n], link.sent = answer, None

    def close(self) -> None:
        """Close the connections."""
        for link in self._links:
            link.close()
