"""Attention and transformers."""

from __future__ import annotations

import copy
from collections import namedtuple
from typing import Any

import numpy as np

from ..ops.creation import zeros
from ..ops.joining import concat
from ..ops.linalg import matmul
from ..arrays import as_array
from ..tensor import Tensor, wrap
from . import functional as F
from .common import Dropout, Linear
from .container import LayerList
from .layer import Layer
from .norm import LayerNorm

__all__ = [
    *("MultiHeadAttention", "Transformer", "TransformerDecoder", "TransformerDecoderLayer"),
    *("TransformerEncoder", "TransformerEncoderLayer"),
]


def additive(mask: Any, dtype: Any) -> Any:
    """An attention mask to add to scores: True and 1 may be attended to, a float mask is taken as it is."""
    if mask is None:
        return None
    if mask.dtype == "bool" or mask.dtype.is_integer:
        return (mask.astype(dtype) - 1.0) * 1e9
    return mask.astype(dtype)


def _attrs(attr: Any, n: int) -> list[Any]:
    """One ParamAttr for each of n parts; two stand for attention and feed-forward."""
    if isinstance(attr, list | tuple):
        if len(attr) == n:
            return list(attr)
        if len(attr) == 2 and n == 3:
            return [attr[0], attr[0], attr[1]]
        if len(attr) == 1:
            return list(attr) * n
        raise ValueError(f"a list of {len(attr)} attributes is given; expected {n}")
    return [attr] if n == 1 else [copy.deepcopy(attr) for _ in range(n)]


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
        [1, 5, 8]
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

    def _key_value(self, key: Tensor, value: Tensor, cache: Any) -> tuple[Tensor, Tensor]:
        if isinstance(cache, self.StaticCache):
            return cache.k, cache.v
        k, v = self.compute_kv(key, value)
        if isinstance(cache, self.Cache) and cache.k.shape[2]:
            k, v = concat([cache.k, k], axis=2), concat([cache.v, v], axis=2)
        return k, v

    def forward(self, query: Tensor, key: Any = None, value: Any = None, attn_mask: Any = None, cache: Any = None) -> Any:
        """What each query attends to.

        Arguments:
            query, key, value: [batch, length, size]; key is the query by default, and value the key.
            attn_mask: broadcasts to [batch, heads, queries, keys]: False and 0 are not attended to, floats are added.
            cache: of gen_cache().

        Returns:
            The outputs; with them the weights if need_weights, and the new cache if there is one.
        """
        key = query if key is None else key
        value = key if value is None else value
        q = self._heads(self.q_proj(query))
        weights = None
        if cache is None and not self.need_weights:
            k, v = self._heads(self.k_proj(key)), self._heads(self.v_proj(value))
            mask = additive(attn_mask, q.dtype)
            out = F.scaled_dot_product_attention(q, k, v, mask, self.dropout, False, self.training)
        else:
            k, v = self._key_value(key, value, cache)
            out, weights = self._attend(q, k, v, attn_mask)
        out = self.out_proj(out.reshape([out.shape[0], out.shape[1], self.embed_dim]))
        extra = [weights] if self.need_weights else []
        extra += [cache if isinstance(cache, self.StaticCache) else self.Cache(k, v)] if cache is not None else []
        return (out, *extra) if extra else out

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Any) -> tuple[Tensor, Tensor]:
        scores = matmul(q.transpose([0, 2, 1, 3]) * self.head_dim**-0.5, k, transpose_y=True)
        if mask is not None:
            scores = scores + additive(mask, scores.dtype)
        weights = F.softmax(scores)
        if self.dropout:
            weights = F.dropout(weights, self.dropout, training=self.training)
        return matmul(weights, v).transpose([0, 2, 1, 3]), weights


class _TransformerLayer(Layer):
    """What encoder and decoder layers share: the feed-forward part and the residual steps around each part."""

    def _feed_forward(self, d_model: int, hidden: int, activation: str, act_dropout: float, attrs: tuple[Any, Any]) -> None:
        self.linear1 = Linear(d_model, hidden, *attrs)
        self.dropout = Dropout(act_dropout)
        self.linear2 = Linear(hidden, d_model, *attrs)
        if not hasattr(F, activation):
            raise ValueError(f"{type(self).__name__}: activation is {activation!r}; expected the name of a function such as 'relu'")
        self._activation = activation

    def _fed(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(getattr(F, self._activation)(self.linear1(x))))


