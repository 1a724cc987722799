"""Multi-head attention with torch's parameters and results."""

from __future__ import annotations

import math
from typing import Any

from ...nn import Layer
from ...nn import functional as F
from ...nn.initializer import XavierNormal, XavierUniform
from ...ops.creation import zeros
from ...ops.joining import concat
from ...ops.linalg import matmul
from ...ops.search import where
from ...ops.splitting import chunk
from . import functional
from .layers import Linear

_NEVER = -math.inf


class MultiheadAttention(Layer):
    """Attention in several heads (Vaswani et al., 2017), of [length, batch, size].

    Arguments:
        embed_dim, num_heads: the size of queries, and the heads between which it is divided.
        dropout: probability for the attention weights, while training.
        bias: projections have biases.
        add_bias_kv: one more key and value, which are parameters.
        add_zero_attn: one more key and value, of zeros.
        kdim, vdim: sizes of keys and values; embed_dim by default.
        batch_first: of [batch, length, size].

    Raises:
        ValueError: embed_dim does not divide into the heads.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.ones([5, 2, 8])
        >>> out, weights = paddle.compat.nn.MultiheadAttention(8, 2)(x, x, x)
        >>> out.shape, weights.shape
        (paddle.Size([5, 2, 8]), paddle.Size([2, 5, 5]))
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueError(f"MultiheadAttention: embed_dim {embed_dim} does not divide into {num_heads} heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        sizes = {"q": embed_dim, "k": self.kdim, "v": self.vdim}
        if len(set(sizes.values())) == 1:
            self.in_proj_weight = self._weight([3 * embed_dim, embed_dim])
        else:
            for name, size in sizes.items():
                setattr(self, f"{name}_proj_weight", self._weight([embed_dim, size]))
        self.in_proj_bias = self.create_parameter([3 * embed_dim], is_bias=True) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        if bias:
            self.out_proj.bias = self.create_parameter([embed_dim], is_bias=True)
        shape, start = [1, 1, embed_dim], XavierNormal()
        self.bias_k = self.create_parameter(shape, default_initializer=start) if add_bias_kv else None
        self.bias_v = self.create_parameter(shape, default_initializer=start) if add_bias_kv else None
        if device is not None or dtype is not None:
            self.to(device, dtype)

    def _weight(self, shape: list[int]) -> Any:
        return self.create_parameter(shape, default_initializer=XavierUniform(fan_in=shape[1], fan_out=shape[0]))

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
        attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Attend, and return the outputs, and the weights [batch, length, keys] or None.

        Arguments:
            query, key, value: [length, batch, size], or without the batch.
            key_padding_mask: [batch, keys]: True where a key does not count; a float mask is added.
            attn_mask: [length, keys] or [batch * heads, length, keys], likewise.
            average_attn_weights: False: the weights of each head.
            is_causal: says that attn_mask is causal; without a mask, that the one is meant.
        """
        alone = query.ndim == 2
        parts = [
            x.unsqueeze(0) if alone else x if self.batch_first else x.transpose([1, 0, 2]) for x in (query, key, value)
        ]
        q, k, v = self._projected(*parts)
        length, seen = q.shape[1], k.shape[1]
        q, k, v = (self._heads(x) for x in self._extended(q, k, v))
        if attn_mask is None and is_causal:
            attn_mask = zeros([length, seen], "bool").logical_not().triu(1)
        scores = matmul(q * self.head_dim**-0.5, k, transpose_y=True)
        for mask in (self._of_heads(attn_mask), _of_keys(key_padding_mask, alone)):
            scores = scores if mask is None else _apply_mask(scores, mask)
        weights = F.softmax(scores)
        kept = F.dropout(weights, self.dropout, training=self.training) if self.dropout else weights
        out = matmul(kept, v).transpose([0, 2, 1, 3]).reshape([q.shape[0], length, self.embed_dim])
        out = self.out_proj(out)
        out = out.squeeze(0) if alone else out if self.batch_first else out.transpose([1, 0, 2])
        if not need_weights:
            return out, None
        shown = weights.mean(1) if average_attn_weights else weights
        return out, shown.squeeze(0) if alone else shown

    def _projected(self, *parts: Any) -> list[Any]:
        whole = getattr(self, "in_proj_weight", None)
        weights = chunk(whole, 3) if whole is not None else [getattr(self, f"{n}_proj_weight") for n in "qkv"]
        biases = [None] * 3 if self.in_proj_bias is None else chunk(self.in_proj_bias, 3)
        return [functional.linear(x, w, b) for x, w, b in zip(parts, weights, biases, strict=True)]

    def _extended(self, q: Any, k: Any, v: Any) -> tuple[Any, Any, Any]:
        """Queries, and keys and values with those that are added."""
        more: list[tuple[Any, Any]] = [] if self.bias_k is None else [(self.bias_k, self.bias_v)]
        if self.add_zero_attn:
            more.append((zeros([1, 1, self.embed_dim], k.dtype),) * 2)
        for key, value in more:
            shape = [k.shape[0], 1, self.embed_dim]
            k, v = concat([k, key.expand(shape)], axis=1), concat([v, value.expand(shape)], axis=1)
        return q, k, v

    def _heads(self, x: Any) -> Any:
        return x.reshape([x.shape[0], x.shape[1], self.num_heads, self.head_dim]).transpose([0, 2, 1, 3])

    def _of_heads(self, mask: Any) -> Any:
        if mask is None or mask.ndim == 2:
            return mask
        return mask.reshape([-1, self.num_heads, *mask.shape[1:]])


def _of_keys(mask: Any, alone: bool) -> Any:
    return None if mask is None else (mask.unsqueeze(0) if alone else mask).unsqueeze(1).unsqueeze(1)


def _apply_mask(scores: Any, mask: Any) -> Any:
    """Scores, less where a mask is True, or with a float one added; keys beyond the mask count."""
    more = scores.shape[-1] - mask.shape[-1]
    if more:
        mask = concat([mask, zeros([*mask.shape[:-1], more], mask.dtype)], axis=-1)
    return where(mask, zeros([], scores.dtype) + _NEVER, scores) if mask.dtype == "bool" else scores + mask
