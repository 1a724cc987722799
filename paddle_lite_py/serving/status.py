"""A page that shows models, versions and latency."""

from __future__ import annotations

import html

import numpy as np

from .openapi import document
from .service import ServedVersion, Service
from .tensors import TensorSpec

_HEAD = ["model", "version", "platform", "takes", "batches", "answered", "failed", "waiting", "p50 ms", "p99 ms", ""]


def status_page(service: Service) -> str:
    """Return the page; it asks for itself again every few seconds."""
    rows = [_row(v) for v in service.all_versions()]
    for entry in service.index():
        if entry["reason"]:
            state = "what is new is not loaded" if entry["state"] == "READY" else "not loaded"
            said = f"{state}: {html.escape(entry['reason'])}"
            rows.append(f'<tr><td>{html.escape(entry["name"])}</td><td colspan="10" class="bad">{said}</td></tr>')
    head = "".join(f"<th>{h}</th>" for h in _HEAD)
    state = '<p class="ok">ready</p>' if service.answers else '<p class="bad">not ready</p>'
    return document("Models", f"{state}<table><tr>{head}</tr>{''.join(rows)}</table>", refresh=5)


def _row(served: ServedVersion) -> str:
    rows = served.info.rows
    takes = "<br>".join(html.escape(f"{s.name}: {s.datatype} {_dims(s)}") for s in served.info.inputs)
    joined = f"up to {rows.sizes[-1]}" if rows.sizes and rows.sizes[-1] > 1 else "not joined"
    times = [f"{np.percentile(list(served.latencies), p) * 1000:.2f}" if served.latencies else "-" for p in (50, 99)]
    numbers = [served.answered, served.failed, served.batcher.numbers.waiting, *times]
    cells = [served.source.name, served.source.version, served.info.platform]
    text = "".join(f"<td>{html.escape(c)}</td>" for c in cells) + f"<td>{takes}</td>"
    text += f'<td title="{html.escape(rows.objection)}">{joined}</td>'
    return f'<tr>{text}{"".join(f"<td class=n>{n}</td>" for n in numbers)}<td class="ok">ready</td></tr>'


def _dims(spec: TensorSpec) -> str:
    return f"[{', '.join(map(str, spec.dims))}]"
