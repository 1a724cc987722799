"""Saved programs for other runtimes: ONNX, StableHLO, TensorFlow Lite, PaddlePaddle, and a page for browsers."""

from __future__ import annotations

from .source import ConvertError, SavedProgram
from .to_onnx import quantized, to_onnx
from .to_paddle import to_paddle
from .to_stablehlo import to_stablehlo
from .to_tflite import to_tflite
from .to_web import to_web

__all__ = [
    "ConvertError", "SavedProgram", "quantized", "to_onnx", "to_paddle", "to_stablehlo", "to_tflite", "to_web",
]  # fmt: skip
