"""Layers of programs that define methods of their own, as published packages do."""

from __future__ import annotations

import copy

import paddle_lite_py as paddle


class Passing(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.net, self.size = paddle.nn.Linear(2, 2), 2

    def __setstate__(self, data):
        self.restored = True
        super().__setstate__(data)

    def _collect(self, edges):
        return edges

    def forward(self, x):
        return self.net(x)


def test_a_copy_calls_the_setstate_of_the_subclass():
    layer = Passing()
    twin = copy.deepcopy(layer)
    assert twin.restored and twin.size == 2
    assert twin.net.weight is not layer.net.weight
    assert twin.net.weight.tolist() == layer.net.weight.tolist()


def test_a_method_of_a_subclass_does_not_stand_for_one_of_the_state():
    assert [*Passing().state_dict()] == ["net.weight", "net.bias"]


def test_initializers_draw_nothing_for_no_elements():
    init = paddle.nn.initializer
    for kind in (init.XavierUniform(), init.XavierNormal(), init.KaimingUniform(), init.KaimingNormal(), init.Normal()):
        assert paddle.create_parameter([0, 0], "float32", default_initializer=kind).shape == [0, 0]


def test_pools_have_the_names_that_subclasses_read():
    nn = paddle.nn
    unpools = nn.MaxUnPool1D, nn.MaxUnPool2D, nn.MaxUnPool3D
    for layer in (nn.MaxPool2D, nn.MaxPool3D, nn.AvgPool2D, nn.AvgPool3D, *unpools):
        assert layer(3).ksize == 3
    assert nn.LPPool2D(2, 3).ksize == 3
    assert nn.AvgPool2D(2, divisor_override=5).divisor == nn.AvgPool3D(2, divisor_override=5).divisor == 5
    pool = nn.MaxPool2D(3, 1)
    pool.ksize = 2
    assert pool(paddle.arange(4.0).reshape([1, 1, 2, 2])).tolist() == [[[[3.0]]]]
