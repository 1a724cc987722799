"""Results of a trace."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..core.archives import gunzipped

__all__ = ["ProfilerResult", "load_profiler_result"]

Event = dict[str, Any]
_MEMORY = "memory"


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
        >>> paddle.profiler.ProfilerResult([]).by_op()
        []
    """

    def __init__(self, events: list[Event], xplane: bytes | None = None) -> None:
        self.events = events
        self.xplane = xplane  # the same as TensorBoard reads it

    def _kinds(self) -> dict[Any, str]:
        """Of each process in the trace the kind of its device."""
        named = {e["pid"]: e["args"].get("name", "") for e in self.events if e.get("name") == "process_name"}
        return {pid: "CPU" if "CPU" in name else "GPU" for pid, name in named.items()}

    def of(self, kinds: set[str]) -> ProfilerResult:
        """Return the events of devices of these kinds, "CPU" and "GPU"."""
        found = self._kinds()
        return ProfilerResult([e for e in self.events if found.get(e.get("pid"), "CPU") in kinds], self.xplane)

    def rows(self) -> list[Row]:
        """Return all events by name, those that took longest first."""
        return self._table(((e["name"], e, float(e.get("dur", 0))) for e in self._complete()), id)

    def by_op(self) -> list[Row]:
        """Return the times by operation, longest first: eager ops, backward, updates, and of programs
        their operators, whose time is that of their kernels (two that run at once count both; a kernel of several
        operators counts for the last). What a program takes besides its kernels is listed under its own name, and
        compilations in rows of their own."""
        return self._table((e[1:] for e in self._work()), _run)

    def by_line(self) -> list[Row]:
        """Return the same by line of the user's code, as file:number."""
        return self._table(((line, e, time) for line, _, e, time in self._work()), _run)

    def kernels(self) -> list[Row]:
        """Return the times of XLA's kernels, under their own names."""
        return self._table(((e["name"], e, float(e["dur"])) for e in self._complete() if _is_kernel(e)), id)

    def of_user(self) -> list[Row]:
        """Return the stretches that RecordEvent names."""
        return self._table(((e["name"], e, float(e["dur"])) for e in self._complete() if _is_users(e)), id)

    def memory(self) -> list[tuple[float, int]]:
        """Bytes of all arrays of XLA over time (in microseconds); recorded with Profiler(profile_memory=True)."""
        return [(float(e["ts"]), int(e["args"]["bytes"])) for e in self.events if e.get("name") == _MEMORY]

    def _complete(self) -> Iterator[Event]:
        return (e for e in self.events if e.get("ph") == "X" and not e["name"].startswith(("$", "end: ")))

    def _work(self) -> Iterator[tuple[str, str, Event, float]]:
        """(line, operation, event, microseconds of its own) of all that the user's code has run."""
        for e, own in _own_times([e for e in self._complete() if "op" in e.get("args", {})]):
            args = e["args"]
            compiling = float(args.get("compiling", 0))
            yield args["line"], args["op"], e, max(0.0, own - compiling)
            if compiling:
                yield args["line"], f"{args['op']} (compilation)", e, compiling

    def _table(self, found: Iterator[tuple[str, Event, float]], call: Callable[[Event], Any]) -> list[Row]:
        kinds = self._kinds()
        times: dict[tuple[str, str], dict[Any, float]] = defaultdict(lambda: defaultdict(float))
        for name, e, time in found:
            times[name, kinds.get(e.get("pid"), "CPU")][call(e)] += time
        rows = [Row(n, d, len(v), sum(v.values()), max(v.values()), min(v.values())) for (n, d), v in times.items()]
        return sorted(rows, key=lambda r: -r.total)


def _is_kernel(event: Event) -> bool:
    return "hlo_op" in event.get("args", {})


def _is_users(event: Event) -> bool:
    return bool(event.get("args", {}).get("user"))


def _run(event: Event) -> Any:
    """Kernels of one run of a program are one call of its operators."""
    return event["args"].get("span", id(event))


def _own_times(events: list[Event]) -> Iterator[tuple[Event, float]]:
    """Return each event with the time that it does not spend in others: those within it on its thread, and kernels of a
    program's run on any."""
    own = {id(e): float(e["dur"]) for e in events}
    threads: dict[Any, list[Event]] = defaultdict(list)
    runs: dict[Any, Event] = {}
    kernels: dict[Any, list[Event]] = defaultdict(list)
    for e in events:
        kernel = e["args"]["kind"] == "kernel"  # a small program may run on the thread that calls it
        threads[e.get("pid"), e.get("tid"), kernel].append(e)
        if kernel:
            kernels[e["args"]["span"]].append(e)
        else:
            runs[e["args"]["span"]] = e
    for each in threads.values():
        _subtract_nested(each, own)
    for span, found in kernels.items():
        if span in runs:
            own[id(runs[span])] -= _covered_time(found)
    return ((e, max(0.0, own[id(e)])) for e in events)


def _subtract_nested(events: list[Event], own: dict[int, float]) -> None:
    around: list[Event] = []
    for e in sorted(events, key=lambda e: (float(e["ts"]), -float(e["dur"]))):
        while around and float(around[-1]["ts"]) + float(around[-1]["dur"]) <= float(e["ts"]):
            around.pop()
        if around:
            own[id(around[-1])] -= float(e["dur"])
        around.append(e)


def _covered_time(events: list[Event]) -> float:
    """How long at least one of the events ran."""
    covered, end = 0.0, float("-inf")
    for start, dur in sorted((float(e["ts"]), float(e["dur"])) for e in events):
        covered += max(0.0, start + dur - max(start, end))
        end = max(end, start + dur)
    return covered


def load_profiler_result(filename: str) -> ProfilerResult:
    """Read a trace that was exported: a JSON file, plain or gzipped.

    Arguments:
        filename: the file's path.

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
        data = gunzipped(data, filename)
    try:
        return ProfilerResult(json.loads(data)["traceEvents"])
    except (ValueError, KeyError, TypeError) as e:
        raise ValueError(f"{filename} is no trace in Chrome's format") from e
