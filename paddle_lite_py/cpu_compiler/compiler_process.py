"""The process that compiles large programs, seen from the one that runs them."""

from __future__ import annotations

import atexit
import json
import os
import select
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from ..core.jax_compat import compiler

if TYPE_CHECKING:
    import subprocess

# The threads of the process do not share one heap, and nothing that they free goes back before it ends.
_SETTINGS = {
    "MALLOC_ARENA_MAX": "4",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(2**31 - 1),
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_COMPILATION_CACHE": "0",
}
_ENDED = "it has ended"


class CompilerJob:
    """A program to be compiled; `answer` is what went wrong, or nothing, once that is known.

    Arguments:
        stays: the process compiles it to its end when this one ends before.
    """

    def __init__(self, what: dict[str, Any], stays: bool = False) -> None:
        self.what, self.stays = what, stays
        self.answer: str | None = None


class CompilerProcess:
    """The process that compiles, while it is there: started when it is needed, and again when it has ended."""

    def __init__(self) -> None:
        self.lock, self._reading = threading.RLock(), threading.RLock()  # who reads waits without the first
        self.child: Any = None
        self.owner = 0  # a fork of this process has no part in what this one started
        self.refused = not sys.executable  # it cannot be started
        self._jobs: deque[CompilerJob] = deque()  # in the order in which it does them

    def start(self) -> None:
        """Have it begin, so that it is there when a program is."""
        with self.lock:
            self._running()

    def do(self, what: dict[str, Any]) -> str:
        """Have a program compiled; returns what went wrong, or nothing."""
        for _ in range(2):  # it may have ended, as it does when it has nothing to do
            job = self.submit(CompilerJob(what))
            while not self.is_done(job, wait=True):
                pass
            if job.answer != _ENDED:
                break
        assert job.answer is not None
        return job.answer

    def submit(self, job: CompilerJob) -> CompilerJob:
        """Have a program compiled after those before it, and wait for nothing."""
        with self.lock:
            child = self._running()
            if child is None:
                job.answer = "it cannot be started"
                return job
            assert child.stdin
            try:
                child.stdin.write(json.dumps(job.what).encode() + b"\n")
                self._jobs.append(job)
            except OSError:
                job.answer = _ENDED
                self.end()
            return job

    def is_done(self, job: CompilerJob, wait: bool = False) -> bool:
        """Whether a job is done, or failed; `wait`: for the next one that is."""
        if self.owner != os.getpid() and job.answer is None:
            job.answer = _ENDED
        if not self._reading.acquire(blocking=wait):  # another thread waits for an answer, to an earlier job perhaps
            return job.answer is not None
        try:
            child = self.child
            while job.answer is None and child is not None and (wait or select.select([child.stdout], [], [], 0)[0]):
                self._take_answer(child)
                child = self.child
            return job.answer is not None
        finally:
            self._reading.release()

    def _take_answer(self, child: Any) -> None:
        try:
            line = child.stdout.readline()
        except BaseException:  # the user does not want to wait
            self.end()
            raise
        with self.lock:
            if line:
                self._jobs.popleft().answer = json.loads(line)
            elif self.child is child:
                self.end()

    def _running(self) -> subprocess.Popen[bytes] | None:
        if self.child is None or self.owner != os.getpid() or self.child.poll() is not None:
            import subprocess  # a hundredth of the time that the framework takes to import, for what few need

            self.end()
            pipe = subprocess.PIPE
            command = [sys.executable, "-P", compiler.__file__]  # -P: modules in that folder must not shadow JAX's
            try:
                self.child = subprocess.Popen(
                    command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0, env=os.environ | _SETTINGS
                )
            except OSError:
                self.child, self.refused = None, True
            self.owner = os.getpid()
        return self.child

    def end(self) -> None:
        """End it, whatever it does."""
        with self.lock:
            child, self.child = self.child, None
            for job in self._jobs:
                job.answer = _ENDED
            self._jobs.clear()
        if child is not None and self.owner == os.getpid():
            child.kill()
            child.communicate()

    def leave(self) -> None:
        """End it, unless what it does is of use to processes after this one: it ends by itself then."""
        child = self.child
        if child is not None and self.owner == os.getpid() and any(j.stays for j in self._jobs):
            assert child.stdin and child.stdout
            child.stdin.close()
            self.child = None
            child.returncode = 0  # it is never waited for
        else:
            self.end()


process = CompilerProcess()
atexit.register(process.leave)
