"""Normalization folded into weights, and weights that are frozen."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.passes import PassError, apply, function
from rewritten import SPEC, block_net, idempotent, names, program_of, same, shaken


def test_normalization_is_folded_into_what_comes_before():
    net, x = block_net(), paddle.rand([2, 2, 6, 6])
    kept = {n: t.numpy() for n, t in net.state_dict().items()}
    program = program_of(net.forward, SPEC([None, 2, 6, 6]))
    changed = idempotent(program, "inference")
    assert names(program).count("batch_norm") == 3
    assert names(changed) == ["conv2d", "relu", "conv2d", "flatten", "linear"]
    same(program, changed, x, atol=1e-5)
    assert all(np.array_equal(kept[n], t.numpy()) for n, t in net.state_dict().items())
    assert len(changed.captured) == 6  # of each of the three products the weight and the bias
    assert not {id(t) for t in changed.captured.values()} & {id(t) for t in net.state_dict().values()}
    assert all(isinstance(t, paddle.Tensor) and "frozen" in t.name for t in changed.captured.values())


@pytest.mark.parametrize(("product", "norm", "shape"), [
    (lambda: nn.Conv1D(2, 3, 2), lambda: nn.BatchNorm1D(3), [2, 2, 5]),
    (lambda: nn.Conv2DTranspose(2, 3, 2, stride=2), lambda: nn.BatchNorm2D(3), [1, 2, 3, 3]),
    (lambda: nn.Conv3D(1, 2, 2), lambda: nn.BatchNorm3D(2), [1, 1, 3, 3, 3]),
    (lambda: nn.Conv2D(2, 3, 2, data_format="NHWC"), lambda: nn.BatchNorm2D(3, data_format="NHWC"), [2, 3, 3, 2]),
])  # fmt: skip
def test_normalization_is_folded_in_other_layouts(product, norm, shape):
    net = shaken(nn.Sequential(product(), norm()))
    program = program_of(net.forward, SPEC(shape))
    changed = apply(program, "inference")
    assert len(names(changed)) == 1
    same(program, changed, paddle.rand(shape), atol=1e-5)


@pytest.mark.parametrize("padding", [0, 1])
def test_normalization_is_folded_behind_strides_of_an_unknown_size(padding):
    strided = [part for _ in range(3) for part in (nn.Conv2D(2, 2, 3, 2, padding), nn.BatchNorm2D(2))]
    net = shaken(nn.Sequential(*strided))
    program = program_of(net.forward, SPEC([None, 2, 16, None]))
    changed = apply(program, "inference")
    assert names(changed) == ["conv2d"] * 3
    same(program, changed, paddle.rand([2, 2, 16, 21]), atol=1e-5)


def test_normalization_stays_where_it_may_not_be_folded():
    net = shaken(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1D(2)))  # over the second axis, not over the last one
    assert "batch_norm" in names(apply(program_of(net.forward, SPEC([5, 2, 4])), "inference"))
    net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1D(3))  # by the batch's own statistics
    assert "batch_norm" in names(apply(program_of(net.forward, SPEC([5, 4])), "fold_batch_norm"))
    conv, norm = nn.Linear(4, 3), shaken(nn.Sequential(nn.BatchNorm1D(3)))
    shared = program_of(lambda x: norm(conv(x)) + (conv(x) if False else 0), SPEC([5, 4]))
    assert names(apply(shared, "inference")).count("batch_norm") == 0


def test_weights_that_a_program_changes_are_not_frozen():
    count, w = paddle.ones([]), paddle.to_tensor(3.0)

    def f(x):
        count.add_(paddle.ones([]))
        return x * (w * 2.0) * (count * 2.0)

    changed = apply(program_of(f), "inference")
    run = function(changed)
    assert run(paddle.to_tensor([1.0, 1.0, 1.0])).tolist() == [24.0] * 3
    assert run(paddle.to_tensor([1.0, 1.0, 1.0])).tolist() == [36.0] * 3
    assert float(w) == 3.0 and len([t for t in changed.captured.values() if t is count]) == 1


def test_a_program_that_trains_is_not_frozen():
    w = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)

    def step(x):
        loss = (w * w * x).sum()
        loss.backward()
        return loss

    with pytest.raises(PassError, match="freeze_weights.*holds a gradient"):
        apply(program_of(step), "freeze_weights")
