"""Learning-rate schedules, run in the same way here and in PaddlePaddle; see tests/golden/make.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

METRICS = [5, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3]

CASES: dict[str, Callable[[Any], Any]] = {
    "noam": lambda lr: lr.NoamDecay(10, 5, learning_rate=2.0),
    "piecewise": lambda lr: lr.PiecewiseDecay([3, 6], [0.1, 0.2, 0.3]),
    "natural": lambda lr: lr.NaturalExpDecay(0.5, 0.1),
    "inverse": lambda lr: lr.InverseTimeDecay(0.5, 0.1),
    "polynomial": lambda lr: lr.PolynomialDecay(0.5, 10, 0.01, 2.0),
    "polynomial cycle": lambda lr: lr.PolynomialDecay(0.5, 10, 0.01, 1.0, cycle=True),
    "warmup": lambda lr: lr.LinearWarmup(0.5, 5, 0.0, 0.5),
    "warmup step": lambda lr: lr.LinearWarmup(lr.StepDecay(0.5, 3, 0.5), 5, 0.1, 0.5),
    "exponential": lambda lr: lr.ExponentialDecay(0.5, 0.9),
    "multi step": lambda lr: lr.MultiStepDecay(0.5, [3, 7, 9]),
    "step": lambda lr: lr.StepDecay(0.5, 4, 0.3),
    "step resumed": lambda lr: lr.StepDecay(0.5, 4, 0.3, last_epoch=5),
    "lambda": lambda lr: lr.LambdaDecay(0.5, lambda x: 0.95**x),
    "multiplicative": lambda lr: lr.MultiplicativeDecay(0.5, lambda x: 0.95),
    "cosine": lambda lr: lr.CosineAnnealingDecay(0.5, 7, 0.1),
    "cosine restarts": lambda lr: lr.CosineAnnealingWarmRestarts(0.5, 4, 2, 0.01),
    "one cycle": lambda lr: lr.OneCycleLR(1.0, 35),
    "one cycle three": lambda lr: lr.OneCycleLR(1.0, 35, three_phase=True, anneal_strategy="linear"),
    "cyclic": lambda lr: lr.CyclicLR(0.1, 0.5, 4),
    "cyclic halving": lambda lr: lr.CyclicLR(0.1, 0.5, 4, 3, mode="triangular2"),
    "cyclic exp": lambda lr: lr.CyclicLR(0.1, 0.5, 4, 3, mode="exp_range", exp_gamma=0.9),
    "linear": lambda lr: lr.LinearLR(0.5, 10, 0.2, 0.9),
}
PLATEAUS: dict[str, Callable[[Any], Any]] = {
    "plateau": lambda lr: lr.ReduceOnPlateau(1.0, factor=0.5, patience=2, cooldown=1),
    "plateau max": lambda lr: lr.ReduceOnPlateau(
        1.0, mode="max", factor=0.5, patience=1, threshold=0.1, threshold_mode="abs", min_lr=0.2
    ),
}


def run(lr: Any, case: str, steps: int = 30) -> list[float]:
    """The learning rate at the start and after each step."""
    if case in PLATEAUS:
        schedule = PLATEAUS[case](lr)
        return [schedule() for metric in METRICS if schedule.step(metric) is None]
    schedule = CASES[case](lr)
    return [schedule(), *[schedule() for _ in range(steps) if schedule.step() is None]]
