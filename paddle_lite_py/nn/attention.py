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
    """Convert an attention mask to a float mask that is added to the scores.

    Booleans and integers mark with True or 1 the positions that may be attended to; a float mask is returned as it is.
    """
    if mask is None:
        return None
    if mask.dtype == "bool" or mask.dtype.is_integer:
        return (mask.astype(dtype) - 1.0) * 1e9
    return mask.astype(dtype)


class MultiHeadAttention(Layer):
    """Multi-head attention: `concat(head_1, ..., head_h) @ W_out` (Vaswani et al., 2017).

    Each head computes `softmax(q @ k.T / sqrt(head_dim)) @ v` on projections of query, key and value.

    Arguments:
        embed_dim: size of queries and outputs.
        num_heads: number of heads; embed_dim must be a multiple of it.
        dropout: dropout probability of the attention weights. Default: 0.0.
        kdim: size of the keys; None: embed_dim.
        vdim: size of the values; None: embed_dim.
        need_weights: also return the attention weights. Default: False.
        weight_attr: ParamAttr, initializer or name of the weights of the four projections; None: the default
            initializer.
        bias_attr: ParamAttr, initializer or name of their biases; None: zeros; False: no biases.

    Shape:
        query: [batch, target length, embed_dim]; key: [batch, source length, kdim]; value: [batch, source length,
            vdim].
        Output: [batch, target length, embed_dim].

    Raises:
        ValueError: if embed_dim is not a multiple of num_heads.

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
        """Project keys and values and split them into heads.

        Returns:
            Two tensors [batch, num_heads, source length, head_dim].
        """
        k, v = self._heads(self.k_proj(key)), self._heads(self.v_proj(value))
        return k.transpose([0, 2, 1, 3]), v.transpose([0, 2, 1, 3])

    def gen_cache(self, key: Tensor, value: Any = None, type: Any = None) -> Any:
        """Create a cache for step-by-step decoding.

        Arguments:
            key: for a StaticCache the keys attended to; for a Cache a tensor whose first dimension is the batch, or the
                first keys.
            value: for a StaticCache the values attended to; for a Cache the first values.
            type: MultiHeadAttention.Cache, which grows by each step (the default), or MultiHeadAttention.StaticCache,
                which stays.

        Returns:
            A Cache or StaticCache: a named tuple of keys and values [batch, num_heads, length, head_dim].
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
        """Compute the attention of each query to the keys.

        Arguments:
            query: [batch, target length, embed_dim].
            key: [batch, source length, kdim]; None: the query (self-attention).
            value: [batch, source length, vdim]; None: the key.
            attn_mask: broadcasts to [batch, num_heads, target length, source length]. Positions with False or 0 are not
                attended to; a float mask is added to the scores.
            cache: a cache that gen_cache() created.

        Returns:
            The output [batch, target length, embed_dim]; with need_weights also the attention weights [batch,
                num_heads, target length, source length]; with a Cache also the new cache.
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
    """The names of PaddlePaddle's attention kernels, for sdpa_kernel().

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
    """Select attention kernels for a block; without effect, since XLA selects the kernels.

    Arguments:
        backends: an SDPBackend, or a list of them.
        set_priority: treat the order of the list as a priority; without effect. Default: False.

    Returns:
        A context manager.

    Raises:
        ValueError: if `backends` contains anything else.

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
    """Return the backends of the innermost sdpa_kernel()."""
    return list(_asked[-1])
