"""Passes of 8-bit arithmetic: rounding put in for training, and weights kept as int8 for inference."""

from __future__ import annotations

from typing import Any

from ..core.interpreter import use
from ..eager.execute import EAGER
from ..ir.program import Program
from ..nn import functional as F
from ..nn.base import Layer
from ..nn.common import Linear
from ..nn.conv import Conv2D
from ..ops.quantize import dequantize_linear, quantize_linear
from ..quantization import QuantConfig
from .cleaning import dead_code
from .folding import freeze_weights
from .manager import register
from .pattern import Call
from .rewriting import Match, rewrite

_KINDS: dict[str, type[Layer]] = {"linear": Linear, "conv2d": Conv2D}
_PRODUCT = Call(tuple(_KINDS), "x", "w", "b", bind="product")
MOST = 127.0


class InsertQuanters:
    """Rounding before products, as quantization.QAT puts it into layers: each product gets quanters of its own.

    The quanters, with what they have learnt, stay with the weight of the product: the same object prepares the program
    that is trained and, after eval(), the one for inference.

    Arguments:
        config: which kinds of layers, with which quanters; settings for single layers do not count here.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()
        >>> insert = InsertQuanters(paddle.quantization.QuantConfig(activation=quanter, weight=quanter))
        >>> net = paddle.jit.to_static(paddle.nn.Linear(3, 2), input_spec=[paddle.static.InputSpec([None, 3])])
        >>> [op.name for op in insert.eval()(net.forward.main_program).ops()]
        ['fake_quantize', 'fake_quantize', 'linear']
    """

    __name__ = "insert_quanters"

    def __init__(self, config: QuantConfig) -> None:
        self.config = config
        self.training = True
        self._quanters: dict[int, tuple[Any, Any, Any]] = {}  # by the weight, which is kept as well

    def eval(self) -> InsertQuanters:
        """From here on the scales stay as they are; itself."""
        return self.train(False)

    def train(self, mode: bool = True) -> InsertQuanters:
        """From here on the scales follow what passes; itself."""
        self.training = mode
        for _, *quanters in self._quanters.values():
            for q in quanters:
                if q is not None:
                    q.training = mode
        return self

    def __call__(self, program: Program) -> Program:
        """Return the program with quanters before its products.

        Raises:
            PassError: if the quanters have parameters to train, and the program holds its gradients already.
        """
        return rewrite(_PRODUCT)(self._rounded)(program)

    def _rounded(self, m: Match) -> Any:
        """Return a product of rounded numbers."""
        found = self.config.choice_of(_KINDS[m.product.name])
        weight = m.weight("w")
        if found is None or weight is None:
            return None
        activation, rounding = self._of(weight, found)
        x, w = m.x if activation is None else activation(m.x), m.w if rounding is None else rounding(m.w)
        return getattr(F, m.product.name)(x, w, m.b, **m.product.attrs)

    def _of(self, weight: Any, choice: Any) -> Any:
        if id(weight) not in self._quanters:
            with use(EAGER):  # their buffers outlive the program
                made = [None if c is None else c._instance(None) for c in (choice.activation, choice.weight)]
            for q in made:
                if q is not None:
                    q.training = self.training
            self._quanters[id(weight)] = (weight, *made)
        return self._quanters[id(weight)][1:]


@register("freeze_int8")
def freeze_int8(program: Program) -> Program:
    """Weights of products as int8 with scales; what reads them multiplies by the scale again.

    Weights that are rounded already (by QAT) keep their scale, so that the results stay what they were; for others
    there is one scale for each output channel, the largest absolute value.

    Source: Jacob et al., Quantization and Training of Neural Networks, 2017.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 2))
        >>> model.eval()
        Sequential(
          (0): Linear(in_features=2, out_features=2, dtype=float32)
        )
        >>> x = paddle.ones([1, 2])
        >>> f = paddle.jit.to_static(lambda x: model(x), passes=[paddle.passes.freeze_int8])
        >>> bool(paddle.allclose(f(x), model(x), atol=0.1))
        True
    """
    return dead_code(freeze_weights(_in_steps(program)))


@rewrite(
    Call(tuple(_KINDS), "x", Call("fake_quantize", "w", "scale", bind="round", shared=True), "b", bind="product"),
    _PRODUCT,
)
def _in_steps(m: Match) -> Any:
    weight = m.weight("w")
    if weight is None or weight.dtype not in ("float32", "float64", "bfloat16", "float16"):
        return None
    linear = m.product.name == "linear"
    try:
        scale, axis, most = m.scale, None, m.round["most"]
    except AttributeError:
        axis, most = (1, MOST) if linear else (0, MOST)
        scale = m.w.abs().max(axis=[i for i in range(m.w.ndim) if i != axis])
    if most > MOST:
        return None  # more bits than int8 has
    kept = dequantize_linear(quantize_linear(m.w, scale, axis, most), scale, axis, most)
    kept = kept if kept.dtype == m.w.dtype else kept.astype(m.w.dtype)
    return getattr(F, m.product.name)(m.x, kept, m.b, **m.product.attrs)
