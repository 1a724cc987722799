"""Schedules as torch has them: made from an optimizer, whose rate each step() changes."""

from ....core.argument_docs import document as _document
from .base import LRScheduler
from .decays import ConstantLR, ExponentialLR, LambdaLR, LinearLR, MultiplicativeLR, MultiStepLR, PolynomialLR, StepLR
from .joined import ChainedScheduler, ReduceLROnPlateau, SequentialLR
from .waves import CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR

__all__ = [
    *("ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR"),
    *("ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR"),
    *("PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR"),
]

_document(globals())
