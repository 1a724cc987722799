"""Convolutions by depth, to a few channels and transposed ones are those of XLA, with gradients to the second order."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paddle_lite_py.core.config import portable
from paddle_lite_py.ops import conv3d_as_2d, conv_shift_add
from paddle_lite_py.ops.conv_gemm import direct
from paddle_lite_py.registry.op import REGISTRY

RNG = np.random.default_rng(0)
CASES: dict[str, tuple[Any, ...]] = {  # a function, shapes of x and weight, its settings
    "3-D": ("conv3d", (2, 3, 5, 6, 7), (4, 3, 3, 2, 3), {"padding": 1}),
    "3-D, all settings": (
        "conv3d",
        (1, 7, 8, 9, 2),
        (3, 2, 2, 3, 3),
        {"stride": (2, 1, 3), "padding": (1, 0, 2, 1, 1, 0), "dilation": (2, 2, 1), "data_format": "NDHWC"},
    ),
    "transposed, 3-D": ("conv3d_transpose", (2, 3, 3, 4, 3), (3, 2, 2, 3, 4), {"stride": 2, "padding": 1}),
    "transposed, 3-D, all settings": (
        "conv3d_transpose",
        (1, 2, 3, 3, 2),
        (2, 3, 3, 2, 2),
        {"stride": (3, 1, 2), "dilation": (1, 2, 1), "output_padding": (2, 0, 1), "data_format": "NDHWC"},
    ),
    "transposed, each channel alone": ("conv2d_transpose", (2, 3, 4, 5), (3, 1, 4, 4), {"stride": 2, "groups": 3}),
    "transposed, cut at the sides": (
        "conv2d_transpose",
        (2, 3, 4, 5),
        (3, 1, 2, 2),
        {"stride": 2, "groups": 3, "padding": 2},
    ),
    "transposed, in groups": ("conv1d_transpose", (2, 4, 6), (4, 3, 3), {"stride": 3, "groups": 2, "padding": 1}),
    "transposed, in groups, 3-D": ("conv3d_transpose", (1, 4, 2, 3, 3), (4, 1, 2, 2, 2), {"stride": 2, "groups": 2}),
}


def slopes(convolve: Any, *arrays: Any) -> Any:
    """The value, its gradients and those of their squares."""

    def loss(x: Any, weight: Any) -> Any:
        return jnp.sum(convolve(x, weight) ** 3)

    def slope(x: Any, weight: Any) -> Any:
        return sum(jnp.sum(g**2) for g in jax.grad(loss, (0, 1))(x, weight))

    return jax.jit(lambda *a: (convolve(*a), *jax.grad(loss, (0, 1))(*a), *jax.grad(slope, (0, 1))(*a)))(*arrays)


def compare(found: Any, expected: Any, tolerance: float) -> None:
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * float(jnp.abs(b).max()))


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="is for CPUs")
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_xla(name: str):
    function, x, weight, settings = CASES[name]
    arrays = RNG.standard_normal(x), RNG.standard_normal(weight)

    def convolve(x: Any, weight: Any) -> Any:
        return REGISTRY[function].fn(x, weight, **settings)

    found = slopes(convolve, *arrays)
    with portable():
        text = str(jax.make_jaxpr(convolve)(*arrays))
        expected = slopes(lambda *a: convolve(*a), *arrays)
    assert str(jax.make_jaxpr(lambda *a: convolve(*a))(*arrays)) != text
    compare(found, expected, 1e-9)


@pytest.mark.parametrize(
    ("x", "weight", "pads", "steps"),
    [
        ((2, 16, 9, 8), (3, 16, 3, 3), ((1, 1), (0, 2)), (1, 1)),
        ((1, 16, 9, 8), (1, 16, 2, 3), ((2, 0), (1, 1)), (2, 3)),
        ((2, 16, 9), (4, 16, 5), ((2, 2),), (1,)),
        ((1, 16, 4, 3, 5), (2, 16, 1, 3, 2), ((0, 0), (1, 1), (1, 0)), (1, 1, 1)),
    ],
)
def test_maps_of_few_outputs_are_that_convolution(x: Any, weight: Any, pads: Any, steps: Any):
    arrays = RNG.standard_normal(x), RNG.standard_normal(weight)
    found = slopes(lambda x, w: conv_shift_add.convolve(x, w, pads, steps), *arrays)
    compare(found, slopes(lambda x, w: direct(x, w, (1,) * len(steps), pads, steps), *arrays), 1e-9)


def test_low_precision_is_summed_in_float32():
    x, weight = jnp.full((1, 8, 4, 4, 4), 0.1, jnp.bfloat16), jnp.full((1, 8, 4, 4, 4), 0.1, jnp.bfloat16)
    out = conv3d_as_2d.convolve(x, weight, (1, 1, 1), ((0, 0),) * 3, (1, 1, 1))
    exact = 512 * float(x[0, 0, 0, 0, 0]) ** 2
    assert out.dtype == jnp.bfloat16 and abs(float(out[0, 0, 0, 0, 0]) - exact) < exact * 2**-8


@pytest.mark.parametrize(
    ("x", "weight", "groups", "expected"),
    [
        ((2, 4, 8, 8, 8), (4, 4, 3, 3, 3), 1, True),
        ((2, 4, 8, 8, 8), (4, 4, 1, 1, 1), 1, False),  # a product of matrices
        ((2, 4, 8, 8, 8), (4, 1, 3, 3, 3), 4, False),
        ((2, 4, 64, 8, 8), (4, 4, 32, 3, 3), 1, False),  # a sum of too many terms
        ((0, 4, 8, 8, 8), (4, 4, 3, 3, 3), 1, False),
        ((2, 4, 8, 8), (4, 4, 3, 3), 1, False),
    ],
)
def test_what_goes_by_depth(x: Any, weight: Any, groups: int, expected: bool):
    assert conv3d_as_2d.pays(jnp.zeros(x), jnp.zeros(weight), groups) == expected
    assert not conv3d_as_2d.pays(jnp.zeros(x, "int32"), jnp.zeros(weight, "int32"), groups)


@pytest.mark.parametrize(
    ("x", "weight", "strides", "expected"),
    [
        ((4, 64, 64, 64), (3, 64, 3, 3), (1, 1), True),
        ((4, 64, 64, 64), (3, 64, 3, 3), (2, 1), False),
        ((4, 64, 64, 64), (8, 64, 3, 3), (1, 1), False),  # to many channels
        ((4, 8, 64, 64), (3, 8, 3, 3), (1, 1), False),  # of few
        ((1, 64, 8, 8), (3, 64, 3, 3), (1, 1), False),  # little to multiply
        ((1, 64, 512, 512), (3, 64, 5, 5), (1, 1), False),  # maps of too many bytes
    ],
)
def test_what_goes_to_few_outputs(x: Any, weight: Any, strides: Any, expected: bool):
    arrays = jax.ShapeDtypeStruct(x, "float32"), jax.ShapeDtypeStruct(weight, "float32")
    assert conv_shift_add.pays(*arrays, strides, 1) == expected
    assert not conv_shift_add.pays(*(jax.ShapeDtypeStruct(a.shape, "float64") for a in arrays), strides, 1)
