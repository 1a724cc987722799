"""Rotary position embedding."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ....dispatch.define import op


@op(name="rotate_positions")
def _rotate(x: Any, sin: Any, cos: Any, /, neox: bool) -> Any:
    """x [batch, length, heads, size] turned by angles whose sine and cosine are [batch or 1, length, size]."""
    s, c = sin[:, :, None].astype(x.dtype), cos[:, :, None].astype(x.dtype)
    if neox:  # pairs are adjacent
        left, right = x[..., 0::2], x[..., 1::2]
        turned = jnp.stack([-right, left], -1).reshape(x.shape)
    else:  # pairs are half the size apart
        left, right = jnp.split(x, 2, -1)
        turned = jnp.concatenate([-right, left], -1)
    return x * c + turned * s


@op(name="rotary_angles", grad=False)
def _angles(positions: Any, /, size: int, base: float, neox: bool) -> Any:
    rate = 1.0 / base ** (jnp.arange(0, size, 2, dtype=jnp.float32) / size)
    angle = positions[..., None].astype(jnp.float32) * rate
    angle = jnp.repeat(angle, 2, -1) if neox else jnp.concatenate([angle, angle], -1)
    return jnp.sin(angle), jnp.cos(angle)


@op(name="rows_at", grad=False)
def _rows_at(table: Any, positions: Any, /) -> Any:
    return table.reshape(-1, table.shape[-1])[positions]


@op(name="positions_of", grad=False)
def _positions(*, length: int) -> Any:
    return jnp.arange(length)[None]


def fused_rotary_position_embedding(
    q: Any,
    k: Any = None,
    v: Any = None,
    sin: Any = None,
    cos: Any = None,
    position_ids: Any = None,
    use_neox_rotary_style: bool = True,
    time_major: bool = False,
    rotary_emb_base: float = 10000.0,
) -> tuple[Any, Any, Any]:
    """q, k and v [batch, length, heads, size] turned by angles that grow with the position; None stays None.

    Arguments:
        sin, cos: of the angles, [1, length, 1, size] or [length, size]; computed from rotary_emb_base by default.
        position_ids: positions [batch, length]; 0, 1, ... by default.
        use_neox_rotary_style: the pairs that are turned stand side by side; False: half the size apart.
        time_major: the tensors are [length, batch, heads, size].

    Source: Su et al., RoFormer, 2021.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> q, k, v = fused_rotary_position_embedding(paddle.ones([1, 1, 1, 2]))
        >>> q.tolist(), k
        ([[[[1.0, 1.0]]]], None)
    """
    if (sin is None) != (cos is None):
        raise ValueError("fused_rotary_position_embedding: give both of sin and cos, or none")
    size, length = q.shape[-1], q.shape[0 if time_major else 1]
    rows: Any = _rows_at
    turn: Any = _rotate
    if sin is None:
        places: Any = _positions(length=length) if position_ids is None else position_ids
        made: Any = _angles
        sin, cos = made(places, size=size, base=float(rotary_emb_base), neox=use_neox_rotary_style)
    elif position_ids is not None:
        sin, cos = rows(sin, position_ids), rows(cos, position_ids)
    else:
        sin, cos = sin.reshape([1, -1, size])[:, :length], cos.reshape([1, -1, size])[:, :length]

    def turned(x: Any) -> Any:
        if x is None:
            return None
        x = x.transpose([1, 0, 2, 3]) if time_major else x
        out = turn(x, sin, cos, neox=use_neox_rotary_style)
        return out.transpose([1, 0, 2, 3]) if time_major else out

    return turned(q), turned(k), turned(v)
