"""Operators that are several layers at once, as passes of the reference and its fused layers write them."""

from __future__ import annotations

from typing import Any

from ...incubate.nn import functional as _fused
from ...nn import functional as _functional
from ...nn.named_activation import apply_activation
from ...vision import ops as _vision
from .table import OPERATORS, P, operator, tensor
from .values import _listed

F: Any = _functional
FUSED: Any = _fused
VISION: Any = _vision


def activated(x: Any, name: str) -> Any:
    """Apply the activation of that name; the empty name means none."""
    return x if name in ("", "identity", "linear") else apply_activation(x, name)


# -- matrix products -----------------------------------------------------------------------------------------------
@operator("linear_v2")
def linear_v2(x: Any, weight: Any, bias: Any = None, *, transpose_weight: bool = False) -> Any:
    out = P.matmul(tensor(x), tensor(weight), transpose_y=transpose_weight)
    return out if bias is None else out + tensor(bias)


@operator("legacy_matmul")
def legacy_matmul(x: Any, y: Any, *, transpose_x: bool = False, transpose_y: bool = False, alpha: float = 1.0) -> Any:
    return P.matmul(tensor(x), tensor(y), transpose_x, transpose_y) * alpha


@operator("legacy_reshape")
def legacy_reshape(x: Any, shape: Any) -> Any:
    return P.reshape(tensor(x), _listed(shape))


@operator("apply_per_channel_scale")
def apply_per_channel_scale(x: Any, scales: Any) -> Any:
    return tensor(x) * tensor(scales)


# -- convolutions --------------------------------------------------------------------------------------------------
def _with_bias(name: str, of: str) -> None:
    @operator(name)
    def convolve(x: Any, weight: Any, bias: Any = None, *sizes: Any, data_format: str = "NCHW", **attrs: Any) -> Any:
        known = {k: v for k, v in attrs.items() if k in _CONVOLUTION}
        out = OPERATORS[of](x, weight, *sizes, data_format=data_format, **known)
        if bias is None:
            return out
        shape = [1] * out.ndim
        shape[-1 if data_format.endswith("C") else 1] = -1
        return out + P.reshape(tensor(bias), shape)


_CONVOLUTION = ("strides", "paddings", "padding_algorithm", "dilations", "groups", "output_padding")
_with_bias("depthwise_conv2d_bias", "depthwise_conv2d")
_with_bias("depthwise_conv3d_bias", "conv3d")
_with_bias("conv2d_transpose_bias", "conv2d_transpose")


@operator("fused_conv2d_add_act")
def fused_conv2d_add_act(
    x: Any, weight: Any, bias: Any = None, residual: Any = None, *, activation: str = "relu",
    data_format: str = "NCHW", split_channels: Any = (), **attrs: Any,
) -> Any:  # fmt: skip
    if len(split_channels):
        raise NotImplementedError("split_channels, several results of one convolution")
    out = _convolved(x, weight, bias, data_format=data_format, **attrs)
    return activated(out if residual is None else out + tensor(residual), activation), None


_with_bias("conv2d_bias", "conv2d")
_convolved: Any = OPERATORS["conv2d_bias"]


@operator("max_pool2d_v2")
def max_pool2d_v2(x: Any, *, kernel_size: Any, **attrs: Any) -> Any:
    known = ("strides", "paddings", "data_format", "global_pooling", "adaptive")
    given = {k: v for k, v in attrs.items() if k in known}
    return OPERATORS["pool2d"](x, kernel_size=kernel_size, pooling_type="max", **given), None


# -- elementwise ---------------------------------------------------------------------------------------------------
def _then_activated(name: str, of: str) -> None:
    @operator(f"fused_elementwise_{name}")
    def compute(
        x: Any, y: Any, *, axis: int = -1, fuse_activation: str = "", scale_x: float = 1.0, scale_y: float = 1.0,
        scale_out: float = 1.0,
    ) -> Any:  # fmt: skip
        out = getattr(P, of)(tensor(x) * scale_x, tensor(y) * scale_y) * scale_out
        return activated(out, fuse_activation)


