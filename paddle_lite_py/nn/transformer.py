"""Transformers."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..core.arrays import as_array
from ..eager.tensor import Tensor, wrap
from . import functional as F
from .attention import MultiHeadAttention, additive
from .base import Layer
from .common import Dropout, Linear
from .container import LayerList
from .norm import LayerNorm

__all__ = [
    *("Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"),
]


def attrs_of_parts(attr: Any, n: int) -> list[Any]:
    """Return one ParamAttr for each of n parts; a pair stands for attention and feed-forward."""
    if isinstance(attr, list | tuple):
        if len(attr) == n:
            return list(attr)
        if len(attr) == 2 and n == 3:
            return [attr[0], attr[0], attr[1]]
        if len(attr) == 1:
            return list(attr) * n
        raise ValueError(f"a list of {len(attr)} attributes is given; expected {n}")
    return [attr] if n == 1 else [copy.deepcopy(attr) for _ in range(n)]


class _TransformerLayer(Layer):
    """The base of encoder and decoder layers: the feed-forward block and the residual connections."""

    def _feed_forward(
        self, d_model: int, hidden: int, activation: str, act_dropout: float, attrs: tuple[Any, Any]
    ) -> None:
        self.linear1 = Linear(d_model, hidden, *attrs)
        self.dropout = Dropout(act_dropout)
        self.linear2 = Linear(hidden, d_model, *attrs)
        if not hasattr(F, activation):
            raise ValueError(
                f"{type(self).__name__}: activation is {activation!r}; expected the name of a function such as 'relu'"
            )
        self.activation = getattr(F, activation)

    def _fed(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_TransformerLayer):
    """Transformer encoder layer: self-attention and a feed-forward network, each with residual and LayerNorm.

    The layer of Vaswani et al., 2017. With normalize_before=False each part computes `LayerNorm(x + part(x))`, with
    True `x + part(LayerNorm(x))`.

    Arguments:
        d_model: size of inputs and outputs.
        nhead: number of attention heads.
        dim_feedforward: hidden size of the feed-forward network.
        dropout: dropout probability after each part. Default: 0.1.
        activation: name of the activation of the feed-forward network, such as "relu" or "gelu". Default: 'relu'.
        attn_dropout: dropout probability of the attention weights; None: dropout.
        act_dropout: dropout probability after the activation; None: dropout.
        normalize_before: normalize the input of each part (pre-norm) instead of its output (post-norm). Default: False.
        weight_attr: ParamAttr of the weights of all linear layers, or a pair for attention and feed-forward.
        bias_attr: ParamAttr of their biases, or a pair; False: no biases.
        layer_norm_eps: epsilon of the LayerNorms. Default: 1e-05.

    Shape:
        src: [batch, length, d_model].
        Output: [batch, length, d_model].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.TransformerEncoderLayer(8, 2, 16)(paddle.ones([1, 5, 8])).shape
        paddle.Size([1, 5, 8])
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
        (wa, wf), (ba, bf) = attrs_of_parts(weight_attr, 2), attrs_of_parts(bias_attr, 2)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        self.self_attn = MultiHeadAttention(d_model, nhead, attn_dropout, weight_attr=wa, bias_attr=ba)
        self._feed_forward(
            d_model, dim_feedforward, activation, dropout if act_dropout is None else act_dropout, (wf, bf)
        )
        self.norm1, self.norm2 = LayerNorm(d_model, layer_norm_eps), LayerNorm(d_model, layer_norm_eps)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)

    def forward(self, src: Tensor, src_mask: Any = None, cache: Any = None) -> Any:
        """Encode src.

        Arguments:
            src: [batch, length, d_model].
            src_mask: attention mask that broadcasts to [batch, nhead, length, length]; see MultiHeadAttention.
            cache: a cache that gen_cache() created.

        Returns:
            The encoding [batch, length, d_model]; with a cache also the new cache.
        """
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
        """Create an empty cache for the batch size of src."""
        return self.self_attn.gen_cache(src, type=MultiHeadAttention.Cache)


