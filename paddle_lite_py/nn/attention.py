"""Attention in several heads."""

from __future__ import annotations

import enum
from collections import namedtuple
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.no_effect import KERNELS, no_effect
from ..eager.tensor import Tensor
from ..ops.creation import zeros
from ..ops.joining import concat
from ..ops.linalg import matmul
from . import functional as F
from .base import Layer
from .common import Linear

__all__ = ["MultiHeadAttention"]


def additive(mask: Any, dtype: Any) -> Any:
    """An attention mask to add to scores: True and 1 may be attended to, a float mask is taken as it is."""
    if mask is None:
        return None
    if mask.dtype == "bool" or mask.dtype.is_integer:
        return (mask.astype(dtype) - 1.0) * 1e9
    return mask.astype(dtype)


class MultiHeadAttention(Layer):
    """Attention in several heads (Vaswani et al., 2017).

    Arguments:
        embed_dim: size of queries and outputs.
        num_heads: heads, between which embed_dim is divided.
        dropout: probability for the attention weights.
        kdim, vdim: sizes of keys and values; embed_dim by default.
        need_weights: return the attention weights too.
        weight_attr, bias_attr: ParamAttr of the four projections.

    Raises:
        ValueError: if embed_dim does not divide into the heads.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> attention = paddle.nn.MultiHeadAttention(8, 2)
        >>> attention(paddle.ones([1, 5, 8])).shape
        paddle.Size([1, 5, 8])
    """

    Cache = namedtuple("Cache", ["k", "v"])
    StaticCache = namedtuple("StaticCache", ["k", "v"])

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueError(f"MultiHeadAttention: embed_dim {embed_dim} does not divide into {num_heads} heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.dropout, self.need_weights = dropout, need_weights
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def _heads(self, x: Tensor) -> Tensor:
        return x.reshape([x.shape[0], x.shape[1], self.num_heads, self.head_dim])

    def compute_kv(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of all heads, [batch, heads, length, head size]."""
        k, v = self._heads(self.k_proj(key)), self._heads(self.v_proj(value))
        return k.transpose([0, 2, 1, 3]), v.transpose([0, 2, 1, 3])

    def gen_cache(self, key: Tensor, value: Any = None, type: Any = None) -> Any:
        """A cache for decoding step by step.

        Arguments:
            key, value: for a StaticCache what is attended to; for a Cache a tensor with the batch in front, or the
                first keys and values.
            type: MultiHeadAttention.Cache (the default) or StaticCache.
        """
        if type is MultiHeadAttention.StaticCache:
            return self.StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is None:
            empty = zeros([key.shape[0], self.num_heads, 0, self.head_dim], key.dtype)
            return self.Cache(empty, empty)
        return self.Cache(key, value)

    def _prepare_qkv(self, query: Tensor, key: Tensor, value: Tensor, cache: Any = None) -> tuple[Any, ...]:
        """Queries, keys and values of all heads, and the cache if there is one; models override it."""
        q = self._heads(self.q_proj(query)).transpose([0, 2, 1, 3])
        k, v = (cache.k, cache.v) if isinstance(cache, self.StaticCache) else self.compute_kv(key, value)
        if isinstance(cache, self.Cache):
            k, v = (concat([cache.k, k], axis=2), concat([cache.v, v], axis=2)) if cache.k.shape[2] else (k, v)
            cache = self.Cache(k, v)
        return (q, k, v) if cache is None else (q, k, v, cache)

    def _overridden(self) -> bool:
        own = MultiHeadAttention._prepare_qkv, MultiHeadAttention.compute_kv
        return (getattr(self._prepare_qkv, "__func__", None), getattr(self.compute_kv, "__func__", None)) != own

    def forward(
        self, query: Tensor, key: Any = None, value: Any = None, attn_mask: Any = None, cache: Any = None
    ) -> Any:
        """What each query attends to.

        Arguments:
            query, key, value: [batch, length, size]; key and value are the query by default.
            attn_mask: broadcasts to [batch, heads, queries, keys]: False and 0 are not attended to, floats are added.
            cache: of gen_cache().

        Returns:
            The outputs; with them the weights if need_weights, and the new cache if there is one.
        """
        key = query if key is None else key
        value = query if value is None else value
        if cache is None and not self.need_weights and not self._overridden():
            q, k, v = self._heads(self.q_proj(query)), self._heads(self.k_proj(key)), self._heads(self.v_proj(value))
            mask = additive(attn_mask, q.dtype)
            out = F.scaled_dot_product_attention(q, k, v, mask, self.dropout, False, self.training)
            return self.out_proj(out.reshape([out.shape[0], out.shape[1], self.embed_dim]))
        q, k, v, *kept = self._prepare_qkv(query, key, value, cache)
        out, weights = self._attend(q, k, v, attn_mask)
        out = self.out_proj(out.reshape([out.shape[0], out.shape[1], self.embed_dim]))
        extra = [weights, *kept] if self.need_weights else kept
        return (out, *extra) if extra else out

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Any) -> tuple[Tensor, Tensor]:
        scores = matmul(q * self.head_dim**-0.5, k, transpose_y=True)
        if mask is not None:
            scores = scores + additive(mask, scores.dtype)
        weights = F.softmax(scores)
        if self.dropout:
            weights = F.dropout(weights, self.dropout, training=self.training)
        return matmul(weights, v).transpose([0, 2, 1, 3]), weights


class SDPBackend(enum.IntEnum):
    """The kernels of attention that PaddlePaddle knows, for sdpa_kernel().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.attention.SDPBackend.MATH.value
        0
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2


@contextmanager
@no_effect(backends=KERNELS, set_priority=KERNELS)
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Nothing, of which it warns: XLA chooses the kernels of attention.

    Arguments:
        backends: a SDPBackend, or a list of them.

    Raises:
        ValueError: if there are others.

    Examples:
        >>> import warnings
        >>> import paddle_lite_py as paddle
        >>> q = paddle.ones([1, 2, 1, 4])
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     with paddle.nn.attention.sdpa_kernel(paddle.nn.attention.SDPBackend.MATH):
        ...         paddle.nn.functional.scaled_dot_product_attention(q, q, q).shape
        paddle.Size([1, 2, 1, 4])
    """
    given = list(backends) if isinstance(backends, list | tuple) else [backends]
    if not given or not all(isinstance(b, SDPBackend) for b in given):
        raise ValueError(f"sdpa_kernel: backends is {backends!r}; expected a SDPBackend or a list of them")
    _asked.append(given)
    try:
        yield
    finally:
        _asked.pop()


_asked = [[SDPBackend.MATH]]


@no_effect(with_priority=KERNELS)
def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """What the innermost sdpa_kernel() asks for."""
    return list(_asked[-1])
