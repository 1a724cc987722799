"""Lists and dicts among the arguments."""

from __future__ import annotations

import collections

import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle


def tensor(*data, **kwargs):
    return paddle.to_tensor(list(data), **kwargs)


table = np.array([1.0, 2.0], "float32")


def filling(outs, table, x):
    outs.append(x * 2.0)
    table["y"] = {"z": x + 1.0}
    outs[0] = outs[0] + x
    return outs, {"again": table["y"]}


def test_containers_among_the_arguments_get_what_is_put_into_them():
    static = to_static(filling)
    for v in (1.0, 2.0):
        results = []
        for run in (static, filling):
            outs, table = [tensor(0.0)], {}
            got, again = run(outs, table, tensor(v))
            assert got is outs
            results.append(str((outs, table, again)))
        assert results[0] == results[1]
    assert static.get_traced_count() == 1


def test_containers_keep_what_they_were_made_with():
    def f(x):
        counts, last = collections.defaultdict(int), collections.deque([x], maxlen=2)
        counts["a"] += 1
        n = float(x.numpy().sum())  # the function is taken apart here
        counts["b"] += 2
        last.append(x * n)
        last.append(x)
        return counts, len(last), counts.default_factory

    def g(x):
        found = collections.defaultdict(list)
        found["a"].append(x * 2)
        return found

    with pytest.warns(UserWarning, match="cannot be staged as a whole"):
        assert to_static(f)(paddle.ones([2])) == ({"a": 1, "b": 2}, 2, int)
    found = to_static(g, full_graph=True)(paddle.ones([2]))
    assert found["a"][0].tolist() == [2.0, 2.0] and found["new"] == []
