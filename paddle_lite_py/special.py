"""Functions under the names of `torch.special`: the namespace paddle.special."""

from __future__ import annotations

from .core.argument_docs import document as _document
from .ops.math_names import softmax
from .ops.reduction import logsumexp
from .ops.unary import expm1

__all__ = ["expm1", "logsumexp", "softmax"]

_document(globals())
