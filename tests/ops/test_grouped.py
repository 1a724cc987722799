"""Convolutions in groups as matrix products are those of XLA, with gradients to the second order."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import paddle_lite_py as paddle
from paddle_lite_py.ops import grouped

F = paddle.nn.functional
RNG = np.random.default_rng(0)
# Sizes of space, weight, groups, strides, paddings, steps between the kernel's elements.
CASES: list[tuple[Any, ...]] = [
    ((9,), (4, 3, 3), 2, (1,), ((1, 1),), (1,)),
    ((9,), (6, 2, 4), 3, (2,), ((0, 3),), (2,)),
    ((6, 7), (4, 2, 3, 3), 2, (1, 1), ((1, 1), (1, 1)), (1, 1)),
    ((9, 8), (9, 2, 3, 2), 3, (2, 3), ((2, 0), (1, 4)), (2, 1)),
    ((5, 5), (4, 3, 1, 1), 2, (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((5, 5), (4, 3, 1, 1), 2, (2, 2), ((0, 0), (1, 0)), (1, 1)),
    ((9, 9), (4, 20, 3, 3), 2, (2, 1), ((1, 1), (0, 2)), (1, 2)),  # a group at a time
    ((4, 5, 6), (4, 2, 2, 3, 2), 2, (2, 1, 2), ((1, 0), (0, 2), (1, 1)), (1, 2, 3)),
]


def by_xla(x: Any, weight: Any, groups: int, strides: Any, pads: Any, steps: Any) -> Any:
    letters = "DHW"[3 - len(strides) :] if len(strides) > 1 else "W"
    numbers = (f"NC{letters}", f"OI{letters}", f"NC{letters}")
    return jax.lax.conv_general_dilated(
        x, weight, strides, pads, rhs_dilation=steps, dimension_numbers=numbers, feature_group_count=groups
    )


@pytest.mark.parametrize(("space", "weight", "groups", "strides", "pads", "steps"), CASES)
def test_values_and_gradients_are_those_of_xla(space, weight, groups, strides, pads, steps):
    x = jnp.asarray(RNG.standard_normal((2, weight[1] * groups, *space)))
    weight = jnp.asarray(RNG.standard_normal(weight))

    def both(convolve: Any) -> Any:
        def loss(x: Any, weight: Any) -> Any:
            return jnp.sum(convolve(x, weight, groups, strides, pads, steps) ** 3)

        def slope(x: Any, weight: Any) -> Any:
            return sum(jnp.sum(g**2) for g in jax.grad(loss, (0, 1))(x, weight))

        out = convolve(x, weight, groups, strides, pads, steps)
        return out, *jax.grad(loss, (0, 1))(x, weight), *jax.grad(slope, (0, 1))(x, weight)

    for ours, theirs in zip(jax.jit(lambda: both(grouped.convolve))(), jax.jit(lambda: both(by_xla))(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * float(jnp.abs(theirs).max()))


@pytest.mark.parametrize("channels", [8, 160])
def test_low_precision_is_summed_in_float32(channels: int):
    x, weight = jnp.full((1, 2 * channels, 1, 1), 0.1, jnp.bfloat16), jnp.full((2, channels, 1, 1), 0.1, jnp.bfloat16)
    out = grouped.convolve(x, weight, 2, (1, 1), ((0, 0), (0, 0)), (1, 1))
    exact = channels * float(x[0, 0, 0, 0]) ** 2
    assert out.dtype == jnp.bfloat16 and abs(float(out[0, 0, 0, 0]) - exact) < exact * 2**-8


@pytest.mark.parametrize(
    ("x", "weight", "groups", "dtype", "expected"),
    [
        ((2, 4, 8, 8), (4, 2, 3, 3), 2, "float32", True),
        ((2, 4, 16, 16), (4, 1, 9, 9), 4, "float32", True),  # too many terms for a sum of products
        ((2, 4, 8, 8), (4, 4, 3, 3), 1, "float32", False),  # a plain convolution
        ((2, 4, 8, 8), (4, 2, 3, 3), 2, "int32", False),
        ((2, 6, 8, 8), (4, 2, 3, 3), 3, "float32", False),  # an error
    ],
)
def test_what_it_is_used_for(x, weight, groups, dtype, expected):
    assert grouped.pays(jnp.zeros(x, dtype), jnp.zeros(weight, dtype), groups) == expected


@pytest.mark.parametrize("channels", [4, 40])
def test_an_empty_batch(channels: int):
    x, weight = paddle.zeros([0, channels, 5, 5]), paddle.ones([2, channels // 2, 3, 3])
    x.stop_gradient = weight.stop_gradient = False
    out = F.conv2d(x, weight, groups=2)
    out.sum().backward()
    assert out.shape == [0, 2, 3, 3] and x.grad.shape == x.shape and float(weight.grad.abs().max()) == 0


@pytest.mark.parametrize(("channels", "groups"), [(4, 2), (6, 6)])
def test_a_saved_layer_takes_any_batch(channels, groups, tmp_path):
    layer = paddle.nn.Conv2D(6, channels, 3, padding=1, groups=groups)
    layer.eval()
    paddle.jit.save(layer, str(tmp_path / "conv"), input_spec=[paddle.static.InputSpec([None, 6, 5, 5])])
    loaded = paddle.jit.load(str(tmp_path / "conv"))
    for n in (1, 3):
        x = paddle.randn([n, 6, 5, 5])
        np.testing.assert_allclose(loaded(x).numpy(), layer(x).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("platforms", "groups"), [(("cpu", "cuda"), {4}), (("cpu",), set()), (("cuda",), {4})])
def test_a_saved_program_has_the_form_of_each_platform(platforms, groups, tmp_path):
    net = paddle.nn.Conv2D(4, 8, 3, groups=4)
    net.eval()
    spec = [paddle.static.InputSpec([None, 4, 8, 8], "float32")]
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=spec, platforms=platforms)
    (file,) = tmp_path.glob("*.stablehlo")
    text = export.deserialize(bytearray(file.read_bytes())).mlir_module()
    assert {int(n) for n in re.findall(r"stablehlo.convolution.*feature_group_count = (\d+)", text)} == groups
