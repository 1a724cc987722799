"""Asks a server over connections that stay open, as fast as it answers; or kills its workers.

usage: serving_client.py PORT PATH FILE CLIENTS SECONDS
       serving_client.py kill PID TIMES
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path


async def client(port: int, head: bytes, end: float, times: list[float], lost: list[str]) -> None:
    """One connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while (start := time.perf_counter()) < end:
        writer.write(head)
        try:
            said = await reader.readuntil(b"\r\n\r\n")
            length = next(int(s.split(b":")[1]) for s in said.lower().split(b"\r\n") if s.startswith(b"content-length"))
            await reader.readexactly(length)
        except (OSError, asyncio.IncompleteReadError):
            lost.append("connection")
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        if b" 200 " in said[:20]:
            times.append(time.perf_counter() - start)
        else:
            lost.append(said[:20].decode())
    writer.close()


async def load(port: int, path: str, body: bytes, clients: int, seconds: float) -> dict[str, object]:
    """All connections; answers a second and percentiles."""
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    times: list[float] = []
    lost: list[str] = []
    end = time.perf_counter() + seconds
    await asyncio.gather(*[client(port, head.encode() + body, end, times, lost) for _ in range(clients)])
    times.sort()
    at = [times[int(len(times) * p)] * 1000 if times else 0.0 for p in (0.5, 0.99)]
    return {"rate": len(times) / seconds, "p50": at[0], "p99": at[1], "answers": len(times), "lost": len(lost)}


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
        print(json.dumps(asyncio.run(load(int(port), path, Path(file).read_bytes(), int(clients), float(seconds)))))
