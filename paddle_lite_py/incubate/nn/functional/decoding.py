"""Attention for serving: sequences of several lengths in a batch, and one token at a time with a cache."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ....core.no_effect import NO_QUANT, NO_ROTARY, Immaterial, no_effect
from ....dispatch.define import op


@op(name="attention_of_lengths", amp="white")
def _of_lengths(
    q: Any,
    k: Any,
    v: Any,
    lengths: Any,
    kv_lengths: Any,
    mask: Any = None,
    /,
    *,
    scale: float,
    causal: bool,
    before: int,
) -> Any:
    """[batch, heads, length, size]; rows behind the end of their sequence are 0."""
    if k.shape[1] != q.shape[1]:
        k, v = (jnp.repeat(t, q.shape[1] // t.shape[1], 1) for t in (k, v))
    row, column = jnp.arange(q.shape[2]), jnp.arange(k.shape[2])
    keep = (column < kv_lengths.reshape(-1, 1) + before)[:, None, None]
    keep = keep & (column <= row[:, None] + before) if causal else keep
    score = jnp.einsum("bhqd,bhkd->bhqk", q, k) * scale
    score = score if mask is None else score + mask.astype(score.dtype)
    there = (row < lengths.reshape(-1, 1))[:, None, :, None]
    weight = jax.nn.softmax(jnp.where(keep, score, -1e30).astype(jnp.float32), -1).astype(v.dtype)
    return jnp.where(there, jnp.einsum("bhqk,bhkd->bhqd", weight, v), 0)


def variable_length_memory_efficient_attention(
    query: Any,
    key: Any,
    value: Any,
    seq_lens: Any,
    kv_seq_lens: Any,
    mask: Any = None,
    scale: float | None = None,
    causal: bool = False,
    pre_cache_length: int = 0,
) -> Any:
    """Attention of sequences of several lengths in one batch, [batch, heads, length, size]; 0 behind their ends.

    Arguments:
        key, value: may have fewer heads: each then serves several heads of the query.
        seq_lens, kv_seq_lens: integers [batch, 1], how much of the query, and of key and value, counts.
        mask: added to the scores, [batch, 1, queries, keys].
        scale: 1 / sqrt(size) by default.
        causal: query i sees the keys up to i (and the first pre_cache_length).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> F = paddle.incubate.nn.functional
        >>> q, v, n = paddle.zeros([1, 1, 2, 1]), paddle.to_tensor([[[[1.0], [3.0]]]]), paddle.to_tensor([[1]])
        >>> F.variable_length_memory_efficient_attention(q, q, v, n, n).tolist()
        [[[[1.0], [0.0]]]]
    """
    factor = query.shape[-1] ** -0.5 if scale is None else float(scale)
    fn: Any = _of_lengths
    settings: dict[str, Any] = {"scale": factor, "causal": causal, "before": pre_cache_length}
    return fn(query, key, value, seq_lens, kv_seq_lens, mask, **settings)


@op(name="attention_step", amp="white")
def _step(x: Any, cache: Any, length: Any, bias: Any = None, mask: Any = None, /) -> Any:
    """One token [batch, 3 * heads * size] with a cache [2, batch, heads, longest, size] that holds `length` [batch]."""
    _, batch, heads, longest, size = cache.shape
    x = x.reshape(batch, 3, heads, size)
    q, k, v = jnp.moveaxis(x if bias is None else x + bias, 1, 0)
    at = length.reshape(-1).astype(jnp.int32)
    rows, all_heads = jnp.arange(batch)[:, None], jnp.arange(heads)
    kept = cache.at[:, rows, all_heads, at[:, None]].set(jnp.stack([k, v]).astype(cache.dtype))
    score = jnp.einsum("bhd,bhnd->bhn", q, kept[0]) / jnp.sqrt(jnp.asarray(size, q.dtype))
    if mask is not None:
        more = mask.reshape(batch, 1, -1).astype(score.dtype)
        score = score.at[:, :, : more.shape[-1]].add(more[:, :, :longest])
    keep = jnp.arange(longest) <= at[:, None, None]
    weight = jax.nn.softmax(jnp.where(keep, score, -1e30).astype(jnp.float32), -1).astype(kept.dtype)
    return jnp.einsum("bhn,bhnd->bhd", weight, kept[1]).reshape(batch, heads * size), kept


@op(name="length_of_mask", grad=False)
def _length(mask: Any, /) -> Any:
    return jnp.full((mask.shape[0],), mask.shape[-1] - 1, jnp.int32)


@no_effect(
    seq_len=Immaterial("the cache says how long it is"),
    rotary_emb_dims=NO_ROTARY,
    use_neox_rotary_style=NO_ROTARY,
    compute_dtype="it is computed in the dtype of x",
    quant_round_type=NO_QUANT,
    quant_max_bound=NO_QUANT,
    quant_min_bound=NO_QUANT,
)
def masked_multihead_attention(
    x: Any,
    cache_kv: Any = None,
    bias: Any = None,
    src_mask: Any = None,
    cum_offsets: Any = None,
    sequence_lengths: Any = None,
    rotary_tensor: Any = None,
    beam_cache_offset: Any = None,
    qkv_out_scale: Any = None,
    out_shift: Any = None,
    out_smooth: Any = None,
    seq_len: int = 1,
    rotary_emb_dims: int = 0,
    use_neox_rotary_style: bool = False,
    compute_dtype: str = "default",
    out_scale: float = -1,
    quant_round_type: int = 1,
    quant_max_bound: float = 127.0,
    quant_min_bound: float = -127.0,
) -> tuple[Any, Any]:
    """Attention of one new token to what a cache holds: the result [batch, heads * size] and the cache.

    Arguments:
        x: query, key and value of the token, [batch, 3 * heads * size].
        bias: [3, heads, size].
        cache_kv: [2, batch, heads, longest, size]; the new key and value are written there, in place.
        src_mask: added to the scores, [batch, 1, 1, tokens with the new one].
        sequence_lengths: how many tokens the cache holds, [batch, 1]; those of src_mask but one by default.

    Raises:
        ValueError: if neither sequence_lengths nor src_mask is given, or no cache.
        NotImplementedError: for quantization, beams and rotary embedding inside of it.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> F = paddle.incubate.nn.functional
        >>> cache, none = paddle.zeros([2, 1, 1, 4, 2]), paddle.to_tensor([[0]])
        >>> out, cache = F.masked_multihead_attention(paddle.arange(6.0).reshape([1, 6]), cache, sequence_lengths=none)
        >>> out.tolist(), cache[1, 0, 0, 0].tolist()
        ([[4.0, 5.0]], [4.0, 5.0])
    """
    absent = {"rotary_tensor": rotary_tensor, "beam_cache_offset": beam_cache_offset, "cum_offsets": cum_offsets}
    absent |= {"qkv_out_scale": qkv_out_scale, "out_shift": out_shift, "out_smooth": out_smooth}
    given = [k for k, v in absent.items() if v is not None] + ["out_scale"] * (out_scale > 0)
    if given:
        raise NotImplementedError(
            f"masked_multihead_attention: {given[0]} is not available; turn or scale the tensors before the call"
        )
    if cache_kv is None or (sequence_lengths is None and src_mask is None):
        raise ValueError("masked_multihead_attention: give cache_kv, and sequence_lengths or src_mask")
    length: Any = _length
    lengths = length(src_mask) if sequence_lengths is None else sequence_lengths
    fn: Any = _step
    out, kept = fn(x, cache_kv, lengths, bias, src_mask)
    return out, cache_kv._rebind(kept)
