"""What a trace holds."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["ProfilerResult", "load_profiler_result"]


class Row(NamedTuple):
    """All calls of one name: on which kind of device, how often, and their times in microseconds."""

    name: str
    device: str
    calls: int
    total: float
    longest: float
    shortest: float


class ProfilerResult:
    """The events of a trace, in Chrome's format.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.profiler.ProfilerResult([]) is not None
        True
    """

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self.events = events

    def _kinds(self) -> dict[Any, str]:
        """Of each process in the trace the kind of its device."""
        named = {e["pid"]: e["args"].get("name", "") for e in self.events if e.get("name") == "process_name"}
        return {pid: "CPU" if "CPU" in name else "GPU" for pid, name in named.items()}

    def of(self, kinds: set[str]) -> ProfilerResult:
        """The events of devices of these kinds, "CPU" and "GPU"."""
        found = self._kinds()
        return ProfilerResult([e for e in self.events if found.get(e.get("pid"), "CPU") in kinds])

    def rows(self) -> list[Row]:
        """The events by name, those that took longest first."""
        found = self._kinds()
        times: dict[tuple[str, str], list[float]] = defaultdict(list)
        for e in self.events:
            if e.get("ph") == "X" and not e["name"].startswith("$"):
                times[e["name"], found.get(e.get("pid"), "CPU")].append(float(e.get("dur", 0)))
        rows = [Row(n, d, len(v), sum(v), max(v), min(v)) for (n, d), v in times.items()]
        return sorted(rows, key=lambda r: -r.total)


def load_profiler_result(filename: str) -> ProfilerResult:
    """Read a trace that was exported: a JSON file, plain or gzipped.

    Raises:
        ValueError: if it is no trace.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp(), "trace.json")
        >>> _ = file.write_text('{"traceEvents": []}')
        >>> type(paddle.profiler.load_profiler_result(str(file))).__name__
        'ProfilerResult'
    """
    data = Path(filename).read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    try:
        return ProfilerResult(json.loads(data)["traceEvents"])
    except (ValueError, KeyError, TypeError) as e:
        raise ValueError(f"{filename} is no trace in Chrome's format") from e
