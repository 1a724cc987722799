"""Convolutions in float64 as sums of products against XLA's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paddle_lite_py.ops import conv_taps
from paddle_lite_py.ops.conv_gemm import axes_of

# The spatial sizes of x and the kernel, strides, pads, steps, groups.
CASES = [
    ((9,), (3,), (2,), ((1, 0),), (2,), 1),
    ((8, 7), (3, 2), (1, 1), ((1, 1), (0, 2)), (1, 1), 2),
    ((9, 7), (2, 3), (3, 2), ((0, 1), (2, 1)), (2, 1), 1),
    ((5, 4, 6), (2, 2, 3), (2, 1, 1), ((1, 0), (0, 0), (1, 1)), (1, 1, 1), 2),
]


def normal(*shape):
    return jnp.asarray(np.random.default_rng(len(shape)).standard_normal(shape))


def with_gradients(f, x, w):
    """The result of f, its gradients, and second ones."""

    def loss(x, w):
        return (f(x, w) ** 2).sum()

    def of_gradients(x, w):
        return sum((g**2).sum() for g in jax.grad(loss, (0, 1))(x, w))

    return jax.jit(lambda x, w: (f(x, w), jax.grad(loss, (0, 1))(x, w), jax.grad(of_gradients, (0, 1))(x, w)))(x, w)


def check(f, xla, x, w):
    found, wanted = (jax.tree.leaves(with_gradients(g, x, w)) for g in (f, xla))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11 * float(abs(b).max()))


@pytest.mark.parametrize(("space", "sizes", "strides", "pads", "steps", "groups"), CASES)
def test_values_and_gradients_are_those_of_xla(space, sizes, strides, pads, steps, groups):
    x, numbers = normal(2, 4, *space), axes_of(len(space), first=True)
    check(
        lambda x, w: conv_taps.convolve(x, w, strides, pads, steps, groups),
        lambda x, w: jax.lax.conv_general_dilated(
            x, w, strides, pads, rhs_dilation=steps, dimension_numbers=numbers, feature_group_count=groups
        ),
        x, normal(6, 4 // groups, *sizes),
    )  # fmt: skip

    def transposed(x, w):
        w = jnp.flip(w, range(2, w.ndim)).reshape(groups, 4 // groups, 6 // groups, *sizes)
        w = jnp.swapaxes(w, 1, 2).reshape(6, 4 // groups, *sizes)
        return jax.lax.conv_general_dilated(
            x, w, (1,) * len(space), pads, strides, steps, dimension_numbers=numbers, feature_group_count=groups
        )

    check(
        lambda x, w: conv_taps.convolve_transposed(x, w, strides, pads, steps, groups),
        transposed, x, normal(4, 6 // groups, *sizes),
    )  # fmt: skip


def test_it_pays_for_much_in_float64_alone():
    x, w = np.zeros((4, 16, 64, 64)), np.zeros((16, 16, 3, 3))
    assert conv_taps.pays(x, w, 1) and not conv_taps.pays(x[:1, :, :8], w, 1)
    assert not conv_taps.pays(x.astype("float32"), w.astype("float32"), 1)
