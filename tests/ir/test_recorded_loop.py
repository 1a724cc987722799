"""Gradients of loops of unknown length: what an iteration records, and that both ways give what JAX's scan gives."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paddle_lite_py.ir import recorded_loop
from paddle_lite_py.ir.recorded_loop import record_loop

RNG = np.random.default_rng(0)
X, W, B = (RNG.normal(size=s).astype("float32") for s in ((3, 4), (4, 4), (4,)))
TURNS = 5

# What an iteration makes of x, from what is only read: weights w, a vector b and an integer k.
BODIES = {
    "a layer": lambda x, w, b, k: jnp.tanh(x @ w + b),
    "the same again": lambda x, w, b, k: x,
    "a gate": lambda x, w, b, k: jax.nn.sigmoid(x @ w) * x + (1 - jax.nn.sigmoid(b)) * jnp.tanh(x),
    "a product with itself": lambda x, w, b, k: 0.1 * x * x,
    "a constant": lambda x, w, b, k: x * 0.5 + np.float32(1),
    "a part that has no gradient": lambda x, w, b, k: jnp.where(x > 0, x, 0.3 * x) + jax.lax.stop_gradient(x) * k,
    "nothing of what is only read": lambda x, w, b, k: jnp.sin(x),
    "nothing of what it is given": lambda x, w, b, k: jnp.broadcast_to(jnp.cos(b), x.shape),
}


def loop(body, keeps, size=8):
    def going(carry, fixed):
        return carry[0] < TURNS

    def step(carry, fixed):
        i, x = carry
        return i + 1, body(x, *fixed)

    def run(x, w, b):
        (_, out), count = record_loop(going, step, step, size, keeps)((jnp.int32(0), x), (w, b, jnp.int32(2)))
        return jnp.sum(jnp.sin(out)), count

    return run


def scanned(body):
    def run(x, w, b):
        out = jax.lax.scan(lambda x, _: (body(x, w, b, jnp.int32(2)), None), x, None, length=TURNS)[0]
        return jnp.sum(jnp.sin(out))

    return run


def gradients(fn, **options):
    return jax.jit(jax.value_and_grad(fn, (0, 1, 2), **options))(X, W, B)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("keeps", [True, False])
def test_gradients_are_those_of_scan(name, keeps):
    (value, count), grads = gradients(loop(BODIES[name], keeps), has_aux=True)
    expected, wanted = gradients(scanned(BODIES[name]))
    assert count == TURNS
    for found, right in zip((value, *grads), (expected, *wanted), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-6)


def products(keeps):
    text = str(jax.make_jaxpr(jax.grad(lambda *args: loop(BODIES["a layer"], keeps)(*args)[0], (0, 1, 2)))(X, W, B))
    return text.count("dot_general")


def test_backward_computes_nothing_again():
    assert products(True) == 3 and products(False) == 4


def recorded(body):
    def step(carry, fixed):
        return (body(carry[0], *fixed),)

    fixed = (jnp.asarray(W), jnp.asarray(B), jnp.int32(2))
    specs = recorded_loop._KeptResiduals(step, (jnp.asarray(X),), fixed).specs
    return [(spec.shape, spec.dtype.name) for spec in specs]


@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        ("a layer", ["float32", "float32"]),  # x and tanh, but not 1 - tanh
        ("the same again", []),
        ("a product with itself", ["float32"]),
        ("a part that has no gradient", ["bool"]),
    ],
)
def test_what_one_step_gives_is_not_recorded(name, dtypes):
    assert recorded(BODIES[name]) == [((3, 4), dtype) for dtype in dtypes]


def test_of_a_body_that_needs_much_only_carries_are_recorded(monkeypatch):
    monkeypatch.setattr(recorded_loop, "MOST_BYTES", 0)
    monkeypatch.setattr(recorded_loop, "MOST_TIMES", 0)
    assert products(True) == 4


def test_more_iterations_than_there_is_room_for_are_counted():
    (_, count), _ = gradients(loop(BODIES["a layer"], True, size=2), has_aux=True)
    assert count == TURNS


def test_it_stands_in_other_loops_and_maps():
    fn = loop(BODIES["a gate"], True)
    both = jax.vmap(lambda x: jax.grad(lambda *args: fn(*args)[0])(x, W, B))(np.stack([X, 2 * X]))
    alone = [jax.grad(lambda *args: fn(*args)[0])(x, W, B) for x in (X, 2 * X)]
    np.testing.assert_allclose(both, np.stack(alone), rtol=1e-5, atol=1e-6)
