"""The bits that are drawn with operations of their own are those that JAX draws."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from paddle_lite_py.ops import threefry


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (7, 3), (2, 1, 5, 4)])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.9, 1 - 1e-12])
def test_draws_are_those_of_jax(shape: tuple[int, ...], p: float):
    for seed in range(3):
        key = jax.random.fold_in(jax.random.key(seed), 5)
        expected = jax.random.bernoulli(key, p, shape)
        np.testing.assert_array_equal(jax.jit(lambda k: threefry.bernoulli(k, p, shape))(key), expected)


def test_other_generators_are_left_to_jax():
    key = jax.random.key(0, impl="rbg")
    np.testing.assert_array_equal(threefry.bernoulli(key, 0.5, (50,)), jax.random.bernoulli(key, 0.5, (50,)))


def test_each_element_has_a_draw_of_its_own():
    found = threefry.bernoulli(jax.random.key(1), 0.3, (200, 300))
    assert abs(float(found.mean()) - 0.3) < 0.01
    assert abs(float((found[1:] & found[:-1]).mean()) - 0.09) < 0.01
