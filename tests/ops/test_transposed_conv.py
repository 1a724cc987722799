"""Transposed convolutions as gradients of convolutions, the form for GPUs: the same results and derivatives."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from paddle_lite_py.core.config import exporting
from paddle_lite_py.registry.op import REGISTRY

SHAPES = {1: ((2, 4, 5), 3), 2: ((2, 4, 5, 4), 3), 3: ((1, 4, 3, 2, 3), 2)}
CASES = [
    (2, {}),
    (2, {"stride": 2, "padding": 1, "output_padding": 1}),
    (2, {"stride": (3, 1), "padding": ((1, 0), (0, 1)), "groups": 2}),
    (2, {"dilation": 3, "output_padding": 2, "groups": 4}),  # more than a stride is left over
    (2, {"stride": 2, "padding": "SAME"}),
    (2, {"stride": 2, "padding": "VALID"}),
    (2, {"stride": 2, "output_size": (12, 10)}),
    (1, {"stride": 2, "padding": 2, "dilation": 2}),
    (3, {"stride": 2, "padding": 1}),
]


@pytest.mark.parametrize(
    ("n", "options", "last"), [*[(*c, False) for c in CASES], *[(*c, True) for c in CASES[:2]]], ids=str
)
def test_both_forms_agree(n, options, last):
    shape, k = SHAPES[n]
    rng, letters = np.random.default_rng(0), {1: "L", 2: "HW", 3: "DHW"}[n]
    x, w = rng.standard_normal(shape), rng.standard_normal((4, 4 // options.get("groups", 1), *[k] * n))
    x, bias = np.moveaxis(x, 1, -1) if last else x, rng.standard_normal(4)
    op = REGISTRY[f"conv{n}d_transpose"].fn

    def results(x, w, platform):
        def apply(x, w):
            with exporting((platform,)):
                return op(x, w, bias, **options, data_format=f"N{letters}C" if last else f"NC{letters}")

        def penalty(x, w):
            gradients = jax.grad(lambda *a: (apply(*a) ** 2).sum(), (0, 1))(x, w)
            return sum((g**2).sum() for g in gradients)

        return [apply(x, w), *jax.grad(penalty, (0, 1))(x, w)]

    both = jax.jit(lambda x, w: (results(x, w, "cuda"), results(x, w, "cpu")))
    for mine, usual in zip(*both(x, w), strict=True):
        np.testing.assert_allclose(mine, usual, rtol=1e-9)


def test_the_gradients_spread_nothing():
    """XLA has kernels for the gradient of a convolution, and none for one that spreads its input as well."""
    with exporting(("cuda",)):
        gradient = jax.grad(lambda w: REGISTRY["conv2d_transpose"].fn(np.ones((2, 4, 8, 8)), w, stride=2).sum())
        equations = jax.make_jaxpr(gradient)(np.ones((4, 2, 3, 3))).eqns
    found = [e.params["lhs_dilation"] for e in equations if e.primitive.name == "conv_general_dilated"]
    assert found and set(found) == {(1, 1)}
