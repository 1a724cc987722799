"""Parameter servers for tests: in threads, or in processes that can be killed."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from paddle_lite_py.core.processes import job
from paddle_lite_py.distributed import fleet, ps


@contextlib.contextmanager
def serving(count: int = 1, **settings: Any) -> Iterator[list[str]]:
    """Servers in threads of this process; their endpoints."""
    servers = [ps.Server(index=i, servers=count, **settings) for i in range(count)]
    threads = [threading.Thread(target=server.run) for server in servers]
    for thread in threads:
        thread.start()
    try:
        yield [server.endpoint for server in servers]
    finally:
        for server in servers:
            server.stop()
        for thread in threads:
            thread.join()


@contextlib.contextmanager
def one_worker() -> Iterator[None]:
    """This process as the one worker of two servers."""
    with serving(2) as endpoints:
        fleet.init(fleet.UserDefinedRoleMaker(current_id=0, role=1, worker_num=1, server_endpoints=endpoints))
        try:
            yield
        finally:
            if job.session is not None:
                fleet.stop_worker()
            fleet.init(is_collective=True)


@contextlib.contextmanager
def client_of(endpoints: list[str], **settings: Any) -> Iterator[ps.Client]:
    """A client, which is closed at the end."""
    client = ps.Client(endpoints, **{"timeout": 60.0, **settings})
    try:
        yield client
    finally:
        client.close()


@contextlib.contextmanager
def clients(count: int = 1, **settings: Any) -> Iterator[ps.Client]:
    """A client of servers in threads of this process."""
    with serving(count, **settings) as endpoints, client_of(endpoints) as client:
        yield client


class ServerProcess:
    """A server in a process of its own, which keeps its endpoint when it is started again.

    Arguments:
        arguments: of the command line.
        file_bytes: what no file of it may grow over, as on a disk that is full; 0: there is no limit.
    """

    def __init__(self, *arguments: str, file_bytes: int = 0) -> None:
        self._arguments, self._file_bytes = arguments, file_bytes
        self.endpoint = "127.0.0.1:0"
        self.start()
        self.ready()

    def start(self) -> None:
        """Start it, where it was before."""
        program = "import resource, runpy, sys; size = int(sys.argv.pop(1))\n"
        program += "resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)) if size else None\n"
        program += "runpy.run_module('paddle_lite_py.distributed.ps', run_name='__main__', alter_sys=True)"
        command = [sys.executable, "-c", program, str(self._file_bytes), "--endpoint", self.endpoint, *self._arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def ready(self) -> None:
        """Wait until it answers."""
        assert self.process.stdout is not None
        self.endpoint = self.process.stdout.readline().strip()
        assert self.endpoint, "the server has not started"

    def kill(self) -> None:
        """End it at once, as kill -9 does."""
        self.process.kill()
        self.process.communicate()

    def __enter__(self) -> ServerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
