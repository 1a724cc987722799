"""Export to ONNX, by way of the JAX function that a program lowers to."""

from __future__ import annotations

from .exporter import OnnxError, export

__all__ = ["OnnxError", "export"]
