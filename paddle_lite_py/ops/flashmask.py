"""Attention with a row-wise sparse mask: for each key, the range of queries that do not attend to it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.no_effect import ONE_STREAM, no_effect
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .attention import STREAM, scaled_dot_product_attention
from .creation import full

__all__ = ["flashmask_attention"]


@op(name="flashmask", grad=False)
def _attention_mask(bounds: Any, /, *, queries: int, causal: bool, window: Any) -> Any:
    """Return the mask [batch, heads, queries, keys] of the keys that each query attends to."""
    i = jnp.arange(queries)[:, None]
    j = jnp.arange(bounds.shape[2])[None]
    b = [bounds[..., k][:, :, None] for k in range(bounds.shape[-1])]  # [batch, heads, 1, keys]
    if causal:
        hidden = i >= b[0] if len(b) == 1 else (i >= b[0]) & (i < b[1])
        hidden = hidden | (j > i)
    elif len(b) == 2:
        hidden = (i >= b[0]) | (i < b[1])
    else:
        hidden = ((i >= b[0]) & (i < b[1])) | ((i >= b[2]) & (i < b[3]))
    if window is not None:
        hidden = hidden | (j < i - window[0]) | (j > i + window[1])
    return ~hidden


@no_effect(fixed_seed_offset=STREAM, rng_name=ONE_STREAM)
def flashmask_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    startend_row_indices: Tensor | None = None,
    *,
    dropout: float = 0.0,
    causal: bool = False,
    window_size: Any = None,
    return_softmax_lse: bool = False,
    return_seed_offset: bool = False,
    fixed_seed_offset: Any | None = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
    softmax_scale: float | None = None,
    block_mask: Tensor | None = None,
) -> Any:
    """Compute `scaled_dot_product_attention()` with a compact mask of query ranges for each key.

    Arguments:
        startend_row_indices: int32 tensor [batch, heads, keys, n]. Causal: queries from [0] on (n = 1), or from [0] up
            to [1] (n = 2), do not attend to the key. Not causal: queries from [0] on and before [1] are masked (n = 2),
            or those in [0] to [1] and [2] to [3] (n = 4). None: no mask.
        window_size: int or (left, right), the number of keys before and after each query to attend to; None: all.

    Returns:
        The output [batch, queries, heads, head_dim].

    Raises:
        NotImplementedError: for features of the GPU kernel only: log-sum-exp, seed offsets and block masks.

    Source: Wang et al., FlashMask, 2024.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> q, rows = paddle.ones([1, 3, 1, 2]), paddle.full([1, 1, 3, 1], 3, "int32")
        >>> flashmask_attention(q, q, q, rows, causal=True).shape
        paddle.Size([1, 3, 1, 2])
    """
    if return_softmax_lse or return_seed_offset or block_mask is not None:
        raise NotImplementedError("flashmask_attention: return_softmax_lse, return_seed_offset and block_mask")
    window = (window_size, window_size) if isinstance(window_size, int) else window_size and tuple(window_size)
    if startend_row_indices is None and window is None:
        return scaled_dot_product_attention(query, key, value, None, dropout, causal, training, scale=softmax_scale)
    if startend_row_indices is None:
        startend_row_indices = full([1, 1, key.shape[1], 1 if causal else 2], query.shape[1], "int32")
        startend_row_indices = startend_row_indices if causal else _no_bounds(startend_row_indices)
    kinds = (1, 2) if causal else (2, 4)
    if startend_row_indices.ndim != 4 or startend_row_indices.shape[-1] not in kinds:
        raise ValueError(
            f"flashmask_attention: startend_row_indices has the shape {[*startend_row_indices.shape]}; expected "
            f"[batch, heads, keys, {kinds[0]} or {kinds[1]}]"
        )
    fn: Any = _attention_mask
    if window is not None and causal:
        window = (window[0], 0)
    mask = fn(startend_row_indices, queries=query.shape[1], causal=causal, window=window)
    mask = mask.repeat_interleave(query.shape[2] // mask.shape[1], 1) if mask.shape[1] > 1 else mask
    return scaled_dot_product_attention(query, key, value, mask, dropout, False, training, scale=softmax_scale)


def _no_bounds(rows: Any) -> Any:
    """Return bounds that mask nothing."""
    rows[..., 1] = 0
    return rows
