"""Fused products, normalization and dropout."""

from __future__ import annotations

from typing import Any

from ....core.no_effect import NO_QUANT, no_effect
from ....nn import functional as F
from ....ops.linalg import matmul
from ....ops.manipulation import flatten

swiglu: Any = F.swiglu


def fused_matmul_bias(
    x: Any, y: Any, bias: Any = None, transpose_x: bool = False, transpose_y: bool = False, name: Any = None
) -> Any:
    """matmul(x, y) + bias.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> fused_matmul_bias(paddle.ones([1, 2]), paddle.ones([2, 1]), paddle.to_tensor([0.5])).tolist()
        [[2.5]]
    """
    out: Any = matmul(x, y, transpose_x, transpose_y)
    return out if bias is None else out + bias


def fused_linear(x: Any, weight: Any, bias: Any = None, transpose_weight: bool = False, name: Any = None) -> Any:
    """x @ weight + bias.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> F = paddle.incubate.nn.functional
        >>> F.fused_linear(paddle.ones([1, 2]), paddle.ones([2, 1]), paddle.ones([1])).tolist()
        [[3.0]]
    """
    return fused_matmul_bias(x, weight, bias, False, transpose_weight)


_ACTIVATIONS = ("gelu", "relu", "silu", "swiglu", "sigmoid", "tanh")


def activated(who: str, x: Any, activation: Any) -> Any:
    """Return an activation that is named; None: x itself."""
    if activation in (None, "none", ""):
        return x
    if activation not in _ACTIVATIONS:
        raise ValueError(f"{who}: activation is {activation!r}; expected one of {', '.join(_ACTIVATIONS)}")
    return getattr(F, activation)(x)


def fused_linear_activation(
    x: Any, y: Any, bias: Any, trans_x: bool = False, trans_y: bool = False, activation: str | None = None
) -> Any:
    """activation(matmul(x, y) + bias); "gelu" or "relu".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> F = paddle.incubate.nn.functional
        >>> x, y, b = paddle.ones([1, 2]), paddle.ones([2, 1]), paddle.full([1], -3.0)
        >>> F.fused_linear_activation(x, y, b, activation="relu").tolist()
        [[0.0]]
    """
    return activated("fused_linear_activation", fused_matmul_bias(x, y, bias, trans_x, trans_y), activation)


def fused_bias_act(x: Any, bias: Any = None, *args: Any, act_method: str = "gelu", **settings: Any) -> Any:
    """activation(x + bias).

    Raises:
        NotImplementedError: where scales of quantization are given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> F = paddle.incubate.nn.functional
        >>> F.fused_bias_act(paddle.to_tensor([-1.0, 1.0]), paddle.to_tensor([0.5, 0.5]), act_method="relu").tolist()
        [0.0, 1.5]
    """
    if args or any(v is not None and v != -1 for k, v in settings.items() if "scale" in k or "shift" in k):
        raise NotImplementedError("fused_bias_act: quantization inside of it is not available")
    return activated("fused_bias_act", x if bias is None else x + bias, act_method)


def fused_dropout_add(
    x: Any, y: Any, p: float = 0.5, training: bool = True, mode: str = "upscale_in_train", name: Any = None
) -> Any:
    """dropout(x) + y.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> F = paddle.incubate.nn.functional
        >>> F.fused_dropout_add(paddle.ones([2]), paddle.ones([2]), p=0.0).tolist()
        [2.0, 2.0]
    """
    return F.dropout(x, p, training=training, mode=mode) + y


def fused_bias_dropout_residual_layer_norm(
    x: Any,
    residual: Any,
    bias: Any = None,
    ln_scale: Any = None,
    ln_bias: Any = None,
    dropout_rate: float = 0.5,
    ln_epsilon: float = 1e-5,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: Any = None,
) -> Any:
    """layer_norm(residual + dropout(x + bias)).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> F = paddle.incubate.nn.functional
        >>> x = paddle.to_tensor([[1.0, 3.0]])
        >>> out = F.fused_bias_dropout_residual_layer_norm(x, x, dropout_rate=0.0)
        >>> out.astype("float64").numpy().round(3).tolist()
        [[-1.0, 1.0]]
    """
    out = residual + F.dropout(x if bias is None else x + bias, dropout_rate, training=training, mode=mode)
    return F.layer_norm(out, out.shape[-1:], ln_scale, ln_bias, ln_epsilon)


