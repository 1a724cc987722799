"""Products stand apart where XLA's library might make one of them again for each part of the next."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paddle_lite_py.cpu_compiler import prepare
from paddle_lite_py.cpu_compiler.chained import unfuse_dot_chains
from paddle_lite_py.cpu_compiler.flattening import flat

X, W, V = (np.random.default_rng(0).normal(size=s).astype(np.float32) for s in ((16, 4, 128), (128, 128), (128, 128)))
Y, FEW = X[:, 0], X[:, :, :4]


def pooled(x):
    return x.max(1)


def both(x, w, v):
    hidden = jax.nn.relu(x.mean(1) @ w)
    return hidden, hidden @ v


# What is computed, and how many of its products become kernels of their own.
CHAINS = {
    "a reduction, two products": (lambda x, w, v: jax.nn.relu(pooled(x) @ w) @ v, (X, W, V), 1),
    "three products": (lambda x, w, v: (pooled(x) @ w @ v) @ w, (X, W, V), 2),
    "a reduction after them": (lambda x, w, v: (jnp.tanh(x @ w + 1) @ v).sum(-1), (Y, W, V), 1),
    "one between them": (lambda x, w, v: jnp.max(x @ w, 1) @ v, (X, W, V), 1),
    "of another shape": (lambda x, w, v: (pooled(x).reshape(4, 4, 128) @ w).reshape(16, 128) @ v, (X, W, V), 1),
    "no reduction": (lambda x, w, v: jax.nn.relu(x @ w) @ v, (Y, W, V), 0),
    "one product": (lambda x, w, v: jax.nn.relu(pooled(x) @ w), (X, W, V), 0),
    "what is between is read elsewhere": (both, (X, W, V), 0),
    "small ones": (lambda x, w, v: jax.nn.relu(pooled(x) @ w) @ v, (FEW, W[:4, :4], V[:4, :4]), 0),
}


@pytest.mark.parametrize("name", CHAINS)
def test_products_beside_a_reduction_are_kernels_of_their_own(name):
    chain, arguments, count = CHAINS[name]
    closed = jax.make_jaxpr(chain)(*arguments)
    jaxpr = flat(closed.jaxpr)
    new = unfuse_dot_chains(jaxpr)
    assert [e.primitive.name for e in new.eqns].count("cond") == count
    assert (new is jaxpr) == (count == 0)
    found = jax.core.eval_jaxpr(new, closed.consts, *arguments)
    for a, b in zip(found, jax.tree.leaves(chain(*arguments)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6 * float(np.abs(b).max()))


def test_programs_are_compiled_so():
    chain, arguments, _ = CHAINS["a reduction, two products"]
    text = jax.jit(prepare(chain)).lower(*arguments).as_text()
    assert text.count("stablehlo.case") == 1


def test_a_program_without_an_input_to_look_at_stays():
    closed = jax.make_jaxpr(
        lambda: jax.nn.relu(jnp.ones((16, 4, 128)).max(1) @ jnp.ones((128, 128))) @ jnp.ones((128, 128))
    )()
    jaxpr = flat(closed.jaxpr)
    assert unfuse_dot_chains(jaxpr) is jaxpr
