"""The picture of a report: one bar of the memory, and the largest buffers."""

from __future__ import annotations

import math
from typing import Any

_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_WIDE = 44  # characters of a bar's label
_COLOURS = {"arguments": "#4c72b0", "results": "#55a868", "temporaries": "#dd8452", "code": "#8c8c8c"}


def shown(n: float) -> str:
    """Return a number of bytes as people read it.

    Examples:
        >>> shown(1536), shown(12)
        ('1.50 KiB', '12 B')
    """
    for unit, name in _UNITS:
        if n >= unit:
            return f"{n / unit:.2f} {name}"
    return f"{n:.0f} B"


def drawn(report: Any, path: str) -> None:
    """Draw a report into a file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = max(len(report.buffers), 1)
    figure = Figure(figsize=(9, 2.2 + 0.32 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    memory, buffers = figure.subplots(2, 1, height_ratios=[1.2, rows * 0.32 + 0.4])
    _memory(memory, report)
    _buffers(buffers, report)
    each = f", each of {report.devices} devices" if report.devices > 1 else ""
    figure.suptitle(f"{report.program} on {report.target}{each}", fontsize=12)
    figure.savefig(path, dpi=120)


def _memory(axes: Any, report: Any) -> None:
    m, left = report.memory, 0
    assert m is not None
    parts = {"arguments": m.arguments, "results": m.outputs - m.aliased, "temporaries": m.temporaries, "code": m.code}
    for name, size in parts.items():
        axes.barh([0], [size], left=left, color=_COLOURS[name], label=f"{name} {shown(size)}")
        left += size
    if 0 < m.device <= 20 * max(m.peak, 1):
        axes.axvline(m.device, color="#c44e52", linewidth=2)
        axes.set_xlim(0, max(m.device, left) * 1.04)
    have = ""
    if m.device:
        have = f" of {shown(m.device)}" + ("" if report.fits else ": does not fit")
    axes.set_title(f"memory {shown(m.peak)}{have}", fontsize=10, loc="left")
    axes.set_yticks([])
    _in_bytes(axes)
    axes.legend(fontsize=8, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.25), frameon=False)


def _buffers(axes: Any, report: Any) -> None:
    found = list(report.buffers)
    places = range(len(found))
    colours = [_COLOURS["arguments" if b.argument else "temporaries"] for b in found]
    axes.barh(places, [b.bytes for b in found], color=colours)
    axes.set_yticks(places, [_label(b) for b in found], fontsize=8)
    axes.invert_yaxis()
    _in_bytes(axes)
    axes.set_title("largest when most is taken", fontsize=10, loc="left")


def _in_bytes(axes: Any) -> None:
    """Ticks of an axis at round numbers of MiB or GiB."""
    most = axes.get_xlim()[1]
    step = 2.0 ** math.floor(math.log2(max(most, 1.0) / 4))
    axes.set_xticks([step * n for n in range(int(most // step) + 1)])
    axes.xaxis.set_major_formatter(lambda x, _: shown(x).replace(".00", ""))


def _label(b: Any) -> str:
    text = f"{b.label}  {b.shape}"
    return text if len(text) <= _WIDE else f"{text[: _WIDE - 1]}…"
