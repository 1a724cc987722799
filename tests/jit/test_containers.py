"""Lists and dicts among the arguments."""

from __future__ import annotations

import numpy as np
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
