"""Fused Transformer layers, and stacks of layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.no_effect import NO_ROTARY, ONE_PROCESS, no_effect
from ...nn.base import Layer
from ...nn.initializer import Constant
from ...nn.transformer import attrs_of_parts
from . import functional as fused

__all__ = ["FusedFeedForward", "FusedMultiHeadAttention", "FusedMultiTransformer", "FusedTransformerEncoderLayer"]
_ONE = Constant(1.0)
_NONE: tuple[Any, Any] = (None, None)


class FusedMultiHeadAttention(Layer):
    """The attention part of a Transformer layer; see fused_multi_head_attention().

    Arguments:
        embed_dim: number of features.
        num_heads: number of heads.
        dropout_rate, attn_dropout_rate: dropout probabilities of the result and of the attention weights.
        normalize_before: normalize the input; otherwise the result.
        *_attr: ParamAttr of the parameters; False: no bias.
        transpose_qkv_wb: the projection is [features, 3 * features].
        kdim, vdim, need_weights: None and False.

    Raises:
        ValueError: if the features do not divide into the heads, or kdim, vdim or need_weights are others.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.nn.FusedMultiHeadAttention(4, 2)(paddle.ones([1, 3, 4])).shape
        paddle.Size([1, 3, 4])
    """

    @no_effect(nranks=ONE_PROCESS, ring_id=ONE_PROCESS)
    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout_rate: float = 0.5,
        attn_dropout_rate: float = 0.5,
        kdim: int | None = None,
        vdim: int | None = None,
        normalize_before: bool = False,
        need_weights: bool = False,
        qkv_weight_attr: Any = None,
        qkv_bias_attr: Any = None,
        linear_weight_attr: Any = None,
        linear_bias_attr: Any = None,
        pre_ln_scale_attr: Any = None,
        pre_ln_bias_attr: Any = None,
        ln_scale_attr: Any = None,
        ln_bias_attr: Any = None,
        epsilon: float = 1e-5,
        nranks: int = 1,
        ring_id: int = -1,
        transpose_qkv_wb: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if embed_dim % num_heads or need_weights or kdim not in (None, embed_dim) or vdim not in (None, embed_dim):
            raise ValueError(
                f"FusedMultiHeadAttention: embed_dim {embed_dim}, num_heads {num_heads}, kdim {kdim}, vdim {vdim}, "
                f"need_weights {need_weights}; expected heads that divide the features, and None, None and False"
            )
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.normalize_before, self.transpose_qkv_wb, self._epsilon = normalize_before, transpose_qkv_wb, epsilon
        self.dropout_rate, self.attn_dropout_rate = dropout_rate, attn_dropout_rate
        rows = [3 * embed_dim] if transpose_qkv_wb else [3, num_heads, self.head_dim]
        weight = [embed_dim, *rows] if transpose_qkv_wb else [*rows, embed_dim]
        self.qkv_weight = self.create_parameter(weight, qkv_weight_attr)
        self.qkv_bias = self.create_parameter(rows, qkv_bias_attr, is_bias=True)
        self.linear_weight = self.create_parameter([embed_dim, embed_dim], linear_weight_attr)
        self.linear_bias = self.create_parameter([embed_dim], linear_bias_attr, is_bias=True)
        before, after = (pre_ln_scale_attr, pre_ln_bias_attr), (ln_scale_attr, ln_bias_attr)
        pair = _norm(self, embed_dim, *(before if normalize_before else after))
        self.pre_ln_scale, self.pre_ln_bias = pair if normalize_before else _NONE
        self.ln_scale, self.ln_bias = _NONE if normalize_before else pair

    def forward(self, query: Any, key: Any = None, value: Any = None, attn_mask: Any = None, cache: Any = None) -> Any:
        """Return the result; with a cache, also the longer one.

        Raises:
            NotImplementedError: if key or value is another tensor than the query.
        """
        for what, given in (("key", key), ("value", value)):
            if given is not None and given is not query:
                raise NotImplementedError(
                    f"FusedMultiHeadAttention: {what} is another tensor than query, and one weight projects all three; "
                    "use paddle.nn.MultiHeadAttention"
                )
        return fused.fused_multi_head_attention(
            query,
            self.qkv_weight,
            self.linear_weight,
            self.normalize_before,
            self.pre_ln_scale,
            self.pre_ln_bias,
            self.ln_scale,
            self.ln_bias,
            self._epsilon,
            self.qkv_bias,
            self.linear_bias,
            cache,
            attn_mask,
            self.dropout_rate,
            self.attn_dropout_rate,
            self._epsilon,
            self.training,
            num_heads=self.num_heads,
            transpose_qkv_wb=self.transpose_qkv_wb,
        )

    def extra_repr(self) -> str:
        """Return its settings."""
        rates = f"dropout_rate={self.dropout_rate}, attn_dropout_rate={self.attn_dropout_rate}"
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, {rates}, epsilon={self._epsilon}"


def _norm(layer: Layer, size: int, scale_attr: Any, bias_attr: Any) -> tuple[Any, Any]:
    scale = layer.create_parameter([size], scale_attr, default_initializer=_ONE)
    return scale, layer.create_parameter([size], bias_attr, is_bias=True)


class FusedFeedForward(Layer):
    """The feed-forward part of a Transformer layer; see fused_feedforward().

    Arguments:
        d_model: number of features.
        dim_feedforward: number of features between the two linear layers.
        dropout_rate, act_dropout_rate: dropout probabilities of the result and after the activation.
        activation: "relu" or "gelu".
        normalize_before: normalize the input; otherwise the result.
        *_attr: ParamAttr of the parameters; False: no bias.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.nn.FusedFeedForward(4, 8, 0.0)(paddle.ones([1, 2, 4])).shape
        paddle.Size([1, 2, 4])
    """

    @no_effect(nranks=ONE_PROCESS, ring_id=ONE_PROCESS)
    def __init__(
        self,
        d_model: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        epsilon: float = 1e-5,
        activation: str = "relu",
        act_dropout_rate: float | None = None,
        normalize_before: bool = False,
        linear1_weight_attr: Any = None,
        linear1_bias_attr: Any = None,
        linear2_weight_attr: Any = None,
        linear2_bias_attr: Any = None,
        ln1_scale_attr: Any = None,
        ln1_bias_attr: Any = None,
        ln2_scale_attr: Any = None,
        ln2_bias_attr: Any = None,
        nranks: int = 1,
        ring_id: int = -1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._linear1_weight = self.create_parameter([d_model, dim_feedforward], linear1_weight_attr)
        self._linear1_bias = self.create_parameter([dim_feedforward], linear1_bias_attr, is_bias=True)
        self._linear2_weight = self.create_parameter([dim_feedforward, d_model], linear2_weight_attr)
        self._linear2_bias = self.create_parameter([d_model], linear2_bias_attr, is_bias=True)
        attrs = (ln1_scale_attr, ln1_bias_attr) if normalize_before else (ln2_scale_attr, ln2_bias_attr)
        pair = _norm(self, d_model, *attrs)
        self._ln1_scale, self._ln1_bias = pair if normalize_before else _NONE
        self._ln2_scale, self._ln2_bias = _NONE if normalize_before else pair
        self._d_model, self._dim_feedforward, self._epsilon = d_model, dim_feedforward, epsilon
        self._activation, self._normalize_before, self._dropout_rate = activation, normalize_before, dropout_rate
        self._act_dropout_rate = dropout_rate if act_dropout_rate is None else act_dropout_rate

    @no_effect(cache="a feed-forward part keeps nothing of earlier steps")
    def forward(self, src: Any, cache: Any = None) -> Any:
        """Return the layer's result."""
        return fused.fused_feedforward(
            src,
            self._linear1_weight,
            self._linear2_weight,
            self._linear1_bias,
            self._linear2_bias,
            self._ln1_scale,
            self._ln1_bias,
            self._ln2_scale,
            self._ln2_bias,
            self._act_dropout_rate,
            self._dropout_rate,
            self._activation,
            self._epsilon,
            self._epsilon,
            self._normalize_before,
            self.training,
        )

    def extra_repr(self) -> str:
        """Return its settings."""
        return (
            f"d_model={self._d_model}, dim_feedforward={self._dim_feedforward}, dropout_rate={self._dropout_rate}, "
            f"epsilon={self._epsilon}, activation={self._activation}, act_dropout_rate={self._act_dropout_rate}, "
            f"normalize_before={self._normalize_before}"
        )


