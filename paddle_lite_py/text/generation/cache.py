"""A cache of keys and values of fixed capacity, which a model writes to and attends over."""

from __future__ import annotations

import math
from typing import Any

from ...eager.tensor import Tensor
from ...ops.attention import scaled_dot_product_attention
from ...ops.convert import assign
from ...ops.creation import arange, zeros
from ...ops.decoding import cache_update, cached_attention
from ...ops.gather import take_along_axis
from ...ops.paging import paged_attention, paged_update

__all__ = ["KeyValueCache"]


class KeyValueCache:
    """Keys and values of the tokens so far, for each attention layer of a model.

    Each row of a batch has its own length, so rows may have prompts of different lengths. A model takes part in
    generation if its `forward(ids, cache)` computes logits with this class, and `new_cache(batch, capacity)` returns an
    empty one:

    - `cache.positions(n)` are the positions of n new tokens,
    - `cache.attend(i, query, key, value)` is the attention of layer i: it appends keys and values to the cache, and
      attends causally to all of the row so far,
    - `cache.last(x)` selects the last new token of each row, so that logits of other tokens need not be computed.

    Arguments:
        keys: tensors [batch, key_heads, capacity, head_dim], one for each layer; they are written in place.
        values: the same for values.
        lengths: integer tensor [batch], the number of tokens in the cache.
        added: integer tensor [batch], how many of the new tokens of each row are no padding; padding follows them.
            Default: all of them.
        is_empty: the cache has no tokens yet, so that attention is to the new tokens only. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> cache = KeyValueCache.empty(1, 8, layers=1, heads=2, head_dim=4)
        >>> x = paddle.ones([1, 3, 2, 4])
        >>> cache.attend(0, x, x, x).shape
        paddle.Size([1, 3, 2, 4])
        >>> cache.advance(3)
        >>> cache.positions(2).tolist()
        [[3, 4]]
    """

    def __init__(
        self, keys: list[Tensor], values: list[Tensor], lengths: Tensor, added: Tensor | None = None,
        is_empty: bool = False,
    ) -> None:  # fmt: skip
        self.keys, self.values, self.lengths, self._added, self._is_empty = keys, values, lengths, added, is_empty

    @classmethod
    def empty(
        cls, batch: int, capacity: int, *, layers: int, heads: int, head_dim: int, dtype: Any = "float32"
    ) -> KeyValueCache:
        """Create a cache without tokens.

        Args:
            batch: Number of rows.
            capacity: Number of tokens that each row can have.
            layers: Number of attention layers.
            heads: Number of key heads of each layer.
            head_dim: Size of each head.
            dtype: Of keys and values.

        Returns:
            The cache.

        Example:
            >>> KeyValueCache.empty(2, 16, layers=3, heads=2, head_dim=4).keys[0].shape
            paddle.Size([2, 2, 16, 4])
        """
        shape = [batch, heads, capacity, head_dim]
        keys, values = ([zeros(shape, dtype) for _ in range(layers)] for _ in range(2))
        return cls(keys, values, zeros([batch], "int64"))

    def positions(self, count: int) -> Tensor:
        """Return the positions of count new tokens, [batch, count]."""
        return self.lengths.unsqueeze(1) + arange(count)

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float | None = None) -> Tensor:
        """Append keys and values of new tokens, and attend causally to all tokens of a row.

        Args:
            layer: Number of the attention layer.
            query: [batch, n, heads, head_dim].
            key: [batch, n, key_heads, head_dim]; each key head serves heads / key_heads query heads.
            value: [batch, n, key_heads, head_dim].
            scale: Factor of the scores. Default: `1 / sqrt(head_dim)`.

        Returns:
            A tensor [batch, n, heads, head_dim].
        """
        for cache, new in ((self.keys[layer], key), (self.values[layer], value)):
            assign(self._written(cache, new), cache)
        factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
        if self._is_empty:
            return scaled_dot_product_attention(query, key, value, is_causal=True, scale=factor)
        return self._attended(query, self.keys[layer], self.values[layer], factor)

    def _written(self, cache: Any, new: Any) -> Any:
        return cache_update(cache, new, self.lengths)

    def _attended(self, query: Any, keys: Any, values: Any, scale: float) -> Any:
        return cached_attention(query, keys, values, self.lengths, scale=scale)

    def last(self, x: Tensor) -> Tensor:
        """Return the part [batch, 1, ...] of x [batch, n, ...] that belongs to the last new token of each row."""
        if x.shape[1] == 1 or self._added is None:
            return x[:, -1:]
        index = (self._added - 1).reshape([-1] + [1] * (len(x.shape) - 1))
        return take_along_axis(x, index.expand([x.shape[0], 1, *x.shape[2:]]), 1)

    def advance(self, count: int | Tensor) -> None:
        """Count new tokens as part of the cache: the next ones stand behind them."""
        self.lengths.add_(count if isinstance(count, Tensor) else zeros([], "int64") + count)


class PagedCache(KeyValueCache):
    """A cache whose rows are in blocks of tokens, in any order: rows with equal beginnings can share blocks.

    Arguments:
        keys: tensors [blocks, key_heads, block, head_dim], one for each layer; they are written in place.
        values: the same for values.
        tables: integer tensor [batch, n], the blocks of each row in order; 0 where it has none.
        lengths: as for KeyValueCache.
        added: as for KeyValueCache.

    Source: Kwon et al., Efficient Memory Management for Large Language Model Serving with PagedAttention, 2023.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> pool = KeyValueCache.empty(4, 2, layers=1, heads=2, head_dim=4)
        >>> tables, lengths = paddle.to_tensor([[3, 1]]), paddle.to_tensor([0])
        >>> x = paddle.ones([1, 3, 2, 4])
        >>> PagedCache(pool.keys, pool.values, tables, lengths).attend(0, x, x, x).shape
        paddle.Size([1, 3, 2, 4])
        >>> pool.keys[0][:, 0, :, 0].tolist()
        [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
    """

    def __init__(
        self, keys: list[Tensor], values: list[Tensor], tables: Tensor, lengths: Tensor, added: Tensor | None = None
    ) -> None:
        super().__init__(keys, values, lengths, added)
        self._tables = tables

    def _written(self, cache: Any, new: Any) -> Any:
        return paged_update(cache, new, self._tables, self.lengths)

    def _attended(self, query: Any, keys: Any, values: Any, scale: float) -> Any:
        return paged_attention(query, keys, values, self._tables, self.lengths, scale=scale)
