"""Large arrays are sorted as XLA sorts them, ties, NaN and zeros of both signs included."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.ops import ordering


@pytest.fixture
def anything_is_large(monkeypatch):
    monkeypatch.setattr(ordering, "LARGE", 0)
    monkeypatch.setattr(ordering, "LONG", 0)


def awkward(shape: tuple[int, ...]) -> np.ndarray:
    """Few numbers, each of them often."""
    rng = np.random.default_rng(0)
    return rng.choice(np.array([-2, -0.0, 0.0, 1, 3, np.nan, -np.nan, np.inf, -np.inf], np.float32), shape)


@pytest.mark.parametrize("shape", [(1,), (9,), (3, 8), (4, 6, 5)])
@pytest.mark.parametrize("descending", [False, True])
def test_order_and_indices_are_those_of_xla(anything_is_large, shape, descending):
    x = awkward(shape)
    for axis in range(-1, x.ndim):
        found = jax.jit(lambda x, a=axis: (ordering.sort(x, a, descending), ordering.argsort(x, a, descending)))(x)
        np.testing.assert_array_equal(found[0], jnp.sort(x, axis=axis, descending=descending))
        np.testing.assert_array_equal(found[1], jnp.argsort(x, axis=axis, descending=descending, stable=True))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64", "float64", "bool"])
def test_other_dtypes(anything_is_large, dtype):
    x = np.random.default_rng(0).integers(0, 9, (5, 7)).astype(dtype) * (
        np.iinfo(dtype).max // 9 if "i" in dtype else 1
    )
    np.testing.assert_array_equal(jax.jit(lambda x: ordering.argsort(x, 1))(x), np.argsort(x, 1, stable=True))
    np.testing.assert_array_equal(jax.jit(lambda x: ordering.sort(x, 0))(x), np.sort(x, 0))


@pytest.mark.parametrize("shape", [(1,), (9,), (3, 8), (4, 6, 5)])
@pytest.mark.parametrize("least", [False, True])
def test_the_first_of_the_largest(anything_is_large, shape, least):
    for x in (awkward(shape), np.nan_to_num(awkward(shape))):
        for axis in (None, *range(-1, x.ndim)):
            found = jax.jit(lambda x, a=axis: ordering.argmax(x, a, least))(x)
            np.testing.assert_array_equal(found, (np.argmin if least else np.argmax)(x, axis))


def test_gradients(anything_is_large):
    x = np.random.default_rng(0).permutation(12).reshape(3, 4).astype(np.float32)

    def weighted(sort):
        return lambda x: (jnp.arange(12.0).reshape(3, 4) * sort(x)).sum()

    for descending in (False, True):
        found = jax.grad(weighted(lambda x, d=descending: ordering.sort(x, 1, d)))(x)
        expected = jax.grad(weighted(lambda x, d=descending: jnp.sort(x, axis=1, descending=d)))(x)
        np.testing.assert_array_equal(found, expected)


def test_what_users_call():
    x = np.random.default_rng(0).normal(size=(40, 1024)).astype(np.float32)
    x[1, 3], x[2] = np.nan, 0
    y = paddle.to_tensor(x)
    np.testing.assert_array_equal(paddle.sort(y).numpy(), np.sort(x))
    np.testing.assert_array_equal(paddle.argsort(y, descending=True).numpy()[0], np.argsort(-x[0], stable=True))
    np.testing.assert_array_equal(paddle.argmax(y, 1, keepdim=True).numpy()[:, 0], np.argmax(x, 1))
    np.testing.assert_array_equal(paddle.median(y, 1).numpy(), np.median(x, 1))
    np.testing.assert_array_equal(paddle.kthvalue(y, 5)[0].numpy()[0], np.sort(x[0])[4])
