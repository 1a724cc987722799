"""Slices made of the array that they are written into: XLA would read what it has just written."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.cpu_compiler import prepare

X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
W = np.random.default_rng(1).normal(size=(3, 3)).astype(np.float32)
SLICES = {
    "a scalar": (lambda h: jnp.broadcast_to(h[0, 0] * 0.5, (1, 3)), (0, 0)),
    "reversed": (lambda h: h[0:1, ::-1] * 0.5, (0, 0)),
    "transposed": (lambda h: h[0:3].T * 1.5, (0, 0)),
    "the rows above": (lambda h: h[:-1] * 2, (1, 0)),
    "a scalar among them": (lambda h: jnp.broadcast_to(h[1, 0], (3, 3)) * 2, (1, 0)),
    "of another array": (lambda h: jnp.full((1, 3), 2.0, h.dtype), (0, 0)),
}


@pytest.mark.parametrize("name", SLICES)
@pytest.mark.parametrize("looped", [False, True])
def test_a_slice_is_read_before_it_is_written(name, looped):
    made, start = SLICES[name]

    def once(h):
        h = jax.lax.dynamic_update_slice(h, made(h), start)[:, :, None]
        return (h * W[None]).sum(1), h

    def fn(h):
        return jax.lax.fori_loop(0, 2, lambda _, h: once(h)[1][:, :, 0], h) if looped else once(h)

    with jax.disable_jit():
        expected = fn(jnp.array(X))
    found = jax.jit(prepare(fn))(X)
    for f, e in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(f, e, rtol=1e-5)
    assert ("cond[" in str(jax.make_jaxpr(prepare(once))(X))) == (name != "of another array")


@pytest.mark.parametrize("kept", [True, False])
def test_static_functions_write_what_eager_code_writes(kept):
    weight = paddle.to_tensor(W, stop_gradient=False)

    def f(x):
        h = x * 1.0
        h[0] = x[0, 0] * 0.5
        h[1:] = h[:-1]
        return h @ weight, h.reshape([-1]) if kept else h.sum()

    x = paddle.to_tensor(X)
    for found, expected in zip(paddle.jit.to_static(f)(x), f(x), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5)
