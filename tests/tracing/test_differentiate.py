"""Gradients of static code with control flow are those of eager code."""

from __future__ import annotations

import collections
import copy
import functools

import numpy as np
import pytest

import paddle_lite_py as paddle
from agreement import SIGNS, compare, plain
from paddle_lite_py.tracing.executor import Executable
from traces import X, run, traced


def nested_loops(x):
    i, total = paddle.to_tensor(0), paddle.zeros([])
    while i < 6:
        i += 1
        if total > 20:
            break
        j = 0
        while j < i:
            total = total + x[0] * x[0] + 1
            j += 1
    return total + x.sum()


def return_in_a_loop(x):
    for i in range(4):
        for v in x:
            if v * i > 3:
                return v * v * 10
    return x.sum()


def write_in_a_branch(x):
    t = x * 1
    if t.sum() > 0:
        t[0] = t[1] * t[2]
    return t * x


def write_in_a_loop(x):
    y = paddle.zeros([3])
    for i in range(3):
        y[i] = x[i] * x[0]
        if x[i] > 0:
            y[i] += x[1]
    return y


def masked_write(x):
    t = x * x
    t[1:] *= 2
    if t.sum() > 0:
        t[t > 1] -= x[0]
    return t


def method_in_place(x):
    t = x * 1
    if x.sum() > 0:
        t.add_(x).scale_(3.0)
    else:
        t.multiply_(x)
    return t


def nothing_or_something(x):
    def f(v):
        if v.sum() > 0:
            return v * v

    found = f(x)
    return x * 3 if found is None else found * 2


def best_of_tuples(x):
    beams = [(x.sum(), x * 0)]
    for step in range(3):
        grown = [(s + x[step] * t, held + x * t) for s, held in beams for t in (-0.5, 0.5)]
        beams = sorted(grown, key=lambda c: -c[0])[:2]
    return beams[0][0] * beams[1][1]


def words_by_score(x):
    chosen = max([(x[0], "a"), (x[1], "b"), (x[2], "c")])
    return chosen[0] * {"a": 1.0, "b": 2.0, "c": 3.0}[chosen[1]] + x.sum()


def kept_by_filter(x):
    return functools.reduce(lambda a, b: a * b, filter(lambda v: v > 0, [x[0], x[1], x[2]]), x.sum() * 2)


def first_of_equals(x):
    return max(x[0], x[1], 0.0) * 2 + min(v * v for v in x)


