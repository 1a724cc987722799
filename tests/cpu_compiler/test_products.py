"""Products sum over one axis, where they summed over several that lie side by side."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paddle_lite_py.cpu_compiler import prepare
from paddle_lite_py.cpu_compiler.products import collapse_contractions

# Shapes of the operands, what is summed over in each, and that of what is left to XLA.
PRODUCTS = [
    ((2, 3, 4), (2, 3, 5), [0, 1], [0, 1], (1, 1)),  # the gradient of a weight that meets a batch of sequences
    ((2, 3, 4, 6), (2, 3, 4, 5), [0, 1, 2], [0, 1, 2], (1, 1)),  # of a convolution with one element
    ((6, 2, 3), (2, 3, 5, 7), [1, 2], [0, 1], (1, 1)),
    ((2, 3), (2, 3), [0, 1], [0, 1], (1, 1)),  # everything
    ((2, 3, 4), (4, 5), [2], [0], (1, 1)),  # one axis to begin with
    ((2, 3, 4), (2, 5, 4), [0, 2], [0, 2], (2, 2)),  # not side by side
    ((2, 3, 4), (3, 2, 5), [0, 1], [1, 0], (2, 2)),  # in another order
    ((2, 3, 4), (2, 5, 3), [0, 1], [0, 2], (2, 2)),  # side by side in one of them
]


def products(jaxpr):
    return [e for e in jaxpr.eqns if e.primitive.name == "dot_general"]


@pytest.mark.parametrize(("a", "b", "of_a", "of_b", "left"), PRODUCTS)
@pytest.mark.parametrize("settings", [{}, {"precision": "highest", "preferred_element_type": "float64"}])
def test_axes_side_by_side_are_one(a, b, of_a, of_b, left, settings):
    def product(x, y):
        return jax.lax.dot_general(x, y, ((of_a, of_b), ([], [])), **settings)

    x, y = (np.random.default_rng(0).normal(size=s).astype(np.float32) for s in (a, b))
    old = jax.make_jaxpr(product)(x, y)
    new = collapse_contractions(old.jaxpr)
    ((summed, batch), params) = products(new)[0].params["dimension_numbers"], products(new)[0].params
    assert (len(summed[0]), len(summed[1])) == left and batch == ((), ())
    assert {k: params[k] for k in params if k != "dimension_numbers"} == {
        k: v for k, v in products(old.jaxpr)[0].params.items() if k != "dimension_numbers"
    }
    (found,) = jax.core.eval_jaxpr(new, [], x, y)
    assert found.dtype == product(x, y).dtype
    np.testing.assert_allclose(found, product(x, y), rtol=1e-5)


def test_products_of_batches_are_left():
    def product(x, y):
        return jax.lax.dot_general(x, y, (((1, 2), (1, 2)), ((0,), (0,))))

    jaxpr = jax.make_jaxpr(product)(np.ones((2, 3, 4)), np.ones((2, 3, 4))).jaxpr
    assert collapse_contractions(jaxpr) is jaxpr


def test_bodies_are_looked_into_and_stay_the_same_where_nothing_changes():
    def looped(step, x):
        return jax.lax.scan(lambda c, a: (c + step(a), None), 0.0, x)[0] + jax.lax.cond(x.sum() > 0, step, step, x[0])

    def joined(a):
        return jnp.tensordot(a, a, 2)

    x = np.arange(24.0).reshape(2, 3, 4)
    plain = jax.make_jaxpr(lambda x: looped(jnp.sum, x))(x).jaxpr
    assert collapse_contractions(plain) is plain
    several = jax.make_jaxpr(lambda x: looped(joined, x))(x)
    new = collapse_contractions(several.jaxpr)
    assert "([0, 1], [0, 1])" in str(several) and "([0, 1], [0, 1])" not in str(new)
    assert jax.core.eval_jaxpr(new, several.consts, x) == jax.core.eval_jaxpr(several.jaxpr, several.consts, x)


def test_programs_are_compiled_so():
    def gradient(x, w, g):
        return jax.vjp(jnp.matmul, x, w)[1](g)

    arguments = np.ones((2, 3, 4)), np.ones((4, 5)), np.ones((2, 3, 5))
    several = "(([0, 1], [0, 1]), ([], []))"
    assert several in str(jax.make_jaxpr(gradient)(*arguments))
    assert several not in str(jax.make_jaxpr(prepare(gradient))(*arguments))