class FusedTransformerEncoderLayer(Layer):
    """A Transformer encoder layer of two fused parts; see paddle.nn.TransformerEncoderLayer.

    Arguments:
        d_model: number of features.
        nhead: number of heads.
        dim_feedforward: number of features between the linear layers.
        dropout_rate, attn_dropout_rate, act_dropout_rate: dropout probabilities; the latter two default to the first.
        normalize_before: normalize the input of each part; otherwise the result.
        weight_attr, bias_attr: ParamAttr, or one each for the two parts.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.nn.FusedTransformerEncoderLayer(4, 2, 8)(paddle.ones([1, 3, 4])).shape
        paddle.Size([1, 3, 4])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        activation: str = "relu",
        attn_dropout_rate: float | None = None,
        act_dropout_rate: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        (w0, w1), (b0, b1) = attrs_of_parts(weight_attr, 2), attrs_of_parts(bias_attr, 2)
        dropped = dropout_rate if attn_dropout_rate is None else attn_dropout_rate
        self.fused_attn = FusedMultiHeadAttention(
            d_model, nhead, dropout_rate, dropped, None, None, normalize_before, False, w0, b0, w0, b0, w0, b0, w0, b0
        )
        self.ffn = FusedFeedForward(
            d_model, dim_feedforward, dropout_rate, 1e-5, activation, act_dropout_rate, normalize_before, w1, b1, w1, b1
        )

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """Return the layer's result; with a cache, also the longer one."""
        out = self.fused_attn(src, attn_mask=src_mask, cache=cache)
        return self.ffn(out) if cache is None else (self.ffn(out[0]), out[1])


