"""Elementwise ops of arrays of the host: one ufunc of NumPy's, whatever the shapes."""

from __future__ import annotations

import tracemalloc
import warnings

import jax
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core import small
from paddle_lite_py.host.generate import FunctionWriter
from paddle_lite_py.host.tier import tiered
from paddle_lite_py.registry.op import REGISTRY

SHAPES = [((4,), (4,)), ((), ()), ((3, 1), (4,)), ((1, 1), ()), ((0, 2), (1, 2)), ((2, 1, 3), (5, 1))]
OPS = sorted(name for name, op in REGISTRY.items() if op.broadcasts)


def given(shape, dtype="float32", scale=1.0):
    return np.asarray(np.random.default_rng(len(shape)).standard_normal(shape) * scale, dtype)


@pytest.mark.parametrize("name", OPS)
def test_an_op_that_broadcasts_is_traced_for_its_first_shapes_alone(name, monkeypatch):
    bound = REGISTRY[name].bind(())
    run, written = tiered(bound.fn, 2, broadcasts=True), []
    write = FunctionWriter.function
    monkeypatch.setattr(FunctionWriter, "function", lambda self: written.append(1) or write(self))
    for left, right in SHAPES:
        x, y = given(left), given(right)
        found, expected = run(x, y), jax.jit(bound.fn)(x, y)
        assert found.__class__ is np.ndarray and found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    assert len(written) == 1


def test_there_are_such_ops():
    assert {"add", "subtract", "multiply", "divide", "less_than", "equal"} <= {*OPS}


@pytest.mark.parametrize("settings", ["warn", "raise", "ignore"])
def test_what_overflows_is_infinite_without_a_warning(settings):
    x, run = np.full((3,), 3e38, "float32"), tiered(jax.numpy.add, 2, broadcasts=True)
    with np.errstate(all=settings), warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            assert np.isposinf(run(x, x)).all()


def test_another_dtype_is_another_ufunc():
    run = tiered(jax.numpy.add, 2, broadcasts=True)
    for dtype in ("float32", "bool", "float32", "int32", "float64", "bool"):
        x = np.array([1, 1, 0], dtype)
        with jax.enable_x64(True):
            assert run(x, x).dtype == dtype
        np.testing.assert_array_equal(run(x, x), x + x)


def test_results_that_are_not_small_are_xlas():
    x = paddle.ones([small.MOST // 16, 1])
    assert (x + x)._payload.__class__ is np.ndarray
    large = x + paddle.ones([1, 32])
    assert large._payload.__class__ is not np.ndarray and float(large.sum()) == small.MOST * 4


def test_nothing_large_is_made_to_find_out_that_it_is():
    x, y = paddle.ones([20_000, 1]), paddle.ones([1, 200])
    x + x, (x + y).numpy()
    tracemalloc.start()
    made = x + y
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made.shape == [20_000, 200] and peak < 1 << 20


def test_without_the_tier_all_is_xlas():
    x = paddle.ones([3])
    assert (x + x)._payload.__class__ is np.ndarray
    small.use_host_tier(False)
    try:
        assert (x + x)._payload.__class__ is not np.ndarray
    finally:
        small.use_host_tier(True)
    assert (x + x)._payload.__class__ is np.ndarray
