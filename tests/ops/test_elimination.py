"""Elimination in steps, as TPUs do it in float64, against JAX's form of it for CPUs."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from paddle_lite_py.core.config import exporting
from paddle_lite_py.ops import elimination

RNG = np.random.default_rng(3)
REAL = RNG.normal(size=(2, 3, 5, 5))
SINGULAR = np.array([[1.0, 2, 3], [2, 4, 6], [0, 1, 1]])
MATRICES = {"real": REAL, "zero on the diagonal": np.array([[0.0, 1], [2, 3]])}
FUNCTIONS = {
    "lu": elimination.lu,
    "solve": lambda x: elimination.solve(x, x[..., :2] + 1),
    "inverse": elimination.inverse,
    "det": elimination.det,
    "slogdet": elimination.slogdet,
    "exponential": elimination.exponential,
}


def close(got, want):
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
        assert a.dtype == b.dtype and a.shape == b.shape


def in_steps(function, *args):
    with exporting(("tpu",)):
        return jax.jit(function)(*args)


@pytest.mark.parametrize("matrices", MATRICES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_in_steps(name, matrices):
    close(in_steps(FUNCTIONS[name], MATRICES[matrices]), FUNCTIONS[name](MATRICES[matrices]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_gradients_in_steps(name):
    def total(x):
        leaves = [v for v in jax.tree.leaves(FUNCTIONS[name](x)) if v.dtype != np.int32]
        return sum((v * np.cos(np.arange(v.size)).reshape(v.shape)).sum() for v in leaves)

    x = REAL[0]
    close(in_steps(jax.grad(total), x), jax.grad(total)(x))


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 0), (1, 1)])
def test_of_any_shape(shape):
    x = RNG.normal(size=shape)
    close(in_steps(elimination.lu, x), elimination.lu(x))


def test_matrices_without_an_inverse():
    close(in_steps(elimination.det, SINGULAR), 0.0 * np.ones(()))
    sign, logarithm = in_steps(elimination.slogdet, SINGULAR)
    assert sign == 0 and logarithm == -np.inf


def test_large_exponents():
    x = 40 * REAL[0]
    got, want = in_steps(elimination.exponential, x), elimination.exponential(x)
    np.testing.assert_allclose(got / np.abs(want).max(), want / np.abs(want).max(), atol=1e-10)


def test_one_matrix_and_many_right_sides():
    x, y = REAL[0, 0], REAL[:, 0]
    close(in_steps(elimination.solve, x, y), elimination.solve(x, y))


def test_32_bits_stay_with_the_compiler_s_own():
    with exporting(("tpu",)):
        text = jax.jit(elimination.lu).trace(np.ones((3, 3), np.float32)).lower(lowering_platforms=("tpu",)).as_text()
    assert "while" not in text and "LuDecomposition" in text
