"""Functions of arrays of XLA's in many shapes: NumPy computes what is not worth a compilation."""

from __future__ import annotations

import itertools

import jax
import numpy as np
import pytest

import paddle_lite_py as paddle
from helpers.decoders import compilations
from paddle_lite_py.core import small
from paddle_lite_py.core.config import compiler_options
from paddle_lite_py.core.switches import baseline_tier
from paddle_lite_py.host import varying
from paddle_lite_py.host.tier import tiered


def given(n, seed=0):
    """An array of XLA's, made without a compilation."""
    return jax.device_put(np.random.default_rng(seed).standard_normal((n, 3)).astype("float32"))


def test_no_kind_is_compiled_at_first():
    def scaled(x):
        return jax.numpy.tanh(x) * 2

    run, arrays = tiered(scaled, 1), [given(n) for n in range(1, 20)]
    with compilations() as count:
        found = [run(a) for a in arrays]
    assert count[0] == 0
    for a, b in zip(arrays, found, strict=True):
        np.testing.assert_allclose(b, np.tanh(a) * 2, rtol=1e-6)


def test_the_only_kind_is_compiled_once_it_is_worth_it_and_is_xlas_then(monkeypatch):
    monkeypatch.setattr(varying, "COMPILATION", 4 * varying.CALL)
    monkeypatch.setattr(varying, "COMPILED_STEP", 3 * varying.CALL)
    run, x = tiered(lambda x: jax.numpy.sin(x) - 1, 1), given(30)
    counts = []
    for _ in range(12):
        with compilations() as count:
            found = run(x)
        counts.append(count[0])
        assert isinstance(found, jax.Array)  # by whatever means: what follows goes the same way
        np.testing.assert_allclose(found, np.sin(x) - 1, rtol=1e-5)
    assert sum(counts) == 1 and sum(counts[7:10]) == 1  # two steps, which take ten calls to compile
    with monkeypatch.context() as patch:
        patch.setattr(varying.VaryingShapes, "__call__", None)
        run(x)  # straight to XLA


def test_who_wants_the_same_bits_waits_for_the_compiler():
    for calls in (0, 1):  # before the setting was changed
        run = tiered(lambda x: jax.numpy.sin(x) - 2, 1)
        with compilations() as count:
            for _ in range(calls):
                run(given(31))
        assert count[0] == 0
        with baseline_tier.off(), compilations() as count:
            run(given(31))
        assert count[0] == 1


def test_a_net_is_evaluated_without_a_compilation():
    net = paddle.nn.Sequential(paddle.nn.Conv2D(3, 40, 3), paddle.nn.BatchNorm2D(40), paddle.nn.Hardswish())
    net.eval()
    x = paddle.to_tensor(np.random.default_rng(0).standard_normal((2, 3, 90, 90)).astype("float32"))
    for kind in itertools.product((False, True), repeat=2):
        compiler_options(*kind)  # compiles something to see what XLA knows, once a process
    with paddle.no_grad(), compilations() as count:
        found = net(x)
    assert count[0] == 0
    wanted = paddle.jit.to_static(net)(x)
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), atol=1e-4)


def test_a_kind_that_comes_often_is_compiled(monkeypatch):
    monkeypatch.setattr(varying, "COMPILATION", 4 * varying.CALL)
    monkeypatch.setattr(varying, "COMPILED_STEP", 3 * varying.CALL)
    run = tiered(lambda x: jax.numpy.sin(x) + 1, 1)
    x = [given(n) for n in (30, 31, 32)]
    run(x[0]), run(x[1])
    counts = []
    for _ in range(12):  # two steps, which take ten calls to compile
        with compilations() as count:
            run(x[2])
        counts.append(count[0])
    assert sum(counts) == 1 and sum(counts[8:11]) == 1


def test_a_kind_that_comes_between_others_is_compiled_soon():
    run = tiered(lambda x: jax.numpy.cos(x) + 1, 1)
    for n in (33, 34, 35, 36):  # as the layers of a net do, and not the lengths of a loop
        run(given(n))
    with compilations() as count:
        for _ in range(60):
            run(given(35)), run(given(36))
    assert count[0] == 2
    with compilations() as count:
        for n in range(37, 40):
            for _ in range(60):
                run(given(n))
    assert count[0] == 0


def test_what_only_moves_elements_is_not_compiled_at_first():
    with compilations() as count:
        x = given(41)
        found = tiered(lambda x: x.reshape(3, 41).T[2:], 1)(x)
    assert count[0] == 0
    np.testing.assert_array_equal(found, np.asarray(x).reshape(3, 41).T[2:])
    assert not np.shares_memory(found, np.asarray(x))  # or it would keep XLA's array


def test_large_results_are_xlas():
    x = given(small.MOST)
    found = tiered(lambda x: x.T, 1)(x)
    assert isinstance(found, jax.Array)
    np.testing.assert_array_equal(found, np.asarray(x).T)


def test_what_numpy_cannot_do_is_compiled():
    run = tiered(lambda x: jax.numpy.linalg.qr(x)[1], 1)
    x = [given(n) for n in (50, 51, 52)]
    with compilations() as count:
        for a in x:
            run(a)
    assert count[0] >= 3


@pytest.mark.parametrize("shape", [((70, 256), (256, 3000)), ((1, 600), (600, 3000)), ((2, 90, 80), (2, 80, 90))])
def test_large_products_are_made_of_blocks(shape):
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal(s).astype("float32") for s in shape)
    with varying.sizes_vary():
        found = tiered(lambda x, y: x @ y, 2)(jax.device_put(x), jax.device_put(y))
    np.testing.assert_allclose(found, x @ y, rtol=1e-3, atol=1e-3)


def test_who_looks_for_nan_later_finds_it():
    run = tiered(lambda x: jax.numpy.log(abs(x)) - jax.numpy.log(x), 1)
    for n in range(50, 56):
        run(given(n) ** 2)
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    with pytest.raises(FloatingPointError):
        run(given(55))
    with pytest.raises(FloatingPointError):
        run(given(57))


def test_a_cache_that_grows_stays_where_it_is():
    run = tiered(lambda x, y: jax.numpy.concatenate([x, y], 0), 2)
    x, row = given(small.MOST), given(1)
    cache = run(x, row)
    for _ in range(3):
        cache = run(cache, row)
    assert isinstance(cache, np.ndarray) and cache.ctypes.data % 64 == 0 and cache.shape == (small.MOST + 4, 3)
    np.testing.assert_array_equal(cache, np.concatenate([x, *[row] * 4]))
    tensor = paddle.to_tensor([0.0])
    tensor._set_payload(cache)
    assert isinstance((tensor * 2)._payload, jax.Array)
    tensor.numpy()[0] = 0  # a copy
    np.testing.assert_array_equal(cache[0], x[0])


def test_what_is_refused_is_refused_in_every_shape():
    def floored(x):
        return jax.numpy.floor(x * 1j)

    run = tiered(floored, 1)
    for n in range(1, 6):  # the first are compiled, the others looked at for NumPy
        with pytest.raises(TypeError, match="floor does not accept dtype complex64"):
            run(given(n))


def test_functions_have_thousands_of_steps():
    def counted(x):
        for _ in range(4000):
            x = x + 1
        return x

    assert tiered(counted, 1)(given(2)).tolist() == (np.asarray(given(2)) + 4000).tolist()
