"""Helpers for parameters and gradients, and weights computed from other parameters."""

from ...core.argument_docs import document as _document
from .gradients import clip_grad_norm_, clip_grad_value_, parameters_to_vector, vector_to_parameters
from .spectral_norm import spectral_norm
from .weight_norm import remove_weight_norm, weight_norm

__all__ = [
    *("clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "remove_weight_norm", "spectral_norm"),
    *("vector_to_parameters", "weight_norm"),
]

_document(globals())