for _name, _of in {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide"}.items():
    _then_activated(_name, _of)


@operator("fused_bias_act")
def fused_bias_act(
    x: Any, bias: Any = None, dequant_scales: Any = None, shift: Any = None, smooth: Any = None, *,
    act_method: str = "gelu", quant_scale: float = -1.0,
) -> Any:  # fmt: skip
    if dequant_scales is not None or shift is not None or smooth is not None or quant_scale > 0:
        raise NotImplementedError("a quantized fused_bias_act")
    return FUSED.fused_bias_act(tensor(x), tensor(bias), act_method=act_method)


# -- normalization -------------------------------------------------------------------------------------------------
def _normalized(x: Any, scale: Any, bias: Any, epsilon: float, axis: int) -> Any:
    shape = list(x._payload.shape[axis:])
    weights = [None if w is None else P.reshape(tensor(w), shape) for w in (scale, bias)]
    return F.layer_norm(x, shape, *weights, epsilon)


@operator("skip_layernorm")
def skip_layernorm(x: Any, y: Any, scale: Any = None, bias: Any = None, *, epsilon: float, begin_norm_axis: int) -> Any:
    return _normalized(tensor(x) + tensor(y), scale, bias, epsilon, begin_norm_axis)


@operator("fused_fc_elementwise_layernorm")
def fused_fc_elementwise_layernorm(
    x: Any, w: Any, y: Any, bias0: Any = None, scale: Any = None, bias1: Any = None, *,
    activation_type: str = "", epsilon: float = 1e-5, begin_norm_axis: int = 1,
) -> Any:  # fmt: skip
    y = tensor(y)
    flat = P.reshape(tensor(x), [-1, tensor(w)._payload.shape[0]])
    out = P.reshape(linear_v2(flat, w, bias0), list(y._payload.shape))
    return _normalized(activated(out, activation_type) + y, scale, bias1, epsilon, begin_norm_axis), None, None


@operator("fast_ln")
def fast_ln(x: Any, scale: Any, bias: Any, *, epsilon: float = 1e-5) -> Any:
    return _normalized(tensor(x), scale, bias, epsilon, -1), None, None


@operator("fused_rms_norm_ext")
def fused_rms_norm_ext(x: Any, scale: Any, *, epsilon: float = 1e-5) -> Any:
    return FUSED.fused_rms_norm_ext(tensor(x), tensor(scale), epsilon)


@operator("fused_bias_dropout_residual_layer_norm")
def fused_bias_dropout_residual_layer_norm(
    x: Any, residual: Any, bias: Any = None, ln_scale: Any = None, ln_bias: Any = None, *, dropout_rate: float = 0.5,
    is_test: bool = False, dropout_implementation: str = "downgrade_in_infer", ln_epsilon: float = 1e-5,
) -> Any:  # fmt: skip
    if not is_test and dropout_rate:
        raise NotImplementedError("dropout in training")
    x = tensor(x) if bias is None else tensor(x) + tensor(bias)
    out = tensor(residual) + (x if dropout_implementation == "upscale_in_train" else x * (1 - dropout_rate))
    return _normalized(out, ln_scale, ln_bias, ln_epsilon, -1), out, None, None, None


# -- attention -----------------------------------------------------------------------------------------------------
@operator("flash_attn_qkvpacked")
def flash_attn_qkvpacked(
    qkv: Any, _seed: Any = None, mask: Any = None, *, dropout: float = 0.0, causal: bool = False,
    is_test: bool = False,
) -> Any:  # fmt: skip
    if mask is not None:
        raise NotImplementedError("a mask")
    return F.flash_attn_qkvpacked(tensor(qkv), dropout, causal, training=not is_test)[0], None, None, None


@operator("variable_length_memory_efficient_attention")
def variable_length_memory_efficient_attention(
    query: Any, key: Any, value: Any, lengths: Any, key_lengths: Any, mask: Any = None, *, scale: float,
    causal: bool, pre_cache_length: int = 0,
) -> Any:  # fmt: skip
    given = map(tensor, (query, key, value, lengths, key_lengths, mask))
    return FUSED.variable_length_memory_efficient_attention(*given, scale, causal, pre_cache_length)


# -- losses --------------------------------------------------------------------------------------------------------
@operator("margin_cross_entropy")
def margin_cross_entropy(
    logits: Any, label: Any, *, margin1: float = 1.0, margin2: float = 0.5, margin3: float = 0.0,
    scale: float = 64.0, nranks: int = 1,
) -> Any:  # fmt: skip
    if nranks > 1:
        raise NotImplementedError(f"classes that {nranks} processes share")
    given = (tensor(logits), tensor(label), margin1, margin2, margin3, scale)
    loss, softmax = F.margin_cross_entropy(*given, return_softmax=True, reduction=None)
    return softmax, loss


@operator("yolo_loss")
def yolo_loss(
    x: Any, box: Any, label: Any, score: Any = None, *, anchors: Any, anchor_mask: Any, class_num: int = 1,
    ignore_thresh: float = 0.7, downsample_ratio: int = 32, use_label_smooth: bool = True, scale_x_y: float = 1.0,
) -> Any:  # fmt: skip
    given = (tensor(x), tensor(box), tensor(label), list(anchors), list(anchor_mask), class_num, ignore_thresh)
    loss = VISION.yolo_loss(*given, downsample_ratio, tensor(score), use_label_smooth, scale_x_y=scale_x_y)
    return loss, None, None
