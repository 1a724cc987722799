"""Weights in 8 bits."""

from .weights import llm_int8_linear, weight_dequantize, weight_only_linear, weight_quantize

__all__ = ["llm_int8_linear", "weight_dequantize", "weight_only_linear", "weight_quantize"]
