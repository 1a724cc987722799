"""Rows in groups, each multiplied by the weight of its group."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.ops.grouped_matmul import grouped_matmul


@pytest.mark.parametrize("sizes", [(5, 0, 20, 15), (40, 0, 0, 0), (0, 0, 1, 39)])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_values_and_gradients_are_those_of_a_product_for_each_group(sizes, dtype):
    rng = np.random.default_rng(0)
    x, *weights = (
        paddle.to_tensor(rng.normal(size=shape).astype("float32"), stop_gradient=False).astype(dtype).detach()
        for shape in ((40, 6), *[(6, 3)] * 4)
    )
    for tensor in (x, *weights):
        tensor.stop_gradient = False
    ends = np.cumsum(sizes)
    parts = [x[end - n : end] @ w for end, n, w in zip(ends, sizes, weights, strict=True) if n]
    found, wanted = grouped_matmul(x, paddle.to_tensor(sizes), weights), paddle.concat(parts)
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == "float32" else {"rtol": 0.03, "atol": 0.1}
    np.testing.assert_allclose(found.astype("float32").numpy(), wanted.astype("float32").numpy(), **tolerance)
    grads = [paddle.grad((y * y).sum(), [x, *weights], allow_unused=True) for y in (found, wanted)]
    for mine, other in zip(*grads, strict=True):
        assert mine.dtype == x.dtype
        other = paddle.zeros_like(mine) if other is None else other
        np.testing.assert_allclose(mine.astype("float32").numpy(), other.astype("float32").numpy(), **tolerance)


@pytest.mark.parametrize("rows", [1, 2])
def test_few_rows(rows):
    x, weights = paddle.ones([rows, 2]), [paddle.full([2, 2], float(n)) for n in range(8)]
    sizes = paddle.nn.functional.one_hot(paddle.to_tensor([3, 7][:rows]), 8).sum(0)
    assert grouped_matmul(x, sizes, weights)[:, 0].tolist() == [6, 14][:rows]
