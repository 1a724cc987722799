"""Attention under the name of another kernel."""

from __future__ import annotations

from typing import Any

from ...ops.attention import scaled_dot_product_attention

__all__ = ["memory_efficient_attention"]


def memory_efficient_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_bias: Any = None,
    p: float = 0.0,
    scale: float | None = None,
    training: bool = True,
) -> Any:
    """scaled_dot_product_attention() with a tensor (or None) added to the scores; all are [batch, length, heads, size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> q = paddle.ones([1, 2, 1, 2])
        >>> memory_efficient_attention(q, q, q).shape
        paddle.Size([1, 2, 1, 2])
    """
    return scaled_dot_product_attention(query, key, value, attn_bias, p, training=training, scale=scale)