def _norm(
    function: Any,
    x: Any,
    weight: Any,
    norm_bias: Any,
    epsilon: float,
    axis: int,
    bias: Any,
    residual: Any,
    quant: float,
) -> Any:
    """A normalization of x + bias + residual over the axes from `axis` on; with the sum, where there is a residual."""
    if quant > 0:
        raise NotImplementedError("quantization of a normalization's result is not available")
    total = x if bias is None else x + bias
    total = total if residual is None else total + residual
    flat: Any = flatten(total, axis, -1)
    out = function(flat, flat.shape[-1:], weight, norm_bias, epsilon).reshape(total.shape)
    return out if residual is None else (out, total)


def _rms(x: Any, shape: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    out = F.rms_norm(x, shape, weight, epsilon)
    return out if bias is None else out + bias


@no_effect(quant_round_type=NO_QUANT, quant_max_bound=NO_QUANT, quant_min_bound=NO_QUANT)
def fused_rms_norm(
    x: Any,
    norm_weight: Any,
    norm_bias: Any,
    epsilon: float,
    begin_norm_axis: int = 1,
    bias: Any = None,
    residual: Any = None,
    quant_scale: float = -1,
    quant_round_type: int = 0,
    quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> Any:
    """rms_norm(x + bias + residual) over the axes from begin_norm_axis on; with the sum, where there is a residual.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[3.0, 4.0]])
        >>> (fused_rms_norm(x, paddle.ones([2]), None, 0.0) * 100).round().tolist()
        [[85.0, 113.0]]
    """
    return _norm(_rms, x, norm_weight, norm_bias, epsilon, begin_norm_axis, bias, residual, quant_scale)


def fused_rms_norm_ext(x: Any, scale: Any, epsilon: float = 1e-5, name: Any = None) -> tuple[Any, Any]:
    """rms_norm(x) over the last axis, and the inverse root mean squares.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> F = paddle.incubate.nn.functional
        >>> out, scale = F.fused_rms_norm_ext(paddle.to_tensor([[3.0, 4.0]]), paddle.ones([2]))
        >>> out.astype("float64").numpy().round(3).tolist(), scale.astype("float64").numpy().round(3).tolist()
        ([[0.849, 1.131]], [0.283])
    """
    wide = x.astype("float32")
    inverse = (wide.square().mean(-1) + epsilon).rsqrt()
    return F.rms_norm(x, x.shape[-1:], scale, epsilon), inverse


@no_effect(quant_round_type=NO_QUANT, quant_max_bound=NO_QUANT, quant_min_bound=NO_QUANT)
def fused_layer_norm(
    x: Any,
    norm_weight: Any,
    norm_bias: Any,
    epsilon: float,
    residual_alpha: float = 1.0,
    begin_norm_axis: int = 1,
    bias: Any = None,
    residual: Any = None,
    quant_scale: float = -1,
    quant_round_type: int = 0,
    quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> Any:
    """layer_norm(x + bias + residual_alpha * residual); with the sum, where there is a residual.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> F = paddle.incubate.nn.functional
        >>> x, one = paddle.to_tensor([[1.0, 3.0]]), paddle.ones([2])
        >>> F.fused_layer_norm(x, one, one, 1e-5)[0].astype("float64").numpy().round(3).tolist()
        [0.0, 2.0]
    """
    residual = residual if residual is None else residual * residual_alpha
    return _norm(F.layer_norm, x, norm_weight, norm_bias, epsilon, begin_norm_axis, bias, residual, quant_scale)


def fast_ln(x: Any, scale: Any, bias: Any, epsilon: float = 1e-5) -> Any:
    """layer_norm(x) over the last axis.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> F = paddle.incubate.nn.functional
        >>> F.fast_ln(paddle.to_tensor([[1.0, 3.0]]), paddle.ones([2]), paddle.ones([2])).round().tolist()
        [[0.0, 2.0]]
    """
    return F.layer_norm(x, x.shape[-1:], scale, bias, epsilon)


def fast_rms_norm(x: Any, scale: Any, epsilon: float = 1e-5) -> Any:
    """rms_norm(x) over the last axis.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> F = paddle.incubate.nn.functional
        >>> (F.fast_rms_norm(paddle.to_tensor([[3.0, 4.0]]), paddle.ones([2])) * 100).round().tolist()
        [[85.0, 113.0]]
    """
    return F.rms_norm(x, x.shape[-1:], scale, epsilon)
