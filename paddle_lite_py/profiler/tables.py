"""The tables of a summary."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from enum import Enum

from .result import ProfilerResult, Row

__all__ = ["SortedKeys", "SummaryView"]


class SortedKeys(Enum):
    """By what to order a summary.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [kind.name for kind in paddle.profiler.SortedKeys][:2]
        ['CPUTotal', 'CPUAvg']
    """

    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3
    GPUTotal = 4
    GPUAvg = 5
    GPUMax = 6
    GPUMin = 7


class SummaryView(Enum):
    """Parts of a summary; there is one here, of the ops.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [kind.name for kind in paddle.profiler.SummaryView][:2]
        ['DeviceView', 'OverView']
    """

    DeviceView = 0
    OverView = 1
    ModelView = 2
    DistributedView = 3
    KernelView = 4
    OperatorView = 5
    MemoryView = 6
    MemoryManipulationView = 7
    UDFView = 8


MOST = 50  # rows of a table
UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}


def tables(
    result: ProfilerResult, steps: list[float], by: SortedKeys, detail: bool, unit: str, views: set[SummaryView]
) -> Iterator[str]:
    """Return the requested tables that have rows, as texts."""
    scale, wanted = UNITS[unit], _order(by)
    parts: list[tuple[SummaryView, str, Callable[[], str]]] = [
        (SummaryView.OverView, "", lambda: _overview(result, steps, scale, unit)),
        (SummaryView.OperatorView, "By operation", lambda: _table(wanted(result.by_op()), scale, unit)),
        (
            SummaryView.ModelView,
            "By line",
            lambda: _table(wanted(result.by_line()), scale, unit, source) if detail else "",
        ),
        (
            SummaryView.KernelView,
            "Kernels of XLA",
            lambda: _table(wanted(result.kernels()), scale, unit),
        ),
        (SummaryView.UDFView, "RecordEvent", lambda: _table(wanted(result.of_user()), scale, unit)),
        (SummaryView.MemoryView, "Memory", lambda: _memory(result)),
    ]
    for view, title, text in parts:
        if view in views and (said := text()):
            yield f"--- {title} ---\n{said}" if title else said


def _order(by: SortedKeys) -> Callable[[list[Row]], list[Row]]:
    keys: dict[str, Callable[[Row], float]] = {
        **{"Total": lambda r: r.total, "Avg": lambda r: r.total / r.calls},
        **{"Max": lambda r: r.longest, "Min": lambda r: r.shortest},
    }
    device, key = by.name[:3], keys[by.name[3:]]
    return lambda rows: sorted(rows, key=lambda r: (r.device != device, -key(r)))


def _table(rows: list[Row], scale: float, unit: str, name: Callable[[str], str] = str) -> str:
    if not rows:
        return ""
    whole = sum(r.total for r in rows)
    head = (
        f"{'Name':<60}{'Device':>8} {'Calls':>7} {'Total':>13} {'%':>5} {'Avg':>13} {'Max':>13} {'Min':>13}  ({unit})"
    )
    return "\n".join([head, *(_row(r, scale, whole, name) for r in rows[:MOST])])


def _row(r: Row, scale: float, whole: float, name: Callable[[str], str]) -> str:
    total, avg, most, least = (f"{t / scale:>13,.3f}" for t in (r.total, r.total / r.calls, r.longest, r.shortest))
    share = f"{100 * r.total / whole:>5.1f}" if whole else f"{'':>5}"
    return f"{name(r.name)[:59]:<60}{r.device:>8} {r.calls:>7} {total} {share} {avg} {most} {least}"


def source(line: str) -> str:
    """Return a line of the user's as a table shows it: the end of its path, its number, and its text."""
    file, _, number = line.rpartition(":")
    text = linecache.getline(file, int(number)).strip()
    return f"{file.replace(chr(92), '/').rpartition('/')[2]}:{number}  {text}"


def _overview(result: ProfilerResult, steps: list[float], scale: float, unit: str) -> str:
    work = sum(r.total for r in result.by_op())
    compiling = sum(r.total for r in result.by_op() if r.name.endswith("(compilation)"))
    said = [f"operations {(work - compiling) / scale:.4f} {unit}, compilations {compiling / scale:.4f} {unit}"]
    if steps:
        said.append(f"{len(steps)} steps of {1e6 * sum(steps) / len(steps) / scale:.4f} {unit} on average")
    return "; ".join(said)


def _memory(result: ProfilerResult) -> str:
    if not (found := result.memory()):
        return ""
    most = max(held for _, held in found)
    return f"arrays of XLA: {found[0][1]:,} bytes at first, {most:,} at most, {found[-1][1]:,} at the end"
