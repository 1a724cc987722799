"""Starting processes."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import secrets
import socket
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.no_effect import no_effect
from .exchange import leave
from .members import KEY

# Below those that systems give for connections: nothing takes one between its choice and its use.
PORTS = (10_000, 32_000)


class MultiprocessContext:
    """Processes that run one function.

    Arguments:
        processes: by rank.
        ends: where each puts the traceback of its error.
    """

    def __init__(self, processes: list[Any], ends: list[Any]) -> None:
        self.processes, self._ends = processes, ends

    def join(self, timeout: float | None = None) -> bool:
        """Wait until all have ended: whether they have, within so many seconds.

        Raises:
            RuntimeError: if one has failed, with its rank and traceback; the others are ended then.
        """
        limit = None if timeout is None else time.monotonic() + timeout
        while any(p.is_alive() for p in self.processes):
            self._check()
            if limit is not None and time.monotonic() > limit:
                return False
            time.sleep(0.02)
        self._check()
        return True

    def _check(self) -> None:
        failed = [r for r, p in enumerate(self.processes) if p.exitcode not in (None, 0)]
        if not failed:
            return
        texts = {r: self._ends[r].recv() for r in failed if self._ends[r].poll()}
        rank = min(
            texts or failed, key=lambda r: ("has ended" in texts.get(r, ""), r)
        )  # not who heard of another's end
        code = self.processes[rank].exitcode
        self.kill()
        raise RuntimeError(
            f"spawn: the process of rank {rank} has failed (exit code {code})"
            + (f":\n{texts[rank]}" if rank in texts else "; it left no traceback")
        )

    def kill(self) -> None:
        """End the processes that still run."""
        for p in self.processes:
            if p.is_alive():
                p.kill()
        for p in self.processes:
            p.join()


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Ports that nothing listens at now, and that the system gives nobody who asks it for any port.

    Raises:
        OSError: if the host is not this one.
    """
    held: list[socket.socket] = []
    try:
        while len(held) < count:
            s = socket.socket()
            try:
                s.bind((host, random.SystemRandom().randrange(*PORTS)))
                held.append(s)
            except OSError as e:
                s.close()
                if e.errno != errno.EADDRINUSE:
                    raise
        return [s.getsockname()[1] for s in held]
    finally:
        for s in held:
            s.close()


def wait_server_ready(endpoints: Iterable[str], seconds: float = 300.0) -> None:
    """Wait until something listens at all addresses.

    Raises:
        TimeoutError: if nothing does within so many seconds, with the address.
    """
    end = time.monotonic() + seconds
    for endpoint in endpoints:
        host, _, port = endpoint.rpartition(":")
        while True:
            try:
                socket.create_connection((host, int(port)), timeout=3).close()
                break
            except OSError:
                if time.monotonic() > end:
                    raise TimeoutError(f"nothing listens at {endpoint} after {seconds:g} s") from None
                time.sleep(0.2)


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {k: os.environ.get(k) for k in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for k, v in before.items():
            if v is None:
                del os.environ[k]
            else:
                os.environ[k] = v


def _run(func: Callable[..., Any], args: tuple[Any, ...], end: Any) -> None:
    why = ""
    try:
        func(*args)
    except BaseException as e:
        if not (isinstance(e, SystemExit) and not e.code):
            end.send(traceback.format_exc())
            why = f"{type(e).__name__}: {str(e)[:300]}"
        raise
    finally:
        leave(why)  # multiprocessing ends a process without what atexit knows


@no_effect(options="there is nothing to choose: one process for each CPU device")
def spawn(
    func: Callable[..., Any], args: Iterable[Any] = (), nprocs: int = -1, join: bool = True, daemon: bool = False,
    **options: Any,
) -> MultiprocessContext | None:  # fmt: skip
    """Run a function in several processes that are connected for distributed training.

    Arguments:
        func: function that each process runs, defined in an importable module.
        args: its arguments. Default: ().
        nprocs: number of processes; -1: number of devices, which is one on a CPU. Default: -1.
        join: wait until all processes have ended; False: return a context to wait on. Default: True.
        daemon: end the processes with this process. Default: False.
        options: see docs/differences.md.

    Returns:
        A MultiprocessContext.

    Raises:
        RuntimeError: if a process fails, with its rank and traceback.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.spawn(print, args=("trained",))
        trained
    """
    if nprocs in (-1, 1):
        func(*args)
        return None
    if nprocs < 1:
        raise ValueError(f"spawn: nprocs is {nprocs}; expected the number of processes, or -1")
    context = multiprocessing.get_context("spawn")
    ports = free_ports(nprocs + 1)
    endpoints = [f"127.0.0.1:{p}" for p in ports[1:]]
    processes, ends, key = [], [], secrets.token_hex(32)
    for rank in range(nprocs):
        end, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(func, tuple(args), theirs), daemon=daemon)
        with _environment(variables(rank, endpoints, f"127.0.0.1:{ports[0]}") | {KEY: key}):
            process.start()
        processes.append(process)
        ends.append(end)
    found = MultiprocessContext(processes, ends)
    if not join:
        return found
    try:
        found.join()
    finally:
        found.kill()
    return found


def variables(
    rank: int, endpoints: list[str], master: str, local_rank: int | None = None, local_size: int | None = None,
    node: int = 0, nodes: int = 1,
) -> dict[str, str]:  # fmt: skip
    """Return the environment variables that a launcher sets for a rank."""
    size = len(endpoints)
    local_rank, local_size = rank if local_rank is None else local_rank, local_size or size
    return {
        "PADDLE_TRAINER_ID": str(rank),
        "PADDLE_TRAINERS_NUM": str(size),
        "PADDLE_CURRENT_ENDPOINT": endpoints[rank],
        "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints),
        "PADDLE_MASTER": master,
        "PADDLE_LOCAL_RANK": str(local_rank),
        "PADDLE_LOCAL_SIZE": str(local_size),
        "PADDLE_GLOBAL_RANK": str(rank),
        "PADDLE_GLOBAL_SIZE": str(size),
        "PADDLE_RANK_IN_NODE": str(local_rank),
        "PADDLE_NODE_RANK": str(node),
        "PADDLE_NNODES": str(nodes),
        "PADDLE_DISTRI_BACKEND": "xla",
        "MASTER_ADDR": master.rpartition(":")[0],
        "MASTER_PORT": master.rpartition(":")[2],
        "TRAINING_ROLE": "TRAINER",
    }