class TransformerEncoderLayer(_TransformerLayer):
    """Self-attention and a feed-forward network, each with a residual connection and a LayerNorm (Vaswani et al., 2017).

    Arguments:
        d_model: size of inputs and outputs.
        nhead: heads of the attention.
        dim_feedforward: inner size of the feed-forward network.
        dropout: probability after each part; attn_dropout and act_dropout: of attention weights and activations.
        activation: name of the function in the feed-forward network.
        normalize_before: normalize the input of each part instead of its output.
        weight_attr, bias_attr: ParamAttr of all linear layers, or a pair for attention and feed-forward.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.TransformerEncoderLayer(8, 2, 16)(paddle.ones([1, 5, 8])).shape
        [1, 5, 8]
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        self._config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        super().__init__()
        self.normalize_before = normalize_before
        (wa, wf), (ba, bf) = _attrs(weight_attr, 2), _attrs(bias_attr, 2)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        self.self_attn = MultiHeadAttention(d_model, nhead, attn_dropout, weight_attr=wa, bias_attr=ba)
        self._feed_forward(d_model, dim_feedforward, activation, dropout if act_dropout is None else act_dropout, (wf, bf))
        self.norm1, self.norm2 = LayerNorm(d_model, layer_norm_eps), LayerNorm(d_model, layer_norm_eps)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)

    def forward(self, src: Tensor, src_mask: Any = None, cache: Any = None) -> Any:
        """The encoding of src; with a cache, and the new cache."""
        residual = src
        if self.normalize_before:
            src = self.norm1(src)
        if cache is None:
            src = self.self_attn(src, src, src, src_mask)
        else:
            src, cache = self.self_attn(src, src, src, src_mask, cache)
        src = residual + self.dropout1(src)
        src = src if self.normalize_before else self.norm1(src)
        fed = self._fed(self.norm2(src) if self.normalize_before else src)
        src = src + self.dropout2(fed)
        src = src if self.normalize_before else self.norm2(src)
        return src if cache is None else (src, cache)

    def gen_cache(self, src: Tensor) -> Any:
        """An empty cache."""
        return self.self_attn.gen_cache(src, type=MultiHeadAttention.Cache)


class TransformerDecoderLayer(_TransformerLayer):
    """Self-attention, attention to the encoder's outputs, and a feed-forward network (Vaswani et al., 2017).

    Arguments: as of TransformerEncoderLayer; a list of ParamAttrs has three, for both attentions and feed-forward.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        self._config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        super().__init__()
        self.normalize_before = normalize_before
        (ws, wc, wf), (bs, bc, bf) = _attrs(weight_attr, 3), _attrs(bias_attr, 3)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        self.self_attn = MultiHeadAttention(d_model, nhead, attn_dropout, weight_attr=ws, bias_attr=bs)
        self.cross_attn = MultiHeadAttention(d_model, nhead, attn_dropout, weight_attr=wc, bias_attr=bc)
        self._feed_forward(d_model, dim_feedforward, activation, dropout if act_dropout is None else act_dropout, (wf, bf))
        self.norm1, self.norm2, self.norm3 = [LayerNorm(d_model, layer_norm_eps) for _ in range(3)]
        self.dropout1, self.dropout2, self.dropout3 = [Dropout(dropout) for _ in range(3)]

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None) -> Any:
        """The decoding of tgt, given the encoder's outputs; with a cache, and the new cache."""
        before = self.normalize_before
        attended = self.norm1(tgt) if before else tgt
        own, crossed = (None, None) if cache is None else cache
        attended = self.self_attn(attended, attended, attended, tgt_mask, own)
        attended, own = attended if cache is not None else (attended, None)
        tgt = tgt + self.dropout1(attended)
        tgt = tgt if before else self.norm1(tgt)
        attended = self.cross_attn(self.norm2(tgt) if before else tgt, memory, memory, memory_mask, crossed)
        attended, crossed = attended if cache is not None else (attended, None)
        tgt = tgt + self.dropout2(attended)
        tgt = tgt if before else self.norm2(tgt)
        tgt = tgt + self.dropout3(self._fed(self.norm3(tgt) if before else tgt))
        tgt = tgt if before else self.norm3(tgt)
        return tgt if cache is None else (tgt, (own, crossed))

    def gen_cache(self, memory: Tensor) -> Any:
        """An empty cache for the self-attention, and that of the encoder's outputs."""
        own = self.self_attn.gen_cache(memory, type=MultiHeadAttention.Cache)
        return own, self.cross_attn.gen_cache(memory, memory, type=MultiHeadAttention.StaticCache)


