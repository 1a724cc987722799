"""Weight decay added to gradients, for optimizers and ParamAttr."""

from __future__ import annotations

from .core.argument_docs import document as _document
from .core.versioned import Versioned

__all__ = ["L1Decay", "L2Decay"]


class _Decay(Versioned):
    kind = ""

    def __init__(self, coeff: float = 0.0) -> None:
        self.coeff = self._coeff = float(coeff)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.coeff})"


class L1Decay(_Decay):
    """Adds `coeff * sign(parameter)` to the gradient.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(2.0))
        >>> opt = paddle.optimizer.SGD(0.5, parameters=[w], weight_decay=paddle.regularizer.L1Decay(1.0))
        >>> (w * 0).sum().backward(); opt.step(); w.item()
        1.5
    """

    kind = "l1"


class L2Decay(_Decay):
    """Adds `coeff * parameter` to the gradient; a float as `weight_decay` means the same.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(2.0))
        >>> opt = paddle.optimizer.SGD(0.5, parameters=[w], weight_decay=paddle.regularizer.L2Decay(1.0))
        >>> (w * 0).sum().backward(); opt.step(); w.item()
        1.0
    """

    kind = "l2"


_document(globals())
