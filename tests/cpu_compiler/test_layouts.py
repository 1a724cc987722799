"""Transposes meet and cancel in a net of convolutions; every step means what it meant."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paddle_lite_py.cpu_compiler import prepare
from paddle_lite_py.cpu_compiler.layouts import propagate_layouts, transposes_are_free

X = np.random.RandomState(0).randn(2, 3, 6, 5).astype("float32")
KERNEL = np.random.RandomState(1).randn(4, 3, 3, 3).astype("float32")
SECOND = np.random.RandomState(2).randn(4, 4, 3, 3).astype("float32")


def conv(x, kernel):
    """A convolution with the channels second, as XLA has it: with the channels last."""
    x, kernel = x.transpose(0, 2, 3, 1), kernel.transpose(2, 3, 1, 0)
    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=numbers).transpose(0, 3, 1, 2)


def norm(x):
    moved = x - x.mean((0, 2, 3), keepdims=True)
    return moved * jax.lax.rsqrt((moved * moved).mean((0, 2, 3), keepdims=True) + 1e-5)


def pooled(x, kind=jax.lax.max, start=-jnp.inf):
    return jax.lax.reduce_window(x, start, kind, (1, 1, 2, 3), (1, 1, 2, 1), [(0, 0), (0, 0), (1, 0), (1, 1)])


AFTER = {
    "nothing": lambda y: y,
    "elementwise": lambda y: jnp.maximum(y * 2 + 1, 0) + X[:, :1],
    "numbers": lambda y: jnp.clip(jnp.where(y > 0, y, 0.5) ** 2, 0.0, y.max()),
    "norm": norm,
    "largest": lambda y: y.max((1, 3)) - y.min((1, 3)),
    "one sum": lambda y: y.sum(2),
    "product of sums": lambda y: jnp.prod(y, (0, 1)),
    "any": lambda y: (y > 1).any(1) | (y > 2).all(1),
    "largest of windows": pooled,
    "sums of windows": lambda y: pooled(y, jax.lax.add, 0.0),
    "pad": lambda y: jnp.pad(y, ((0, 0), (1, 2), (0, 1), (3, 0)), constant_values=2.0),
    "slice": lambda y: y[:, 1:3, ::2, 1:],
    "turned": lambda y: y[:, ::-1, :, ::-1],
    "concatenate": lambda y: jnp.concatenate([y, y * 2, jnp.ones((2, 1, 6, 5), "float32")], 1),
    "split": lambda y: jnp.add(*jnp.split(y, 2, 1)),
    "squeeze": lambda y: jnp.squeeze(y[:, 1:2], 1),
    "reshape": lambda y: y.reshape(2, 4, 30) + 1,
    "product": lambda y: jnp.einsum("nchw,oc->nohw", y, np.ones((5, 4), "float32")),
    "product of batches": lambda y: jnp.einsum("nchw,ncwk->nchk", y, y.transpose(0, 1, 3, 2)),
    "broadcast": lambda y: y + jnp.broadcast_to(y.mean((2, 3))[:, :, None, None], y.shape),
    "transpose of a broadcast": lambda y: y + jnp.broadcast_to(y[0, :, 0, 0], (2, 6, 5, 4)).transpose(0, 3, 1, 2),
    "two orders": lambda y: (y.transpose(1, 0, 2, 3) * X[0, 0, 0, 0] + y.transpose(1, 0, 2, 3)).sum(0),
    "of its own": lambda y: jnp.sort(y, 1),
    "within a loop": lambda y: jax.lax.fori_loop(0, 3, lambda i, z: z * 0.5 + i, y),
    "second": lambda y: conv(jax.nn.relu(norm(y)), SECOND) + y,
    "looked at": lambda y: (jax.debug.callback(lambda z: None, y), y)[1],
    "numbers of it": lambda y: y[0, 0, 0, 0] + y.argmax(1) + jnp.cumsum(y, 3).sum(),
    "integers of it": lambda y: jax.lax.bitcast_convert_type(y, np.int32) >> 3,
    "nothing of it": lambda y: jnp.zeros((2, 3)),
}


def transposes(function, *args):
    """How many arrays are turned; one with a single long axis needs no work."""
    eqns = jax.make_jaxpr(prepare(function))(*args).eqns
    return sum(e.primitive.name == "transpose" and sum(n > 1 for n in e.invars[0].aval.shape) > 1 for e in eqns)


@pytest.mark.parametrize("after", AFTER)
def test_every_step_means_what_it_meant(after):
    def function(x, kernel):
        return AFTER[after](conv(x, kernel))

    def grads(x, kernel):
        value, pull = jax.vjp(function, x, kernel)
        return value, pull(jnp.cos(value)) if jnp.issubdtype(value.dtype, np.floating) else ()

    found, expected = jax.jit(prepare(grads))(X, KERNEL), jax.jit(grads)(X, KERNEL)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4)


def test_between_two_convolutions_nothing_is_transposed():
    def two(x, kernel, second):
        return conv(jax.nn.relu(norm(conv(x, kernel))), second).sum()

    assert transposes(two, X, KERNEL, SECOND) == 3  # the pictures and both kernels
    assert transposes(lambda *a: jax.grad(two, (1, 2))(*a), X, KERNEL, SECOND) == 5  # and what is given back


def test_an_update_of_parameters_keeps_their_order():
    def step(x, kernel, moment):
        grad = jax.grad(lambda k: (conv(x, k) ** 2).sum())(kernel)
        moment = 0.9 * moment + grad
        return kernel - 0.1 * moment, moment

    assert transposes(step, X, KERNEL, KERNEL) == 3


def test_other_programs_stay_as_they_are():
    jaxpr = jax.make_jaxpr(lambda x: (x.T @ x).T)(X[0, 0]).jaxpr
    assert propagate_layouts(jaxpr) is jaxpr


def test_an_op_knows_whether_its_transposes_are_put_off():
    seen = []
    prepare(lambda x: (seen.append(transposes_are_free()), x)[1])(X)
    assert [*seen, transposes_are_free()] == [True, False]
