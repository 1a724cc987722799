"""What int(), float(), bool() and item() of a traced tensor give: Python numbers that have no value yet."""

from __future__ import annotations

import math

import numpy as np
import pytest

import paddle_lite_py as paddle
from agreement import agree

PROGRAMS = {
    "float": lambda x: x * float((x * x).sum()),
    "item": lambda x: x * (x * x).sum().item(),
    "item of an index": lambda x: x * (x * x).item(1),
    "arithmetic": lambda x: x * (2 * float(x.sum()) - 1) / abs(-x.max().item()),
    "reflected": lambda x: 1 / float(x.sum()) + x,
    "power": lambda x: x ** int(x.max()),
    "float16": lambda x: x.astype("float16") * x.sum().item(),
    "bfloat16": lambda x: float(x.sum()) - x.astype("bfloat16"),
    "int32": lambda x: x.astype("int32") * int(x.sum()),
    "whole and fraction": lambda x: x.astype("int64") * float(x.sum()),
    "filled": lambda x: x * paddle.full([2], x.sum().item()),
    "list": lambda x: x * paddle.to_tensor([x.sum().item(), 2.0]),
    "rounded": lambda x: x * round(x.sum().item(), 1) * round(float(x[0])),
    "math": lambda x: x * math.sqrt(x.sum().item()) * math.floor(x[1]) + math.exp(float(x[0])) + math.atan2(x[0], 2.0),
    "log": lambda x: x + math.log(int(x.sum())) + math.pow(x[1], 2),
    "compared": lambda x: x if float(x.sum()) > 3 and not math.isnan(x[0]) else -x,
}


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_value_dtype_and_gradient_are_those_of_eager(f):
    found = []
    for g in (f, paddle.jit.to_static(f)):
        x = paddle.to_tensor([1.5, 2.25], stop_gradient=False)
        y = g(x)
        if not y.stop_gradient:
            y.astype("float32").sum().backward()
        found.append((y.dtype, y.astype("float32").numpy(), None if x.grad is None else x.grad.numpy()))
    (dtype, values, gradient), (dtype_static, values_static, gradient_static) = found
    assert dtype_static == dtype
    np.testing.assert_allclose(values_static, values, rtol=1e-6 if dtype == paddle.float32 else 1e-2)
    assert (gradient is None) == (gradient_static is None)
    if gradient is not None:
        np.testing.assert_allclose(gradient_static, gradient, rtol=1e-6 if dtype == paddle.float32 else 1e-2)


def counted(x):
    counts = {}
    for v in x:
        k = int(v)
        counts[k] = counts.get(k, 0) + 1
    return counts


def by_position(x):
    held = {}
    for i, v in enumerate(x):
        if v > 0:
            held[i] = v
        else:
            held[i] = -v
    return held


def looked_up(x):
    names, n = {1: "one", 3: "three"}, int(x[0])
    seen = {int(v) for v in [1]}
    seen.add(n)
    return x * {1: 10, 3: 30}[n], names[n] if n in names else "other", n in seen, len(seen)


def indices(x):
    total = x.astype("int32") * 0
    for i in range(x.astype("int64").max()):
        total = total + x.astype("int32") * i
    for i, v in enumerate(x):
        total = total * i + v.astype("int32")
    return total, x.astype("float16") * int(x.max())


@pytest.mark.filterwarnings("ignore:.*has no single static program")
@pytest.mark.parametrize("f", [counted, by_position, looked_up, indices], ids=lambda f: f.__name__)
def test_numbers_as_keys_and_indices(f):
    static = agree(f, [1.0, 2.0, 2.0], [3.0, 1.0, -2.0])
    if f is indices:
        assert [t.dtype for t in static(paddle.ones([3]))] == [paddle.int32, paddle.float16]


def test_zip_strict_and_sorted_by_distinct_keys():
    agree(lambda x: sum((v * w if v > 0 else v) for v, w in zip(x, [1.0, 2.0], strict=True)), [1.0, -2.0])
    agree(lambda x: sorted({"b": x, "a": x * 2}.items())[0][1] if x.sum() > 0 else x, [1.0, 2.0], [-1.0, -2.0])
    with pytest.raises(ValueError, match=r"zip\(strict=True\): the arguments have different lengths: 2, 3"):
        paddle.jit.to_static(lambda x: [v for v, _ in zip(x, range(3), strict=True)], full_graph=True)(paddle.ones([2]))


def shown(x):
    s = x.sum().item()
    print("sum", s, float(x[0]), int(x[1]), bool(x[0] > 1), f"{s} {s:.2f} {s!r:>6}", "%s %d %.1f" % (s, int(x[1]), s))  # noqa: UP031
    print("{} {:6.3f}".format(s, s), str(s), s * 2 + 1, -s, s > 1, round(s), repr(s) if s is None else "")  # noqa: UP030, UP032
    return x


def test_numbers_print_as_numbers(capfd):
    printed = []
    for f in (shown, paddle.jit.to_static(shown)):
        f(paddle.to_tensor([1.25, 2.5]))
        printed.append(capfd.readouterr().out)
    assert printed[0] == printed[1] and "Tensor" not in printed[0]


def test_texts_of_numbers_are_results():
    agree(lambda x: (x, f"{x.sum().item()}", f"{float(x[0]):8.1f}|"), [1.25, 2.5])


def test_item_of_several_elements_is_explained():
    with pytest.raises(ValueError, match=r"item\(\) needs a tensor of one element, got shape \[2\]; give it an index"):
        paddle.jit.to_static(lambda x: x * x.item(), full_graph=True)(paddle.ones([2]))
