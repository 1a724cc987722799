"""Adaptive pooling in the form that GPUs have of it, against that of CPUs."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from paddle_lite_py.core.config import exporting
from paddle_lite_py.ops.adaptive_pooling import TILE, _mean_along


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 13, TILE + 1])
@pytest.mark.parametrize("axis", [1, 2])
def test_means_of_windows_on_gpus(k: int, axis: int):
    x = np.random.default_rng(1).normal(size=(2, 13, 25))

    def run(x):
        return _mean_along(x, axis, k)

    with exporting(("cuda",)):
        got, slope = jax.jit(run)(x), jax.grad(lambda x: (jax.jit(run)(x) ** 2).sum())(x)
    np.testing.assert_allclose(got, run(x), rtol=1e-12)
    np.testing.assert_allclose(slope, jax.grad(lambda x: (run(x) ** 2).sum())(x), rtol=1e-12, atol=1e-14)
