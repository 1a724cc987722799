"""A worker process, as the server sees it: the process, the connection to it, and what it could not load."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

from ..core.config import DISPATCH_VARIABLE
from .errors import ServingError
from .frames import LENGTHS, Message, decode, encode
from .host import PROGRAMS
from .tensors import Arrays

T = TypeVar("T")


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of some work that goes on even if this is cancelled."""
    task = asyncio.ensure_future(work)
    task.add_done_callback(lambda t: t.cancelled() or t.exception())  # mark its exception as retrieved
    return await asyncio.shield(task)


class WorkerDied(ConnectionError):
    """The process ended before it answered."""


class ModelWorker:
    """One process, and the connection to it.

    Arguments:
        programs: see ModelHost.
    """

    def __init__(self, programs: int = PROGRAMS) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "paddle_lite_py.serving.worker", str(theirs.fileno()), str(programs)]
        environment = {DISPATCH_VARIABLE: "0", **os.environ}
        self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=environment)
        theirs.close()
        self._socket, self._turn = ours, asyncio.Lock()
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.compilations = 0
        self.loading = 0  # models that are being loaded: it runs nothing until they are
        self.queued = False  # it waits for work
        self.missing: dict[str, str] = {}  # models that it cannot run, and why

    @property
    def ended(self) -> bool:
        """Whether the process is no more."""
        return self.process.poll() is not None

    async def ask(self, head: dict[str, Any], arrays: Arrays, patience: float | None = None) -> Message:
        """Send a message, wait for the answer.

        Arguments:
            patience: seconds that the answer may take, once it is this message's turn.

        Raises:
            TimeoutError: if it takes longer.
            WorkerDied: if the process ends first.
            ServingError: as the worker says.
        """
        # An answer is read even if its caller has given up: the next one comes after it.
        answer = await to_the_end(self._in_turn(head, arrays, patience))
        self.compilations = answer.head["compilations"]
        if "error" in answer.head:
            raise ServingError(answer.head["kind"], answer.head["error"])
        return answer

    async def _in_turn(self, head: dict[str, Any], arrays: Arrays, patience: float | None) -> Message:
        async with self._turn, asyncio.timeout(patience):
            return await self._exchange(head, arrays)

    async def _exchange(self, head: dict[str, Any], arrays: Arrays) -> Message:
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection(sock=self._socket)
            reader, writer = self._streams
            writer.writelines(encode(Message(head, arrays)))
            await writer.drain()
            lengths = LENGTHS.unpack(await reader.readexactly(LENGTHS.size))
            return decode(*[await reader.readexactly(n) for n in lengths])
        except (OSError, asyncio.IncompleteReadError) as e:
            raise WorkerDied(f"worker {self.process.pid} ended") from e

    async def close(self) -> None:
        """End the process: at once if it does not end by itself."""
        self._streams[1].close() if self._streams else self._socket.close()
        try:
            await asyncio.to_thread(self.process.wait, 2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            await asyncio.to_thread(self.process.wait)