class TransformerDecoderLayer(_TransformerLayer):
    """Transformer decoder layer: self-attention, cross-attention to the encoder's output, and a feed-forward network.

    The layer of Vaswani et al., 2017. Each part has a residual connection and a LayerNorm.

    Arguments:
        d_model: size of inputs and outputs.
        nhead: number of attention heads.
        dim_feedforward: hidden size of the feed-forward network.
        dropout: dropout probability after each part. Default: 0.1.
        activation: name of the activation of the feed-forward network, such as "relu" or "gelu". Default: 'relu'.
        attn_dropout: dropout probability of the attention weights; None: dropout.
        act_dropout: dropout probability after the activation; None: dropout.
        normalize_before: normalize the input of each part (pre-norm) instead of its output (post-norm). Default: False.
        weight_attr: ParamAttr of the weights of all linear layers, or a list of three for self-attention,
            cross-attention and feed-forward.
        bias_attr: ParamAttr of their biases, or a list of three; False: no biases.
        layer_norm_eps: epsilon of the LayerNorms. Default: 1e-05.

    Shape:
        tgt: [batch, target length, d_model]; memory: [batch, source length, d_model].
        Output: [batch, target length, d_model].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.TransformerDecoderLayer(4, 2, 8)(paddle.ones([1, 3, 4]), paddle.ones([1, 5, 4])).shape
        paddle.Size([1, 3, 4])
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
        (ws, wc, wf), (bs, bc, bf) = attrs_of_parts(weight_attr, 3), attrs_of_parts(bias_attr, 3)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        self.self_attn = MultiHeadAttention(d_model, nhead, attn_dropout, weight_attr=ws, bias_attr=bs)
        self.cross_attn = MultiHeadAttention(d_model, nhead, attn_dropout, weight_attr=wc, bias_attr=bc)
        self._feed_forward(
            d_model, dim_feedforward, activation, dropout if act_dropout is None else act_dropout, (wf, bf)
        )
        self.norm1, self.norm2, self.norm3 = [LayerNorm(d_model, layer_norm_eps) for _ in range(3)]
        self.dropout1, self.dropout2, self.dropout3 = [Dropout(dropout) for _ in range(3)]

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None
    ) -> Any:
        """Decode tgt, given the output of the encoder.

        Arguments:
            tgt: [batch, target length, d_model].
            memory: output of the encoder [batch, source length, d_model].
            tgt_mask: mask of the self-attention; see MultiHeadAttention.
            memory_mask: mask of the cross-attention.
            cache: a cache that gen_cache() created.

        Returns:
            The decoding [batch, target length, d_model]; with a cache also the new cache.
        """
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
        """Create an empty cache for the self-attention and a static one for the encoder's output."""
        own = self.self_attn.gen_cache(memory, type=MultiHeadAttention.Cache)
        return own, self.cross_attn.gen_cache(memory, memory, type=MultiHeadAttention.StaticCache)


def _copies(layer: Any, n: int) -> LayerList:
    """Return the layer, and more like it with parameters of their own."""
    return LayerList([layer if i == 0 else type(layer)(**layer._config) for i in range(n)])


