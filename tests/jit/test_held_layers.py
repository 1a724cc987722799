"""Layers that are held and not called themselves, such as lists of layers: change one, and call again."""

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn


def parameter(value):
    return paddle.create_parameter([2], "float32", default_initializer=nn.initializer.Constant(value))


class Scale(nn.Layer):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor


class Bag(nn.Layer):
    def __init__(self):
        super().__init__()
        self.part, self.weight, self.number, self.uses = Scale(2.0), parameter(3.0), 5.0, 0


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.bag = Bag()
        self.items = nn.LayerList([Scale(1.5)])
        self.named = nn.LayerDict({"a": Scale(1.25)})
        self.weights = nn.ParameterList([parameter(0.5)])

    def forward(self, x):
        x = self.bag.part(x) * self.bag.weight + self.bag.number
        for layer in self.items:
            x = layer(x)
        for name, layer in self.named.items():
            x = layer(x) + len(name)
        for weight in self.weights:
            x = x * weight
        return x


CHANGES = {
    "a part of a bag": lambda net: setattr(net.bag, "part", Scale(7.0)),
    "a parameter of a bag": lambda net: setattr(net.bag, "weight", parameter(7.0)),
    "a number of a bag": lambda net: setattr(net.bag, "number", 7.0),
    "append": lambda net: net.items.append(Scale(7.0)),
    "insert": lambda net: net.items.insert(0, Scale(7.0)),
    "pop": lambda net: net.items.pop(),
    "replace": lambda net: net.items.__setitem__(0, Scale(7.0)),
    "replace in the dict itself": lambda net: net.items._sub_layers.__setitem__("0", Scale(7.0)),
    "setdefault in the dict itself": lambda net: net.items._sub_layers.setdefault("1", Scale(7.0)),
    "a layer of a LayerDict": lambda net: net.named.__setitem__("a", Scale(7.0)),
    "update": lambda net: net.named.update({"bc": Scale(7.0)}),
    "a parameter of a ParameterList": lambda net: net.weights.__setitem__(0, parameter(7.0)),
    "append a parameter": lambda net: net.weights.append(parameter(7.0)),
    "a parameter in the dict itself": lambda net: net.bag._parameters.update(weight=parameter(7.0)),
}


class Counting(Net):
    def forward(self, x):
        self.bag.uses += 1
        return super().forward(x)


def layer(net):
    return paddle.jit.to_static(net)


def step(net):
    optimizer = paddle.optimizer.SGD(0.0, parameters=net.parameters())

    @paddle.jit.to_static
    def run(x):
        out = net(x)
        out.sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        return out

    return run


@pytest.mark.parametrize("make", [layer, step])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen(make, name):
    x, net = paddle.to_tensor([1.0, 2.0]), Net()
    run = make(net)
    first = run(x).numpy()
    CHANGES[name](net)
    found = run(x).numpy()
    plain = Net.forward(net, x).numpy()  # of the class, which is not static
    np.testing.assert_allclose(found, plain, rtol=1e-6)
    assert not np.allclose(found, first)


def test_what_a_call_counts_in_a_layer_is_no_reason_for_more_traces():
    net = Counting()
    run = paddle.jit.to_static(net)
    for _ in range(5):
        run(paddle.ones([2]))
    assert net.bag.uses == 5 and net.forward.explain().count("changed from") == 1


def test_framework_objects_and_buffers_that_are_gone_over():
    net, turn = Net(), paddle.vision.transforms.Compose([lambda x: x * 2])
    run = paddle.jit.to_static(lambda x: turn(x) + sum(b.sum() for b in net.bag.buffers()))
    assert run(paddle.ones([1])).item() == 2
    turn.transforms.append(lambda x: x + 1)
    assert run(paddle.ones([1])).item() == 3
    net.bag.register_buffer("late", paddle.ones([2]))
    assert run(paddle.ones([1])).item() == 5


def test_a_number_that_becomes_a_tensor_is_seen():
    net = Scale(2.0)
    run = paddle.jit.to_static(net)
    assert run(paddle.ones([1])).item() == 2
    net.factor = paddle.to_tensor([7.0])
    assert run(paddle.ones([1])).item() == 7
    net.factor = paddle.to_tensor([8.0])
    assert run(paddle.ones([1])).item() == 8
