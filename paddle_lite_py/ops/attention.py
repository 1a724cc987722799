"""Attention."""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp

from ..core.no_effect import KERNELS, ONE_STREAM, Immaterial, Refused, no_effect
from ..dispatch.call_cache import call_cached
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .diagonals import lower_triangle
from .dropout import dropout

__all__ = ["flash_attention", "flash_attn_qkvpacked", "flash_attn_unpadded", "scaled_dot_product_attention"]


def _per_query(k: Any, q: Any) -> Any:
    """Repeat the key heads, if several query heads share one."""
    heads, own = q.shape[2], k.shape[2]
    if heads == own:
        return k
    if heads % own:
        raise ValueError(f"query has {heads} heads, which the {own} heads of key and value do not divide")
    return jnp.repeat(k, heads // own, axis=2)


@op(name="attention_weights", amp="black")
def _weights(q: Any, k: Any, mask: Any = None, /, *, causal: bool, scale: float) -> Any:
    """Compute the attention weights softmax(q k^T * scale + mask), [batch, heads, queries, keys]."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, _per_query(k, q)) * jnp.asarray(scale, q.dtype)
    return jax.nn.softmax(_masked(scores, mask, causal), axis=-1)


def _masked(scores: Any, mask: Any, causal: bool) -> Any:
    if causal:
        scores = jnp.where(lower_triangle(scores.shape), scores, -jnp.inf)
    if mask is not None:
        scores = jnp.where(mask, scores, -jnp.inf) if mask.dtype == bool else scores + mask
    return scores


@op(name="attention_mix", amp="white")
def _mix(weights: Any, v: Any, q: Any, /) -> Any:
    return jnp.einsum("bhqk,bkhd->bqhd", weights, _per_query(v, q))


@op(name="attention", amp="white")
def _attention(q: Any, k: Any, v: Any, mask: Any = None, /, *, causal: bool, scale: float) -> Any:
    return _attend(q, k, v, mask, causal, scale)


@functools.partial(jax.custom_vjp, nondiff_argnums=(4, 5))
def _attend(q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float) -> Any:
    """Compute attention and recompute the weights in backward: saving them takes queries x keys memory, and longer."""
    q, k, v = (jnp.swapaxes(a, 1, 2) for a in (q, _per_query(k, q), _per_query(v, q)))
    scores = _masked(q @ jnp.swapaxes(k, 2, 3) * jnp.asarray(scale, q.dtype), mask, causal)
    if k.shape[2] != v.shape[2]:
        raise ValueError(f"key has {k.shape[2]} positions and value {v.shape[2]}; expected as many")
    raised = jnp.exp(scores - jnp.max(scores, axis=-1, keepdims=True))
    # A matrix product with transposed operands, and few divisions: half the time of the definition on the CPU.
    return jnp.swapaxes(raised @ v / jnp.sum(raised, axis=-1, keepdims=True), 1, 2)


def _attend_backward(causal: bool, scale: float, saved: Any, g: Any) -> Any:
    def definition(q: Any, k: Any, v: Any, mask: Any) -> Any:
        weights = _weights.__op__.fn(q, k, mask, causal=causal, scale=scale)
        return _mix.__op__.fn(weights, v, q)

    return jax.vjp(definition, *saved)[1](g)


_attend.defvjp(lambda *args: (_attend(*args), args[:4]), _attend_backward)


@call_cached("query", "key", "value", "attn_mask")
@no_effect(backend=KERNELS)
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    backend: Any = None,
    scale: float | None = None,
    enable_gqa: bool = True,
    name: str | None = None,
) -> Any:
    """Compute `softmax(query @ key^T * scale + attn_mask) @ value`.

    `query` is [batch, queries, heads, head_dim]; `key` and `value` are [batch, keys, heads, head_dim]. With fewer key
    heads, each serves several query heads (grouped-query attention).

    Arguments:
        attn_mask: float mask added to the scores, or boolean mask (True: attend), broadcast to [batch, heads, queries,
            keys]; None: no mask.
        is_causal: query i attends to keys up to i only. Default: False.
        scale: factor of the scores; None: `1 / sqrt(head_dim)`.
        enable_gqa: allow fewer key heads than query heads. Default: True.

    Returns:
        A tensor [batch, queries, heads, head_dim].

    Raises:
        ValueError: if the heads differ and enable_gqa is False.

    Source: Vaswani et al., Attention Is All You Need, 2017.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> q, v = paddle.zeros([1, 1, 1, 2]), paddle.to_tensor([1.0, 2.0, 3.0, 4.0]).reshape([1, 2, 1, 2])
        >>> paddle.nn.functional.scaled_dot_product_attention(q, v, v).tolist()
        [[[[2.0, 3.0]]]]
    """
    for name, given in (("query", query), ("key", key), ("value", value)):
        if given.ndim < 3 or given.shape[-1] == 0:
            what = f"{name} has the shape {[*given.shape]}"
            raise ValueError(f"scaled_dot_product_attention: {what}; expected [..., length, heads, channels]")
    if not enable_gqa and query.shape[-2] != key.shape[-2]:
        raise ValueError(
            f"scaled_dot_product_attention: query has {query.shape[-2]} heads and key {key.shape[-2]}; they may differ "
            "where enable_gqa is True"
        )
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    if not (training and dropout_p):
        return _attention(query, key, value, attn_mask, causal=is_causal, scale=factor)
    weights = dropout(_weights(query, key, attn_mask, causal=is_causal, scale=factor), dropout_p)
    return _mix(weights, value, query)


STREAM = Refused("dropout draws from the stream of paddle.seed()")


@no_effect(fixed_seed_offset=STREAM, rng_name=ONE_STREAM)
def flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: Any | None = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
    softmax_scale: float | None = None,
) -> Any:
    """Compute `scaled_dot_product_attention()`, optionally with the attention weights.

    Returns:
        (out, softmax): the output [batch, queries, heads, head_dim], and the weights if `return_softmax`, else None.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> q, v = paddle.zeros([1, 1, 1, 2]), paddle.to_tensor([1.0, 2.0, 3.0, 4.0]).reshape([1, 2, 1, 2])
        >>> out, weights = paddle.nn.functional.flash_attention.flash_attention(q, v, v, return_softmax=True)
        >>> out.tolist(), weights.tolist()
        ([[[[2.0, 3.0]]]], [[[[0.5, 0.5]]]])
    """
    scale = 1 / math.sqrt(query.shape[-1]) if softmax_scale is None else softmax_scale
    out = scaled_dot_product_attention(query, key, value, None, dropout, causal, training, scale=scale)
    fn: Any = _weights
    return out, fn(query, key, None, causal=causal, scale=scale) if return_softmax else None


@no_effect(fixed_seed_offset=STREAM, rng_name=ONE_STREAM)
def flash_attn_qkvpacked(
    qkv: Tensor,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: Any | None = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
) -> Any:
    """Compute `flash_attention()` from a packed tensor [batch, length, groups + 2, key_heads, head_dim].

    The third dimension holds `groups` query slices, then the key and the value.

    Returns:
        (out, softmax): the output [batch, length, heads, head_dim], and the weights if `return_softmax`, else None.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> out, _ = paddle.nn.functional.flash_attn_qkvpacked(paddle.ones([1, 2, 3, 4, 8]))
        >>> out.shape
        paddle.Size([1, 2, 4, 8])
    """
    batch, length, parts, heads, size = qkv.shape
    query = qkv[:, :, :-2].reshape([batch, length, (parts - 2) * heads, size])
    return flash_attention(query, qkv[:, :, -2], qkv[:, :, -1], dropout, causal, return_softmax, training=training)


@op(name="packed_mask", grad=False)
def _pack_mask(ends_q: Any, ends_k: Any, /, queries: int, keys: int, causal: bool) -> Any:
    """Return the mask [queries, keys] of packed sequences; sequence i spans ends[i] to ends[i + 1]."""
    i, j = jnp.arange(queries), jnp.arange(keys)
    own_q = jnp.searchsorted(ends_q, i, side="right") - 1
    own_k = jnp.searchsorted(ends_k, j, side="right") - 1
    seen = own_q[:, None] == own_k
    if causal:
        # The last query of a sequence is aligned with its last key.
        at_q, at_k = i - jnp.take(ends_q, own_q + 1, mode="clip"), j - jnp.take(ends_k, own_k + 1, mode="clip")
        seen = seen & (at_k <= at_q[:, None])
    return seen


@no_effect(
    fixed_seed_offset=STREAM,
    rng_name=ONE_STREAM,
    max_seqlen_q=Immaterial("cu_seqlens_q says how long the sequences are"),
    max_seqlen_k=Immaterial("cu_seqlens_k says how long the sequences are"),
)
def flash_attn_unpadded(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: Any,
    max_seqlen_k: Any,
    scale: float,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    fixed_seed_offset: Any | None = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
) -> Any:
    """Compute attention within each of several sequences packed along one dimension: [tokens, heads, head_dim].

    Arguments:
        cu_seqlens_q, cu_seqlens_k: int tensors [batch + 1], cumulative sequence lengths: [0, 3, 5] packs sequences of 3
            and 2 tokens.

    Returns:
        (out, softmax): the output [tokens, heads, head_dim], and the weights if `return_softmax`, else None.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> v, starts = paddle.to_tensor([1.0, 3.0, 9.0]).reshape([3, 1, 1]), paddle.to_tensor([0, 2, 3])
        >>> unpadded = paddle.nn.functional.flash_attention.flash_attn_unpadded
        >>> unpadded(v * 0, v, v, starts, starts, 2, 2, 1.0)[0].flatten().tolist()
        [2.0, 2.0, 9.0]
    """
    fn: Any = _pack_mask
    mask = fn(cu_seqlens_q, cu_seqlens_k, query.shape[0], key.shape[0], causal).unsqueeze([0, 1])
    q, k, v = (t.unsqueeze(0) for t in (query, key, value))
    out = scaled_dot_product_attention(q, k, v, mask, dropout, False, training, scale=scale)
    weigh: Any = _weights
    weights = weigh(q, k, mask, causal=False, scale=scale) if return_softmax else None
    return out.squeeze(0), weights
