"""Compiling for another machine: in a process with the settings that its compiler needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .findings import Finding
from .hlo import Buffer, Module
from .machines import Target, TargetError
from .portable import Portable, blame_in
from .products import flops_of_products
from .report import Memory, Report

SHOWN = 8  # arguments of a report, and other values


def compile_all(programs: Sequence[Portable], target: Target) -> list[Report]:
    """Compile each program for a machine that is not here; one process compiles all.

    Arguments:
        programs: written for the target's platform.

    Raises:
        TargetError: if the target's compiler is not installed, or the target has fewer devices than a program.

    Examples:
        >>> import jax, numpy as np
        >>> from paddle_lite_py.targets import portable, target_of
        >>> made = portable(lambda x: x + 1, [jax.ShapeDtypeStruct((2,), np.float32)], "cpu")
        >>> compile_all([made], target_of("cpu"))[0].compiles
        True
    """
    target.require_compiler()
    for p in programs:
        if target.devices is not None and p.devices > target.devices:
            raise TargetError(f"`{p.name}` spans {p.devices} devices, but {target.name} has {target.devices}")
    ready = [p for p in programs if not p.error]
    found = iter(_compiled(ready, target))
    return [_report(p, target, {"error": p.error, "where": p.where} if p.error else next(found)) for p in programs]


def _compiled(programs: Sequence[Portable], target: Target) -> Iterator[dict[str, Any]]:
    """Yield the compiler's result for each, including its text; it is restarted after a program that crashes it."""
    left = list(programs)
    while left:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            said = _run(left, target, folder)
            n = 0
            for n, p in enumerate(left, 1):  # noqa: B007
                if not (folder / f"{n - 1}.json").exists():
                    yield {"error": f"the compiler ended: {said}"}
                    break
                yield json.loads((folder / f"{n - 1}.json").read_text()) | {"text": _text(folder / f"{n - 1}.hlo")}
            left = left[n:]


def _text(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def _run(programs: Sequence[Portable], target: Target, folder: Path) -> str:
    """Compile in a process of its own; the last of what it said."""
    jobs = [{"file": str(i), "donated": list(p.donated), "mesh": p.mesh} for i, p in enumerate(programs)]
    for i, p in enumerate(programs):
        (folder / str(i)).write_bytes(p.data)
    (folder / "jobs.json").write_text(json.dumps({"target": target._asdict(), "programs": jobs}))
    environment = os.environ | target.environment(max(p.devices for p in programs))
    script = str(Path(__file__).with_name("compiler.py"))
    done = subprocess.run(
        [sys.executable, script, str(folder)], env=environment, capture_output=True, text=True, errors="replace"
    )
    if not (folder / "devices").exists():
        raise TargetError(f"the compiler for {target.name} does not start: {_end(done.stderr, 2000)}")
    return _end(done.stderr, 600)


def _end(text: str, n: int) -> str:
    return text.strip()[-n:] or "it said nothing"


def _report(p: Portable, target: Target, found: dict[str, Any]) -> Report:
    if "error" in found:
        where = found.get("where") or blame_in(found["error"])
        return Report(target.name, p.name, False, found["error"], where, findings=_for(target, p.found))
    module = Module(found["text"], p.names)
    sizes = found["memory"]
    memory = Memory(
        sizes["argument"], sizes["output"], sizes["alias"], sizes["temp"], sizes["generated_code"], target.memory
    )
    return Report(
        target.name, p.name, True, "", "", p.devices, memory, _flops(found, module), found["bytes"],
        module.collectives(), _largest(module), _for(target, p.found), found["seconds"],
    )  # fmt: skip


def _flops(found: dict[str, Any], module: Module) -> float:
    """Return the operations of a run: compilers count those in loops once, and some tell none."""
    once = flops_of_products(module, loops=False)
    return (found["flops"] or once) + flops_of_products(module) - once


def _largest(module: Module) -> list[Buffer]:
    """The largest values when most is in memory, and the largest arguments, of which there may be many of one size."""
    found = [b for b in module.at_peak() if b.bytes]
    return [b for b in found if not b.argument][:SHOWN] + [b for b in found if b.argument][:SHOWN]


def _for(target: Target, found: Sequence[Finding]) -> list[Finding]:
    """Return the findings that matter for a target: wide numbers are slow on TPUs alone."""
    return [f for f in found if target.platform == "tpu" or f.kind not in ("float64", "int64")]
