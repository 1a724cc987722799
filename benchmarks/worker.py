"""The process behind one cell of the table: sets one workload up, then times a round each time it is asked.

usage: workloads_X.py NAME             a line with seconds on stdin -> one JSON line per round
       workloads_X.py NAME --start     one call -> one JSON line with the time that the first call took
       workloads_X.py NAME --memory    20 calls -> one JSON line with the peak memory of this process
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Call = Callable[[], Any]
# A workload is a function that builds its model and data and returns the call to time.
Workloads = dict[str, Callable[[], Call]]

MEMORY_CALLS = 20
EPOCH = {"mlp": 100, "lenet": 40, "resnet": 4}  # batches of an epoch, where that is what is timed
ABSENT = "absent"  # this framework has no such workload


class Absent(AttributeError):
    """A workload uses what a framework does not have."""


def serve(workloads: Workloads, sync: Call) -> None:
    """Run the workload named on the command line; what goes wrong is reported as a result of its own."""
    name, *flags = sys.argv[1:]
    if name not in workloads:
        return say(error=ABSENT)
    try:
        call = workloads[name]()
        if "--memory" in flags:
            for _ in range(MEMORY_CALLS):
                sync(call())
            say(value=peak_memory(), unit="MB")
        elif "--start" in flags:
            say(value=warm_up(call, sync, 0)["first_call_s"] * 1000, unit="ms")
        else:
            say(**warm_up(call, sync))
            for line in sys.stdin:
                say(value=time_round(call, sync, float(line)), unit="us")
    except Absent:
        say(error=ABSENT)
    except Exception as error:  # a missing feature is a cell of the table, not the end of it
        say(error=f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")


def say(**answer: Any) -> None:
    """Write one answer for run.py."""
    print(json.dumps(answer), flush=True)


def warm_up(call: Call, sync: Call, least: int = 12) -> dict[str, float]:
    """Call until compilation is over: at least 12 calls and two seconds, but no longer than 20 seconds."""
    start = time.perf_counter()
    sync(call())
    first = time.perf_counter() - start
    begin, calls = time.perf_counter(), 0
    while (spent := time.perf_counter() - begin) < 20 and least and (calls < least or spent < 2):
        sync(call())
        calls += 1
    return {"first_call_s": first}


def time_round(call: Call, sync: Call, seconds: float) -> float:
    """Median time of a call in microseconds, over batches of about 20 ms that are synchronised at their end."""
    start = time.perf_counter()
    sync(call())
    batch = max(1, int(0.02 / max(time.perf_counter() - start, 1e-7)))
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(batch):
            result = call()
        sync(result)
        times.append((time.perf_counter() - start) / batch * 1e6)
    return statistics.median(times)


def peak_memory() -> float:
    """Largest resident size of this process so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss would count the process that started this one
        line = next(s for s in status.read_text().splitlines() if s.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
