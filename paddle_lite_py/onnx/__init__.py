"""Export to ONNX, by way of the JAX function that a program lowers to."""

from __future__ import annotations

from ..core.argument_docs import document as _document
from .exporter import OnnxError, export

__all__ = ["OnnxError", "export"]

_document(globals())
