"""Barriers between processes that exchange nothing else, at an address that the program chooses."""

from __future__ import annotations

import contextlib
import threading
import time
from multiprocessing.connection import Connection, Listener

from .collective import barrier
from .group import init_parallel_env
from .members import Reception, connect, job_secret, key_of

__all__ = ["gloo_barrier", "gloo_init_parallel_env", "gloo_release"]

# Seconds that processes may be apart.
PATIENCE = 300.0


class _Meeting:
    """The place where processes wait for each other; the first one serves it.

    Arguments:
        rank: the number of this process.
        size: how many there are.
        endpoint: host:port of the first one.
    """

    def __init__(self, rank: int, size: int, endpoint: str) -> None:
        host, _, port = endpoint.rpartition(":")
        key = key_of(job_secret("gloo", endpoint))
        self._word, self._reception = str(rank).encode(), None
        self._here, self._told = threading.Barrier(size), threading.Barrier(size)
        if rank == 0:
            listener = Listener((host, int(port)), backlog=size)
            self._reception = Reception(listener, key, self._serve, "gloo barrier")
        self._connection = _patiently((host, int(port)), key)

    def _serve(self, connection: Connection) -> None:
        with contextlib.suppress(EOFError, OSError, threading.BrokenBarrierError):
            while True:
                is_own = connection.recv_bytes(16) == self._word
                self._here.wait(PATIENCE)
                if not is_own:
                    connection.send_bytes(b"all")
                self._told.wait(PATIENCE)
                if is_own:  # last: this process may end as soon as it knows
                    connection.send_bytes(b"all")
        connection.close()

    def wait(self) -> None:
        """Wait until all processes are here."""
        try:
            self._connection.send_bytes(self._word)
            if self._connection.poll(PATIENCE):
                self._connection.recv_bytes(16)
                return
        except (EOFError, OSError):
            raise RuntimeError("gloo_barrier: the first process has ended") from None
        raise RuntimeError(f"gloo_barrier: not all processes have come within {PATIENCE:g} s")

    def close(self) -> None:
        """End it."""
        self._connection.close()
        if self._reception is not None:
            self._reception.close()


def _patiently(at: tuple[str, int], key: bytes) -> Connection:
    """Return a connection to the first process, which may not be there yet."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return connect(at, key)
        except OSError:
            if time.monotonic() > end:
                raise RuntimeError(f"gloo_init_parallel_env: nothing listens at {at[0]}:{at[1]}") from None
            time.sleep(0.1)


_meeting: list[_Meeting] = []


def gloo_init_parallel_env(rank_id: int, rank_num: int, server_endpoint: str) -> None:
    """Meet other processes, so that gloo_barrier() waits for them.

    Arguments:
        rank_id: number of this process, from 0.
        rank_num: how many processes there are.
        server_endpoint: host:port at which the first process listens; "": the processes of the launcher.

    Raises:
        ValueError: if the number does not fit.
        RuntimeError: if the first process does not come.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.gloo_init_parallel_env(0, 1, "127.0.0.1:0")
        >>> paddle.distributed.gloo_barrier()
        >>> paddle.distributed.gloo_release()
    """
    if not 0 <= rank_id < rank_num:
        raise ValueError(f"gloo_init_parallel_env: rank_id is {rank_id} of rank_num={rank_num}; expected 0 or more")
    if rank_num == 1 or not server_endpoint:
        init_parallel_env()
    else:
        _meeting[:] = [_Meeting(rank_id, rank_num, server_endpoint)]
        _meeting[0].wait()


def gloo_barrier() -> None:
    """Wait until all processes have called gloo_barrier()."""
    if _meeting:
        _meeting[0].wait()
    else:
        barrier()


def gloo_release() -> None:
    """End what gloo_init_parallel_env() began."""
    if _meeting:
        _meeting.pop().close()
