"""Windows that are larger than the image."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.nn import functional as F

X = np.arange(1, 13, dtype="float32").reshape(1, 2, 2, 3)
# Kernel, step, padding; what PaddlePaddle 3.3.1 gives: the mean, with padding counted, and the largest.
CASES = {
    "one window": ((7, None, 0), [3.5, 9.5], [3.5, 9.5], [6, 12]),
    "with padding": ((7, 7, 1), [3.5, 9.5], [1.05, 2.85], [6, 12]),
    "along one axis": (([4, 2], [4, 2], 0), [3, 9], [3, 9], [5, 11]),
    "along one axis, twice": (([4, 2], [4, 1], 0), [3, 4, 9, 10], [3, 4, 9, 10], [5, 6, 11, 12]),
}


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_a_window_may_lack_less_than_a_step(name, static):
    sizes, mean, padded, largest = CASES[name]

    def pools(x):
        return [F.avg_pool2d(x, *sizes), F.avg_pool2d(x, *sizes, exclusive=False), F.max_pool2d(x, *sizes)]

    x = paddle.to_tensor(X, stop_gradient=False)
    found = (paddle.jit.to_static(pools) if static else pools)(x)
    for out, expected in zip(found, (mean, padded, largest), strict=True):
        np.testing.assert_allclose(out.numpy().ravel(), expected, rtol=1e-6)
    sum(out.sum() for out in found).backward()
    assert np.isfinite(x.grad.numpy()).all() and x.grad.numpy().any()


def test_a_window_that_lacks_a_step_is_refused():
    for kernel, step in ((7, 1), (4, 2), (3, 1)):
        with pytest.raises(ValueError, match="more than the padded size of x"):
            F.avg_pool2d(paddle.ones([1, 1, 2, 2]), kernel, step)
