"""Depthwise convolutions as sums of shifted products are those of XLA, with gradients to the second order."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.ops import depthwise

RNG = np.random.default_rng(0)
# Sizes of space and of the kernel, strides, paddings, steps between the kernel's elements, kernels a channel.
CASES: list[tuple[Any, ...]] = [
    ((9,), (3,), (1,), ((1, 1),), (1,), 1),
    ((9,), (4,), (2,), ((0, 3),), (2,), 2),
    ((6, 7), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ((9, 8), (3, 2), (2, 3), ((2, 0), (1, 4)), (2, 1), 2),
    ((4, 5, 6), (2, 3, 2), (2, 1, 2), ((1, 0), (0, 2), (1, 1)), (1, 2, 3), 1),
    ((24, 14), (12, 12), (2, 1), ((3, 1), (2, 2)), (2, 1), 1),  # rows in a loop
    ((140,), (130,), (1,), ((2, 2),), (1,), 2),
]


def by_xla(x: Any, weight: Any, strides: Any, pads: Any, steps: Any) -> Any:
    letters = "DHW"[3 - len(strides) :] if len(strides) > 1 else "W"
    numbers = (f"NC{letters}", f"OI{letters}", f"NC{letters}")
    return jax.lax.conv_general_dilated(
        x, weight, strides, pads, rhs_dilation=steps, dimension_numbers=numbers, feature_group_count=x.shape[1]
    )


@pytest.mark.parametrize(("space", "sizes", "strides", "pads", "steps", "copies"), CASES)
def test_values_and_gradients_are_those_of_xla(space, sizes, strides, pads, steps, copies):
    x = jnp.asarray(RNG.standard_normal((2, 3, *space)))
    weight = jnp.asarray(RNG.standard_normal((3 * copies, 1, *sizes)))

    def both(convolve: Any) -> Any:
        def loss(x: Any, weight: Any) -> Any:
            return jnp.sum(convolve(x, weight, strides, pads, steps) ** 3)

        def slope(x: Any, weight: Any) -> Any:
            return sum(jnp.sum(g**2) for g in jax.grad(loss, (0, 1))(x, weight))

        out = convolve(x, weight, strides, pads, steps)
        return out, *jax.grad(loss, (0, 1))(x, weight), *jax.grad(slope, (0, 1))(x, weight)

    for ours, theirs in zip(jax.jit(lambda: both(depthwise.convolve))(), jax.jit(lambda: both(by_xla))(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * float(jnp.abs(theirs).max()))


def test_low_precision_is_summed_in_float32():
    x, weight = jnp.full((1, 2, 8, 8), 0.1, jnp.bfloat16), jnp.full((2, 1, 8, 8), 0.1, jnp.bfloat16)
    out = depthwise.convolve(x, weight, (1, 1), ((0, 0), (0, 0)), (1, 1))
    exact = 64 * float(x[0, 0, 0, 0]) ** 2
    assert out.dtype == jnp.bfloat16 and abs(float(out[0, 0, 0, 0]) - exact) < exact * 2**-8


@pytest.mark.parametrize(
    ("x", "weight", "groups", "expected"),
    [
        ((2, 4, 8, 8), (4, 1, 3, 3), 4, True),
        ((2, 4, 8, 8), (8, 1, 3, 3), 4, True),
        ((2, 4, 8, 8), (4, 2, 3, 3), 2, False),  # groups of several channels
        ((2, 1, 8, 8), (4, 1, 3, 3), 1, False),  # a plain convolution
        ((2, 4, 16, 16), (4, 1, 12, 12), 4, True),  # in a loop over rows
        ((2, 4, 9, 199), (4, 1, 2, 129), 4, False),  # a row of too many terms
        ((2, 4, 8, 8), (6, 1, 3, 3), 4, False),  # an error
    ],
)
def test_what_it_is_used_for(x, weight, groups, expected):
    assert depthwise.pays(jnp.zeros(x), jnp.zeros(weight), groups) == expected


@pytest.mark.parametrize(("x", "weight"), [("float64", "float32"), ("int32", "int32")])
def test_which_dtypes_are_left_to_xla(x: str, weight: str):
    assert not depthwise.pays(jnp.zeros((1, 2, 4, 4), x), jnp.zeros((2, 1, 3, 3), weight), 2)


def test_different_dtypes_are_an_error():
    with pytest.raises(TypeError, match="expected one dtype"):
        paddle.nn.functional.conv2d(paddle.ones([1, 2, 4, 4], "float64"), paddle.ones([2, 1, 3, 3]), groups=2)


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="is for CPUs")
def test_the_sum_is_made_once_however_many_read_it():
    x, weight = jnp.ones((2, 3, 8, 8)), jnp.ones((3, 1, 7, 7))

    def readers(x: Any, weight: Any) -> Any:
        y = depthwise.convolve(x, weight, (1, 1), ((3, 3), (3, 3)), (1, 1))
        last = jnp.moveaxis(y, 1, -1).reshape(-1, 3)
        return last @ jnp.ones((3, 2)), jnp.tanh(last - last.mean(1, keepdims=True)), y * 2

    text = jax.jit(readers).lower(x, weight).compile().as_text()
    assert 49 <= text.count(" multiply(") < 2 * 49


def test_an_empty_batch_and_what_is_not_finite():
    x = paddle.zeros([0, 3, 5, 5])
    x.stop_gradient = False
    out = paddle.nn.functional.conv2d(x, paddle.ones([3, 1, 3, 3]), groups=3)
    out.sum().backward()
    assert out.shape == [0, 3, 3, 3] and x.grad.shape == x.shape
    full = paddle.nn.functional.conv2d(paddle.ones([1, 2, 3, 3]), paddle.full([2, 1, 1, 1], float("inf")), groups=2)
    assert bool((full == float("inf")).all())


def test_mapped_over_kernels():
    x, weights = jnp.asarray(RNG.standard_normal((1, 2, 5, 5))), jnp.asarray(RNG.standard_normal((4, 2, 1, 3, 3)))
    options: Any = ((1, 1), ((1, 1), (1, 1)), (1, 1))
    found = jax.vmap(lambda w: depthwise.convolve(x, w, *options))(weights)
    np.testing.assert_allclose(found, jnp.stack([by_xla(x, w, *options) for w in weights]), rtol=1e-9, atol=1e-12)
