"""A server: it takes requests one at a time, answers them, and does none twice."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

import zmq

from ..members import Dropped, job_secret
from .barrier import Barrier
from .recovery import Recovery
from .saving import commit, load_share, save_share
from .seals import ANSWERS, ASKS, NONCE, Sealed, key_of, seal, unseal
from .tables import CHANGES, Arrays, Tables
from .wire import SERVERS, WireError, failure, pack, split, unpack

# Clients whose last change is remembered, so that it is not done again when it comes again.
REMEMBERED = 65536
# Milliseconds between two looks at whether to stop, and between two steps of a snapshot.
PAUSE, BUSY = 50, 2
# Bytes of an array that is taken in.
LARGEST = 1 << 30
# Operations on files: done once, even if they are requested again.
FILES = ("save", "commit", "load", "stop")
# Milliseconds between two signs of life on a connection, and after which silence it is closed.
HEARTBEAT, SILENCE = 1000, 5000


class Caller(NamedTuple):
    """Where an answer goes: the connection, and how it is sealed."""

    client: bytes
    to: Sealed


class Server:
    """One server of a job.

    Args:
        endpoint: "host:port" to listen at; port 0: any that is free.
        index: which of the servers this one is.
        servers: how many there are.
        workers: how many workers a barrier waits for.
        token: what clients must know; "": a secret of this user, or of the job (PADDLE_JOB_KEY). It does not travel;
            what travels is sealed, and not encrypted.
        folder: where what must outlive the server is kept; a server that is started again with it is what it was.
            None: nowhere.
        sync: seconds of changes that a machine may lose with its power; 0: none. A server that is killed loses none.
        snapshot_bytes: length of the log of changes at which a snapshot begins.
        first: a folder that a client saved, with the tables to begin with; give it again to a server that is started
            again.
        saves: folder that clients may save to and load from, and folders in it; None: that of PADDLE_PS_SAVES in the
            environment, or any.

    Raises:
        ValueError: an endpoint of another form.
        OSError: the endpoint or the folder is taken.
        StateError: what the folder holds is damaged.

    Example:
        >>> server = Server()
        >>> thread = threading.Thread(target=server.run)
        >>> thread.start()
        >>> server.stop()
        >>> thread.join()
    """

    def __init__(
        self,
        endpoint: str = "127.0.0.1:0",
        index: int = 0,
        servers: int = 1,
        workers: int = 1,
        token: str = "",
        folder: str | None = None,
        sync: float = 1.0,
        snapshot_bytes: int = 1 << 30,
        first: str | None = None,
        saves: str | None = None,
    ) -> None:
        self._saves = saves or os.environ.get("PADDLE_PS_SAVES")
        host, port = split(endpoint)
        self.index, self.servers, self._key = index, servers, key_of(token or job_secret(SERVERS))
        self._nonce = os.urandom(NONCE)
        self._channels: OrderedDict[bytes, tuple[int, Any]] = OrderedDict()
        self.tables = Tables(folder)
        self._barrier = Barrier(workers)
        self._last: OrderedDict[str, tuple[int, dict[str, Any]]] = OrderedDict()
        self._recovery = Recovery(folder, sync, snapshot_bytes) if folder is not None else None
        if first is not None and not (self._recovery is not None and self._recovery.has_snapshot):
            load_share(self.tables, Path(first), index, servers)
        if self._recovery is not None:
            self._recovery.restore(self.tables, self._last)
        self._stopping = threading.Event()
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.set(zmq.LINGER, 1000)
        self._socket.set(zmq.MAXMSGSIZE, LARGEST)
        self._socket.set(zmq.HEARTBEAT_IVL, HEARTBEAT)
        self._socket.set(zmq.HEARTBEAT_TIMEOUT, SILENCE)
        try:
            self._socket.bind(f"tcp://{socket.gethostbyname(host)}:{port}")
        except (zmq.ZMQError, OSError) as e:
            self._context.destroy(linger=0)
            raise OSError(f"parameter server: cannot listen at {endpoint}: {e}") from None
        self.endpoint = self._socket.get_string(zmq.LAST_ENDPOINT).removeprefix("tcp://")
        self._dropped = Dropped(f"parameter server {self.endpoint}")

    def run(self) -> None:
        """Answer requests until stopped."""
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        try:
            while not self._stopping.is_set():
                busy = self._recovery is not None and self._recovery.step(self.tables, self._last)
                if poller.poll(BUSY if busy else PAUSE):
                    frames = self._socket.recv_multipart(copy=False)
                    self._handle(frames[0].bytes, [frame.buffer for frame in frames[1:]])
        finally:
            self._drain()
            self._context.destroy(linger=1000)
            if self._recovery is not None:
                self._recovery.close()

    def _drain(self) -> None:
        """Take what is not answered any more: ZeroMQ aborts over a full connection whose other end is gone."""
        end = time.monotonic() + 1.0
        with contextlib.suppress(zmq.Again):
            while time.monotonic() < end:
                self._socket.recv_multipart(zmq.NOBLOCK, copy=False)

    def stop(self) -> None:
        """Let `run` return; from any thread."""
        self._stopping.set()

    def _handle(self, client: bytes, frames: list[Any]) -> None:
        """Answer one message; errors are returned to the sender."""
        try:
            asked = unseal(self._key, ASKS, frames)
        except WireError as e:
            return self._dropped.tell("a message", e)
        caller, number = Caller(client, asked._replace(server=self._nonce, frames=[])), None
        try:
            if not asked.authentic:
                raise PermissionError("the token is not that of the server")
            header, arrays = unpack(asked.frames)
            number = header.get("id")
            if asked.server != self._nonce:  # it does not know yet that this server was restarted
                return self._send(caller, {"id": number, "stale": True}, [])
            answer = self._once(caller, header, arrays, asked.frames)
        except Exception as e:  # of one request, which must not end the others'
            answer = failure(e), []
        if answer is not None:
            self._send(caller, {"id": number, **answer[0]}, answer[1])

    def _send(self, caller: Caller, header: dict[str, Any], arrays: Arrays) -> None:
        frames = seal(self._key, ANSWERS, caller.to, pack(header, arrays))
        self._socket.send_multipart([caller.client, *frames], copy=False)

    def _once(self, caller: Caller, header: dict[str, Any], arrays: Arrays, frames: list[Any]) -> Any:
        """Return the answer to a request, which is the last one of its channel or one after that.

        Changes have numbers of their own, which outlive this server, and may come again, as what only reads may.

        Raises:
            PermissionError: for one of before, which somebody has recorded.
        """
        number = header.get("id")
        if type(number) is not int:
            raise ValueError("a request came without a number")
        last, answer = self._channels.get(caller.to.channel, (0, None))
        if number < last:
            raise PermissionError("a request of before has come again")
        if number == last and answer is not None:
            return answer
        self._channels[caller.to.channel] = number, None
        self._channels.move_to_end(caller.to.channel)
        self._admit(header)
        answer = self._answer(caller, header, arrays, frames)
        if header.get("op") in FILES:
            self._channels[caller.to.channel] = number, answer
        if len(self._channels) > REMEMBERED:  # forgotten channels are no longer valid
            self._channels.clear()
            self._nonce = os.urandom(NONCE)
        return answer

    def _admit(self, header: dict[str, Any]) -> None:
        if header.get("shard") != [self.index, self.servers]:
            raise ValueError(
                f"this is server {self.index} of {self.servers}, and was taken for {header.get('shard')}; "
                "all clients must name the same servers in the same order"
            )

    def _answer(self, client: Caller, header: dict[str, Any], arrays: Arrays, frames: list[Any]) -> Any:
        """Return the answer to a request; None if it comes later."""
        op = header.get("op")
        if op == "stop":
            self.stop()
            return {}, []
        if op in FILES:
            return self._files(op, header), []
        if op != "barrier" and op not in CHANGES:
            self.tables.check(header, arrays)
            self.tables.make_room(header, arrays)
            return self.tables.apply(header, arrays)
        session, seq = header.get("session"), header.get("seq")
        if type(session) is not str or type(seq) is not int:
            raise ValueError(f"{op} came without a session and a number")
        done, answer = self._last.get(session, (0, {}))
        if seq <= done:
            return answer, []
        return self._meet(client, header) if op == "barrier" else self._change(header, arrays, frames)

    def _change(self, header: dict[str, Any], arrays: Arrays, frames: list[Any]) -> Any:
        """Check a change, log it, and make it."""
        self.tables.check(header, arrays)
        self.tables.make_room(header, arrays)
        if self._recovery is not None:
            self._recovery.record(frames)
        answer = self.tables.apply(header, arrays)
        self._done(header, answer[0])
        return answer

    def _files(self, op: str, header: dict[str, Any]) -> dict[str, Any]:
        """Save this server's share, make a save count, or load."""
        folder = Path(header["folder"])
        if self._saves and not folder.resolve().is_relative_to(Path(self._saves).resolve()):
            raise PermissionError(f"{op}: {folder} is outside of {self._saves}, where this server's clients may save")
        if op == "save":
            if not str(header["word"]).isalnum():
                raise ValueError(f"save: word is {header['word']!r}; expected letters and digits")
            return {"shares": save_share(self.tables, folder, header["word"], self.index, self.servers)}
        if op == "commit":
            commit(folder, header["shares"])
            return {}
        load_share(self.tables, folder, self.index, self.servers)
        if self._recovery is not None:
            self._recovery.snapshot(self.tables, self._last)
        return {}

    def _meet(self, client: Caller, header: dict[str, Any]) -> None:
        """Note that a worker waits for the others; tell all if it is the last."""
        arrived = self._barrier.arrive(client, header)
        if arrived and self._recovery is not None:
            self._recovery.record_met([(asked["session"], asked["seq"]) for _, asked in arrived])
        for waiting, asked in arrived:
            self._done(asked, {})
            self._send(waiting, {"id": asked["id"]}, [])

    def _done(self, header: dict[str, Any], answer: dict[str, Any]) -> None:
        """Remember that a client's change is done."""
        self._last[header["session"]] = (header["seq"], answer)
        self._last.move_to_end(header["session"])
        if len(self._last) > REMEMBERED:
            self._last.popitem(last=False)
