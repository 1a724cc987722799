"""NumPy arrays that a function makes stay arrays where it runs in parts: their methods, dtypes and writes to them."""

from __future__ import annotations

import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
from paddle_lite_py.tracing.executor import Executable

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot be staged as a whole")


def fill(out, a):
    for i in range(len(a)):
        out[i] = a[i] * 2


def only_of_arrays(a):
    assert isinstance(a, np.ndarray)
    return paddle.to_tensor(np.frombuffer(a.tobytes(), a.dtype).copy())


class Doubled(paddle.nn.Layer):
    def forward(self, x, array=None):
        return x * 2 + float(isinstance(array, np.ndarray))


DOUBLED = Doubled()


def written_by_a_function(x):
    out = np.zeros(2, "float32")
    fill(out, x.numpy())
    return paddle.to_tensor(out) + x


def written_later(x):
    a = x.numpy()
    out = np.zeros(2, "float32")
    fill(out, a)
    out += 1
    return paddle.to_tensor(out) + x


def written_under_another_name(x):
    a = x.numpy()
    b = a
    y = x * 2
    b += 1
    return paddle.to_tensor(a) + y


def integers_are_divided(x):
    a = x.numpy().astype("int64")
    y = x * 2
    return y + paddle.to_tensor(a.mean()).astype("float32"), paddle.to_tensor(a / 2)


def methods_of_arrays(x):
    a = x.numpy()
    y = x + 1
    return y * a.item(0), only_of_arrays(a), paddle.to_tensor(a[::-1].argsort(kind="stable"))


def in_containers(x):
    d = {"a": x.detach().numpy(), "l": []}
    d["l"].append(d["a"] * 2)
    y = x * sum(v.sum() for v in d["l"])
    d["a"][0] = 7.0
    return y, paddle.to_tensor(d["a"])


def given_to_a_layer(x):
    y = DOUBLED(x)
    z = DOUBLED(y, y.numpy())
    return z + y


def set_in_a_branch(x, more=True):
    a = x.numpy()
    y = x * 2
    if more:
        a = a.astype("int64")
    z = y * 3
    return z + paddle.to_tensor(a / 2).astype("float32")


CASES = [
    *(written_by_a_function, written_later, written_under_another_name, integers_are_divided, methods_of_arrays),
    *(in_containers, given_to_a_layer, set_in_a_branch),
]


@pytest.mark.parametrize("function", CASES)
def test_parts_give_what_the_function_gives(function):
    static = to_static(function)
    for numbers in ([1.0, 2.0], [3.0, -4.0], [3.0, -4.0]):
        expected = paddle.utils.flatten(function(paddle.to_tensor(numbers)))
        found = paddle.utils.flatten(static(paddle.to_tensor(numbers)))
        assert [t.tolist() for t in found] == [t.tolist() for t in expected]
        assert [t.dtype for t in found] == [t.dtype for t in expected]


def around(x):
    y = (x * 2.0 + 1.0).cumsum()
    a = y.numpy()
    z = y * 3.0 - 1.0
    order = paddle.to_tensor(a.argsort())
    w = z[order].cumsum()
    return w * 2.0


def test_what_comes_after_the_last_array_is_compiled(monkeypatch):
    names, plain = [], Executable.run
    monkeypatch.setattr(Executable, "run", lambda self, args: (names.append(self.name), plain(self, args))[1])
    static = to_static(around)
    for _ in range(3):
        names.clear()
        assert static(paddle.to_tensor([3.0, 1.0])).tolist() == around(paddle.to_tensor([3.0, 1.0])).tolist()
    assert names == ["around"] * 2


def test_gradients_pass_plain_pieces():
    x = paddle.to_tensor([3.0, 1.0], stop_gradient=False)
    to_static(around)(x).sum().backward()
    other = paddle.to_tensor([3.0, 1.0], stop_gradient=False)
    around(other).sum().backward()
    assert x.grad.tolist() == other.grad.tolist()