def _each(attrs: Any, i: int) -> Any:
    return attrs[i] if isinstance(attrs, list | tuple) else attrs


class FusedMultiTransformer(Layer):
    """A stack of Transformer layers for generation; see fused_multi_transformer().

    Arguments:
        embed_dim, num_heads, dim_feedforward: sizes of each layer. num_layers: how many.
        dropout_rate, activation, epsilon, residual_alpha, norm_type: of each layer.
        normalize_before: normalize the input of each part; otherwise the result.
        *_attrs: ParamAttr, or a list of one for each layer; False: no bias.
        trans_qkvw: the projection is [3, heads, size, features], otherwise [features, 3, heads, size].

    Raises:
        ValueError: if num_layers is not given, as a number or by the length of a list.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.nn.FusedMultiTransformer(4, 2, 8, num_layers=2)(paddle.ones([1, 3, 4])).shape
        paddle.Size([1, 3, 4])
    """

    @no_effect(nranks=ONE_PROCESS, ring_id=ONE_PROCESS, use_neox_rotary_style=NO_ROTARY)
    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dim_feedforward: int,
        dropout_rate: float = 0.0,
        activation: str = "gelu",
        normalize_before: bool = True,
        ln_scale_attrs: Any = None,
        ln_bias_attrs: Any = None,
        qkv_weight_attrs: Any = None,
        qkv_bias_attrs: Any = None,
        linear_weight_attrs: Any = None,
        linear_bias_attrs: Any = None,
        ffn_ln_scale_attrs: Any = None,
        ffn_ln_bias_attrs: Any = None,
        ffn1_weight_attrs: Any = None,
        ffn1_bias_attrs: Any = None,
        ffn2_weight_attrs: Any = None,
        ffn2_bias_attrs: Any = None,
        epsilon: float = 1e-5,
        residual_alpha: float = 1.0,
        num_layers: int = -1,
        nranks: int = 1,
        trans_qkvw: bool = True,
        ring_id: int = -1,
        norm_type: str = "layernorm",
        use_neox_rotary_style: bool = False,
        gqa_group_size: int = -1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if isinstance(qkv_weight_attrs, list | tuple) and num_layers < 1:
            num_layers = len(qkv_weight_attrs)
        if num_layers < 1 or gqa_group_size > 0:
            raise ValueError(
                f"FusedMultiTransformer: num_layers is {num_layers} and gqa_group_size {gqa_group_size}; "
                "expected at least 1, and -1"
            )
        e, inner, heads = embed_dim, dim_feedforward, [3, num_heads, embed_dim // num_heads]
        twice = 2 if activation in ("swiglu", "geglu") else 1
        shapes: dict[str, tuple[list[int], Any]] = {
            "ln_scales": ([e], ln_scale_attrs), "ln_biases": ([e], ln_bias_attrs),
            "qkv_weights": ([*heads, e] if trans_qkvw else [e, *heads], qkv_weight_attrs),
            "qkv_biases": (heads, qkv_bias_attrs),
            "linear_weights": ([e, e], linear_weight_attrs), "linear_biases": ([e], linear_bias_attrs),
            "ffn_ln_scales": ([e], ffn_ln_scale_attrs), "ffn_ln_biases": ([e], ffn_ln_bias_attrs),
            "ffn1_weights": ([e, twice * inner], ffn1_weight_attrs), "ffn1_biases": ([twice * inner], ffn1_bias_attrs),
            "ffn2_weights": ([inner, e], ffn2_weight_attrs), "ffn2_biases": ([e], ffn2_bias_attrs),
        }  # fmt: skip
        self._lists = list(shapes)
        for what, (shape, attrs) in shapes.items():
            self._make(what, shape, attrs, num_layers)
        self.normalize_before, self.activation, self.dropout_rate = normalize_before, activation, dropout_rate
        self._epsilon, self._residual_alpha, self._norm_type = epsilon, residual_alpha, norm_type
        self._trans_qkvw, self.num_layers = trans_qkvw, num_layers

    def _make(self, what: str, shape: list[int], attrs: Any, count: int) -> None:
        start = _ONE if what.endswith("scales") else None
        for i in range(count):
            made = self.create_parameter(
                shape, _each(attrs, i), is_bias=what.endswith("biases"), default_initializer=start
            )
            self.add_parameter(f"{what}_{i}", made)

    def _listed(self, what: str) -> list[Any]:
        return [getattr(self, f"{what}_{i}") for i in range(self.num_layers)]

    @no_effect(rotary_emb_dims=NO_ROTARY)
    def forward(
        self,
        src: Any,
        attn_mask: Any = None,
        caches: Sequence[Any] | None = None,
        pre_caches: Any = None,
        rotary_embs: Any = None,
        rotary_emb_dims: int = 0,
        beam_offset: Any = None,
        seq_lens: Any = None,
        time_step: Any = None,
    ) -> Any:
        """Return the result; with caches, also them."""
        run: Any = fused.fused_multi_transformer
        return run(
            src,
            *map(self._listed, self._lists),
            pre_layer_norm=self.normalize_before,
            epsilon=self._epsilon,
            residual_alpha=self._residual_alpha,
            cache_kvs=caches,
            beam_offset=beam_offset,
            pre_caches=pre_caches,
            seq_lens=seq_lens,
            rotary_embs=rotary_embs,
            time_step=time_step,
            attn_mask=attn_mask,
            dropout_rate=self.dropout_rate,
            activation=self.activation,
            training=self.training,
            trans_qkvw=self._trans_qkvw,
            norm_type=self._norm_type,
        )
