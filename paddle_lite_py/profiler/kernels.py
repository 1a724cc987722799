"""Which operator of a program, and which line of the user's, a kernel of XLA belongs to."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from typing import Any

from ..core.errors import UNKNOWN
from ..core.jax_compat.xla import live_modules
from ..ir.lower import operator_of
from ..ir.program import Program
from .recorder import Span

Event = dict[str, Any]
_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) .*\{$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = ")
_NAMED, _CALLED = re.compile(r'op_name="([^"]*)"'), re.compile(r"(?:calls|to_apply)=%?([\w.\-]+)")


def annotate(events: list[Event], spans: list[Span | None]) -> None:
    """Write into the events of a trace which operation and line each is of: spans, and kernels of programs."""
    windows, counts = [], []
    for e in events:
        span = spans[int(e["args"]["span"])] if "span" in e.get("args", {}) else None
        if span is not None:
            e["args"] |= {"op": span.name, "kind": span.kind, "line": span.line, "compiling": span.compiling * 1e6}
            e["args"] |= {"shapes": span.shapes} if span.shapes else {}
            if span.held is not None:
                end = float(e["ts"]) + float(e["dur"])
                counts.append({"ph": "C", "name": "memory", "ts": end, "pid": e["pid"], "args": {"bytes": span.held}})
            if span.program is not None:
                windows.append((float(e["ts"]), e, span.program))
    windows.sort(key=lambda w: w[0])
    events += sorted(counts, key=lambda e: e["ts"])
    _kernels(events, windows)


def _kernels(events: list[Event], windows: list[tuple[float, Event, Program]]) -> None:
    starts = [start for start, _, _ in windows]
    found: dict[int, list[Event]] = defaultdict(list)  # by window
    for e in events:
        if "hlo_op" in e.get("args", {}) and e.get("ph") == "X":
            at = bisect_right(starts, float(e["ts"])) - 1
            if at >= 0 and float(e["ts"]) < starts[at] + float(windows[at][1]["dur"]):
                found[at].append(e)
    modules = _modules({e["args"]["hlo_module"] for kernels in found.values() for e in kernels})
    for at, kernels in found.items():
        _, run, program = windows[at]
        named = _module_of(modules, {(e["args"]["hlo_module"], e["args"]["hlo_op"]) for e in kernels}, program)
        for e in kernels:
            e["args"] |= {"span": run["args"]["span"], "kind": "kernel"}
            e["args"] |= _place(named.get(e["args"]["hlo_op"], ""), program, run)


def _place(path: str, program: Program, run: Event) -> dict[str, str]:
    found = operator_of(program.block, path)
    if found is None:
        return {"op": run["name"], "line": run["args"]["line"]}
    op, backward = found
    where = run["args"]["line"] if op.where == UNKNOWN else f"{op.where.filename}:{op.where.lineno}"
    name = op.name.lstrip("_")
    return {"op": f"{name} (backward)" if backward and name != "grad" else name, "line": where}


def _modules(names: set[str]) -> dict[str, list[dict[str, str]]]:
    """By the name of an XLA module, for each that is loaded, how its instructions are called by those who made them."""
    made: dict[str, list[dict[str, str]]] = defaultdict(list)
    for module in live_modules():
        if module.name in names:
            made[module.name].append(instructions(module.to_string()))
    return made


def instructions(text: str) -> dict[str, str]:
    """Return the name that each instruction of a module got where it was traced; a fusion has that of its last one."""
    named: dict[str, str] = {}
    last: dict[str, str] = {}  # by computation
    computation = ""
    for line in text.splitlines():
        if (head := _COMPUTATION.match(line)) is not None:
            computation = head[1]
        elif (found := _INSTRUCTION.match(line)) is not None:
            name, called = _NAMED.search(line), _CALLED.search(line)
            path = name[1] if name else last.get(called[1], "") if called else ""
            named[found[1]] = path
            last[computation] = path or last.get(computation, "")
    return named


def _module_of(
    modules: dict[str, list[dict[str, str]]], seen: set[tuple[str, str]], program: Program
) -> dict[str, str]:
    """Of several modules of one name that which has all kernels of a run, and tells of operators of its program."""
    merged: dict[str, str] = {}
    for name in {module for module, _ in seen}:
        kernels = {kernel for module, kernel in seen if module == name}

        told = [
            sum(operator_of(program.block, module.get(k, "")) is not None for k in kernels) for module in modules[name]
        ]
        merged |= modules[name][told.index(max(told))] if told else {}
    return merged
