"""Objects that a static function makes and returns are new ones in each call."""

from __future__ import annotations

import dataclasses
import io
from collections import deque, namedtuple

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


CHANGED = {
    "an array": (lambda: np.zeros(3), lambda v: v.__setitem__(0, 5)),
    "bytes": (lambda: bytearray(b"ab"), lambda v: v.append(3)),
    "a set": (lambda: {1}, lambda v: v.add(2)),
    "text": (io.StringIO, lambda v: v.write("a")),
    "a generator": (lambda: np.random.default_rng(3), lambda v: v.random()),
    "an array of objects": (lambda: np.array([[], None], object), lambda v: v[0].append(1)),
    "an iterator": (lambda: iter([1, 2]), lambda v: list(v)),
    "text in an object": (lambda: Box(io.StringIO()), lambda v: v.x.write("a")),
}


def shown(value):
    value = getattr(value, "x", value)
    if hasattr(value, "getvalue"):
        return value.getvalue()
    return value.random() if hasattr(value, "random") else repr(list(value))


@pytest.mark.filterwarnings("ignore:.*cannot be staged as a whole")
@pytest.mark.parametrize(("make", "change"), CHANGED.values(), ids=CHANGED)
def test_what_a_caller_changes_in_a_result_is_its_own(make, change):
    static = to_static(lambda x: (x + 1, {"made": make()}))
    x = paddle.ones([2])
    change(static(x)[1]["made"])
    change(static(x)[1]["made"])
    assert shown(static(x)[1]["made"]) == shown(make())


def test_an_array_in_results_and_state_is_one():
    kept = {}

    @to_static(full_graph=True)
    def f(x):
        kept["a"] = made = np.zeros(2)
        return x + 1, made, [made], OUTER_ARRAY[1]

    for _ in range(3):
        _, a, (b,), view = f(paddle.ones([2]))
        assert a is b is kept["a"] and a.tolist() == [0.0, 0.0] and view.base is OUTER_ARRAY
        a += 1


OUTER_ARRAY = np.zeros((2, 2))
Pair = namedtuple("Pair", "a b")


class OfOne(namedtuple("OfOne", "a b")):
    def __new__(cls, a):
        return super().__new__(cls, a, 2)


OUTSIDE = {
    "named tuple": lambda t: Pair(t, 1),
    "named tuple of its own": OfOne,
    "tuple": lambda t: (t, 1),
    "data class": Data,
    "list": lambda t: [t, 1],
    "dict": lambda t: {"a": t},
    "deque": lambda t: deque([t]),
    "object": Box,
}


@pytest.mark.parametrize("make", OUTSIDE.values(), ids=OUTSIDE)
def test_what_comes_from_outside_is_returned_itself(make):
    held = make(paddle.ones([2]))
    static = to_static(lambda x, given: (x + 1, held, [given]), full_graph=True)
    given = make(paddle.zeros([2]))
    for _ in range(2):
        _, outer, (back,) = static(paddle.ones([2]), given)
        assert outer is held and back is given
    made = to_static(lambda x: make(x + 1), full_graph=True)
    assert type(made(paddle.ones([2]))) is type(held) and made(paddle.ones([2])) is not held


def test_a_deque_of_the_caller_is_changed():
    static = to_static(lambda x, d: d.append(x * 2), full_graph=True)
    for _ in range(2):
        given = deque([1], maxlen=2)
        static(paddle.ones([2]), given)
        assert len(given) == 2 and given[1].tolist() == [2.0, 2.0] and given.maxlen == 2


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
    whole = to_static(make, full_graph=True)
    whole(2)  # as Python, which may keep them for later calls
    with pytest.raises(MadeInTraceError, match="the function makes .* at test_made_objects.py"):
        whole(2)


def trained(make):
    def f(layer, x):
        step = make(layer)
        for _ in range(2):
            loss = (layer(x) ** 2).mean()
            step(loss)
        return loss

    return f


