"""Objects of the standard library that a static function reads and writes: a changed value is seen."""

from __future__ import annotations

import argparse
import array
import collections
import types

import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle


def write(key, value):
    def change(held):
        held[key] = value

    return change


HELD = {
    "namespace": (types.SimpleNamespace(k=2), lambda h: h.k, lambda h: setattr(h, "k", 5)),
    "arguments": (argparse.Namespace(k=2), lambda h: h.k, lambda h: setattr(h, "k", 5)),
    "deque": (collections.deque([2]), lambda h: h[0], write(0, 5)),
    "array": (array.array("i", [2]), lambda h: h[0], write(0, 5)),
    "bytearray": (bytearray([2]), lambda h: h[0], write(0, 5)),
    "user dict": (collections.UserDict(k=2), lambda h: h["k"], write("k", 5)),
    "user list": (collections.UserList([2]), lambda h: h[0], write(0, 5)),
    "chain map": (collections.ChainMap({"k": 2}), lambda h: h["k"], write("k", 5)),
}


@pytest.mark.parametrize("name", HELD)
def test_a_changed_value_is_seen(name):
    held, read, change = HELD[name]
    static = to_static(lambda x: x * read(held))
    x = paddle.ones([1])
    assert static(x).item() == static(x).item() == 2 and static.get_traced_count() == 1
    change(held)
    assert static(x).item() == 5


def test_an_attribute_that_a_call_counts_up():
    held = types.SimpleNamespace(step=0)

    def count(x):
        held.step += 1
        return x * held.step

    static = to_static(count)
    assert [static(paddle.ones([1])).item() for _ in range(4)] == [1, 2, 3, 4] and held.step == 4


def test_settings_that_only_the_framework_reads():
    metric = paddle.metric.Accuracy()
    static = to_static(lambda scores, label: metric.compute(scores, label))
    scores, label = paddle.to_tensor([[0.1, 0.3, 0.2]]), paddle.to_tensor([[2]])
    assert static(scores, label).tolist() == [[0]]
    metric.maxk = 2
    for _ in range(3):
        metric.update(static(scores, label))
    assert static(scores, label).tolist() == [[0, 1]] and static.cache.count == 2


@pytest.mark.filterwarnings("ignore:.*cannot be staged as a whole")
def test_fields_of_a_param_attr():
    attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(2.0))
    static = to_static(lambda x: paddle.nn.Linear(1, 1, weight_attr=attr, bias_attr=False)(x))
    x = paddle.ones([1, 1])
    assert static(x).item() == 2
    attr.initializer = paddle.nn.initializer.Constant(5.0)
    assert static(x).item() == 5
