"""The baseline tier computes what XLA does, for arrays of any size, and owns what it gives."""

from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from paddle_lite_py.host import windows
from paddle_lite_py.host.baseline import baseline, drop_unread, of_steps
from paddle_lite_py.host.low_precision import ALL_DTYPES
from paddle_lite_py.host.steps import Steps
from paddle_lite_py.host.steps_text import from_told, told

RS = np.random.RandomState(0)


def floats(*shape, dtype=np.float32):
    return RS.randn(*shape).astype(dtype)


def on_baseline(fn, *args, seconds=100.0):
    closed, shapes = jax.make_jaxpr(fn, return_shape=True)(*args)
    return baseline(closed, shapes, seconds)


def as_kept(fn, *args):
    """The same from the steps as a file has them."""
    closed, shapes = jax.make_jaxpr(fn, return_shape=True)(*args)
    return of_steps(from_told(json.loads(json.dumps(told(Steps(closed, ALL_DTYPES), ALL_DTYPES)))), shapes, 100.0)


def check(fn, *args, rtol=1e-4, atol=1e-4):
    run = on_baseline(fn, *args)
    assert run is not None
    found, expected = run(*args), jax.jit(fn)(*args)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(as_kept(fn, *args)(*args)), strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert isinstance(a, jax.Array) and (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(np.asarray(a, np.float64), np.asarray(b, np.float64), rtol, atol)


def convolving(x, w, dims=("NCHW", "OIHW", "NCHW"), **settings):
    settings = {"window_strides": (1,) * (x.ndim - 2), "padding": "VALID", **settings}
    return lambda x, w: lax.conv_general_dilated(x, w, dimension_numbers=dims, **settings)


CONVOLUTIONS = {
    "plain": ((2, 3, 7, 6), (4, 3, 3, 2), {}),
    "of points": ((2, 3, 7, 6), (4, 3, 1, 1), {}),
    "strides and padding": ((2, 3, 7, 6), (4, 3, 3, 3), {"window_strides": (2, 3), "padding": ((1, 2), (0, 1))}),
    "negative padding": ((2, 3, 9, 8), (4, 3, 3, 3), {"padding": ((-1, 2), (0, -2))}),
    "dilated": ((1, 2, 9, 9), (3, 2, 3, 3), {"rhs_dilation": (2, 3)}),
    "transposed": ((2, 3, 4, 5), (4, 3, 3, 3), {"lhs_dilation": (2, 3), "padding": ((2, 2), (1, 2))}),
    "in groups": ((2, 6, 5, 5), (8, 3, 3, 3), {"feature_group_count": 2}),
    "by channel": ((2, 6, 5, 5), (6, 1, 3, 3), {"feature_group_count": 6, "padding": "SAME"}),
    "by channel, twice": ((2, 3, 5, 5), (6, 1, 3, 3), {"feature_group_count": 3}),
    "large windows": ((3, 2, 8, 8), (4, 2, 7, 7), {"padding": "SAME"}),
    "few large windows": ((3, 2, 8, 8), (4, 2, 7, 7), {}),
    "images in groups": ((4, 3, 5, 5), (6, 3, 3, 3), {"batch_group_count": 2}),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_and_their_gradients(name):
    x, w, settings = CONVOLUTIONS[name]
    x, w = floats(*x), floats(*w)
    conv = convolving(x, w, **settings)
    check(conv, x, w)
    if "batch_group_count" not in settings:  # whose gradients JAX writes as the kinds above
        check(jax.grad(lambda x, w: (conv(x, w) ** 2).sum(), (0, 1)), x, w, rtol=1e-3, atol=1e-2)


def test_convolutions_of_some_images_at_a_time(monkeypatch):
    monkeypatch.setattr(windows, "MOST_COLUMNS", 2 * 3 * 4 * 6)
    x, w = floats(5, 3, 4, 4), floats(4, 3, 2, 2)
    check(convolving(x, w), x, w)


@pytest.mark.parametrize(
    ("x", "w", "dims"),
    [((2, 9, 3), (3, 3, 4), ("NWC", "WIO", "NWC")), ((1, 2, 5, 4, 4), (3, 2, 2, 3, 2), ("NCDHW", "OIDHW", "NDHWC"))],
)
def test_convolutions_of_other_dimensions(x, w, dims):
    x, w = floats(*x), floats(*w)
    check(convolving(x, w, dims), x, w)


def pooled(fold, start, window=(1, 1, 3, 2), strides=(1, 1, 2, 2), padding=((0, 0), (0, 0), (1, 1), (0, 1))):
    return lambda x: lax.reduce_window(x, np.asarray(start, x.dtype), fold, window, strides, padding)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("fold", ["max", "min", "add"])
def test_pooling(fold, dtype):
    info = np.finfo(dtype) if dtype == np.float32 else np.iinfo(dtype)
    start = {"max": -np.inf if dtype == np.float32 else info.min, "min": np.inf if dtype == np.float32 else info.max}
    pool = pooled(getattr(lax, fold), start.get(fold, 0))
    x = (10 * floats(2, 3, 7, 6)).astype(dtype)
    check(pool, x)


@pytest.mark.parametrize("x", [floats(2, 3, 7, 6), np.zeros((1, 1, 6, 6), np.float32)])  # where all are equal too
def test_gradients_of_maxima(x):
    check(jax.grad(lambda x: (pooled(lax.max, -jnp.inf)(x) * jnp.arange(1.0, x.shape[1] + 1)[:, None, None]).sum()), x)


def test_loops_of_unknown_length():
    def collatz(x):
        state = (x, jnp.zeros_like(x))
        return lax.while_loop(lambda s: (s[0] != 1).any(), lambda s: (halved(s[0]), s[1] + (s[0] != 1)), state)

    def halved(n):
        return jnp.where(n == 1, 1, jnp.where(n % 2 == 0, n // 2, 3 * n + 1))

    check(collatz, np.arange(1, 30))


def test_large_products_and_scans():
    x, w = floats(8, 64, 64), floats(3, 64, 64) / 8
    check(lambda x, w: lax.scan(lambda c, w: (jnp.tanh(c @ w), c.sum()), x, w), x, w)
    check(lambda x: jnp.einsum("bij,bkj->bik", x, x), floats(4, 200, 200), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_low_precision_rounds_each_step(dtype):
    x, w = jnp.asarray(floats(40, 30), dtype), jnp.asarray(floats(30, 20), dtype)

    def f(x, w):
        y = jax.nn.gelu(x @ w) + 1
        return y, y.sum(1), jnp.sort(y, 1), jax.nn.softmax(y.astype(jnp.float32)).astype(dtype), (y > 1)[:3]

    check(f, x, w, rtol=0.02, atol=0.02)
    odd = jnp.asarray([np.nan, np.inf, -np.inf, -0.0, 1e4, 2.5], dtype)
    check(lambda x: (x.astype("int32"), x.astype("float32").astype(dtype)), odd, rtol=0, atol=0)
    check(jax.grad(lambda x, w: (jnp.tanh(x @ w) ** 2).sum(), (0, 1)), x, w, rtol=0.05, atol=0.1)


def test_random_bits_are_those_of_jax():
    def f(key):
        return jax.random.bits(jax.random.wrap_key_data(key), (3000,)), jax.random.uniform(jax.random.key(3), (40, 40))

    check(f, np.array([7, 9], np.uint32), rtol=0, atol=0)


def test_results_share_memory_with_nothing():
    kept = jnp.arange(6.0)

    def f(a, b):
        return a, a.reshape(3, 2), b + 1, kept, kept.reshape(2, 3)

    a, b = jnp.arange(6.0), np.ones(3, np.float32)
    run = on_baseline(f, a, b)
    given = [a, b, kept]
    for _ in range(2):
        found = run(a, b)
        pointers = [x.unsafe_buffer_pointer() for x in (*found, a, kept)]
        assert len(set(pointers)) == len(pointers)
        overwritten = jax.jit(lambda *xs: tuple(x * 0 - 1 for x in xs), donate_argnums=range(5))(*found)
        assert all((np.asarray(x) == -1).all() for x in overwritten)
    np.testing.assert_array_equal(np.asarray(given[0]), np.arange(6.0))
    np.testing.assert_array_equal(np.asarray(run(a, b)[3]), np.arange(6.0))


def test_what_takes_long_or_has_no_rule_is_left_to_the_compiler():
    x = floats(300, 300)
    assert on_baseline(lambda x: x @ x, x, seconds=1e-6) is None
    assert on_baseline(jnp.linalg.svd, x) is None
    assert on_baseline(lambda x: jax.debug.callback(lambda x: None, x) or x, x) is None
    assert on_baseline(lambda x: x.astype("float8_e4m3fn"), x) is None


def test_arrays_are_dropped_when_they_were_read_last():
    lines = ["v1 = a0 + k2", "v2 = v1 * v1", "v3, v4 = f5(v2)", "return [v4, v1]"]
    assert drop_unread(lines) == [*lines[:3], "del v3, v2", "return [v4, v1]"]
