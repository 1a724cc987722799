"""Long chains of steps are computed once, not in each kernel that reads them."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paddle_lite_py.cpu_compiler import fusion, prepare
from paddle_lite_py.cpu_compiler.fusion import forks, materialize_shared_chains

X, W = np.linspace(-1, 1, 32, dtype="float32").reshape(4, 8), np.eye(8, dtype="float32")


def chain(x, n=fusion.LONG + 1):
    for _ in range(n):
        x = x // 2 + 1 if x.dtype.kind == "i" else x * 0.5 + 1
    return x


def norm(x):
    moved = x - x.mean(-1, keepdims=True)
    return moved * jax.lax.rsqrt((moved * moved).mean(-1, keepdims=True) + 1e-5)


def residual(x, w, depth=8):
    for _ in range(depth):
        x = norm(x + x @ w)
    return x


def short(x, w):
    y = chain(x, 2)
    return y @ w, y + 1


def one_reader(x, w):
    return chain(x) @ w


def two_products(x, w):
    """What is in memory for one product is there for the other one, too, without a step after it."""
    y = chain(x)
    return y @ w, w @ y.T


def product_and_more(x, w):
    y = chain(x)
    return y @ w, y + 1


def result_and_more(x, w):
    y = chain(x)
    return y, (y + 1) @ w


def dear(x, w):
    """XLA itself keeps an exponential that several kernels read."""
    y = jnp.exp(chain(x, 2))
    for _ in range(2):
        y = jnp.exp(y * 0.5)
    return y @ w, y + 1


def within_calls(x, w):
    y = jax.jit(jax.jit(chain))(x)
    return y @ w, jax.nn.relu(y) + 1


def of_integers(x, w):
    y = chain(x.astype("int32"))
    return y @ w.astype("int32"), y + 1


def parted(x, w):
    """Several results of one step, which go different ways."""
    y, z = jnp.split(chain(x), 2)
    return y @ w, z @ w


def of_a_number(x, w):
    y = chain(x[0, 0])
    return w * y @ w, y + 1


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (short, 0),
        (one_reader, 0),
        (two_products, 1),
        (product_and_more, 1),
        (result_and_more, 1),
        (dear, 0),
        (within_calls, 1),
        (of_integers, 0),
        (parted, 1),
        (of_a_number, 0),
    ],
)
def test_which_values_are_put_into_memory(function, count):
    closed = jax.make_jaxpr(prepare(function))(X, W)
    assert sum(e.primitive.name == "cond" for e in closed.eqns) == count
    for found, expected in zip(prepare(function)(X, W), function(X, W), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_chains_begin_anew_after_what_is_in_memory():
    """So the number of such values grows with the depth of a net, and not with its square."""
    grads = jax.grad(lambda x, w, n: residual(x, w, n).sum(), (0, 1))
    for n in (8, 32):
        assert 0 < len(forks(jax.make_jaxpr(functools.partial(grads, n=n))(X, W).jaxpr)) < n


def test_xla_compiles_a_deep_net_to_fewer_instructions():
    grads = jax.grad(lambda x, w: residual(x, w, 12).sum(), (0, 1))
    plain, once = (jax.jit(f).lower(X, W).compile() for f in (grads, prepare(grads)))
    assert once.as_text().count(" = ") < 0.6 * plain.as_text().count(" = ")
    for found, expected in zip(once(X, W), plain(X, W), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("first", [0.0, 2.0, 3.0, np.nan, np.inf])
def test_no_input_takes_the_branch(first):
    x = X.copy()
    x[0, 0] = first
    plain, once = jax.jit(product_and_more), jax.jit(prepare(product_and_more))
    for found, expected in zip(once(x, W), plain(x, W), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_program_without_inputs_stays_as_it_is():
    closed = jax.make_jaxpr(lambda: product_and_more(jnp.asarray(X), jnp.asarray(W)))()
    assert forks(closed.jaxpr)
    assert len(materialize_shared_chains(closed.jaxpr).eqns) == len(closed.eqns)


def test_structures_names_and_effects_stay():
    printed = []

    def function(x, state):
        with jax.named_scope("first"):
            jax.debug.callback(printed.append, 1, ordered=True)
        with jax.named_scope("second"):
            y = jax.jit(chain)(x)
        jax.debug.callback(printed.append, 2, ordered=True)
        return {"a": y, "b": (y @ state["w"], None, 3.0, state["w"], state["w"])}

    compiled = jax.jit(prepare(function))
    found = compiled(X, {"w": W})
    jax.effects_barrier()
    assert [int(p) for p in printed] == [1, 2]
    assert found["b"][1] is None
    np.testing.assert_allclose(found["b"][0], chain(X) @ W, rtol=1e-5)
    assert "second" in compiled.lower(X, {"w": W}).as_text(debug_info=True)
