"""Counts of references are measured: what passing an object on adds to them differs between versions of Python."""

from __future__ import annotations

import re
import sys
import types

import numpy as np
import pytest

import house
import paddle_lite_py as paddle
from paddle_lite_py.core import references
from paddle_lite_py.core.donation import donatable
from paddle_lite_py.core.references import is_shared, measure


def verdicts() -> list[bool]:
    alone, held = [], []
    kept = [held]
    found = [is_shared(alone, 0), is_shared(held, 0), is_shared(held, 1)]
    other = held
    return [*found, is_shared(held, 1), other is kept[0]]


RIGHT = [False, True, False, True, True]


def test_what_a_variable_and_so_many_holders_refer_to_is_not_shared():
    for _ in range(50):  # the interpreter adapts code that runs often
        assert verdicts() == RIGHT


@pytest.fixture
def measured_again(monkeypatch):
    """Have counts be what a function makes of them, and put all back."""

    def change(count):
        counted = types.SimpleNamespace(getrefcount=lambda obj: count(sys.getrefcount(obj)))
        monkeypatch.setattr(references, "sys", counted)
        return measure()

    yield change
    monkeypatch.undo()
    measure()


@pytest.mark.parametrize("more", [-1, 0, 3])
def test_what_passing_an_object_on_adds_is_measured(measured_again, more):
    measured_again(lambda n: n + more)
    assert verdicts() == RIGHT


@pytest.mark.parametrize("count", [lambda n: 1, lambda n: 1 << 32, lambda n: 2 * n], ids=["one", "immortal", "twice"])
def test_where_counts_do_not_tell_all_is_shared(measured_again, count):
    measured_again(count)
    assert verdicts() == [True, True, True, True, True]
    array = paddle.ones([40_000])._payload
    (given,) = donatable([array])
    assert given is not array and np.array_equal(given, array)


def test_an_array_that_somebody_holds_is_not_given_away():
    tensor = paddle.ones([40_000])
    tensor._payload.block_until_ready()
    (own,) = donatable([tensor._payload])
    assert own is tensor._payload
    kept = tensor._payload
    (copied,) = donatable([tensor._payload])
    assert copied is not kept and np.array_equal(copied, kept)


def test_nobody_else_counts_references():
    found = [name for name, path in house.modules().items() if re.search(r"\bgetrefcount\b", path.read_text())]
    assert found == ["paddle_lite_py.core.references"]
