"""What cuts a gradient cuts it in a saved program too, whose arguments took none when it was saved."""

from __future__ import annotations

import pytest
from paddle_lite_py.jit import InputSpec

import paddle_lite_py as paddle
from paddle_lite_py import nn


class Tenfold(paddle.autograd.PyLayer):
    """An identity whose gradient is ten times as large."""

    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, dy):
        return dy * 10


def stopped(x):
    y = x * 2
    y.stop_gradient = True
    return (y * x).sum()


def under_no_grad(x):
    with paddle.no_grad():
        y = x * 2
    return (y * x).sum()


def hooked(x):
    y = x * 2
    y.register_hook(lambda g: g * 7)
    return (y * x).sum()


def looped(x):
    y = x
    while y.sum() < 10:
        y = y * 2 + x.detach()
    return (y * x).sum()


def branched(x):
    y = x.detach() * x if x.sum() > 0 else x
    return y.sum()


CUTS = {
    "detach": lambda x: (x.detach() * x).sum(),
    "stop_gradient": stopped,
    "no_grad": under_no_grad,
    "hook": hooked,
    "loop": looped,
    "branch": branched,
    "PyLayer": lambda x: (Tenfold.apply(x) * x.detach()).sum(),
    "detach in place": lambda x: x.detach().clone().add_(x).sum(),
}


def gradient(fn):
    x = paddle.to_tensor([3.0], stop_gradient=False)
    fn(x).backward()
    return x.grad.tolist()


@pytest.mark.parametrize("name", CUTS)
def test_a_saved_function_cuts_gradients_where_the_function_does(name, tmp_path):
    paddle.jit.save(CUTS[name], str(tmp_path / "f"), input_spec=[InputSpec([1])])
    assert gradient(paddle.jit.load(str(tmp_path / "f"))) == gradient(CUTS[name])


def test_a_saved_function_cuts_gradients_inside_another_static_function(tmp_path):
    paddle.jit.save(CUTS["detach"], str(tmp_path / "f"), input_spec=[InputSpec([1])])
    loaded = paddle.jit.load(str(tmp_path / "f"))
    assert gradient(paddle.jit.to_static(lambda x: loaded(x), full_graph=True)) == [3.0]


class Net(nn.Layer):
    """A layer that is another one in training."""

    def __init__(self, frozen):
        super().__init__()
        self.fc = nn.Linear(1, 1)
        self.fc.weight.stop_gradient = frozen

    def forward(self, x):
        h = self.fc(x.detach() * x)
        return (h * h.detach() * x.detach() if self.training else h * h.detach()).sum()


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("mode", ["eval", "train"])
def test_a_saved_layer_cuts_gradients_in_each_mode(frozen, mode, tmp_path):
    net = Net(frozen)
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([1, 1])])
    found = []
    for layer in (net, paddle.jit.load(str(tmp_path / "net"))):
        getattr(layer, mode)()
        x = paddle.to_tensor([[3.0]], stop_gradient=False)
        layer(x).backward()
        found.append([x.grad.tolist(), *[p.grad if p.grad is None else p.grad.tolist() for p in layer.parameters()]])
    assert found[0] == found[1]


def test_a_function_that_changes_its_argument_is_saved_all_the_same(tmp_path):
    paddle.jit.save(lambda x: x.add_(paddle.ones([1])), str(tmp_path / "f"), input_spec=[InputSpec([1])])
    x = paddle.to_tensor([3.0])
    paddle.jit.load(str(tmp_path / "f"))(x)
    assert x.tolist() == [4.0]


class LoopOnAWeight(nn.Layer):
    def __init__(self):
        super().__init__()
        self.w = self.create_parameter([2], default_initializer=nn.initializer.Constant(0.5))
        self.last = nn.Linear(2, 2)

    def forward(self, x):
        h = self.w * 1.0
        while h.sum() < 10:
            h = h * h + 1
        return self.last(x) * h


def test_weights_that_were_frozen_when_saved_may_be_thawed(tmp_path):
    net, x = LoopOnAWeight(), paddle.ones([2, 2])
    net.w.stop_gradient = True
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([2, 2])])
    assert net.w.stop_gradient
    loaded = paddle.jit.load(str(tmp_path / "net"))
    assert [p.stop_gradient for _, p in sorted(loaded.named_parameters())] == [False, False, True]
    loaded.train()
    for model in (net, loaded):
        for p in model.parameters():
            p.stop_gradient = False
        model(x).square().sum().backward()
    found = [sorted(p.grad.flatten().tolist() for p in model.parameters()) for model in (loaded, net)]
    assert found[0] == [pytest.approx(g) for g in found[1]]


class Cube(nn.Layer):
    def forward(self, x, n):
        return x * x * x * n, n + 1


def test_a_loaded_program_has_gradients_of_every_order(tmp_path):
    net = Cube()
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([2]), InputSpec([2], "int64")])
    found = []
    for model in (net, paddle.jit.load(str(tmp_path / "net"))):
        grads = [x := paddle.to_tensor([1.5, -2.0], stop_gradient=False)]
        y = model(x, paddle.to_tensor([2, 3]))[0]
        for _ in range(3):
            (y,) = paddle.grad([y.sum()], [x], create_graph=True)
            grads.append(y)
        found.append([g.tolist() for g in grads])
    assert found[0] == found[1] and found[0][-1] == [12.0, 18.0]
