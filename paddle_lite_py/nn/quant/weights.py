"""Linear layers whose weights are kept in 8 bits, with a scale for each output."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...op import op

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


def weight_quantize(x: Any, algo: str = "weight_only_int8", arch: Any = None, group_size: int = -1) -> tuple[Any, Any]:
    """A weight [in, out] as int8 [out, in], and the scale of each output.

    Raises:
        NotImplementedError: for other algorithms, or groups.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> out, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.27, 0.0], [-0.635, 2.54]]))
        >>> out.tolist(), scale.shape
        ([[127, -64], [0, 127]], [2])
    """
    _known("weight_quantize", algo, group_size)
    fn: Any = _quantize
    return fn(x)


def weight_dequantize(
    x: Any, scale: Any, algo: str = "weight_only_int8", out_dtype: Any = "float16", group_size: int = -1
) -> Any:
    """The weight [in, out] of what weight_quantize() gave."""
    _known("weight_dequantize", algo, group_size)
    return (x.astype("float32") * scale.unsqueeze(-1)).transpose([1, 0]).astype(out_dtype)


@op(name="weight_only_linear")
def _linear(x: Any, weight: Any, scale: Any, bias: Any = None, /) -> Any:
    out = jnp.matmul(x, weight.T.astype(x.dtype)) * scale.astype(x.dtype)
    return out if bias is None else out + bias


def weight_only_linear(
    x: Any,
    weight: Any,
    bias: Any = None,
    weight_scale: Any = None,
    weight_dtype: str = "int8",
    arch: Any = None,
    group_size: int = -1,
) -> Any:
    """x @ weight + bias with a weight that weight_quantize() gave."""
    _known("weight_only_linear", f"weight_only_{weight_dtype}", group_size)
    fn: Any = _linear
    return fn(x, weight, weight_scale, bias)
