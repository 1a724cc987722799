"""Memos: what goes first, what is a key, what a counter says, and that streams of shapes fill no memory."""

from __future__ import annotations

import gc

import jax
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core import small
from paddle_lite_py.core.memo import IdentityMemo, Memo, caches, clear, memo, once
from paddle_lite_py.core.memory import resident
from paddle_lite_py.eager import gradients
from paddle_lite_py.registry.bound import MAX_INFERRED
from paddle_lite_py.registry.op import REGISTRY


def test_the_oldest_entry_goes_first():
    cache: Memo[int, int] = Memo("numbers", 3)
    for n in range(5):
        cache.put(n, n)
    assert list(cache) == [2, 3, 4] and cache.evicted == 2
    cache.put(2, 7)  # is the newest now
    cache.put(5, 5)
    assert cache == {4: 4, 2: 7, 5: 5} and cache.evicted == 3


def test_an_entry_that_is_used_stays():
    cache: Memo[str, int] = Memo("letters", 2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.recent("a") == 1 and cache.recent("z") is None
    cache.put("c", 3)
    assert list(cache) == ["a", "c"]


def test_each_bounded_cache_can_be_read():
    cache: Memo[int, int] = Memo("read in a test", 1)
    for n in range(3):
        cache.put(n, n)
    assert [(u.entries, u.limit, u.evicted) for u in caches() if u.name == "read in a test"] == [(1, 1, 2)]
    del cache
    assert not [u for u in caches() if u.name == "read in a test"]


def test_what_is_known_of_an_object_goes_with_it():
    known = IdentityMemo("of a test")
    first, second = np.ones(2), np.ones(2)
    known.put(first, "first")
    assert known.find(first) == "first" and known.find(second) is None
    del first
    assert not known


def test_an_array_that_something_is_known_of_is_read_only():
    known, array = IdentityMemo("of a test"), np.ones((2, 2))
    known.put(array[0], "a row")
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 2


def test_results_are_known_by_the_kind_of_arguments():
    calls = []

    @memo(16, context=False)
    def noted(*args):
        calls.append(args)
        return len(calls)

    given = [(1,), (True,), (1.0,), (0.0,), (-0.0,), (0,), (None,), ((1, 0.0),), ((True, 0.0),), ((1, -0.0),), ("1",)]
    assert [noted(*args) for args in given] == [noted(*args) for args in given] == [*range(1, len(given) + 1)]
    with paddle.no_grad():
        assert noted(1) == 1


def test_results_are_known_by_the_context():
    found = memo(16)(lambda: (paddle.is_grad_enabled(), paddle.get_default_dtype(), paddle.amp.is_autocast_enabled()))
    small_ones = memo(16)(lambda: small.is_small((3,), np.dtype("float32")))
    assert found() == (True, "float32", False) and small_ones()
    with paddle.no_grad(), paddle.amp.auto_cast(dtype="bfloat16"):
        assert found() == (False, "float32", True)
    paddle.set_default_dtype("float64")
    paddle.set_flags({"FLAGS_host_tier": False})
    assert found() == (True, "float64", False) and not small_ones()
    paddle.set_flags({"FLAGS_host_tier": True})
    paddle.set_default_dtype("float32")
    assert found() == (True, "float32", False) and small_ones()


def test_memos_are_cleared_and_what_a_process_has_once_stays():
    made = Memo("cleared in a test", 4), Memo("cleared by flags in a test", 4, tiered=True), IdentityMemo("of a test")
    array, thing = np.ones(2), once(object)
    first = thing()
    for known, key in zip(made, (1, 1, array), strict=True):
        known.put(key, "known")
    clear(tiered=True)
    assert [len(known) for known in made] == [1, 0, 1]
    clear()
    assert [len(known) for known in made] == [0, 0, 0] and thing() is first
    assert paddle.clip(paddle.to_tensor([3.0]), 0.0, 1.0).tolist() == [1.0]  # all is computed again


def test_five_thousand_shapes_leave_nothing_behind():
    """Tensors, and gradients that begin with ones, of ever new shapes."""

    def walk(shapes: range) -> None:
        for n in shapes:
            x = paddle.to_tensor(np.zeros(n, np.float32), stop_gradient=False)
            assert gradients._seed(x, None).shape == (n,)
        gc.collect()

    walk(range(1, 2000))  # more than any limit
    before, filled = resident(), sum(use.entries for use in caches())
    walk(range(2000, 7000))
    assert sum(use.entries for use in caches()) <= filled
    assert resident() - before < 64 << 20  # a compilation for each would take 7 GB


def test_shapes_of_results_are_bounded():
    tanh = REGISTRY["tanh"].bind(())
    for n in range(MAX_INFERRED + 50):
        tanh.infer((jax.ShapeDtypeStruct((n,), np.float32),))
    assert all(use.entries <= use.limit for use in caches())
    assert tanh._inferred is not None and tanh._inferred.evicted >= 50
