"""Training with the rounding of 8-bit arithmetic: which layers, with which quanters, and putting them there."""

from ..core.argument_docs import document as _document
from . import observers, quanters
from .base import BaseObserver, BaseQuanter, QuanterFactory, quanter
from .config import QuantConfig
from .layers import ObserveWrapper, QuantedConv2D, QuantedLinear
from .qat import PTQ, QAT

__all__ = [
    "BaseObserver",
    "BaseQuanter",
    "ObserveWrapper",
    "PTQ",
    "QAT",
    "QuantConfig",
    "QuantedConv2D",
    "QuantedLinear",
    "QuanterFactory",
    "observers",
    "quanter",
    "quanters",
]

_document(globals())
