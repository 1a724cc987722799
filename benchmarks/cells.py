"""The cells of the table: each measures one workload in one framework, one turn at a time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent / ".cache" / "xla"
SCRIPTS = {"ours": "paddle", "paddle": "paddle", "torch": "paddle"}  # others: of their own name
MODULES = {"ours": "paddle_lite_py", "torch": "torch_as_paddle"}


class Cell:
    """What all cells share: the process's environment, and the best of the turns."""

    def __init__(self, framework: str, name: str, python: str, timeout: float) -> None:
        self.framework, self.name, self.python, self.timeout = framework, name, python, timeout
        self.turns: list[float] = []
        self.facts: dict[str, Any] = {}

    def turn(self, seconds: float) -> None:
        """Measure once more, for about this long, unless an earlier turn failed."""
        if "error" not in self.facts:
            self.note(self.ask(seconds))

    def ask(self, seconds: float) -> dict[str, Any]:
        """One measurement: value and unit, or the error that kept it from being made."""
        raise NotImplementedError

    def note(self, answer: dict[str, Any]) -> None:
        """Keep what a process answered."""
        if "value" in answer:
            self.turns.append(answer.pop("value"))
        self.facts.update(answer)

    def close(self) -> None:
        """End what was started."""

    def result(self) -> dict[str, Any]:
        """The best turn with all turns beside it, or the error."""
        if "error" in self.facts or not self.turns:
            return {"error": self.facts.get("error", "no answer")}
        return {"value": min(self.turns), **self.facts, "turns": self.turns}

    def command(self, name: str, *flags: str) -> list[str]:
        """The command line of the process that runs a workload."""
        script = SCRIPTS.get(self.framework, self.framework)
        return [self.python, str(HERE / f"workloads_{script}.py"), name, *flags]

    def environment(self, cache: Path = CACHE) -> dict[str, str]:
        """Each framework chooses its number of threads as it does for its users: some slow down when told."""
        return {
            **os.environ,
            # Installed packages have their byte code on disk; a checkout must be let to keep its own.
            "PYTHONDONTWRITEBYTECODE": "",
            "BENCH_MODULE": MODULES.get(self.framework, self.framework),
            "PADDLE_LITE_CACHE_DIR": str(cache),
            # What is measured is compiled; the time until it is has rows of its own.
            "FLAGS_baseline_tier": "0",
            "GLOG_minloglevel": "3",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            **({"KERAS_BACKEND": "jax"} if self.framework == "keras" else {}),
        }

    def run(self, command: list[str], cache: Path = CACHE) -> dict[str, Any]:
        """The answer of a process that measures itself once and ends."""
        try:
            done = subprocess.run(
                command, env=self.environment(cache), capture_output=True, text=True, timeout=self.timeout
            )
        except subprocess.TimeoutExpired:
            return {"error": f"no answer within {self.timeout:g} s"}
        return last_answer(done.stdout) or {"error": f"exit {done.returncode}: {last_line(done.stderr)}"}


class ImportCell(Cell):
    """Time of the import statement in a fresh process."""

    def ask(self, seconds: float) -> dict[str, Any]:
        """Import once; the length of the turn does not matter."""
        module = "paddle_lite_py" if self.framework == "ours" else self.framework
        code = f"import time; t = time.perf_counter(); import {module}; t = time.perf_counter() - t"
        return self.run([self.python, "-c", f'{code}; print(\'{{"value": %f, "unit": "ms"}}\' % (t * 1000))'])


class MemoryCell(Cell):
    """Peak memory of a fresh process that runs a whole static step a few times, compiling it itself."""

    def ask(self, seconds: float) -> dict[str, Any]:
        """Five times at most: a process costs seconds, and its peak varies by some 5 %."""
        if len(self.turns) == 5:
            return {}
        with tempfile.TemporaryDirectory() as empty:
            return self.run(self.command(self.name.replace("memory_", "train_"), "--memory"), Path(empty))


class StartCell(Cell):
    """Time to the first result of a workload in a fresh process: with an empty cache (cold), or after one like it.

    A net stands for its whole training step.
    """

    def environment(self, cache: Path = CACHE) -> dict[str, str]:
        """As users have it: NumPy may give the first result."""
        return super().environment(cache) | {"FLAGS_baseline_tier": "1"}

    def ask(self, seconds: float) -> dict[str, Any]:
        """Twice at most: each takes many seconds."""
        if len(self.turns) == 2:
            return {}
        name, _, kind = self.name.partition("_")[2].rpartition("_")
        command = self.command(name if name.startswith("first_") else f"train_{name}_step", "--start")
        with tempfile.TemporaryDirectory() as empty:
            first = self.run(command, Path(empty))
            return first if kind == "cold" or "error" in first else self.run(command, Path(empty))


class ProcessCell(StartCell):
    """Time of such a process as a whole: from its start, with imports, until it has ended."""

    def run(self, command: list[str], cache: Path = CACHE) -> dict[str, Any]:
        """The time of a process that works once."""
        start = time.perf_counter()
        answer = super().run(command, cache)
        return answer if "error" in answer else answer | {"value": (time.perf_counter() - start) * 1000}


class TimedCell(Cell):
    """Time of a call, in a process that lives through all rounds and is stopped between its turns."""

    def __init__(self, framework: str, name: str, python: str, timeout: float) -> None:
        super().__init__(framework, name, python, timeout)
        self.stderr = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            self.command(name),
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            text=True,
        )
        self.note(self.answer())
        self.stop()

    def ask(self, seconds: float) -> dict[str, Any]:
        """Wake the process for one round."""
        assert self.process.stdin
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(f"{seconds}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return self.ended()
        answer = self.answer()
        self.stop()
        return answer

    def stop(self) -> None:
        """Threads of an idle framework may spin; a stopped process cannot disturb its neighbours."""
        self.process.send_signal(signal.SIGSTOP)

    def answer(self) -> dict[str, Any]:
        """The next JSON line; whatever else a framework prints is passed over."""
        assert self.process.stdout
        timer = threading.Timer(self.timeout, self.process.kill)
        timer.start()
        try:
            found = next((a for s in self.process.stdout if (a := last_answer(s))), None)
        finally:
            timer.cancel()
        return found or self.ended()

    def ended(self) -> dict[str, Any]:
        """Why there is no answer."""
        status = self.process.wait()
        self.stderr.seek(0)
        if status == -signal.SIGKILL:
            return {"error": f"no answer within {self.timeout:g} s"}
        return {"error": f"exit {status}: {last_line(self.stderr.read())}"}

    def close(self) -> None:
        """End the process, stopped or not."""
        self.process.kill()
        self.process.communicate()
        self.stderr.close()


def last_answer(text: str) -> dict[str, Any] | None:
    """The last JSON line of a process's output."""
    lines = [s for s in text.splitlines() if s.startswith('{"')]
    return json.loads(lines[-1]) if lines else None


def last_line(text: str) -> str:
    """The line that says what went wrong."""
    return (text.strip().splitlines() or [""])[-1][:200]
