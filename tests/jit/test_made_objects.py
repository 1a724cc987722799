"""Objects that a static function makes and returns are new ones in each call."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.core.errors import MadeInTraceError


class Box:
    def __init__(self, x):
        self.x, self.n = x, 2


class Slots:
    __slots__ = ("n", "x")

    def __init__(self, x):
        self.x, self.n = x, 2


class Outer:
    def __init__(self, x):
        self.inner, self.x, self.n = Box(x * 2), x, 2


@dataclasses.dataclass
class Data:
    x: object
    n: int = 2


KINDS = {kind.__name__: kind for kind in (Box, Slots, Outer, Data)}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_results_of_earlier_calls_stay(kind):
    static = to_static(lambda x: [kind(x + 1), 3], full_graph=True)
    found = [static(paddle.to_tensor([float(i)]))[0] for i in range(3)]
    assert [o.x.tolist() for o in found] == [[1.0], [2.0], [3.0]]
    assert {type(o) for o in found} == {kind} and [o.n for o in found] == [2, 2, 2]
    if kind is Outer:
        assert [o.inner.x.tolist() for o in found] == [[2.0], [4.0], [6.0]]


def test_an_object_from_outside_is_returned_as_it_is():
    held = Box(None)

    def f(x):
        held.x = x + 1
        return held

    static = to_static(f, full_graph=True)
    for i in range(3):
        assert static(paddle.to_tensor([float(i)])) is held and held.x.tolist() == [i + 1.0]


MAKERS = {
    "a layer": lambda n: nn.Sequential(nn.Linear(n, 2), nn.ReLU()),
    "a layer beside others": lambda n: [nn.Linear(n, 2), n],
    "a parameter": lambda n: paddle.create_parameter([n], "float32"),
    "an optimizer": lambda n: paddle.optimizer.SGD(0.1, parameters=nn.Linear(n, 2).parameters()),
}


def parameters(made):
    made = made[0] if isinstance(made, list) else made
    if isinstance(made, paddle.Tensor):
        return [made]
    return made.parameters() if isinstance(made, nn.Layer) else made._parameter_list


@pytest.mark.filterwarnings("ignore:.*cannot be staged as a whole")
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_layers_are_made_anew_with_the_numbers_of_eager_mode(make):
    made = []
    for f in (make, to_static(make)):
        paddle.seed(0)
        made.append([parameters(f(n)) for n in (2, 3, 2)])
    for eager, static in zip(*made, strict=True):
        for a, b in zip(eager, static, strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())
    assert len({id(p) for found in made[1] for p in found}) == sum(map(len, made[1]))
    with pytest.raises(MadeInTraceError, match=r"returns a \w+ that it makes"):
        to_static(make, full_graph=True)(2)
