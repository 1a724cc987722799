"""Layers with stacked parameters: the results of the layers themselves. Stages: tests/text/test_trainer.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.autograd import transforms
from paddle_lite_py.distributed import ProcessMesh
from paddle_lite_py.distributed.auto_parallel.stacked import StackedLayers


@dataclass
class Context:
    by_row: paddle.Tensor
    shared: paddle.Tensor
    name: str = "tanh"


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3))

    def forward(self, x, context):
        return x + getattr(paddle, context.name)(self.inner(x) * context.by_row + context.shared)


def inputs():
    rows = np.arange(12, dtype="float32").reshape(4, 3) / 10
    context = Context(paddle.to_tensor(rows + 1), paddle.to_tensor([0.1, 0.2, 0.3], stop_gradient=False))
    return paddle.to_tensor(rows, stop_gradient=False), context


@pytest.mark.parametrize("is_static", [False, True])
def test_stacked_layers_are_the_layers(is_static):
    blocks = [Block() for _ in range(3)]
    stacked = StackedLayers(blocks)
    names = {name: p.shape for name, p in stacked.named_parameters()}
    assert names["layer.inner.0.weight"] == [3, 3, 3] and names["layer.inner.1.bias"] == [3, 3]

    def plain(x, context):
        for block in blocks:
            x = block(x, context)
        return x

    found = []
    for fn in (plain, stacked):
        x, context = inputs()
        out = (paddle.jit.to_static(fn, full_graph=True) if is_static else fn)(x, context)
        out.sum().backward()
        found.append([out, x.grad, context.shared.grad])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)
    for name, p in stacked.layer.named_parameters():
        each = np.stack([dict(b.named_parameters())[name].grad.numpy() for b in blocks])
        np.testing.assert_allclose(p.grad.numpy(), each, rtol=1e-4, atol=1e-6)
    for block, again in zip(blocks, stacked.layers(), strict=True):
        for (name, p), (same, q) in zip(block.named_parameters(), again.named_parameters(), strict=True):
            assert name == same and (p == q).all()


def test_a_program_is_compiled_once_for_any_parameters():
    stacked, x = StackedLayers([nn.Linear(2, 2), nn.Linear(2, 2)]), paddle.ones([3, 2])
    stacked(x)
    count = len(transforms._KNOWN)
    with paddle.no_grad():
        stacked.layer.weight.set_value(stacked.layer.weight * 0)
        stacked.layer.bias.set_value(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert stacked(x).tolist() == [[3.0, 4.0]] * 3 and len(transforms._KNOWN) == count
    with paddle.amp.auto_cast(dtype="bfloat16", level="O2"):
        assert StackedLayers([nn.Linear(2, 2)])(x.astype("bfloat16")).dtype == paddle.bfloat16
    assert len(transforms._KNOWN) == count + 1


def test_what_cannot_be_stacked():
    with pytest.raises(ValueError, match="same names, shapes and dtypes"):
        StackedLayers([nn.Linear(2, 2), nn.Linear(2, 2, bias_attr=False)])
    with pytest.raises(ValueError, match="2 layers do not divide into 3 stages"):
        StackedLayers([nn.Linear(2, 2), nn.Linear(2, 2)], ProcessMesh([0, 1, 2], ["pp"]))
    with pytest.raises(ValueError, match="3 rows do not divide into 2 micro-batches"):
        StackedLayers([nn.Linear(2, 2)], ProcessMesh([[0]], ["pp", "dp"]), micro_batches=2)(paddle.ones([3, 2]))
    with pytest.raises(ValueError, match="draws random numbers"):
        StackedLayers([nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))])(paddle.ones([3, 2]))
