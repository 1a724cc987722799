"""Gradients of grid_sample at points that lie exactly on pixels, as layers with learned offsets begin."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle
from paddle_lite_py.nn import functional as F

PIXELS = [1.0, 3.0, 7.0]


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(("at", "wanted"), [(0, 2.0), (1, 4.0), (-0.5, 0.0), (2.5, 0.0)])
def test_the_border_has_the_gradient_of_the_points_behind_it(at, wanted, static):
    def sampled(grid):
        return F.grid_sample(paddle.to_tensor(PIXELS).reshape([1, 1, 1, 3]), grid, padding_mode="border")

    grid = paddle.to_tensor([[[[at - 1.0, 0.0]]]])  # the pixels are at -1, 0 and 1
    grid.stop_gradient = False
    (paddle.jit.to_static(sampled) if static else sampled)(grid).sum().backward()
    assert grid.grad[..., 0].item() == wanted