def _copies(layer: Any, n: int) -> LayerList:
    """The layer, and more like it with parameters of their own."""
    return LayerList([layer if i == 0 else type(layer)(**layer._config) for i in range(n)])


class TransformerEncoder(Layer):
    """A stack of encoder layers.

    Arguments:
        encoder_layer: the first layer; the others are made like it.
        num_layers: how many.
        norm: a layer for the outputs.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> encoder = paddle.nn.TransformerEncoder(paddle.nn.TransformerEncoderLayer(8, 2, 16), 2)
        >>> encoder(paddle.ones([1, 5, 8])).shape
        [1, 5, 8]
    """

    def __init__(self, encoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src: Tensor, src_mask: Any = None, cache: Any = None) -> Any:
        """The encoding of src; with a list of caches, and the new list."""
        mask = additive(src_mask, src.dtype)
        new = []
        for i, layer in enumerate(self.layers):
            if cache is None:
                src = layer(src, src_mask=mask)
            else:
                src, found = layer(src, src_mask=mask, cache=cache[i])
                new.append(found)
        if self.norm is not None:
            src = self.norm(src)
        return src if cache is None else (src, new)

    def gen_cache(self, src: Tensor) -> list[Any]:
        """An empty cache for each layer."""
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoder(Layer):
    """A stack of decoder layers; see TransformerEncoder."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None) -> Any:
        """The decoding of tgt, given the encoder's outputs; with a list of caches, and the new list."""
        masks = additive(tgt_mask, tgt.dtype), additive(memory_mask, memory.dtype)
        new = []
        for i, layer in enumerate(self.layers):
            if cache is None:
                tgt = layer(tgt, memory, *masks)
            else:
                tgt, found = layer(tgt, memory, *masks, cache=cache[i])
                new.append(found)
        if self.norm is not None:
            tgt = self.norm(tgt)
        return tgt if cache is None else (tgt, new)

    def gen_cache(self, memory: Tensor, do_zip: bool = False) -> list[Any]:
        """A cache for each layer; do_zip: one list of the caches of each kind."""
        caches = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*caches, strict=True)) if do_zip else caches


class Transformer(Layer):
    """Encoder and decoder (Vaswani et al., 2017).

    Arguments: as of TransformerEncoderLayer, and
        num_encoder_layers, num_decoder_layers: sizes of the stacks.
        custom_encoder, custom_decoder: layers to take in their places.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
    ) -> None:
        super().__init__()
        shape = (d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout, normalize_before)
        self.d_model, self.nhead = d_model, nhead
        self.encoder, self.decoder = custom_encoder, custom_decoder
        if custom_encoder is None:
            pair = [a[:1] + a[2:] if isinstance(a, list) and len(a) == 3 else a for a in (weight_attr, bias_attr)]
            first: Any = TransformerEncoderLayer(*shape, *pair)
            self.encoder = TransformerEncoder(first, num_encoder_layers, LayerNorm(d_model))
        if custom_decoder is None:
            first = TransformerDecoderLayer(*shape, weight_attr, bias_attr)
            self.decoder = TransformerDecoder(first, num_decoder_layers, LayerNorm(d_model))

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None) -> Any:
        """The decoding of tgt, given src."""
        memory = self.encoder(src, src_mask=src_mask)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask)

    def generate_square_subsequent_mask(self, length: int) -> Tensor:
        """A mask under which each position attends to itself and those before it."""
        return wrap(as_array(np.triu(np.full((length, length), -np.inf, np.float32), 1)))
