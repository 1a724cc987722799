"""Gradients of maxima and minima: what is compared with its own extremum is one array in memory."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.cpu_compiler import compared, prepare

X = np.linspace(-1, 1, 24, dtype="float32").reshape(2, 3, 4)


def gradient(f):
    return jax.grad(lambda x: f(x).sum())


MADE = {
    "a maximum": lambda x: jnp.max(x * 2 + 1, 1),
    "a minimum": lambda x: jnp.min(jnp.abs(x), (0, 2), keepdims=True),
    "of another view": lambda x: jnp.max((x * x).transpose(2, 0, 1).reshape(4, 6), 1),
    "a largest norm": lambda x: jnp.linalg.norm((x + 1).reshape(6, 4), np.inf, axis=1),
    "one in a loop": lambda x: jax.lax.scan(
        lambda c, _: (c * jnp.max(jnp.sin(c), 1, keepdims=True), None), x, length=2
    )[0],
}
OTHERS = {
    "of an argument": lambda x: jnp.max(x, 1),
    "of a product": lambda x: jnp.max(x @ jnp.ones((4, 4), "float32"), 1),
    "no maximum": lambda x: jnp.where(x * 2 == 1, x, 0),
    "of something else": lambda x: jnp.where(x * 2 == jax.lax.stop_gradient(jnp.max(X * 3, 1, keepdims=True)), x, 0),
}


def conditions(fn):
    """How often something is put into memory."""
    return str(jax.make_jaxpr(prepare(fn))(X)).count("cond[")


@pytest.mark.parametrize("name", MADE)
def test_it_is_put_into_memory(name, monkeypatch):
    fn = gradient(MADE[name])
    assert conditions(fn) > 0
    np.testing.assert_allclose(jax.jit(prepare(fn))(X), jax.jit(fn)(X), rtol=1e-5, atol=1e-6)
    monkeypatch.setattr(compared, "compared", lambda jaxpr: set())
    assert conditions(fn) == 0


@pytest.mark.parametrize("name", OTHERS)
def test_the_rest_stays_as_it_is(name):
    assert conditions(gradient(OTHERS[name])) == 0


def test_both_read_the_same_array():
    jaxpr = jax.make_jaxpr(prepare(gradient(MADE["a maximum"])))(X).jaxpr
    made = {v: e for e in jaxpr.eqns for v in e.outvars}
    (largest,) = [e.invars[0] for e in jaxpr.eqns if e.primitive.name == "reduce_max"]
    (equal,) = [e for e in jaxpr.eqns if e.primitive.name == "eq" and e.invars[0].aval.shape == X.shape]
    assert made[largest].primitive.name == "cond" and largest in equal.invars


@pytest.mark.parametrize("seed", range(4))
def test_what_is_normalized_and_then_compared_has_a_gradient(seed):
    """As in PaddleSeg's PPLiteSeg, whose gradients were NaN in some of its programs."""
    paddle.seed(seed)
    conv, norm, mix = (
        paddle.nn.Conv2D(8, 32, 3, padding=1),
        paddle.nn.BatchNorm2D(32),
        paddle.nn.Conv2D(2, 1, 3, padding=1),
    )

    @paddle.jit.to_static
    def loss(x):
        y = paddle.nn.functional.relu(norm(conv(x)))
        both = paddle.concat([y.mean(1, keepdim=True), y.max(1, keepdim=True)], 1)
        return (y * paddle.nn.functional.sigmoid(mix(both))).mean()

    loss(paddle.randn([4, 8, 16, 16]) * 100).backward()
    parameters = [conv.weight, norm.weight, norm.bias, mix.weight]
    assert all(np.isfinite(p.grad.numpy()).all() for p in parameters)
    assert np.abs(mix.weight.grad.numpy()).max() > 0
