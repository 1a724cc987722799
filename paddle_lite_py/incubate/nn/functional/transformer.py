"""Fused parts of a Transformer layer: attention, the feed-forward part, and whole stacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.no_effect import NO_ROTARY, ONE_PROCESS, no_effect
from ....nn import functional as F
from ....ops.creation import arange
from ....ops.joining import concat, stack
from ....ops.linalg import matmul
from .fused import activated


def projected(x: Any, weight: Any, bias: Any, heads: int, last: bool) -> list[Any]:
    """Query, key and value [batch, length, heads, size] of x [batch, length, features].

    Arguments:
        weight: [3, heads, size, features]; last: [features, 3 * heads * size], or [features, 3, heads, size].
    """
    heads, size = (heads, weight.size // x.shape[-1] // 3 // heads) if last else weight.shape[1:3]
    flat = weight.reshape([x.shape[-1], -1]) if last else weight.reshape([-1, x.shape[-1]])
    out: Any = matmul(x, flat, transpose_y=not last)
    out = out if bias is None else out + bias.reshape([-1])
    return out.reshape([*x.shape[:2], 3, heads, size]).unbind(2)


def _attend(q: Any, k: Any, v: Any, mask: Any, rate: float, training: bool, mode: str) -> Any:
    """[batch, length, heads * size]; weights are dropped."""
    out = F.scaled_dot_product_attention(q, k, v, mask, rate, training=training)
    # Without scaling up, weights count (1 - rate) times as much: while training because of those that are dropped.
    out = out if mode == "upscale_in_train" else out * (1 - rate)
    return out.reshape([*q.shape[:2], -1])


def _normalize(x: Any, scale: Any, bias: Any, epsilon: float, norm_type: str = "layernorm") -> Any:
    if norm_type == "rmsnorm":
        return F.rms_norm(x, x.shape[-1:], scale, epsilon)
    return F.layer_norm(x, x.shape[-1:], scale, bias, epsilon)


@no_effect(ring_id=ONE_PROCESS)
def fused_multi_head_attention(
    x: Any,
    qkv_weight: Any,
    linear_weight: Any,
    pre_layer_norm: bool = False,
    pre_ln_scale: Any = None,
    pre_ln_bias: Any = None,
    ln_scale: Any = None,
    ln_bias: Any = None,
    pre_ln_epsilon: float = 1e-5,
    qkv_bias: Any = None,
    linear_bias: Any = None,
    cache_kv: Any = None,
    attn_mask: Any = None,
    dropout_rate: float = 0.5,
    attn_dropout_rate: float = 0.5,
    ln_epsilon: float = 1e-5,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: int = -1,
    add_residual: bool = True,
    num_heads: int = -1,
    transpose_qkv_wb: bool = False,
    name: Any = None,
) -> Any:
    """Return the attention part of a Transformer layer: projections, attention, dropout, residual and normalization.

    Arguments:
        x: [batch, length, features].
        qkv_weight: [3, heads, size, features], qkv_bias [3, heads, size]; with transpose_qkv_wb, for num_heads,
            [features, 3 * features] and [3 * features].
        pre_layer_norm: normalize x, by pre_ln_*; otherwise the result, by ln_*.
        cache_kv: keys and values of what came before, [2, batch, heads, length, size]; then the longer cache is
            returned as well.
        attn_mask: added to the scores, or a boolean mask of what is seen.
        dropout_rate, attn_dropout_rate, mode: of dropout() on the result and on the weights.

    Raises:
        ValueError: if transpose_qkv_wb is given without num_heads.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, qkv, out = paddle.ones([1, 2, 4]), paddle.ones([3, 2, 2, 4]), paddle.zeros([4, 4])
        >>> F = paddle.incubate.nn.functional
        >>> F.fused_multi_head_attention(x, qkv, out, True, dropout_rate=0.0, attn_dropout_rate=0.0)[0, 0].tolist()
        [1.0, 1.0, 1.0, 1.0]
    """
    if transpose_qkv_wb and num_heads < 1:
        raise ValueError(f"fused_multi_head_attention: num_heads is {num_heads}; transpose_qkv_wb needs it")
    h = _normalize(x, pre_ln_scale, pre_ln_bias, pre_ln_epsilon) if pre_layer_norm else x
    q, k, v = projected(h, qkv_weight, qkv_bias, num_heads, transpose_qkv_wb)
    kept: Any = None
    if cache_kv is not None:
        joined: Any = stack([k, v]).transpose([0, 1, 3, 2, 4])
        kept = concat([cache_kv, joined], 3)
        k, v = kept.transpose([0, 1, 3, 2, 4]).unbind(0)
    out = F.linear(_attend(q, k, v, attn_mask, attn_dropout_rate, training, mode), linear_weight, linear_bias)
    out = F.dropout(out, dropout_rate, training=training, mode=mode)
    out = out + x if add_residual else out
    out = out if pre_layer_norm else _normalize(out, ln_scale, ln_bias, ln_epsilon)
    return out if kept is None else (out, kept)


@no_effect(ring_id=ONE_PROCESS)
def fused_feedforward(
    x: Any,
    linear1_weight: Any,
    linear2_weight: Any,
    linear1_bias: Any = None,
    linear2_bias: Any = None,
    ln1_scale: Any = None,
    ln1_bias: Any = None,
    ln2_scale: Any = None,
    ln2_bias: Any = None,
    dropout1_rate: float = 0.5,
    dropout2_rate: float = 0.5,
    activation: str = "relu",
    ln1_epsilon: float = 1e-5,
    ln2_epsilon: float = 1e-5,
    pre_layer_norm: bool = False,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: int = -1,
    add_residual: bool = True,
    name: Any = None,
) -> Any:
    """Return the feed-forward part of a Transformer layer: two linear layers, dropout, residual and normalization.

    Arguments:
        x: [batch, length, features]. linear1_weight: [features, inner]. linear2_weight: [inner, features].
        pre_layer_norm: normalize x, by ln1_*; otherwise the result, by ln2_*.
        dropout1_rate, dropout2_rate, mode: of dropout() after the activation and on the result.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, w = paddle.ones([1, 1, 2]), paddle.eye(2)
        >>> F = paddle.incubate.nn.functional
        >>> F.fused_feedforward(x, w, w, pre_layer_norm=True, dropout1_rate=0.0, dropout2_rate=0.0).tolist()
        [[[1.0, 1.0]]]
    """
    h = _normalize(x, ln1_scale, ln1_bias, ln1_epsilon) if pre_layer_norm else x
    h = activated("fused_feedforward", F.linear(h, linear1_weight, linear1_bias), activation)
    h = F.dropout(h, dropout1_rate, training=training, mode=mode)
    out = F.dropout(F.linear(h, linear2_weight, linear2_bias), dropout2_rate, training=training, mode=mode)
    out = out + x if add_residual else out
    return out if pre_layer_norm else _normalize(out, ln2_scale, ln2_bias, ln2_epsilon)


def _with_cache(cache: Any, k: Any, v: Any, step: Any, mask: Any) -> tuple[Any, Any, Any]:
    """Keys, values and mask for the queries, after the new keys and values are written to the cache in place.

    Arguments:
        cache: [2, batch, heads, longest, size], or None.
        step: where a single new one stands; None: they are the first.
    """
    if cache is None:
        return k, v, mask
    new: Any = stack([k, v]).transpose([0, 1, 3, 2, 4])
    if step is None:
        cache[:, :, :, : k.shape[1]] = new
        return k, v, mask
    at = step.reshape([]) if hasattr(step, "reshape") else step
    cache[:, :, :, at] = new[:, :, :, 0]
    held = cache.transpose([0, 1, 3, 2, 4])
    if mask is None:
        mask = (arange(cache.shape[3]) <= at).reshape([1, 1, 1, -1])
    else:
        held = held[:, :, : mask.shape[-1]]
    return held[0], held[1], mask


def _refuse(**settings: Any) -> None:
    if given := [k for k, v in settings.items() if v is not None]:
        raise NotImplementedError(
            f"fused_multi_transformer: {given[0]} is not available here; write the layer with "
            "scaled_dot_product_attention() and fused_rotary_position_embedding()"
        )


def of(tensors: Sequence[Any] | None, i: int) -> Any:
    """Return the tensor of a layer; None where there is none."""
    return tensors[i] if tensors else None


@no_effect(rotary_emb_dims=NO_ROTARY, use_neox_rotary_style=NO_ROTARY, ring_id=ONE_PROCESS)
def fused_multi_transformer(
    x: Any,
    ln_scales: Sequence[Any],
    ln_biases: Sequence[Any] | None,
    qkv_weights: Sequence[Any],
    qkv_biases: Sequence[Any] | None,
    linear_weights: Sequence[Any],
    linear_biases: Sequence[Any] | None,
    ffn_ln_scales: Sequence[Any],
    ffn_ln_biases: Sequence[Any] | None,
    ffn1_weights: Sequence[Any],
    ffn1_biases: Sequence[Any] | None,
    ffn2_weights: Sequence[Any],
    ffn2_biases: Sequence[Any] | None,
    pre_layer_norm: bool = True,
    epsilon: float = 1e-5,
    residual_alpha: float = 1.0,
    cache_kvs: Sequence[Any] | None = None,
    beam_offset: Any = None,
    pre_caches: Any = None,
    seq_lens: Any = None,
    rotary_embs: Any = None,
    time_step: Any = None,
    attn_mask: Any = None,
    dropout_rate: float = 0.0,
    rotary_emb_dims: int = 0,
    activation: str = "gelu",
    training: bool = False,
    mode: str = "upscale_in_train",
    trans_qkvw: bool = True,
    ring_id: int = -1,
    norm_type: str = "layernorm",
    use_neox_rotary_style: bool = False,
    gqa_group_size: int = -1,
    name: Any = None,
) -> Any:
    """Return a stack of Transformer layers, each tensor a list of one for each layer.

    Arguments:
        x: [batch, length, features].
        qkv_weights: [3, heads, size, features], or [features, 3, heads, size] where trans_qkvw is False.
        pre_layer_norm: normalize before each part; otherwise after it.
        residual_alpha: factor of what is passed by.
        cache_kvs: for each layer [2, batch, heads, longest, size]: keys and values are written there, in place, and
            the caches are returned as well.
        time_step: where the one new token stands in the caches; None: x is the beginning.
        attn_mask: added to the scores, or a boolean mask of what is seen.
        norm_type: "layernorm" or "rmsnorm".

    Raises:
        NotImplementedError: for beams, caches of prefixes, packed sequences, rotary embedding, and grouped heads.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, one = paddle.ones([1, 2, 4]), paddle.ones([4])
        >>> qkv, w = paddle.ones([3, 2, 2, 4]), paddle.zeros([4, 4])
        >>> F = paddle.incubate.nn.functional
        >>> F.fused_multi_transformer(
        ...     x, [one], None, [qkv], None, [w], None, [one], None, [w], None, [w], None
        ... )[0, 1].tolist()
        [1.0, 1.0, 1.0, 1.0]
    """
    _refuse(beam_offset=beam_offset, pre_caches=pre_caches, seq_lens=seq_lens, rotary_embs=rotary_embs)
    _refuse(gqa_group_size=gqa_group_size if gqa_group_size > 0 else None)

    def dropped(h: Any) -> Any:
        return F.dropout(h, dropout_rate, training=training, mode=mode)

    def ended(h: Any, passed: Any, scale: Any, bias: Any) -> Any:
        out = dropped(h) + passed * residual_alpha
        return out if pre_layer_norm else _normalize(out, scale, bias, epsilon, norm_type)

    for i, qkv in enumerate(qkv_weights):
        norm, ffn_norm = (ln_scales[i], of(ln_biases, i)), (ffn_ln_scales[i], of(ffn_ln_biases, i))
        h = _normalize(x, *norm, epsilon, norm_type) if pre_layer_norm else x
        heads = qkv.shape[1] if trans_qkvw else qkv.shape[2]
        q, k, v = projected(h, qkv, of(qkv_biases, i), heads, not trans_qkvw)
        k, v, mask = _with_cache(of(cache_kvs, i), k, v, time_step, attn_mask)
        h = F.linear(_attend(q, k, v, mask, 0.0, training, mode), linear_weights[i], of(linear_biases, i))
        x = ended(h, x, *norm)
        h = _normalize(x, *ffn_norm, epsilon, norm_type) if pre_layer_norm else x
        h = activated("fused_multi_transformer", F.linear(h, ffn1_weights[i], of(ffn1_biases, i)), activation)
        x = ended(F.linear(dropped(h), ffn2_weights[i], of(ffn2_biases, i)), x, *ffn_norm)
    return x if cache_kvs is None else (x, list(cache_kvs))
