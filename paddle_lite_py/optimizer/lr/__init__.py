"""Learning-rate schedules."""

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
]

_document(globals())
