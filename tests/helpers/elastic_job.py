"""An elastic job of several launchers on this machine, whose nodes tests start, kill and ask to leave."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from launching import PROGRAMS, ROOT
from paddle_lite_py.distributed.spawning import free_ports

# Seconds in which whatever a test waits for comes even on a machine that does other things.
DEADLINE = 240.0


class ElasticJob:
    """Launchers by name, and the events that their processes have noted."""

    def __init__(
        self, folder: Path, nodes: str, steps: int, pause: float = 0.1, program: str = "elastic", **options: object
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.running = folder, {}
        master = f"127.0.0.1:{free_ports(1)[0]}"
        given = {"elastic_timeout": 3, **options}
        self.command = [sys.executable, "-m", "paddle_lite_py.distributed.launch", "--master", master]
        self.command += ["--nnodes", nodes, *[w for k, v in given.items() for w in (f"--{k}", str(v))]]
        self.program = [str(PROGRAMS / f"{program}.py"), str(folder), str(steps)]
        (folder / "pause").write_text(str(pause))

    def start(self, *names: str, options: tuple[str, ...] = ()) -> None:
        """Start launchers."""
        for name in names:
            own = {"PYTHONPATH": str(ROOT), "PADDLE_LAUNCH_ALIVE": str(self.folder / f"alive.{name}")}
            command = [*self.command, *options, "--log_dir", str(self.folder / f"log.{name}"), *self.program]
            with (self.folder / f"{name}.out").open("ab") as out:
                self.running[name] = subprocess.Popen(
                    command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **own}
                )

    def hurry(self) -> None:
        """From now on steps take no longer than they need."""
        (self.folder / "pause").write_text("0")

    def said(self, name: str) -> str:
        """What a launcher has printed."""
        return (self.folder / f"{name}.out").read_text(errors="replace")

    def everything(self) -> str:
        """The ends of all that was printed, for messages."""
        return "\n".join(f"--- {p.name}\n{p.read_text(errors='replace')[-3000:]}" for p in self.folder.glob("*.out"))

    def events(self, what: str = "") -> list[dict]:
        """What the processes have noted, in the order of time."""
        lines = [line for p in self.folder.glob("events.*") for line in p.read_text().splitlines() if line[-1:] == "}"]
        return sorted((e for e in map(json.loads, lines) if what in ("", e["what"])), key=lambda e: e["time"])

    def until(self, *, size: int, step: int, after: float = 0.0, begun: bool = False) -> dict:
        """The first event of a step at or beyond that one, in a world of that size, after a time.

        Arguments:
            begun: in a world that has begun after it.
        """
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            born = {e["pid"]: e["time"] for e in self.events("begun")}
            for e in self.events("step"):
                since = born.get(e["pid"], 0.0) if begun else e["time"]
                if since > after and e["size"] == size and e["step"] >= step:
                    return e
            assert any(p.poll() is None for p in self.running.values()), self.everything()
            time.sleep(0.05)
        raise AssertionError(f"no step {step} of {size} processes\n{self.everything()}")

    def node_of(self, pid: int) -> str:
        """The name of the launcher with that process id."""
        return next(name for name, p in self.running.items() if p.pid == pid)

    def launcher_of_rank(self, rank: int) -> str:
        """The name of the launcher whose process had that rank last."""
        return self.node_of([e for e in self.events("begun") if e["rank"] == rank][-1]["launcher"])

    def kill(self, name: str) -> float:
        """Kill a launcher, which its processes do not outlive; when."""
        self.running[name].kill()
        self.running.pop(name).wait()
        return time.time()

    def ask(self, name: str) -> None:
        """Ask a launcher to leave."""
        self.running[name].send_signal(signal.SIGTERM)

    def ended(self) -> dict[str, int]:
        """The exit codes of all launchers."""
        return {name: p.wait(DEADLINE) for name, p in self.running.items()}

    def close(self) -> None:
        """End what still runs."""
        for p in self.running.values():
            p.kill()
            p.wait()

    def losses(self) -> dict[int, float]:
        """The loss of each step, as it was computed last."""
        return {e["step"]: e["loss"] for e in self.events("step")}

    def weights(self) -> np.ndarray:
        """Those that training has ended with."""
        return np.load(self.folder / "weights.npy")
