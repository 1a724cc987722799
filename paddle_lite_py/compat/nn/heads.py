"""Attention in several heads, as a function of the weights."""

from __future__ import annotations

import math
from typing import Any

from ...nn import functional as F
from ...ops.creation import zeros
from ...ops.joining import concat
from ...ops.linalg import matmul
from ...ops.search import where
from ...ops.splitting import chunk

__all__ = ["multi_head_attention_forward"]
_NEVER = -math.inf


def multi_head_attention_forward(
    query: Any, key: Any, value: Any, embed_dim_to_check: int, num_heads: int, in_proj_weight: Any, in_proj_bias: Any,
    bias_k: Any, bias_v: Any, add_zero_attn: bool, dropout_p: float, out_proj_weight: Any, out_proj_bias: Any,
    training: bool = True, key_padding_mask: Any = None, need_weights: bool = True, attn_mask: Any = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Any = None, k_proj_weight: Any = None,
    v_proj_weight: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Project queries, keys and values, attend, and return the outputs, and the weights [batch, length, keys] or None.

    Arguments:
        query, key, value: [length, batch, size], or without the batch.
        embed_dim_to_check: the size of queries.
        num_heads: number of heads, between which it is divided.
        in_proj_weight, in_proj_bias: of all three projections, one after the other.
        bias_k, bias_v: one more key and value, [1, 1, size], or None.
        add_zero_attn: one more key and value, of zeros.
        dropout_p: probability for the attention weights, while training.
        out_proj_weight, out_proj_bias: of the last projection.
        key_padding_mask: [batch, keys]: True where a key does not count; a float mask is added.
        need_weights: False: None in the place of the weights. Default: True.
        attn_mask: [length, keys] or [batch * heads, length, keys], likewise.
        use_separate_proj_weight: take the three weights in the place of in_proj_weight. Default: False.
        q_proj_weight, k_proj_weight, v_proj_weight: these.
        average_attn_weights: False: the weights of each head.
        is_causal: says that attn_mask is causal; without a mask, that the one is meant.

    Raises:
        ValueError: queries have another size, or it does not divide into the heads.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, w = paddle.ones([5, 2, 4]), paddle.ones([12, 4])
        >>> more = (None, None, None, False, 0.0, paddle.ones([3, 4]), None)
        >>> out, weights = paddle.compat.nn.functional.multi_head_attention_forward(x, x, x, 4, 2, w, *more)
        >>> out.shape, weights.shape
        (paddle.Size([5, 2, 3]), paddle.Size([2, 5, 5]))
    """
    size = query.shape[-1]
    if size != embed_dim_to_check or size % num_heads:
        raise ValueError(
            f"multi_head_attention_forward: queries have the size {size}; expected {embed_dim_to_check}, and a "
            f"multiple of num_heads, {num_heads}"
        )
    alone = query.ndim == 2
    parts = [x.unsqueeze(0) if alone else x.transpose([1, 0, 2]) for x in (query, key, value)]
    separate = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = separate if use_separate_proj_weight else chunk(in_proj_weight, 3)
    biases = [None] * 3 if in_proj_bias is None else chunk(in_proj_bias, 3)
    q, k, v = (_project(x, w, b) for x, w, b in zip(parts, weights, biases, strict=True))
    length, seen = q.shape[1], k.shape[1]
    for more_k, more_v in _added(bias_k, bias_v, add_zero_attn, k):
        shape = [k.shape[0], 1, size]
        k, v = concat([k, more_k.expand(shape)], axis=1), concat([v, more_v.expand(shape)], axis=1)
    q, k, v = (_heads(x, num_heads) for x in (q, k, v))
    if attn_mask is None and is_causal:
        attn_mask = zeros([length, seen], "bool").logical_not().triu(1)
    scores = matmul(q * (size // num_heads) ** -0.5, k, transpose_y=True)
    for mask in (_of_heads(attn_mask, num_heads), _of_keys(key_padding_mask, alone)):
        scores = scores if mask is None else _apply_mask(scores, mask)
    shown = F.softmax(scores)
    kept = F.dropout(shown, dropout_p, training=training) if dropout_p else shown
    out = _project(matmul(kept, v).transpose([0, 2, 1, 3]).reshape([q.shape[0], length, size]), out_proj_weight,
                   out_proj_bias)  # fmt: skip
    out = out.squeeze(0) if alone else out.transpose([1, 0, 2])
    if not need_weights:
        return out, None
    shown = shown.mean(1) if average_attn_weights else shown
    return out, shown.squeeze(0) if alone else shown


def _project(x: Any, weight: Any, bias: Any) -> Any:
    made: Any = matmul(x, weight, transpose_y=True)
    return made if bias is None else made + bias


def _added(bias_k: Any, bias_v: Any, zero: bool, k: Any) -> list[tuple[Any, Any]]:
    """Return the keys and values that are added."""
    found: list[tuple[Any, Any]] = [] if bias_k is None else [(bias_k, bias_v)]
    return [*found, (zeros([1, 1, k.shape[-1]], k.dtype),) * 2] if zero else found


def _heads(x: Any, heads: int) -> Any:
    return x.reshape([x.shape[0], x.shape[1], heads, -1]).transpose([0, 2, 1, 3])


def _of_heads(mask: Any, heads: int) -> Any:
    return mask if mask is None or mask.ndim == 2 else mask.reshape([-1, heads, *mask.shape[1:]])


def _of_keys(mask: Any, alone: bool) -> Any:
    return None if mask is None else (mask.unsqueeze(0) if alone else mask).unsqueeze(1).unsqueeze(1)


def _apply_mask(scores: Any, mask: Any) -> Any:
    """Scores, less where a mask is True, or with a float one added; keys beyond the mask count."""
    more = scores.shape[-1] - mask.shape[-1]
    if more:
        mask = concat([mask, zeros([*mask.shape[:-1], more], mask.dtype)], axis=-1)
    return where(mask, zeros([], scores.dtype) + _NEVER, scores) if mask.dtype == "bool" else scores + mask
