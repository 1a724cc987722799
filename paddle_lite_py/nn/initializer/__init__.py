"""How parameters are drawn."""

from ...core.argument_docs import document as _document
from .base import Initializer, calculate_gain
from .default import default_for, set_global_initializer
from .fixed import Assign, Bilinear, Constant, Dirac
from .random import (
    KaimingNormal,
    KaimingUniform,
    Normal,
    Orthogonal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
)

__all__ = [
    *("Assign", "Bilinear", "Constant", "Dirac", "Initializer", "KaimingNormal", "KaimingUniform", "Normal"),
    *("Orthogonal", "TruncatedNormal", "Uniform", "XavierNormal", "XavierUniform"),
    *("calculate_gain", "default_for", "set_global_initializer"),
]

_document(globals())
