"""Leaves that branches and loops change stay leaves, and what is none in eager code is none after a run."""

from __future__ import annotations

import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle


def leaf():
    w = paddle.create_parameter([1], "float32")
    w.set_value(np.array([0.2], "float32"))
    return w


def gradient(w, loss):
    loss.backward()
    g = w.grad.clone()
    w.clear_grad()
    return g


def set_in_a_branch(w, opt):
    def f(x, go):
        if go > 0:
            with paddle.no_grad():
                w.set_value(w * 0.5)
        return gradient(w, (w * w * x).sum())

    return f


def scaled_in_a_branch(w, opt):
    def f(x, go):
        if go > 0:
            with paddle.no_grad():
                w.scale_(0.5)
        return gradient(w, (w * w * x).sum())

    return f


def changed_in_both(w, opt):
    def f(x, go):
        with paddle.no_grad():
            if go > 0:
                w.copy_(w * 0.5)
            else:
                w.add_(x[:1] * 0.1)
        assert w.is_leaf
        (g,) = paddle.grad((w * w * x).sum(), [w])
        return g

    return f


def changed_in_a_while(w, opt):
    def f(x, go):
        i = paddle.zeros([], "int64")
        while i < go.astype("int64"):
            with paddle.no_grad():
                w.set_value(w * 0.5)
            i = i + 1
        return gradient(w, (w * w * x).sum())

    return f


def clipped(w, opt):
    def f(x, go):
        gradient(w, (w * x).sum())
        opt.step()
        if go > 0:
            with paddle.no_grad():
                w.clip_(-0.01, 0.01)
        return gradient(w, (w * w * x).sum())

    return f


def trained_with_a_break(w, opt):
    def f(x, go):
        total = paddle.zeros([])
        for i in range(3):
            loss = (w * w * x[i]).sum()
            loss.backward()
            opt.step()
            opt.clear_grad()
            total = total + loss.detach()
            if loss < 0.02:
                break
        return total + gradient(w, (w * x).sum())

    return f


def trained_in_a_while(w, opt):
    def f(x, go):
        i, loss = paddle.zeros([], "int64"), paddle.zeros([])
        while i < go.astype("int64"):
            loss = (w * w * x).sum()
            loss.backward()
            opt.step()
            opt.clear_grad()
            i = i + 1
        return loss.detach() + gradient(w, (w * w * x).sum())

    return f


def trained_in_a_branch(w, opt):
    def f(x, go):
        loss = (w * w * x).sum() if go > 0 else (w * x).sum()
        if go > 0:
            loss.backward()
            opt.step()
            opt.clear_grad()
        return gradient(w, (w * w * x).sum())

    return f


def a_leaf_of_its_own(w, opt):
    def f(x, go):
        t = paddle.zeros([1])
        t.stop_gradient = False
        if go > 0:
            with paddle.no_grad():
                t.set_value(x[:1])
        loss = ((t + w) ** 2).sum()
        return gradient(w, loss) + t.grad

    return f


def no_leaf(w, opt):
    def f(x, go):
        y = w * x
        if go > 0:
            with paddle.no_grad():
                y.set_value(y * 0.5)
        return gradient(w, (y * y).sum())

    return f


ONE_PROGRAM = [set_in_a_branch, scaled_in_a_branch, changed_in_both, changed_in_a_while, clipped, trained_with_a_break,
               trained_in_a_while, a_leaf_of_its_own, no_leaf]  # fmt: skip


def read_before_and_after(w, opt):
    def f(x, go):
        loss = (w * x).sum()
        if go > 0:
            loss = loss * 2
            with paddle.no_grad():
                w.set_value(w * 0.5)
            loss = loss + (w * x).sum()
        return gradient(w, loss)

    return f


def read_in_each_iteration(w, opt):
    def f(x, go):
        loss, i = paddle.zeros([]), paddle.zeros([], "int64")
        while i < go.astype("int64"):
            loss = loss + (w * x).sum()
            with paddle.no_grad():
                w.set_value(w * 0.5)
            i = i + 1
        return gradient(w, loss + (w * 0).sum())

    return f


CALLS = [2.0, -1.0, 3.0, 1.0]


