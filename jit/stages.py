"""A static function as XLA sees it: StableHLO, the optimised executable, its cost and its memory."""

from __future__ import annotations

from typing import Any

from paddle_lite_py.core.arrays import spec_of
from paddle_lite_py.core.traced_number import ScalarInputs
from paddle_lite_py.ir.program import Program

from .entry import Entry


class Compiled:
    """An executable: see StaticFunction.lower."""

    def __init__(self, executable: Any) -> None:
        self._executable = executable

    def hlo(self) -> str:
        """Return the program after XLA's optimisations."""
        return self._executable.as_text()

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate of the work: flops, bytes accessed, and more."""
        found = self._executable.cost_analysis()
        return dict(found[0] if isinstance(found, list) else found or {})

    def memory_analysis(self) -> dict[str, int]:
        """Bytes of arguments, results, temporaries and code."""
        found = self._executable.memory_analysis()
        kinds = ("argument", "output", "temp", "alias", "generated_code")
        return {k: int(getattr(found, f"{k}_size_in_bytes", 0)) for k in kinds}


class Lowered:
    """A program for given arguments, ready to be compiled: see StaticFunction.lower."""

    def __init__(self, entry: Entry, tensors: list[Any], numbers: ScalarInputs) -> None:
        self.program: Program = entry.traced.program
        shapes = [spec_of(t._payload) for t in tensors]
        self._lowered = entry.executable.lower(shapes, entry.needs_grad, numbers)

    def stablehlo(self) -> str:
        """Return the program as XLA is given it."""
        return self._lowered.as_text()

    def compile(self) -> Compiled:
        """Compile, into the cache on disk as well: a later call, here or in another process, loads it from there."""
        return Compiled(self._lowered.compile())
