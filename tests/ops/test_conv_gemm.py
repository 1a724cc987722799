"""A convolution as a matrix product gives what XLA's convolution gives, with its gradients."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paddle_lite_py.ops import conv_gemm

CASES = [
    ((2, 3, 7), (4, 3, 3), (1,), ((1, 1),)),
    ((2, 3, 7), (4, 3, 2), (2,), ((0, 1),)),
    ((2, 3, 6, 5), (4, 3, 3, 2), (1, 1), ((1, 1), (0, 0))),
    ((1, 2, 7, 6), (3, 2, 3, 3), (2, 3), ((0, 2), (1, 0))),
    ((2, 2, 3, 4, 5), (2, 2, 2, 3, 3), (1, 2, 1), ((0, 0), (1, 1), (1, 2))),
    ((2, 5, 4, 4), (3, 5, 1, 1), (1, 1), ((0, 0), (0, 0))),
    ((2, 5, 5, 5), (3, 5, 1, 1), (2, 2), ((0, 0), (0, 0))),
]


def arrays(*shapes):
    rng = np.random.default_rng(0)
    return [jnp.asarray(rng.standard_normal(s), jnp.float32) for s in shapes]


@pytest.mark.parametrize(("x", "weight", "strides", "pads"), CASES)
def test_value_and_gradients(x, weight, strides, pads):
    x, weight = arrays(x, weight)

    def loss(form):
        return lambda x, w: (jnp.sin(form(x, w, strides, pads)) ** 2).sum()

    def slope(form):
        return lambda x, w: sum((g**2).sum() for g in jax.grad(loss(form), (0, 1))(x, w))

    for measure in (loss, slope):
        found = jax.jit(jax.value_and_grad(measure(conv_gemm.convolve), (0, 1)))(x, weight)
        expected = jax.jit(jax.value_and_grad(measure(conv_gemm.direct), (0, 1)))(x, weight)
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5 * float(jnp.abs(b).max()))


@pytest.mark.parametrize(
    ("x", "weight", "pays"),
    [
        ((64, 1, 28, 28), (6, 1, 5, 5), True),  # few channels
        ((32, 512, 2, 2), (512, 512, 3, 3), True),  # few windows
        ((1, 6, 14, 14), (16, 6, 5, 5), False),  # few windows and little to multiply
        ((16, 64, 32, 32), (64, 64, 3, 3), False),
        ((16, 64, 32, 32), (64, 64, 1, 1), True),  # a product already
        ((1, 3, 2, 2), (4, 3, 5, 5), False),  # nothing to convolve
    ],
)
def test_when_it_pays(x, weight, pays):
    pads = ((0, 0), (0, 0)) if weight[-1] != 3 else ((1, 1), (1, 1))
    assert (
        conv_gemm.pays(jax.ShapeDtypeStruct(x, "float32"), jax.ShapeDtypeStruct(weight, "float32"), (1, 1), pads)
        is pays
    )