def assert_static_is_eager(program):
    def run(static):
        w = leaf()
        f = program(w, paddle.optimizer.SGD(0.1, parameters=[w]))
        f = to_static(f, full_graph=True) if static else f
        found = []
        for go in CALLS:
            out = f(paddle.to_tensor([1.0, 2.0, -8.0]), paddle.to_tensor(go))
            found += [out.numpy(), w.numpy(), w.is_leaf, w.stop_gradient]
        return found, f

    (expected, _), (found, f) = run(False), run(True)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    return f


@pytest.mark.parametrize("program", ONE_PROGRAM, ids=lambda p: p.__name__)
def test_one_program_does_what_eager_code_does(program):
    assert len(assert_static_is_eager(program).cache) == 1


@pytest.mark.parametrize("program", [read_before_and_after, read_in_each_iteration], ids=lambda p: p.__name__)
def test_results_that_need_the_gradient_of_what_a_leaf_becomes_are_decided_by_data(program):
    with pytest.warns(paddle.jit.DataDependentWarning, match="changes tensor 'create_parameter"):
        assert_static_is_eager(program)


def test_gradients_that_a_function_switches_on_flow_out_of_it():
    w = leaf()

    def f(x):
        off = (w * x).sum()
        with paddle.enable_grad():
            on = (w * x * 3).sum()
        return off, on

    for g in (f, to_static(f, full_graph=True), to_static(f, full_graph=False)):
        with paddle.no_grad():
            off, on = g(paddle.ones([2]))
        assert off.stop_gradient and not on.stop_gradient
        assert gradient(w, on).item() == 6.0


class Box:
    t: paddle.Tensor


class TestWhatIsLeftOutside:
    """State that is part of the graph in eager code is so after a static run."""

    @staticmethod
    def compare(make):
        found = []
        for static in (False, True):
            f, state = make()
            f = to_static(f, full_graph=True) if static else f
            for n in (1, 2, 3):
                out = f(paddle.ones([n]))
                found.append([out.numpy().tolist(), *state()])
        assert found[:3] == found[3:]

    def test_a_buffer_that_is_written_to(self):
        def make():
            w, buffer = leaf(), paddle.zeros([3])

            def f(x):
                buffer[0] = (w * x).sum()
                return buffer.sum() * 2

            def state():
                (buffer * buffer).sum().backward(retain_graph=True)
                g = w.grad.tolist()
                w.clear_grad()
                return g, buffer.is_leaf, buffer.stop_gradient

            return f, state

        self.compare(make)

    def test_attributes_and_lists(self):
        def make():
            w, box, log = leaf(), Box(), []

            def f(x):
                box.t = w * x * 2
                log.append(w * x * 5)
                return w * x * 3

            def state():
                (box.t.sum() + log[-1].sum()).backward()
                g = w.grad.tolist()
                w.clear_grad()
                return g, box.t.is_leaf

            return f, state

        self.compare(make)

    def test_what_has_no_gradient_stays_a_leaf(self):
        def make():
            w, buffer = leaf(), paddle.zeros([3])

            def f(x):
                buffer[0] = (w * x).sum().detach()
                return buffer.sum() * 2

            return f, lambda: (buffer.is_leaf, buffer.stop_gradient)

        self.compare(make)


def test_weights_that_a_static_function_freezes_for_a_while():
    w, v = (paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(c))
            for c in (2.0, 3.0))  # fmt: skip

    def frozen(x):
        w.stop_gradient = True
        y = (x * w * v).sum()
        w.stop_gradient = False
        return y

    def used_before(x):
        y = (x * w * v).sum()
        w.trainable = False
        z = (x * w * w * v).sum()
        w.trainable = True
        return y + z

    def used_after(x):
        return frozen(x) + (x * w).sum()

    for f in (frozen, used_before, used_after):
        found = []
        for function in (f, to_static(f), to_static(f, full_graph=True)):
            for _ in range(2):
                function(paddle.ones([2])).backward()
                found.append([None if p.grad is None else p.grad.tolist() for p in (w, v)])
                w.clear_grad(), v.clear_grad()
        assert found == [found[0]] * 6