class Squared(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a if a.sum() > 0 else a * a * a

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensor()
        if a.sum() > 0:
            return g * 2 * a
        return g * 3 * a * a


def own_gradient(x):
    return Squared.apply(x) if x.max() > 0 else Squared.apply(-x)


def descends(x):
    w = (x * 1).detach()
    w.stop_gradient = False
    for _ in range(3):
        (g,) = paddle.grad((w**2).sum(), w)
        w = (w - 0.1 * g).detach()
        w.stop_gradient = False
        if g.norm() < 5:
            break
    return w.detach() * x


def queue(x):
    q = collections.deque([x[0] * 1, x[1] * 2], maxlen=2)
    if x.sum() > 0:
        q.append(x[2] * x[0])
    ordered = collections.OrderedDict(a=x[0] * 1, b=x[1] * 1)
    if x.max() > 0:
        ordered.move_to_end("a")
        ordered["c"] = x[2] * 5
    return q[0] * q[1] + sum(i * v for i, v in enumerate(ordered.values()))


def unrelated_where_it_branches(x):
    best, total = None, paddle.zeros([3])
    for i in range(3):
        total = total + x[i]
        if total.sum() > 0:
            best = total
    return total if best is None else best * x


PROGRAMS = [
    nested_loops, return_in_a_loop, write_in_a_branch, write_in_a_loop, masked_write, method_in_place,
    first_of_equals, own_gradient, descends, nothing_or_something, best_of_tuples, words_by_score, kept_by_filter,
    queue, unrelated_where_it_branches,
]  # fmt: skip


def gradient(f, numbers):
    x = paddle.to_tensor(numbers, stop_gradient=False)
    out = f(x)
    (out * paddle.arange(1.0, out.size + 1).reshape(out.shape)).sum().backward()
    return plain(out), x.grad.numpy()


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
def test_values_and_gradients_are_those_of_eager_code(f):
    static = paddle.jit.to_static(f)
    for _ in range(2):  # the second time through compiled backward functions
        for numbers in SIGNS:
            (value, grad), (expected, expected_grad) = gradient(static, numbers), gradient(f, numbers)
            compare(value, expected)
            np.testing.assert_allclose(grad, expected_grad, rtol=1e-5, atol=1e-6)


def test_a_second_gradient_through_a_branch_that_writes():
    def f(x):
        y = write_in_a_branch(x).sum()
        (g,) = paddle.grad(y, x, create_graph=True)
        return (g * g).sum()

    for numbers in SIGNS:
        grads = []
        for call in (paddle.jit.to_static(f), f):
            x = paddle.to_tensor(numbers, stop_gradient=False)
            call(x).backward()
            grads.append(x.grad.numpy())
        np.testing.assert_allclose(*grads, rtol=1e-5, atol=1e-6)


def test_a_deep_copy_passes_no_gradient_on():
    def f(x):
        held = {"a": [x, x]}
        copied = copy.deepcopy(held)
        if x.sum() > 0:
            copied["a"][0] = x * 5
        return held["a"][0] + copied["a"][0]

    for numbers in ([1.0, 2.0], [-1.0, -2.0]):
        found = []
        for g in (f, paddle.jit.to_static(f)):
            x = paddle.to_tensor(numbers, stop_gradient=False)
            g(x).sum().backward()
            found.append(x.grad.tolist())
        assert found[0] == found[1]


def test_gradient_inside_a_program():
    w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)

    def step(x):
        (x * w * w).sum().backward()
        grad = w.grad.clone()
        w.clear_gradient()
        return grad

    assert run(step, paddle.to_tensor(X)).tolist() == [6.0, 16.0]
    assert w.grad.tolist() == [0.0, 0.0]


def test_gradients_accumulate_over_runs_of_a_program():
    w = paddle.to_tensor([1.0, 1.0], stop_gradient=False)

    def step(x):
        (x * w).sum().backward()

    x = paddle.to_tensor(X)
    Executable(traced(step, x), "step").run([x])
    assert w.grad.tolist() == [1.0, 2.0]
    again = Executable(traced(step, x), "step")
    again.run([x])
    again.run([x])
    assert w.grad.tolist() == [3.0, 6.0]


def test_grad_of_grad_inside_a_program():
    def f(x):
        x.stop_gradient = False
        (dx,) = paddle.grad((x * x * x).sum(), x, create_graph=True)
        return paddle.grad(dx.sum(), x)[0]

    np.testing.assert_allclose(run(f, paddle.to_tensor(X)).numpy(), [6.0, 12.0], rtol=1e-6)


def test_two_losses_share_a_trunk():
    w = paddle.to_tensor([2.0], stop_gradient=False)

    def step(x):
        trunk = w * w
        (trunk * x).sum().backward(retain_graph=True)
        (trunk * 10.0).sum().backward()
        return w.grad

    assert run(step, paddle.to_tensor([1.0])).tolist() == [4.0 + 40.0]


def test_a_second_backward_inside_a_program_needs_retain_graph():
    w = paddle.to_tensor([2.0], stop_gradient=False)

    def step(x):
        y = (w * x).sum()
        y.backward()
        y.backward()

    with pytest.raises(RuntimeError, match="retain_graph=True"):
        traced(step, paddle.to_tensor([1.0]))
    assert w.grad is None


class Tripled(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2.0

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return g * x * 3.0


def test_py_layer_inside_a_program():
    w = paddle.to_tensor([2.0], stop_gradient=False)

    def step(x):
        (Tripled.apply(w * 1.0) * x).sum().backward()
        return w.grad

    assert run(step, paddle.to_tensor([5.0])).tolist() == [30.0]


def test_two_gradients_through_one_py_layer():
    def both(x):
        x = x.detach()
        x.stop_gradient = False
        y = Tripled.apply(x)
        (first,) = paddle.grad((y * y).sum(), [x], retain_graph=True)
        return first, paddle.grad(y.sum() * 2, [x])[0]

    assert [g.tolist() for g in run(both, paddle.to_tensor([5.0]))] == [[300.0], [30.0]]
