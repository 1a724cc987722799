"""Recurrent layers: one op a layer and direction, over the whole sequence.

The input projection is one matrix product before the scan. LSTM and GRU have a gradient of their own: the forward scan
saves the gates, and the gradient of the recurrent weight is one product after the reverse scan instead of one a step.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import op
from .types import Array

__all__ = ["gru_layer", "lstm_layer", "rnn_layer"]


@op(amp="white", loops=True)
def lstm_layer(
    x: Array,
    h: Array,
    c: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None = None,
    b_hh: Array | None = None,
    lengths: Array | None = None,
    /,
    reverse: bool = False,
) -> Any:
    """Run an LSTM layer over `x` [time, batch, input]; gates in the order input, forget, cell, output.

    Arguments:
        h, c: float tensors [batch, hidden], the initial states.
        w_ih, w_hh: float tensors [4 * hidden, input] and [4 * hidden, hidden].
        lengths: integer tensor [batch], the length of each sequence; afterwards the state is kept and the output is 0.

    Returns:
        (outputs, h, c): outputs [time, batch, hidden], and the final states [batch, hidden].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, h, w = paddle.zeros([3, 1, 2]), paddle.zeros([1, 4]), paddle.zeros([16, 2])
        >>> [part.shape for part in paddle.nn.functional.lstm_layer(x, h, h, w, paddle.zeros([16, 4]))]
        [paddle.Size([3, 1, 4]), paddle.Size([1, 4]), paddle.Size([1, 4])]
    """
    xi = _project(x, w_ih, b_ih, b_hh)
    if lengths is not None:
        return _masked(_lstm_step(w_hh.T), xi, (h, c), lengths, reverse)
    return _lstm(xi, h, c, w_hh.T, reverse)


@op(amp="white", loops=True)
def gru_layer(
    x: Array,
    h: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None = None,
    b_hh: Array | None = None,
    lengths: Array | None = None,
    /,
    reverse: bool = False,
) -> Any:
    """Run a GRU layer over `x` [time, batch, input]; gates in the order reset, update, candidate.

    Returns:
        (outputs, h): outputs [time, batch, hidden], and the final state [batch, hidden].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, h = paddle.zeros([3, 1, 2]), paddle.zeros([1, 4])
        >>> [part.shape for part in paddle.nn.functional.gru_layer(x, h, paddle.zeros([12, 2]), paddle.zeros([12, 4]))]
        [paddle.Size([3, 1, 4]), paddle.Size([1, 4])]
    """
    xi = _project(x, w_ih, b_ih, None)
    if lengths is not None:
        return _masked(_gru_step(w_hh.T, b_hh), xi, (h,), lengths, reverse)
    return _gru(xi, h, w_hh.T, b_hh, reverse)


@op(amp="white", loops=True)
def rnn_layer(
    x: Array,
    h: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None = None,
    b_hh: Array | None = None,
    lengths: Array | None = None,
    /,
    activation: str = "tanh",
    reverse: bool = False,
) -> Any:
    """Run a simple recurrent layer over `x` [time, batch, input]: `h = act(W @ x + U @ h + b)`.

    Returns:
        (outputs, h): outputs [time, batch, hidden], and the final state [batch, hidden].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, h = paddle.zeros([3, 1, 2]), paddle.zeros([1, 4])
        >>> [part.shape for part in paddle.nn.functional.rnn_layer(x, h, paddle.zeros([4, 2]), paddle.zeros([4, 4]))]
        [paddle.Size([3, 1, 4]), paddle.Size([1, 4])]
    """
    act = jnp.tanh if activation == "tanh" else jax.nn.relu
    xi, u = _project(x, w_ih, b_ih, b_hh), w_hh.T

    def step(state: tuple[Array, ...], g: Array) -> tuple[Array, ...]:
        return (act(g + state[0] @ u),)

    return _scan(step, xi, (h,), lengths, reverse)


def _project(x: Array, w_ih: Array, b_ih: Array | None, b_hh: Array | None) -> Array:
    xi = x @ w_ih.T
    for b in (b_ih, b_hh):
        xi = xi if b is None else xi + b
    return xi


def _gru_step(u: Array, b_hh: Array | None) -> Any:
    def step(state: tuple[Array, ...], g: Array) -> tuple[Array, ...]:
        (h,) = state
        r = h @ u if b_hh is None else h @ u + b_hh
        (xr, xz, xc), (hr, hz, hc) = jnp.split(g, 3, -1), jnp.split(r, 3, -1)
        z = jax.nn.sigmoid(xz + hz)
        candidate = jnp.tanh(xc + jax.nn.sigmoid(xr + hr) * hc)
        return (z * h + (1 - z) * candidate,)

    return step


def _lstm_step(u: Array) -> Any:
    def step(state: tuple[Array, ...], g: Array) -> tuple[Array, ...]:
        h, c = state
        i, f, cell, o = jnp.split(g + h @ u, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(cell)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c

    return step


def _scan(step: Any, xi: Array, state: tuple[Array, ...], lengths: Array | None, reverse: bool) -> Any:
    if lengths is not None:
        return _masked(step, xi, state, lengths, reverse)

    def body(s: tuple[Array, ...], g: Array) -> Any:
        s = step(s, g)
        return s, s[0]

    last, outs = jax.lax.scan(body, state, xi, reverse=reverse)
    return (outs, *last)


def _masked(step: Any, xi: Array, state: tuple[Array, ...], lengths: Array, reverse: bool) -> Any:
    alive = jnp.arange(xi.shape[0])[:, None] < lengths[None, :]

    def body(s: tuple[Array, ...], given: tuple[Array, Array]) -> Any:
        g, on = given
        new = tuple([jnp.where(on[:, None], n, old) for n, old in zip(step(s, g), s, strict=True)])
        return new, jnp.where(on[:, None], new[0], 0)

    last, outs = jax.lax.scan(body, state, (xi, alive), reverse=reverse)
    return (outs, *last)


# -- the LSTM with its own gradient --------------------------------------------------------------------------------
def _lstm(xi: Array, h: Array, c: Array, u: Array, reverse: bool) -> tuple[Array, Array, Array]:
    @jax.custom_vjp
    def run(xi: Array, h: Array, c: Array, u: Array) -> tuple[Array, Array, Array]:
        return forward(xi, h, c, u)[0]

    def forward(xi: Array, h: Array, c: Array, u: Array) -> Any:
        def body(s: tuple[Array, Array], g: Array) -> Any:
            h, c = s
            i, f, cell, o = jnp.split(g + h @ u, 4, -1)
            i, f, cell, o = jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(cell), jax.nn.sigmoid(o)
            c = f * c + i * cell
            t = jnp.tanh(c)
            h = o * t
            return (h, c), (h, c, jnp.concatenate([i, f, cell, o], -1))

        (last_h, last_c), (hs, cs, gates) = jax.lax.scan(body, (h, c), xi, reverse=reverse)
        return (hs, last_h, last_c), (h, c, u, hs, cs, gates)

    def backward(saved: Any, cts: Any) -> Any:
        h0, c0, u, hs, cs, gates = saved
        d_hs, d_h, d_c = cts
        before_h, before_c = _shift(hs, h0, reverse), _shift(cs, c0, reverse)
        ut = u.T

        def body(s: tuple[Array, Array], given: Any) -> Any:
            d_h, d_c = s
            d_out, gate, c, c_before = given
            i, f, cell, o = jnp.split(gate, 4, -1)
            t = jnp.tanh(c)
            d_h = d_h + d_out
            d_c = d_c + d_h * o * (1 - t * t)
            d_gate = jnp.concatenate(
                [
                    d_c * cell * i * (1 - i),
                    d_c * c_before * f * (1 - f),
                    d_c * i * (1 - cell * cell),
                    d_h * t * o * (1 - o),
                ],
                -1,
            )
            return (d_gate @ ut, d_c * f), d_gate

        (d_h, d_c), d_gates = jax.lax.scan(body, (d_h, d_c), (d_hs, gates, cs, before_c), reverse=not reverse)
        d_u = jnp.einsum("tbh,tbg->hg", before_h, d_gates)
        return d_gates, d_h, d_c, d_u

    run.defvjp(forward, backward)
    return run(xi, h, c, u)


# -- the same of the GRU -------------------------------------------------------------------------------------------
@functools.partial(jax.custom_vjp, nondiff_argnums=(4,))
def _gru(xi: Array, h: Array, u: Array, b: Array, reverse: bool) -> tuple[Array, Array]:
    return _gru_forward(xi, h, u, b, reverse)[0]


def _gru_forward(xi: Array, h: Array, u: Array, b: Array, reverse: bool) -> Any:
    def body(h: Array, g: Array) -> Any:
        (xr, xz, xc), (hr, hz, hc) = jnp.split(g, 3, -1), jnp.split(h @ u if b is None else h @ u + b, 3, -1)
        r, z = jax.nn.sigmoid(xr + hr), jax.nn.sigmoid(xz + hz)
        c = jnp.tanh(xc + r * hc)
        h = z * h + (1 - z) * c
        return h, (h, jnp.concatenate([r, z, c, hc], -1))

    last, (hs, gates) = jax.lax.scan(body, h, xi, reverse=reverse)
    return (hs, last), (h, u, b, hs, gates)


def _gru_backward(reverse: bool, saved: Any, cts: Any) -> Any:
    h0, u, b, hs, gates = saved
    d_hs, d_last = cts
    before, ut = _shift(hs, h0, reverse), u.T

    def body(d_h: Array, given: Any) -> Any:
        d_out, gate, h = given
        r, z, c, hc = jnp.split(gate, 4, -1)
        d_h = d_h + d_out
        d_c = d_h * (1 - z) * (1 - c * c)
        d_r, d_z = d_c * hc * r * (1 - r), d_h * (h - c) * z * (1 - z)
        d_state = jnp.concatenate([d_r, d_z, d_c * r], -1)  # of what the state adds to the gates
        return d_h * z + d_state @ ut, (d_state, d_c)

    d_h, (d_states, d_cs) = jax.lax.scan(body, d_last, (d_hs, gates, before), reverse=not reverse)
    d_xi = jnp.concatenate([d_states[..., : 2 * h0.shape[-1]], d_cs], -1)
    d_u = jnp.einsum("tbh,tbg->hg", before, d_states)
    return d_xi, d_h, d_u, None if b is None else jnp.sum(d_states, axis=(0, 1)).astype(b.dtype)


_gru.defvjp(_gru_forward, _gru_backward)


def _shift(xs: Array, first: Array, reverse: bool) -> Array:
    """Return the value before each step."""
    return jnp.concatenate([xs[1:], first[None]] if reverse else [first[None], xs[:-1]])
