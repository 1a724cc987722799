"""The process that compiles large programs, seen from the one that runs them."""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
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


class CompilerProcess:
    """The process that compiles, while it is there: started when it is needed, and again when it has ended."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.child: subprocess.Popen[str] | None = None
        self.owner = 0  # a fork of this process has no part in what this one started
        self.refused = not sys.executable  # it cannot be started

    def start(self) -> None:
        """Have it begin, so that it is there when a program is."""
        with self.lock:
            self._running()

    def do(self, job: dict[str, Any]) -> str:
        """Have a program compiled; returns what went wrong, or nothing."""
        with self.lock:
            for _ in range(2):  # it may have ended, as it does when it has nothing to do
                child = self._running()
                if child is None:
                    return "it cannot be started"
                if answer := self._answer(child, json.dumps(job)):
                    return json.loads(answer)
                self.end()
        return "it has ended"

    def _answer(self, child: subprocess.Popen[str], line: str) -> str:
        assert child.stdin and child.stdout
        try:
            child.stdin.write(line + "\n")
            child.stdin.flush()
            return child.stdout.readline()
        except OSError:
            return ""
        except BaseException:  # the user does not want to wait
            self.end()
            raise

    def _running(self) -> subprocess.Popen[str] | None:
        if self.child is None or self.owner != os.getpid() or self.child.poll() is not None:
            import subprocess  # a hundredth of the time that the framework takes to import, for what few need

            self.end()
            pipe = subprocess.PIPE
            command = [sys.executable, "-P", compiler.__file__]  # -P: modules beside that file are not JAX's
            try:
                self.child = subprocess.Popen(
                    command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=os.environ | _SETTINGS
                )
            except OSError:
                self.child, self.refused = None, True
            self.owner = os.getpid()
        return self.child

    def end(self) -> None:
        """End it, whatever it does."""
        child, self.child = self.child, None
        if child is not None and self.owner == os.getpid():
            child.kill()
            child.communicate()


process = CompilerProcess()
atexit.register(process.end)
