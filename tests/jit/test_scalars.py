"""Numbers among the arguments and on objects: constants first, inputs when they change."""

from __future__ import annotations

import enum

import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
from paddle_lite_py import nn


def tensor(*data, **kwargs):
    return paddle.to_tensor(list(data), **kwargs)


ONE = tensor(1.0)


class Config:
    scale = 2.0

    def __init__(self):
        self.k = 3.0
        self.inner = {"bias": [1.0, 2.0]}

    @property
    def twice(self):
        return self.k * 2.0

    def get(self):
        return self.k


def test_a_number_becomes_an_input_after_its_second_value():
    f = to_static(lambda x, n, rate=0.5: x * n + (n + 1) * rate)
    for n in range(2, 10):
        assert f(ONE, n).item() == n + (n + 1) * 0.5
        assert f(ONE, n, rate=0.25).item() == n + (n + 1) * 0.25
    assert f.get_traced_count() == 4


def test_numbers_keep_the_dtype_that_eager_gives():
    def body(x, n):
        return x * n

    for x in (tensor(2, dtype="int32"), tensor(2.0), tensor(2.0, dtype="float16")):
        f = to_static(body)
        for n in (1, 2, 3, 1.5, 2.5, 3.5):
            got, want = f(x, n), body(x, n)
            assert got.dtype == want.dtype and got.tolist() == want.tolist()


def test_a_number_that_decides_is_seen():
    def body(x, n):
        if n > 4:
            return x * n
        return x - n

    f = to_static(body)
    for n in range(10):
        assert f(ONE, n).item() == body(ONE, n).item()
    assert f.get_traced_count() == 3  # the first value, and n on either side of the test


def counted(x, n):
    for _ in range(n):
        x = x + 1.0
    return x


@pytest.mark.parametrize(
    "body",
    [
        counted,
        lambda x, n: x.reshape([1, 1]).tile([n, 1]).sum(),
        lambda x, n: x + {1: 1.0, 2: 2.0, 3: 3.0}[n],
        lambda x, n: x + float(f"{n}.5"),
        lambda x, n: x + (1.0 if isinstance(n, int) else 2.0),
        lambda x, n: x + np.full([1], n, "float32"),
        lambda x, n: x + 1.0 / n + n**2 - n // 2 + n % 2 - (2**n) + abs(-n),
        lambda x, n: x + [5.0, 6.0, 7.0, 8.0][n],
        lambda x, n: x + (n << 1) + (n & 1) + divmod(n, 2)[1] + round(n / 3),
        lambda x, n: x + min(n, 2) + max(n, 2) + sum([n, n]),
        lambda x, n: paddle.full([1], n) + x,
        lambda x, n: x * (n if n else 0.5) + (n != 2) + (n == 3) + (n in (1, 2)),
        lambda x, n: paddle.where(x > n, x, x * n),
    ],
)
def test_numbers_mean_what_they_mean_to_python(body):
    f = to_static(body)
    for n in (1, 2, 3, 1, 2, 3):
        np.testing.assert_allclose(f(ONE, n).numpy(), body(ONE, n).numpy(), rtol=1e-6)


def test_numbers_come_back_as_numbers():
    f = to_static(lambda x, n: (x * n, n, [n + 1]))
    for n in (1, 2, 3):
        assert f(ONE, n)[1:] == (n, [n + 1])
        assert type(f(ONE, n)[1]) is int


def test_python_errors_of_numbers_are_those_of_python():
    f = to_static(lambda x, n: x + 1.0 / n)
    f(ONE, 1), f(ONE, 2), f(ONE, 3)
    with pytest.raises(ZeroDivisionError):
        f(ONE, 0)
    assert f(ONE, 4).item() == 1.25


class Counting(nn.Layer):
    def __init__(self):
        super().__init__()
        self.steps, self.rate = 0, 1.0

    def forward(self, x):
        self.steps += 1
        self.rate = self.rate * 0.5
        if self.steps == 5:
            x = x + 100.0
        return x * self.steps + self.rate


class PlainCounting:
    steps, rate = 0, 1.0

    def __init__(self):
        self.steps, self.rate = 0, 1.0

    __call__ = Counting.forward


@pytest.mark.parametrize("kind", [Counting, PlainCounting])
def test_counters_on_objects_are_inputs(kind):
    static, eager = kind(), kind()
    run = to_static(static) if kind is Counting else to_static(static.__call__)
    for i in range(8):
        assert run(ONE).tolist() == eager(ONE).tolist()
        assert (static.steps, static.rate) == (eager.steps, eager.rate) and type(static.steps) is int
        if i == 6:
            static.steps = eager.steps = 40
    traced = static.forward if kind is Counting else run
    assert traced.get_traced_count() <= 4, traced.explain()  # first, as inputs, and the fifth step


def test_a_counter_that_is_no_number_any_more():
    box = Config()
    f = to_static(lambda x: x if box.k is None else x * box.k)
    for k in (1.0, 2.0, 3.0, None, 4.0, 5, 6):
        box.k = k
        assert f(ONE).item() == (1.0 if k is None else float(k))


class Factor(enum.IntEnum):
    TWO = 2


def test_a_number_of_a_class_of_numbers_is_a_number():
    f = to_static(lambda x, k: x * k)
    assert (f(paddle.to_tensor([1.5]), Factor.TWO).dtype, f(paddle.to_tensor([3]), Factor.TWO).tolist()) == (
        "float32",
        [6],
    )


class Counts:
    seen = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is not None:
            self.seen += 1
        return kind is not None


@pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
def test_what_data_decide_may_depend_on_a_number():
    def f(x, scale, counts):
        scaled = x * scale
        with counts:
            if scaled.sum() > 1.0:
                raise ValueError("too large")
        return scaled

    static, found, expected = to_static(f), Counts(), Counts()
    for value, scale in ((6.0, 1.0), (2.0, 2.0), (0.25, 3.0), (0.1, 4.0), (2.5, 5.0)):
        x = paddle.to_tensor([value])
        assert static(x, scale, found).item() == f(x, scale, expected).item()
        assert found.seen == expected.seen
    assert len(static.retraces) == 4  # the first number; any number; any count; the other outcome
