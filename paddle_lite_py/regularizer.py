"""Weight decay added to gradients, for optimizers and ParamAttr."""

from __future__ import annotations

from typing import Any

from .core.argument_docs import document as _document
from .core.versioned import Versioned

__all__ = ["L1Decay", "L2Decay"]


class WeightDecayRegularizer(Versioned):
    """Base class of what is added to gradients: subclasses define `__call__(param, grad, block)`, which returns it.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Half(paddle.regularizer.WeightDecayRegularizer):
        ...     def __call__(self, param, grad, block):
        ...         return param * 0.5
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(2.0))
        >>> opt = paddle.optimizer.SGD(1.0, parameters=[w], weight_decay=Half())
        >>> (w * 0).sum().backward(); opt.step(); w.item()
        1.0
    """

    _kind = ""

    def __init__(self, coeff: float = 0.0) -> None:
        self.coeff = self._coeff = float(coeff)

    @property
    def kind(self) -> str:
        """Which rule it is: "l1", "l2", or "own" where a subclass itself says what is added."""
        return self._kind if type(self).__call__ in _KNOWN else "own"

    def __call__(self, param: Any, grad: Any, block: Any = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __call__(param, grad, block)")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.coeff})"


class L1Decay(WeightDecayRegularizer):
    """Adds `coeff * sign(parameter)` to the gradient.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(2.0))
        >>> opt = paddle.optimizer.SGD(0.5, parameters=[w], weight_decay=paddle.regularizer.L1Decay(1.0))
        >>> (w * 0).sum().backward(); opt.step(); w.item()
        1.5
    """

    _kind = "l1"

    def __call__(self, param: Any, grad: Any, block: Any = None) -> Any:
        return param.sign() * self.coeff


class L2Decay(WeightDecayRegularizer):
    """Adds `coeff * parameter` to the gradient; a float as `weight_decay` means the same.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(2.0))
        >>> opt = paddle.optimizer.SGD(0.5, parameters=[w], weight_decay=paddle.regularizer.L2Decay(1.0))
        >>> (w * 0).sum().backward(); opt.step(); w.item()
        1.0
    """

    _kind = "l2"

    def __call__(self, param: Any, grad: Any, block: Any = None) -> Any:
        return param * self.coeff


_KNOWN = L1Decay.__call__, L2Decay.__call__


_document(globals())
