"""A job of servers and workers whose processes tests kill."""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import subprocess
import sys
import time
import uuid
from pathlib import Path

from launching import ROOT

ROLES = {"server": "PSERVER", "worker": "TRAINER"}


class ServedJob:
    """Servers and workers under a launcher.

    Arguments:
        folder: for logs, and for what servers keep.
        program: what all run, with its arguments.
        options: of the launcher.
        env: what the environment has besides.
    """

    def __init__(self, folder: Path, program: list[str], options: list[str], env: dict[str, str] | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.name = folder, f"job-{uuid.uuid4().hex}"
        command = [sys.executable, "-m", "paddle_lite_py.distributed.launch", "--log_dir", str(folder / "log")]
        self._said = (folder / "said").open("w+")
        self.process = subprocess.Popen(
            [*command, "--job_id", self.name, *options, *program], cwd=folder, stdout=self._said,
            stderr=subprocess.STDOUT, env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        )  # fmt: skip

    def told(self, role: str, number: int) -> tuple[int, dict[str, str]] | None:
        """The id of a process that runs, and its environment; the launcher's child, not what that has started."""
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError):
                parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
                if parent != self.process.pid:
                    continue
                text = (place / "environ").read_bytes().decode(errors="replace")
                env = dict(v.split("=", 1) for v in text.split("\0") if "=" in v)
                listed = env.get(f"PADDLE_{'PSERVERS_IP_PORT_LIST' if role == 'server' else 'TRAINER_ENDPOINTS'}", "")
                if env.get("TRAINING_ROLE") == ROLES[role] and (
                    env["PADDLE_CURRENT_ENDPOINT"] == listed.split(",")[number]
                ):
                    return int(place.name), env
        return None

    def done(self, number: int) -> int:
        """How many things a worker has done, by its own account; -1 where it has not begun."""
        found = self.told("worker", number)
        with contextlib.suppress(OSError, struct.error, KeyError):
            if found is not None:
                file = Path(found[1]["PADDLE_WORKER_FOLDER"]) / f"worker-{number}" / "progress"
                return int(struct.unpack("<qq", file.read_bytes())[0])
        return -1

    def kill(self, role: str, number: int) -> bool:
        """kill -9, and whether there was something to kill."""
        found = self.told(role, number)
        if found is None:
            return False
        os.kill(found[0], signal.SIGKILL)
        return True

    def kill_after(self, number: int, things: int, role: str = "worker", seconds: float = 120.0) -> None:
        """Kill a process once the worker of its number has done so many things."""
        end = time.monotonic() + seconds
        while self.done(number) < things:
            assert self.process.poll() is None and time.monotonic() < end, self.said()
            time.sleep(0.02)
        assert self.kill(role, number), self.said()

    def ended(self, seconds: float = 300.0) -> int:
        """The exit code of the launcher."""
        return self.process.wait(seconds)

    def said(self) -> str:
        """What the launcher and the first worker have printed."""
        return Path(self._said.name).read_text()

    def close(self) -> None:
        """End what still runs."""
        if self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
        self.process.kill()
        self.process.wait()
        self._said.close()
