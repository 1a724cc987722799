"""Linear layers whose weights are kept in 8 bits, with a scale for each output."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...core.no_effect import Immaterial, no_effect
from ...dispatch.define import op

MOST = 127.0


def _known(who: str, algo: str, group_size: int) -> None:
    if algo not in ("weight_only_int8", "llm.int8"):
        raise NotImplementedError(f"{who}: {algo!r} is not available; use 'weight_only_int8'")
    if group_size != -1:
        raise NotImplementedError(
            f"{who}: group_size is {group_size}; only -1, one scale for each output, is available"
        )


@op(name="weight_quantize", grad=False)
def _quantize(x: Any, /) -> Any:
    wide = x.astype(jnp.float32)
    scale = jnp.max(jnp.abs(wide), axis=0) / MOST
    out = jnp.round(wide / jnp.where(scale == 0, 1, scale))
    return jnp.clip(out, -MOST, MOST).astype(jnp.int8).T, scale


_ONE_LAYOUT = Immaterial("the layout is the same on every device")


@no_effect(arch=_ONE_LAYOUT)
def weight_quantize(x: Any, algo: str = "weight_only_int8", arch: Any = None, group_size: int = -1) -> tuple[Any, Any]:
    """Quantize a weight to int8, with one scale for each output channel: `q = round(x / scale)`.

    Arguments:
        x: a float weight [in, out].
        algo: "weight_only_int8" or "llm.int8". Default: 'weight_only_int8'.
        arch: no effect: the layout is the same on every device.
        group_size: -1: one scale for each output channel; other values are not supported. Default: -1.

    Returns:
        The int8 weight [out, in], and the float32 scales [out].

    Raises:
        NotImplementedError: for other algorithms or group sizes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> out, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.27, 0.0], [-0.635, 2.54]]))
        >>> out.tolist(), scale.shape
        ([[127, -64], [0, 127]], paddle.Size([2]))
    """
    _known("weight_quantize", algo, group_size)
    fn: Any = _quantize
    return fn(x)


def weight_dequantize(
    x: Any, scale: Any, algo: str = "weight_only_int8", out_dtype: Any = "float16", group_size: int = -1
) -> Any:
    """Undo weight_quantize(): `x = q * scale`.

    Arguments:
        x: an int8 weight [out, in].
        scale: the scales [out].
        algo: the algorithm of weight_quantize(). Default: 'weight_only_int8'.
        out_dtype: dtype of the result. Default: 'float16'.
        group_size: only -1, one scale for each output channel.

    Returns:
        The weight [in, out] in out_dtype.
    """
    _known("weight_dequantize", algo, group_size)
    return (x.astype("float32") * scale.unsqueeze(-1)).transpose([1, 0]).astype(out_dtype)


@op(name="weight_only_linear")
def _linear(x: Any, weight: Any, scale: Any, bias: Any = None, /) -> Any:
    out = jnp.matmul(x, weight.T.astype(x.dtype)) * scale.astype(x.dtype)
    return out if bias is None else out + bias


@no_effect(arch=_ONE_LAYOUT)
def weight_only_linear(
    x: Any,
    weight: Any,
    bias: Any = None,
    weight_scale: Any = None,
    weight_dtype: str = "int8",
    arch: Any = None,
    group_size: int = -1,
) -> Any:
    """Linear transformation with an int8 weight: `x @ dequantize(weight) + bias`.

    Arguments:
        x: a float tensor [*, in].
        weight: the int8 weight [out, in] of weight_quantize().
        bias: a tensor [out]; None: no bias.
        weight_scale: the scales [out] of weight_quantize().
        weight_dtype: "int8". Default: 'int8'.
        arch: no effect: the layout is the same on every device.
        group_size: only -1, one scale for each output channel.

    Returns:
        A tensor [*, out] in the dtype of x.
    """
    _known("weight_only_linear", f"weight_only_{weight_dtype}", group_size)
    fn: Any = _linear
    return fn(x, weight, weight_scale, bias)


@op(name="llm_int8_linear")
def _mixed(x: Any, weight: Any, scale: Any, bias: Any = None, /, *, threshold: float) -> Any:
    """Features that reach the threshold are multiplied as they are, the others rounded to 8 bits for each row."""
    rows = x.reshape(-1, x.shape[-1]).astype(jnp.float32)
    apart = jnp.max(jnp.abs(rows), axis=0) >= threshold
    inside = jnp.where(apart, 0, rows)
    size = jnp.max(jnp.abs(inside), axis=1, keepdims=True) / MOST
    rounded = jnp.round(inside / jnp.where(size == 0, 1, size)) * size
    wide = weight.T.astype(jnp.float32) * scale.astype(jnp.float32)
    out = (rounded + jnp.where(apart, rows, 0)) @ wide
    out = out.astype(x.dtype).reshape(*x.shape[:-1], weight.shape[0])
    return out if bias is None else out + bias


def llm_int8_linear(x: Any, weight: Any, bias: Any = None, weight_scale: Any = None, threshold: float = 6.0) -> Any:
    """Linear transformation in 8-bit integers, with outlier features of x in full precision.

    Arguments:
        x: a float tensor [*, in].
        weight: the int8 weight [out, in] of weight_quantize().
        bias: a tensor [out]; None: no bias.
        weight_scale: the scales [out] of weight_quantize().
        threshold: features of x with an absolute value of at least this are not quantized. Default: 6.0.

    Returns:
        A tensor [*, out] in the dtype of x.

    Raises:
        ValueError: without weight_scale.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> weight, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.27], [0.5]]), "llm.int8")
        >>> x = paddle.to_tensor([[1.0, 8.0]])
        >>> round(paddle.nn.quant.llm_int8_linear(x, weight, None, scale).item(), 3)
        5.27

    Source: Dettmers et al., LLM.int8(): 8-bit Matrix Multiplication for Transformers at Scale, 2022.
    """
    if weight_scale is None:
        raise ValueError("llm_int8_linear: weight_scale is None; give the scales that weight_quantize() returned")
    fn: Any = _mixed
    return fn(x, weight, weight_scale, bias, threshold=float(threshold))