def steps(optimizer, **more):
    def make(layer):
        found = optimizer(parameters=layer.parameters(), **more)

        def step(loss):
            loss.backward()
            found.step()
            found.clear_grad()

        return step

    return trained(make)


def scaled(layer):
    found = paddle.optimizer.SGD(0.01, parameters=layer.parameters())
    scaler = paddle.amp.GradScaler(init_loss_scaling=8.0, incr_every_n_steps=1)

    def step(loss):
        scaler.scale(loss).backward()
        scaler.step(found)
        scaler.update()
        found.clear_grad()

    return step


class Lazy(nn.Layer):
    """Makes a layer in its first call."""

    def __init__(self):
        super().__init__()
        self.made = nn.LayerDict()

    def forward(self, x, n):
        if str(n) not in self.made:
            self.made[str(n)] = nn.Linear(3, n)
        return self.made[str(n)](x)


LAZY = []


def kept_for_later(_, x):
    if not LAZY:
        LAZY.append(Lazy())
    return LAZY[0](x, 2) + LAZY[0](x, 3).mean()


def in_branch(_, x):
    return nn.Linear(3, 3)(x) if x.sum() > 0 else x


def in_loop(_, x):
    i = paddle.zeros([])
    while i < 2:
        x, i = nn.Linear(3, 3)(x), i + 1
    return x


def drawn_again(layer, x):
    nn.initializer.Normal()(layer.weight)
    return layer(x)


def seeded(_, x):
    paddle.seed(5)
    return x + paddle.rand([2, 3])


# What begins anew in each call: f(layer, x).
ANEW = {
    "a layer": lambda _, x: nn.Linear(3, 2)(x),
    "layers in a loop of Python": lambda _, x: sum(nn.Linear(3, 2)(x) for _ in range(2)),
    "a layer in a branch": in_branch,
    "a layer in a staged loop": in_loop,
    "a parameter": lambda _, x: x @ paddle.create_parameter([3, 2], "float32"),
    "running statistics": lambda _, x: [b := nn.BatchNorm1D(3, weight_attr=False, bias_attr=False), b(x), b._mean][2],
    "Adam": steps(paddle.optimizer.Adam, learning_rate=0.1),
    "Momentum": steps(paddle.optimizer.Momentum, learning_rate=0.1),
    "a scaler": trained(scaled),
    "a layer for later calls": kept_for_later,
    "an initializer": drawn_again,
    "a split": lambda _, x: x + paddle.io.random_split(range(100), [2, 98])[0][0],
    "a seed": seeded,
}


@pytest.mark.filterwarnings("ignore:.*cannot be staged as a whole")
@pytest.mark.parametrize("f", ANEW.values(), ids=ANEW)
def test_what_begins_anew_in_each_call_does(f):
    found = []
    for convert in (lambda g: g, to_static):
        paddle.seed(0)
        LAZY.clear()
        layer, g = nn.Linear(3, 1), convert(f)
        found.append([g(layer, paddle.full([2, 3], float(i))).numpy() for i in (1, 2, 1, 1)])
    for eager, static in zip(*found, strict=True):
        np.testing.assert_allclose(static, eager, rtol=1e-5, atol=1e-6)


def test_layers_kept_for_later_calls_leave_the_program_whole():
    net = to_static(Lazy(), full_graph=True)
    for n in (1, 2, 1, 2, 3, 3, 1):
        assert net(paddle.ones([2, 3]), n).shape == [2, n]


@pytest.mark.filterwarnings("ignore:.*cannot be staged as a whole")
def test_a_trace_that_fails_leaves_no_names():
    def f(x):
        layer = nn.Linear(3, 2)
        if x.sum() > 100:
            raise ValueError("too large")
        return layer(x).numpy()

    names = []
    for convert in (lambda g: g, to_static):
        with paddle.utils.unique_name.guard():
            for _ in range(3):
                convert(f)(paddle.ones([2, 3]))
            names.append(nn.Linear(3, 2).weight.name)
    assert names[0] == names[1]