class TransformerEncoder(Layer):
    """Stack of encoder layers.

    Arguments:
        encoder_layer: the first layer; the others have the same settings and parameters of their own.
        num_layers: number of layers.
        norm: layer that is applied to the output of the last layer; None: none.

    Shape:
        src: [batch, length, d_model].
        Output: [batch, length, d_model].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> encoder = paddle.nn.TransformerEncoder(paddle.nn.TransformerEncoderLayer(8, 2, 16), 2)
        >>> encoder(paddle.ones([1, 5, 8])).shape
        paddle.Size([1, 5, 8])
    """

    def __init__(self, encoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src: Tensor, src_mask: Any = None, cache: Any = None) -> Any:
        """Encode src with all layers.

        Arguments:
            src: [batch, length, d_model].
            src_mask: attention mask of all layers; see MultiHeadAttention.
            cache: list of caches that gen_cache() created.

        Returns:
            The encoding [batch, length, d_model]; with caches also the list of new caches.
        """
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
        """Create an empty cache for each layer."""
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoder(Layer):
    """Stack of decoder layers.

    Arguments:
        decoder_layer: the first layer; the others have the same settings and parameters of their own.
        num_layers: number of layers.
        norm: layer that is applied to the output of the last layer; None: none.

    Shape:
        tgt: [batch, target length, d_model]; memory: [batch, source length, d_model].
        Output: [batch, target length, d_model].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.nn.TransformerDecoderLayer(4, 2, 8)
        >>> paddle.nn.TransformerDecoder(layer, 1)(paddle.ones([1, 2, 4]), paddle.ones([1, 3, 4])).shape
        paddle.Size([1, 2, 4])
    """

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None
    ) -> Any:
        """Decode tgt with all layers, given the output of the encoder.

        Arguments:
            tgt: [batch, target length, d_model].
            memory: output of the encoder [batch, source length, d_model].
            tgt_mask: mask of the self-attention; see MultiHeadAttention.
            memory_mask: mask of the cross-attention.
            cache: list of caches that gen_cache() created.

        Returns:
            The decoding [batch, target length, d_model]; with caches also the list of new caches.
        """
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
        """Create the caches of all layers.

        Arguments:
            memory: output of the encoder.
            do_zip: return one list for each kind of cache instead of one entry for each layer. Default: False.
        """
        caches = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*caches, strict=True)) if do_zip else caches


class Transformer(Layer):
    """Encoder-decoder Transformer (Vaswani et al., 2017).

    Arguments:
        d_model: size of inputs and outputs. Default: 512.
        nhead: number of attention heads. Default: 8.
        num_encoder_layers: number of encoder layers. Default: 6.
        num_decoder_layers: number of decoder layers. Default: 6.
        dim_feedforward: hidden size of the feed-forward networks. Default: 2048.
        dropout: dropout probability after each part of a layer. Default: 0.1.
        activation: name of the activation of the feed-forward networks. Default: 'relu'.
        attn_dropout: dropout probability of the attention weights; None: dropout.
        act_dropout: dropout probability after the activation; None: dropout.
        normalize_before: normalize the input of each part (pre-norm) instead of its output (post-norm). Default: False.
        weight_attr: ParamAttr of the weights of all linear layers, or a list of two (attention, feed-forward) or three
            (with cross-attention in the middle).
        bias_attr: ParamAttr of their biases, or a list like weight_attr; False: no biases.
        custom_encoder: layer to use as the encoder.
        custom_decoder: layer to use as the decoder.

    Shape:
        src: [batch, source length, d_model]; tgt: [batch, target length, d_model].
        Output: [batch, target length, d_model].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> model = paddle.nn.Transformer(4, 2, 1, 1, 8)
        >>> model(paddle.ones([1, 3, 4]), paddle.ones([1, 2, 4])).shape
        paddle.Size([1, 2, 4])
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
            first: Any = TransformerEncoderLayer(*shape, pair[0], pair[1])
            self.encoder = TransformerEncoder(first, num_encoder_layers, LayerNorm(d_model))
        if custom_decoder is None:
            first = TransformerDecoderLayer(*shape, weight_attr, bias_attr)
            self.decoder = TransformerDecoder(first, num_decoder_layers, LayerNorm(d_model))

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None
    ) -> Any:
        """Encode src, and decode tgt given the encoding.

        Arguments:
            src: [batch, source length, d_model].
            tgt: [batch, target length, d_model].
            src_mask: mask of the encoder's self-attention; see MultiHeadAttention.
            tgt_mask: mask of the decoder's self-attention.
            memory_mask: mask of the cross-attention.

        Returns:
            The decoding [batch, target length, d_model].
        """
        memory = self.encoder(src, src_mask=src_mask)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask)

    def generate_square_subsequent_mask(self, length: int) -> Tensor:
        """Create a causal mask: each position attends to itself and to earlier positions.

        Returns:
            A float tensor [length, length] with 0 on and below the diagonal and -inf above it.
        """
        return wrap(as_array(np.triu(np.full((length, length), -np.inf, np.float32), 1)))
