"""Weights in 8 bits."""

from .weights import weight_dequantize, weight_only_linear, weight_quantize

__all__ = ["weight_dequantize", "weight_only_linear", "weight_quantize"]
