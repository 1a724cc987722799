"""Sizes that the code writes down as tensors are known to a program: nothing is measured when it runs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.static import InputSpec


def of_rows(x):
    parts = [x, x[:, 1:]]
    shapes = paddle.to_tensor([(p.shape[1], p.shape[2]) for p in parts], dtype="int64")
    return paddle.concat([p.flatten(1) for p in parts], 1), shapes


def split(x):
    flat, shapes = of_rows(x)
    return flat.split([h * w for h, w in shapes], axis=1)


def sliced(x):
    flat, shapes = of_rows(x)
    start = paddle.concat([paddle.zeros([1], "int64"), shapes.prod(1).cumsum(0)[:-1]])
    return [flat[:, : start[1]], flat[:, start[-1] :]]


def reshaped(x):
    flat, shapes = of_rows(x)
    found, start = [], 0
    for i, (h, w) in enumerate(shapes):
        found.append(flat[:, start : start + h * w].reshape([-1, h, w]) * i)
        start = start + h * w
    return found


def grids(x):
    _, shapes = of_rows(x)
    axes = [paddle.arange(n.astype("int32")) for row in shapes for n in row]
    return [a.astype("float32") + x[0, 0, 0] for a in axes]


# Each is given a tensor of sizes [2, 3] and [6, 1], and gives the sizes of [6] elements.
WAYS = {
    "item": lambda s: [s[0, 0], s[0][1]],
    "last": lambda s: [s[-1, 0], s[-1, -1]],
    "column": lambda s: [s[:, 0].min(), s[:, 0][::-1][-1] // 2 + s[0, 1] - 1],
    "tensor": lambda s: s[0],
    "cast": lambda s: s.astype("int32")[1],
    "arithmetic": lambda s: [s[0, 0] * s[0, 1], paddle.maximum(s[1, 1], s[0, 0]) - 1],
    "stack": lambda s: paddle.stack([s[0, 1], s[0, 0]]),
    "unbind": lambda s: s.unbind(0)[0].unbind(0),
    "sum": lambda s: [(s[0].sum() + 1), s[:, 1].max() - 2],
    "turned": lambda s: s.t()[0, 1:].unsqueeze(0).flatten(),
    "full": lambda s: [paddle.full([1], 6, "int64"), paddle.ones([1], "int64") * s[1, 1]],
}


def loaded(function, spec, path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.jit.save(paddle.jit.to_static(function, full_graph=True), path, input_spec=[InputSpec(spec)])
    found = paddle.jit.load(path)
    assert not found.program().measured
    return found


@pytest.mark.parametrize("spec", [[2, 3, 4], [None, None, None]], ids=["known", "open"])
@pytest.mark.parametrize("function", [split, sliced, reshaped, grids])
def test_tables_of_sizes(function, spec, tmp_path):
    found = loaded(function, spec, str(tmp_path / "p"))
    for n in (0, 1) if None in spec else (0,):
        x = paddle.rand([2, 3 + n, 4])
        for a, b in zip(found(x), function(x), strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("name", WAYS)
def test_ways_from_numbers_to_a_shape(name, tmp_path):
    def function(x):
        return x.reshape(WAYS[name](paddle.to_tensor([[2, 3], [6, 1]])))

    x = paddle.arange(6.0)
    found = loaded(function, [6], str(tmp_path / "p"))
    assert found(x).tolist() == function(x).tolist()


def test_a_table_from_outside_is_measured(tmp_path):
    table = paddle.to_tensor([[2, 3], [3, 2]])

    def function(x):
        return x.reshape(table[0])

    paddle.jit.save(paddle.jit.to_static(function), str(tmp_path / "p"), input_spec=[InputSpec([6])])
    table[0] = paddle.to_tensor([1, 6])
    assert function(paddle.ones([6])).shape == [1, 6]
    assert paddle.jit.load(str(tmp_path / "p"))(paddle.ones([6])).shape == [2, 3]


def test_a_table_that_is_written_to_is_no_longer_known():
    @paddle.jit.to_static
    def function(x, n):
        sizes = paddle.to_tensor([2, 3])
        sizes[0] = n
        return x.reshape([sizes[0], -1])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [function(paddle.ones([6]), paddle.to_tensor(n)).shape[0] for n in (1, 3, 6)] == [1, 3, 6]
