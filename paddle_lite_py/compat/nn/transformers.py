"""Transformers with torch's arguments, parameters and masks: True there is what does not count."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from ...core.no_effect import Immaterial, no_effect
from ...nn import functional as F
from ...nn.base import Layer
from ...nn.common import Dropout
from ...nn.container import LayerList
from ...nn.initializer import XavierUniform
from ...nn.norm import LayerNorm
from ...ops.creation import full
from .attention import MultiheadAttention
from .layers import Linear

__all__ = [
    *("Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"),
]


_PADDED = Immaterial("padding is computed as all else is")


class _TorchBlock(Layer):
    """What encoder and decoder layers share: the feed-forward part, and how a part is added to its input."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if isinstance(activation, str) and activation not in ("relu", "gelu"):
            raise ValueError(
                f"{type(self).__name__}: activation is {activation!r}; expected 'relu', 'gelu' or a function"
            )
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self._attentions(d_model, nhead, dropout, bias, batch_first)
        self.linear1, self.dropout = Linear(d_model, dim_feedforward, bias), Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm_first = norm_first
        self.activation = getattr(F, activation) if isinstance(activation, str) else activation
        for i in range(1, 1 + self._parts):
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias))
            setattr(self, f"dropout{i}", Dropout(dropout))
        if device is not None or dtype is not None:
            self.to(device, dtype)

    _parts = 2

    def _attentions(self, *_settings: Any) -> None:
        """Make the attentions besides the one to the input itself."""

    def _add(self, i: int, x: Any, part: Callable[[Any], Any]) -> Any:
        norm, dropout = getattr(self, f"norm{i}"), getattr(self, f"dropout{i}")
        return x + dropout(part(norm(x))) if self.norm_first else norm(x + dropout(part(x)))

    def _fed(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


def _attended(attention: Any, q: Any, kv: Any, mask: Any, padding: Any, is_causal: bool) -> Any:
    return attention(q, kv, kv, padding, False, mask, is_causal=is_causal)[0]


class TransformerEncoderLayer(_TorchBlock):
    """An encoder layer of [length, batch, d_model], as torch has it.

    Arguments:
        d_model, nhead: size of the inputs, and the heads between which it is divided.
        dim_feedforward: size between the two linear layers. Default: 2048.
        activation: "relu", "gelu" or a function.
        batch_first: of [batch, length, d_model].
        norm_first: normalize what goes into each part, and not what comes out of it.

    Raises:
        ValueError: activation is another text, or d_model does not divide into the heads.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.TransformerEncoderLayer(8, 2, 16)
        >>> layer(paddle.ones([5, 1, 8])).shape
        paddle.Size([5, 1, 8])
    """

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        """Encode src.

        Arguments:
            src_mask: [length, length] or [batch * nhead, length, length]: True where nothing is seen; floats are added.
            src_key_padding_mask: [batch, length]: True where there is nothing.
            is_causal: says that src_mask is causal.
        """

        def attended(x: Any) -> Any:
            return _attended(self.self_attn, x, x, src_mask, src_key_padding_mask, is_causal)

        return self._add(2, self._add(1, src, attended), self._fed)


class TransformerDecoderLayer(_TorchBlock):
    """A decoder layer of [length, batch, d_model], as torch has it; see TransformerEncoderLayer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
        >>> layer(paddle.ones([1, 5, 8]), paddle.ones([1, 3, 8])).shape
        paddle.Size([1, 5, 8])
    """

    _parts = 3

    def _attentions(self, d_model: int, nhead: int, dropout: float, bias: bool, batch_first: bool) -> None:
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """Decode tgt, with attention to memory; the masks are those of TransformerEncoderLayer."""

        def attended(x: Any) -> Any:
            return _attended(self.self_attn, x, x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)

        def reading(x: Any) -> Any:
            mask, padding = memory_mask, memory_key_padding_mask
            return _attended(self.multihead_attn, x, memory, mask, padding, memory_is_causal)

        return self._add(3, self._add(2, self._add(1, tgt, attended), reading), self._fed)


class _Stack(Layer):
    """Copies of a layer, one after another."""

    def __init__(self, layer: Layer, num_layers: int, norm: Layer | None) -> None:
        super().__init__()
        self.layers = LayerList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def _through(self, x: Any, *args: Any) -> Any:
        for layer in self.layers:
            x = layer(x, *args)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """Copies of an encoder layer, one after another, as torch has them.

    Arguments:
        encoder_layer: the layer that is copied.
        num_layers: how many.
        norm: a layer for what comes out.
        enable_nested_tensor, mask_check: no effect: padding is computed as all else is.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.TransformerEncoderLayer(8, 2, 16)
        >>> paddle.compat.nn.TransformerEncoder(layer, 2)(paddle.ones([5, 1, 8])).shape
        paddle.Size([5, 1, 8])
    """

    @no_effect(enable_nested_tensor=_PADDED, mask_check=_PADDED)
    def __init__(
        self, encoder_layer: Layer, num_layers: int, norm: Layer | None = None, enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool | None = None
    ) -> Any:
        """Encode src; the masks are those of TransformerEncoderLayer."""
        return self._through(src, mask, src_key_padding_mask, bool(is_causal))


class TransformerDecoder(_Stack):
    """Copies of a decoder layer, one after another, as torch has them.

    Arguments:
        decoder_layer: the layer that is copied.
        num_layers: how many.
        norm: a layer for what comes out.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.TransformerDecoderLayer(8, 2, 16)
        >>> paddle.compat.nn.TransformerDecoder(layer, 2)(paddle.ones([5, 1, 8]), paddle.ones([3, 1, 8])).shape
        paddle.Size([5, 1, 8])
    """

    def __init__(self, decoder_layer: Layer, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """Decode tgt, with attention to memory; the masks are those of TransformerEncoderLayer."""
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        return self._through(tgt, memory, *masks, bool(tgt_is_causal), memory_is_causal)


class Transformer(Layer):
    """An encoder and a decoder (Vaswani et al., 2017) of [length, batch, d_model], as torch has them.

    Arguments:
        d_model, nhead: size of the inputs, and the heads between which it is divided.
        num_encoder_layers, num_decoder_layers: layers of each.
        custom_encoder, custom_decoder: layers in their place.
        settings: of TransformerEncoderLayer: dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.compat.nn.Transformer(8, 2, 1, 1, dim_feedforward=16)
        >>> net(paddle.ones([5, 1, 8]), paddle.ones([3, 1, 8])).shape
        paddle.Size([3, 1, 8])
    """

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: str | Callable[[Any], Any] = "relu",
        custom_encoder: Layer | None = None, custom_decoder: Layer | None = None, layer_norm_eps: float = 1e-5,
        batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        settings = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        ends = [LayerNorm(d_model, layer_norm_eps, bias=bias) for _ in range(2)]
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*settings), num_encoder_layers, ends[0]
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*settings), num_decoder_layers, ends[1]
        )
        for p in self.parameters():
            if p.ndim > 1:
                XavierUniform(fan_in=p.shape[1], fan_out=p.shape[0])(p)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        if device is not None or dtype is not None:
            self.to(device, dtype)

    def forward(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None,
        src_key_padding_mask: Any = None, tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """Encode src, and decode tgt with attention to it; the masks are those of TransformerEncoderLayer."""
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        return self.decoder(tgt, memory, *masks, tgt_is_causal, memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """Return the mask [sz, sz] that is -inf above the diagonal, and 0 elsewhere."""
        mask = full([sz, sz], -math.inf, dtype).triu(1)
        return mask if device is None else mask.to(device)
