"""What a trace changes past all notes is put back, and the function refused at its line, or run as Python."""

from __future__ import annotations

import itertools

import pytest
from paddle_lite_py.jit import not_to_static, to_static
from paddle_lite_py.jit.errors import UnnotedChangeError

import paddle_lite_py as paddle

X = [1.0, 2.0]
calls: list[int] = []
batches = itertools.count(1)


@not_to_static
def note():
    calls.append(1)


def step(x):
    y = x + 1
    note()
    return y * len(calls)


def numbered(x):
    y = x + 1
    return y * next(batches)


def total(x, values):
    return x * sum(values)


@pytest.fixture(autouse=True)
def fresh():
    calls.clear()


def test_the_line_is_named_and_nothing_changed():
    with pytest.raises(UnnotedChangeError, match=r"`step` changes global `calls` at test_net\.py:20, by code"):
        to_static(step, full_graph=True)(paddle.to_tensor(X))
    assert calls == []


def test_an_iterator_is_refused_before_it_moves():
    with pytest.raises(UnnotedChangeError, match=r"`batches`, a count from outside, at test_net\.py:31"):
        to_static(numbered, full_graph=True)(paddle.to_tensor(X))
    assert next(batches) == 1


# A copy of it has its elements in another order.
KNOWN = {f"name{i}" for i in range(300)}
KNOWN -= {f"name{i}" for i in range(20, 300)}


def test_a_set_is_the_same_in_any_order():
    assert list(KNOWN) != list(KNOWN.copy())
    static = to_static(lambda x: x * 2 if "name3" in KNOWN else x, full_graph=True)
    assert static(paddle.to_tensor(X)).tolist() == [2.0, 4.0]


def test_python_runs_what_is_refused():
    static = to_static(step)
    with pytest.warns(UserWarning, match=r"plain Python as a whole.*changes global `calls`"):
        assert static(paddle.to_tensor(X)).tolist() == [2.0, 3.0]
    assert static(paddle.to_tensor(X)).tolist() == [4.0, 6.0] and len(calls) == 2


def test_a_generator_is_not_consumed_by_a_trace():
    static = to_static(total)
    with pytest.warns(UserWarning, match="an argument, a generator from outside"):
        assert static(paddle.to_tensor(X), (i for i in range(4))).tolist() == [6.0, 12.0]
    assert static(paddle.to_tensor(X), (i for i in range(3))).tolist() == [3.0, 6.0]
    with pytest.raises(UnnotedChangeError):
        to_static(total, full_graph=True)(paddle.to_tensor(X), values := iter([1, 2]))
    assert list(values) == [1, 2]


def test_a_trace_that_fails_leaves_things_as_they_were():
    def fails(x):
        note()
        return x.numpy()

    with pytest.raises(TypeError, match="needs the value"):
        to_static(fails, full_graph=True)(paddle.to_tensor(X))
    assert calls == []


class Vector:
    def __init__(self):
        self.n = 0

    def __add__(self, x):
        self.n += 1
        return x * self.n

    @property
    def size(self):
        return self.n


def test_classes_have_their_methods_back():
    held = dict(vars(Vector))
    v = Vector()
    static = to_static(lambda x: (v + x) * v.size, full_graph=True)
    for i in range(1, 7):
        assert static(paddle.to_tensor(X)).tolist() == [1.0 * i * i, 2.0 * i * i]
    assert dict(vars(Vector)) == held and v.n == 6
    assert len(static.cache) <= 3  # a counter is an input, once it has changed
    with pytest.raises(TypeError):
        to_static(lambda x: (v + x).numpy(), full_graph=True)(paddle.to_tensor(X))
    assert dict(vars(Vector)) == held and v.n == 6


class Doubling:
    def __setattr__(self, name, value):
        self.__dict__[name] = value * 2
        self.__dict__["writes"] = self.__dict__.get("writes", 0) + 1


def test_a_setattr_of_the_users_runs_once():
    o = Doubling()

    def f(x):
        if x.sum() > 0:
            o.t = x
        else:
            o.t = x - 1
        return o.t

    static = to_static(f, full_graph=True)
    for i, values in enumerate(([1.0], [-1.0], [2.0]), 1):
        x = paddle.to_tensor(values)
        assert static(x).tolist() == [values[0] * 2 if values[0] > 0 else (values[0] - 1) * 2]
        assert o.writes == i and o.t.tolist() == static(x).tolist()
        o.__dict__["writes"] = i


def test_attributes_of_a_static_function_are_told_from_the_users():
    static = to_static(total)
    with pytest.warns(UserWarning, match="an argument"):
        static(paddle.to_tensor(X), iter([1]))
    assert vars(static).keys() <= static.OWN


class Counting(paddle.nn.Layer):
    def __init__(self, first):
        super().__init__()
        if first is not None:
            self.calls = first

    @not_to_static
    def forward(self, x):
        self.calls = getattr(self, "calls", 0) + 1
        return x * self.calls


@pytest.mark.parametrize("first", [None, 0])
def test_a_layer_that_is_not_converted_counts_each_call(first):
    net = Counting(first)

    def use(x):
        return net(x)

    with pytest.raises(UnnotedChangeError, match=r"`use` changes .*Counting"):
        to_static(use, full_graph=True)(paddle.to_tensor(X))
    assert vars(net).get("calls") == first
    static = to_static(use)
    with pytest.warns(UserWarning, match="plain Python as a whole"):
        assert [static(paddle.to_tensor(X)).tolist() for _ in range(3)] == [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]
