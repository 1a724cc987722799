"""Weights in 8 bits, and places where activations are rounded."""

from .stub import QuanterStub, Stub
from .weights import llm_int8_linear, weight_dequantize, weight_only_linear, weight_quantize

__all__ = ["Stub", "llm_int8_linear", "weight_dequantize", "weight_only_linear", "weight_quantize"]
