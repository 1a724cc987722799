"""8-bit numbers with a scale for each block."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ....dispatch.define import op

MOST = {"e4m3": 448.0, "e5m2": 57344.0}
DTYPES = {"e4m3": jnp.float8_e4m3fn, "e5m2": jnp.float8_e5m2}
BLOCK = 128


def _blocks(x: Any, rows: int) -> Any:
    """[a, rows, b, BLOCK]: padded with zeros to whole blocks."""
    h, w = x.shape
    x = jnp.pad(x, ((0, -h % rows), (0, -w % BLOCK)))
    return x.reshape(x.shape[0] // rows, rows, x.shape[1] // BLOCK, BLOCK)


def quantize(x: Any, rows: int, kind: str, epsilon: float, powers: bool) -> tuple[Any, Any]:
    """x in blocks of rows x 128 as 8-bit floats, and the scale of each block."""
    blocks = _blocks(x.astype(jnp.float32), rows)
    scale = jnp.maximum(jnp.max(jnp.abs(blocks), (1, 3)), epsilon) / MOST[kind]
    scale = jnp.where(scale == 0, 1.0, scale)
    scale = jnp.exp2(jnp.ceil(jnp.log2(scale))) if powers else scale
    wide = jnp.repeat(jnp.repeat(scale, rows, 0), BLOCK, 1)[: x.shape[0], : x.shape[1]]
    return (x / wide).astype(DTYPES[kind]), scale


@op(name="fp8_quant_blockwise", grad=False)
def _quant(x: Any, /, *, epsilon: float, transposed: bool, rows: int, powers: bool, kind: str, flip_scale: bool) -> Any:
    out, scale = quantize(x.T if transposed else x, rows, kind, epsilon, powers)
    return out, scale.T if flip_scale else scale


def fp8_quant_blockwise(
    x: Any,
    epsilon: float = 0.0,
    input_transpose: bool = False,
    output_scale_transpose: bool = True,
    return_transpose_only: bool = False,
    using_pow2_scale: bool = True,
    using_ue8m0_scale: bool = False,
    quant_method: str = "1x128",
    output_type: str = "e4m3",
    name: Any = None,
) -> Any:
    """Return a matrix as 8-bit floats with a scale for each block; with input_transpose, its transpose as well.

    Arguments:
        epsilon: the least maximum of a block.
        output_scale_transpose: give the scales transposed.
        return_transpose_only: only the transpose and its scales.
        using_pow2_scale: scales are powers of two.
        quant_method: blocks of "1x128" or "128x128".
        output_type: "e4m3" or "e5m2".

    Raises:
        NotImplementedError: for packed scales (using_ue8m0_scale).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> out, scale = fp8_quant_blockwise(paddle.ones([2, 128]))
        >>> out.dtype, scale.shape
        (paddle.float8_e4m3fn, paddle.Size([1, 2]))
    """
    if using_ue8m0_scale:
        raise NotImplementedError("fp8_quant_blockwise: scales packed as exponents are not available")
    if quant_method not in ("1x128", "128x128") or output_type not in MOST:
        raise ValueError(f"fp8_quant_blockwise: quant_method is {quant_method!r} and output_type {output_type!r}")
    fn: Any = _quant
    settings: dict[str, Any] = {"epsilon": float(epsilon), "rows": 1 if quant_method == "1x128" else BLOCK}
    settings |= {"powers": using_pow2_scale, "kind": output_type, "flip_scale": output_scale_transpose}
    plain = () if return_transpose_only else fn(x, transposed=False, **settings)
    turned = fn(x, transposed=True, **settings) if input_transpose or return_transpose_only else ()
    return (*plain, *turned)


@op(name="fused_stack_transpose_quant", grad=False)
def _stack_quant(x: list[Any], /, *, transpose: bool) -> Any:
    matrix = jnp.concatenate([m.T if transpose else m for m in x], 0)
    return quantize(matrix, BLOCK, "e4m3", 0.0, True)


def fused_stack_transpose_quant(x: list[Any], transpose: bool = True) -> Any:
    """Concatenate matrices, transposed on request, as 8-bit floats, with the scales of blocks of 128 x 128.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> F = paddle.incubate.nn.functional
        >>> out, scale = F.fused_stack_transpose_quant([paddle.ones([128, 128])])
        >>> out.shape, scale.shape
        (paddle.Size([128, 128]), paddle.Size([1, 1]))
    """
    fn: Any = _stack_quant
    return fn(x, transpose=transpose)
