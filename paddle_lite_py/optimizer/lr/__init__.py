"""Learning-rate schedules."""

from typing import Any as _Any

from ...core.argument_docs import document as _document
from .base import LRScheduler
from .cyclic import CosineAnnealingDecay, CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .decay import (
    ExponentialDecay,
    InverseTimeDecay,
    LambdaDecay,
    MultiplicativeDecay,
    MultiStepDecay,
    NaturalExpDecay,
    NoamDecay,
    PiecewiseDecay,
    PolynomialDecay,
    StepDecay,
)
from .linear import LinearLR, LinearWarmup
from .plateau import ReduceOnPlateau

__all__ = [
    *("CosineAnnealingDecay", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialDecay", "InverseTimeDecay"),
    *("LRScheduler", "LambdaDecay", "LinearLR", "LinearWarmup", "MultiStepDecay", "MultiplicativeDecay"),
    *(
        "NaturalExpDecay",
        "NoamDecay",
        "OneCycleLR",
        "PiecewiseDecay",
        "PolynomialDecay",
        "ReduceOnPlateau",
        "StepDecay",
    ),
    *("cosine_decay", "exponential_decay", "inverse_time_decay", "linear_lr_warmup", "natural_exp_decay"),
    *("noam_decay", "piecewise_decay", "polynomial_decay"),
]

_STATIC = frozenset(
    "cosine_decay exponential_decay inverse_time_decay linear_lr_warmup natural_exp_decay noam_decay piecewise_decay "
    "polynomial_decay".split()
)


def __getattr__(name: str) -> _Any:
    """Rates of static programs, which are loaded with the first of them."""
    if name not in _STATIC:
        raise AttributeError(f"module 'paddle.optimizer.lr' has no attribute {name!r} here")
    from ...static import learning_rates

    return getattr(learning_rates, name)


_document(globals())
