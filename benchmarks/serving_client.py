"""Asks a server over connections that stay open, as fast as it answers; or kills its workers.

usage: serving_client.py PORT PATH FILE CLIENTS SECONDS
       serving_client.py kill PID TIMES
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import uvloop

ASK_AGAIN = ("429", "504")  # the server's limits, of which it tells the client: no request is lost


class Connection(asyncio.Protocol):
    """Asks again whenever it is answered. It does little else: client and server share the processors."""

    def __init__(self, head: bytes, end: float, times: list[float], lost: list[str]) -> None:
        self.head, self.end, self.times, self.lost = head, end, times, lost
        self.ended = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        """Ask first."""
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        """Ask, or end."""
        self.said, self.whole, self.start = b"", 0, time.perf_counter()
        self.transport.write(self.head) if self.start < self.end else self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Count an answer once it is whole."""
        self.said += data
        if not self.whole and (at := self.said.find(b"\r\n\r\n")) >= 0:
            lines = self.said[:at].lower().split(b"\r\n")
            length = next(int(s.split(b":")[1]) for s in lines if s.startswith(b"content-length"))
            self.whole = at + 4 + length
        if self.whole and len(self.said) >= self.whole:
            if b" 200 " in self.said[:20]:
                self.times.append(time.perf_counter() - self.start)
            else:
                self.lost.append(self.said[9:12].decode())
            self.ask()

    def connection_lost(self, error: Exception | None) -> None:
        """A request that is under way is lost."""
        if self.start < self.end:
            self.lost.append("connection")
        self.ended.set_result(None)


async def client(port: int, head: bytes, end: float, times: list[float], lost: list[str]) -> None:
    """One connection, and another one if it is closed."""
    while time.perf_counter() < end:
        make = functools.partial(Connection, head, end, times, lost)
        _, protocol = await asyncio.get_running_loop().create_connection(make, "127.0.0.1", port)
        await protocol.ended


async def load(port: int, path: str, body: bytes, clients: int, seconds: float) -> dict[str, object]:
    """All connections; answers a second and percentiles."""
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    times: list[float] = []
    lost: list[str] = []
    end = time.perf_counter() + seconds
    await asyncio.gather(*[client(port, head.encode() + body, end, times, lost) for _ in range(clients)])
    times.sort()
    at = [times[int(len(times) * p)] * 1000 if times else 0.0 for p in (0.5, 0.99)]
    refused = [s for s in lost if s in ASK_AGAIN]
    said = {"refused": len(refused), "lost": len(lost) - len(refused), "said": sorted(set(lost))}
    return {"rate": len(times) / seconds, "p50": at[0], "p99": at[1], "answers": len(times), **said}


def kill(pid: int, times: int) -> int:
    """Kill one worker of a server after the other, a second apart; how many."""
    killed = 0
    for _ in range(times):
        time.sleep(2.0)
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if children:
            os.kill(int(children[0]), signal.SIGKILL)
            killed += 1
    return killed


if __name__ == "__main__":
    if sys.argv[1] == "kill":
        print(kill(int(sys.argv[2]), int(sys.argv[3])))
    else:
        port, path, file, clients, seconds = sys.argv[1:]
        asked = load(int(port), path, Path(file).read_bytes(), int(clients), float(seconds))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            print(json.dumps(runner.run(asked)))
