"""Reports on a program and a machine: as text, as JSON, and as a picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

from .findings import KINDS, Finding
from .hlo import Buffer, Collective
from .picture import drawn, shown


class Memory(NamedTuple):
    """Bytes on each device.

    Examples:
        >>> Memory(8, 8, 8, 4, 0, 16).peak
        12
    """

    arguments: int
    outputs: int
    aliased: int  # outputs that are written over arguments
    temporaries: int
    code: int
    device: int  # what there is; 0 where that is not known

    @property
    def peak(self) -> int:
        """The most that is taken at one time."""
        return self.arguments + self.outputs - self.aliased + self.temporaries + self.code


@dataclass(frozen=True)
class Report:
    """The report on a program for a machine that is not here.

    Arguments:
        target, program: names of the machine and of the program.
        compiles: whether it does; where not, error says why, and where has the op and the user's line.
        error, where: see there.
        devices: that the program lies over.
        memory: what it takes of each of them.
        flops, bytes: of each device: operations, and bytes read and written; 0 if unknown.
        collectives: what devices exchange.
        buffers: the largest of those that are there when most is.
        findings: what is slow or not exact on that machine, by line of the user's.
        seconds: that it took to compile.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.jit.to_static(lambda x: (x @ x).sum())
        >>> report = f.compile_for("cpu", paddle.static.InputSpec([64, 64], "float32"))
        >>> report.compiles, report.fits, report.memory.arguments, report.flops > 64**3
        (True, True, 16384, True)
    """

    target: str
    program: str
    compiles: bool
    error: str = ""
    where: str = ""  # the op and the user's line of an error
    devices: int = 1  # that the program spans
    memory: Memory | None = None  # of each of them
    flops: float = 0.0  # of each device; 0 if unknown
    bytes: float = 0.0  # read and written
    collectives: Sequence[Collective] = field(default=())
    buffers: Sequence[Buffer] = field(default=())  # the largest of those that are there when most is
    findings: Sequence[Finding] = field(default=())
    seconds: float = 0.0  # that the compiler took

    @property
    def fits(self) -> bool:
        """Whether it compiles, and each device has the memory that it takes."""
        return self.memory is not None and (not self.memory.device or self.memory.peak <= self.memory.device)

    @property
    def sent(self) -> float:
        """The bytes that each device sends to others."""
        return sum(c.sent * c.times for c in self.collectives)

    def __str__(self) -> str:
        return "\n".join([self._headline(), *self._of_memory(), *self._of_work(), *self._of_findings()])

    __repr__ = __str__

    def _headline(self) -> str:
        if not self.compiles:
            blamed = f" ({self.where})" if self.where else ""
            return f"`{self.program}` does not compile for {self.target}{blamed}:\n  {self.error.strip()[:2000]}"
        over = f", over {self.devices} devices" if self.devices > 1 else ""
        verdict = "compiles, and fits" if self.fits else "compiles, but does not fit into the memory"
        return f"`{self.program}` for {self.target}{over}: {verdict} ({self.seconds:.1f} s)"

    def _of_memory(self) -> list[str]:
        if self.memory is None:
            return []
        m = self.memory
        each = "memory of each device" if self.devices > 1 else "memory"
        have = f" of {shown(m.device)}" if m.device else ""
        parts = f"arguments {shown(m.arguments)}, results {shown(m.outputs)}, of these over arguments "
        parts += f"{shown(m.aliased)}, temporaries {shown(m.temporaries)}, code {shown(m.code)}"
        lines = [f"{each}: {shown(m.peak)}{have} ({parts})", "largest when most is taken:"]
        return lines + [f"  {shown(b.bytes):>10}  {b.shape}  {b.label}" for b in self.buffers]

    def _of_work(self) -> list[str]:
        if not self.compiles:
            return []
        work = f"{self.flops / 1e9:.3f} GFLOP" if self.flops else "not told"
        lines = [f"work: {work}, {shown(self.bytes)} read and written"]
        if self.devices > 1 or self.collectives:
            made = sum(c.bytes * c.times for c in self.collectives)
            times = sum(c.times for c in self.collectives)
            lines.append(f"exchanges: {times} with results of {shown(made)}; each device sends {shown(int(self.sent))}")
        return lines + [
            f"  {c.times:>4} x {c.kind}  {c.shape} {shown(c.bytes)}  {c.where}" for c in self.collectives[:12]
        ]

    def _of_findings(self) -> list[str]:
        lines = []
        for kind in dict.fromkeys(f.kind for f in self.findings):
            found = [f for f in self.findings if f.kind == kind]
            lines.append(f"{kind}: {KINDS[kind]}")
            lines += [f"  {f.times:>4} x {f.op}  {f.where}" for f in found[:12]]
        return lines

    def to_json(self, path: str | Path | None = None) -> str:
        """Return all of it as JSON, also written to a file.

        Arguments:
            path: of the file; none is written without.

        Examples:
            >>> '"target": "v5e:2x2"' in Report("v5e:2x2", "f", False, "no such op").to_json()
            True
        """
        held = asdict(self)
        for name in ("collectives", "buffers", "findings"):
            held[name] = [v._asdict() for v in getattr(self, name)]
        held["memory"] = None if self.memory is None else self.memory._asdict() | {"peak": self.memory.peak}
        text = json.dumps(held | {"fits": self.fits, "sent": self.sent}, indent=1)
        if path is not None:
            Path(path).write_text(text)
        return text

    def picture(self, path: str | Path) -> None:
        """Draw the memory next to what a device has, and the largest buffers with their lines.

        Arguments:
            path: of a PNG, SVG or PDF.

        Raises:
            ValueError: if the program does not compile.
            ModuleNotFoundError: if matplotlib is not installed.

        Examples:
            >>> import tempfile
            >>> Report("cpu", "f", True, memory=Memory(8, 8, 0, 4, 0, 64)).picture(tempfile.mkdtemp() + "/f.png")
        """
        if self.memory is None:
            raise ValueError(f"a picture of `{self.program}` for {self.target}: it does not compile")
        drawn(self, str(path))
