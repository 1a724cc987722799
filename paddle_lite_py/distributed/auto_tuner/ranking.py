"""Plans compiled for a machine that is not here, and ranked by what their programs take and send."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax

from ...core.jax_compat.xla import on_devices
from ...targets import Report, Target, TargetError, target_of
from .plan import MeshPlan, plans

GIB = 1 << 30
# make(plan, depth): a static training step, and the specs of its arguments.
Maker = Callable[[MeshPlan, int], tuple[Any, Sequence[Any]]]


class Candidate(NamedTuple):
    """The cost of one step of a plan on each chip.

    Examples:
        >>> made = Candidate(MeshPlan(4, 2), memory=3 << 30, room=16 << 30, computing=0.005, sending=0.01)
        >>> made.fits, made.seconds, made.limit
        (True, 0.015, 'exchanges')
    """

    plan: MeshPlan
    memory: float = 0.0  # bytes when most is taken
    room: float = 0.0  # bytes of memory of a chip; 0 if unknown
    flops: float = 0.0
    sent: float = 0.0  # bytes to other chips
    computing: float = 0.0  # seconds that the operations take at least
    sending: float = 0.0  # seconds that the exchanges take at least
    error: str = ""  # why it does not compile

    @property
    def fits(self) -> bool:
        """Whether it compiles, and a chip has the memory."""
        return not self.error and (not self.room or self.memory <= self.room)

    @property
    def seconds(self) -> float:
        """The least time of a step whose exchanges hide behind nothing: to compare plans, not to foretell."""
        return self.computing + self.sending

    @property
    def limit(self) -> str:
        """Return the resource that limits it."""
        if self.error:
            return "does not compile"
        if not self.fits:
            return "memory"
        return "exchanges" if self.sending > self.computing else "operations"

    def __str__(self) -> str:
        if self.error:
            return f"{self.plan}: does not compile: {self.error}"
        have = f" of {self.room / GIB:.0f}" if self.room else ""
        return (
            f"{self.plan}: {self.memory / GIB:.2f}{have} GiB, {self.flops / 1e12:.1f} TFLOP, {self.sent / GIB:.2f} GiB "
            f"sent, {self.computing:.3f} + {self.sending:.3f} s; limited by {self.limit}"
        )


def rank(
    make: Maker,
    target: str,
    depth: int,
    depths: tuple[int, int] = (3, 6),
    among: Iterable[MeshPlan] | None = None,
    every: bool = False,
    told: Callable[[Candidate], None] | None = None,
) -> list[Candidate]:
    """Return the plans for a machine, best first: what fits, then by the time of operations and exchanges.

    A model of equal layers is compiled with few of them, twice; what each further layer takes is the difference. This
    process needs as many devices as the machine has chips, but no memory: the model is made under targets.abstract().

    Arguments:
        make: of a plan and a number of layers makes a static training step and the specs of its arguments. For a plan
            that the model does not support, it raises ValueError, which becomes the error of the candidate.
        target: a machine, such as "v5p:4x4x4"; see targets.target_of().
        depth: how many layers the model has.
        depths: how many it is compiled with, rounded up to multiples of the stages of a plan. A model that is not
            deeper is compiled once, with all its layers.
        among: the plans; all of plans() by default.
        every: try each plan, rather than go on to the next mesh when one has fitted.
        told: a callback for each candidate.

    Raises:
        ValueError: if there are too few devices here, or depths are not two ascending numbers of layers.
        TargetError: if nobody knows the target, or its compiler is not installed.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> def make(plan, depth):
        ...     with paddle.targets.abstract():
        ...         net = paddle.nn.Sequential(*[paddle.nn.Linear(8, 8) for _ in range(depth)])
        ...     return paddle.jit.to_static(lambda x: net(x).sum()), [paddle.static.InputSpec([2, 8])]
        >>> best = rank(make, "cpu", depth=10, among=[MeshPlan(1, 1)])[0]
        >>> best.memory > 10 * 8 * 8 * 4
        True
    """
    machine = target_of(target)
    if not 0 < depths[0] < depths[1]:
        raise ValueError(f"rank: depths is {depths}; expected two ascending numbers of layers")
    if depth < 1:
        raise ValueError(f"rank: depth is {depth}; expected at least one layer")
    found: list[Candidate] = []
    for plan in plans(machine.devices or 1) if among is None else among:
        if not every and any(c.fits and c.plan.mesh() == plan.mesh() for c in found):
            continue
        _check_chips(plan.chips)
        found.append(_candidate(make, plan, machine, depth, depths))
        if told is not None:
            told(found[-1])
    return sorted(found, key=_order)


def table(candidates: Sequence[Candidate]) -> str:
    """Candidates as a table of Markdown.

    Examples:
        >>> print(table([Candidate(MeshPlan(2, 1), memory=1 << 30, flops=1e12)]))
        | dp | mp | sharding | recompute | GiB | TFLOP | GiB sent | operations, s | exchanges, s | limited by |
        | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | --- |
        | 2 | 1 | 0 | no | 1.0 | 1.0 | 0.00 | 0.000 | 0.000 | operations |
    """
    used = {"dp", "mp", *(axis for c in candidates for axis in ("sep", "pp") if getattr(c.plan, axis) > 1)}
    axes = [axis for axis in ("dp", "sep", "mp", "pp") if axis in used]
    columns = [
        *axes,
        "sharding",
        "recompute",
        "GiB",
        "TFLOP",
        "GiB sent",
        "operations, s",
        "exchanges, s",
        "limited by",
    ]
    lines = [
        f"| {' | '.join(columns)} |",
        f"| {'---: | ' * len(axes)}---: | --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for c in candidates:
        sizes = " | ".join([str(getattr(c.plan, axis)) for axis in axes])
        figures = (
            f"{c.memory / GIB:.1f} | {c.flops / 1e12:.1f} | {c.sent / GIB:.2f} | {c.computing:.3f} | {c.sending:.3f}"
        )
        again = "yes" if c.plan.recompute else "no"
        lines.append(f"| {sizes} | {c.plan.sharding} | {again} | {figures} | {c.limit} |")
    return "\n".join(lines)


def _check_chips(chips: int) -> None:
    here = len(jax.devices())
    if here < chips:
        raise ValueError(
            f"rank: a plan for {chips} chips is laid over as many devices, and this process has {here}: start it with "
            f"XLA_FLAGS={on_devices(chips)}, or use python -m "
            "paddle_lite_py.distributed.auto_tuner, which does"
        )


def _order(c: Candidate) -> tuple[Any, ...]:
    """The key that sorts candidates; where the speed of a machine is unknown, by operations and bytes."""
    return bool(c.error), not c.fits, *((c.seconds, c.flops, c.sent) if c.fits else (c.memory,))


def _compiled_depths(stages: int, depth: int, depths: tuple[int, int]) -> tuple[int, ...]:
    """Return the numbers of layers to compile a model with: multiples of the stages, or its depth alone.

    Raises:
        ValueError: if its layers do not divide into the stages.
    """
    if depth % stages:
        raise ValueError(f"{depth} layers do not divide into {stages} stages")
    few = math.ceil(depths[0] / stages) * stages
    many = max(math.ceil(depths[1] / stages) * stages, few + stages)
    return (few, many) if many < depth else (depth,)


def _candidate(make: Maker, plan: MeshPlan, machine: Target, depth: int, depths: tuple[int, int]) -> Candidate:
    reports = []
    try:
        layers = _compiled_depths(plan.pp, depth, depths)
        for n in layers:
            step, specs = make(plan, n)
            reports.append(step.compile_for(machine, *specs))
            if not reports[-1].compiles:
                return Candidate(plan, error=reports[-1].error.strip().partition("\n")[0])
    except TargetError:
        raise
    except ValueError as e:
        return Candidate(plan, error=str(e).strip().partition("\n")[0])
    further = (depth - layers[0]) / (layers[1] - layers[0]) if len(layers) > 1 else 0.0
    few, many = _figures(reports[0]), _figures(reports[-1])
    # A shallow program may get fewer temporaries by another layout; that does not carry over to a deep one.
    held, temporaries, flops, sent = (a + max(b - a, 0.0) * further for a, b in zip(few, many, strict=True))
    memory = held + max(temporaries, many[1])
    computing = flops / machine.flops if machine.flops else 0.0
    sending = sent / machine.link if machine.link else 0.0
    return Candidate(plan, memory, machine.memory, flops, sent, computing, sending)


def _figures(report: Report) -> tuple[float, float, float, float]:
    """Return the memory a program holds, its temporaries, its operations, and the bytes it sends."""
    assert report.memory is not None  # it compiles
    temporaries = report.memory.temporaries
    return report.memory.peak - temporaries, temporaries, report.flops, report.sent
