"""Linear layers whose weights are kept in 8 or 4 bits, with a scale for each output, or each group of inputs too."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp

from ...core.no_effect import Immaterial, no_effect
from ...dispatch.define import op

MOST = 127.0


_BITS = {"weight_only_int8": 8, "llm.int8": 8, "weight_only_int4": 4}
GROUPS = (-1, 64, 128)


def _bits_of(who: str, algo: str, group_size: int) -> int:
    """Return the bits of an algorithm."""
    if algo not in _BITS:
        raise NotImplementedError(f"{who}: {algo!r} is not available; use 'weight_only_int8' or 'weight_only_int4'")
    if group_size not in GROUPS:
        raise NotImplementedError(
            f"{who}: group_size is {group_size}; expected -1 (one scale for each output), 64 or 128"
        )
    return _BITS[algo]


@op(name="weight_quantize", grad=False)
def _quantize(x: Any, /, *, bits: int = 8, group: int = -1) -> Any:
    inputs, outputs = x.shape
    if bits == 4 and outputs % 2:
        raise ValueError(f"x has {outputs} outputs; in 4 bits, expected an even number")
    wide, size, most = x.astype(jnp.float32), inputs if group == -1 else group, 2.0 ** (bits - 1) - 1
    parts = jnp.pad(wide, [(0, -inputs % size), (0, 0)]).reshape(-1, size, outputs)
    scale = jnp.max(jnp.abs(parts), axis=1) / most
    out = jnp.round(parts / jnp.where(scale == 0, 1, scale)[:, None])
    out = jnp.clip(out, -most, most).astype(jnp.int8).reshape(-1, outputs)[:inputs].T
    if bits == 4:  # two outputs in a byte
        out = (out[0::2] & 15) | (out[1::2] << 4)
    return out, scale[0] if group == -1 else scale


def _expand(weight: Any, scale: Any, bits: int, group: int, dtype: Any) -> Any:
    """Return the weight [in, out] of a quantized one [out, in], or [out / 2, in] in 4 bits."""
    if bits == 4:
        weight = jnp.stack([(weight << 4) >> 4, weight >> 4], 1).reshape(-1, weight.shape[1])
    if group != -1:
        scale = jnp.repeat(scale, group, axis=0)[: weight.shape[1]]
    return weight.T.astype(dtype) * scale.astype(dtype)


_ONE_LAYOUT = Immaterial("the layout is the same on every device")


@no_effect(arch=_ONE_LAYOUT)
def weight_quantize(x: Any, algo: str = "weight_only_int8", arch: Any = None, group_size: int = -1) -> tuple[Any, Any]:
    """Quantize a weight to 8 or 4 bits, with one scale for each output channel or group: `q = round(x / scale)`.

    Arguments:
        x: a float weight [in, out].
        algo: "weight_only_int8", "weight_only_int4" or "llm.int8". Default: 'weight_only_int8'.
        arch: no effect: the layout is the same on every device.
        group_size: -1: one scale for each output channel; 64, 128: one for each group of so many inputs. Default: -1.

    Returns:
        The int8 weight [out, in], or [out / 2, in] with two outputs in a byte, and the float32 scales [out] or
        [groups, out].

    Raises:
        NotImplementedError: for other algorithms or group sizes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> out, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.27, 0.0], [-0.635, 2.54]]))
        >>> out.tolist(), scale.shape
        ([[127, -64], [0, 127]], paddle.Size([2]))
    """
    fn: Any = _quantize
    return fn(x, bits=_bits_of("weight_quantize", algo, group_size), group=group_size)


def weight_dequantize(
    x: Any, scale: Any, algo: str = "weight_only_int8", out_dtype: Any = "float16", group_size: int = -1
) -> Any:
    """Undo weight_quantize(): `x = q * scale`.

    Arguments:
        x: a weight of weight_quantize().
        scale: its scales.
        algo: the algorithm of weight_quantize(). Default: 'weight_only_int8'.
        out_dtype: dtype of the result. Default: 'float16'.
        group_size: that of weight_quantize(). Default: -1.

    Returns:
        The weight [in, out] in out_dtype.
    """
    fn: Any = _dequantize
    return fn(x, scale, bits=_bits_of("weight_dequantize", algo, group_size), group=group_size).astype(out_dtype)


@op(name="weight_dequantize", grad=False)
def _dequantize(x: Any, scale: Any, /, *, bits: int, group: int) -> Any:
    return _expand(x, scale, bits, group, jnp.float32)


@op(name="weight_only_linear")
def _linear(x: Any, weight: Any, scale: Any, bias: Any = None, /, *, bits: int = 8, group: int = -1) -> Any:
    if bits == 8 and group == -1:
        out = jnp.matmul(x, weight.T.astype(x.dtype)) * scale.astype(x.dtype)
    else:
        out = _multiply(x, weight, scale, bits, group)
    return out if bias is None else out + bias


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4))
def _multiply(x: Any, weight: Any, scale: Any, bits: int, group: int) -> Any:
    """Multiply by a weight that backward expands again: it is not kept for it."""
    return x @ _expand(weight, scale, bits, group, x.dtype)


def _multiply_backward(bits: int, group: int, saved: Any, g: Any) -> Any:
    weight, scale = saved
    return g @ _expand(weight, scale, bits, group, g.dtype).T, None, jnp.zeros_like(scale)


_multiply.defvjp(lambda x, w, s, bits, group: (_multiply(x, w, s, bits, group), (w, s)), _multiply_backward)


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
    """Linear transformation with a weight of 8 or 4 bits: `x @ dequantize(weight) + bias`.

    Arguments:
        x: a float tensor [*, in].
        weight: the weight of weight_quantize().
        bias: a tensor [out]; None: no bias.
        weight_scale: the scales of weight_quantize().
        weight_dtype: "int8" or "int4". Default: 'int8'.
        arch: no effect: the layout is the same on every device.
        group_size: that of weight_quantize(). Default: -1.

    Returns:
        A tensor [*, out] in the dtype of x.
    """
    bits = _bits_of("weight_only_linear", f"weight_only_{weight_dtype}", group_size)
    fn: Any = _linear
    return fn(x, weight, weight_scale, bias, bits=bits, group=group_size)


@op(name="llm_int8_linear")
def _mix(x: Any, weight: Any, scale: Any, bias: Any = None, /, *, threshold: float) -> Any:
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
    fn: Any = _mix
    return fn(x, weight, weight_scale, bias, threshold=float(threshold))
