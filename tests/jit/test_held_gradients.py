"""Gradients that were there before a static function is called: eager and static runs leave the same ones."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle


def changed_after(w, x):
    g = w.grad
    (w * x).sum().backward()
    with paddle.no_grad():
        g.add_(x)


def changed_before(w, x):
    with paddle.no_grad():
        w.grad.add_(x)
    (w * x).sum().backward()


def read_after(w, x):
    g = w.grad
    (w * x).sum().backward()
    return g + 0, w.grad + 0


def twice(w, x):
    (w * x).sum().backward()
    g = w.grad
    (w * x).sum().backward()
    with paddle.no_grad():
        g.scale_(2.0)


def cleared(w, x):
    g = w.grad
    w.clear_gradient()
    (w * x).sum().backward()
    with paddle.no_grad():
        g.add_(x)


def taken_away(w, x):
    g = w.grad
    w.clear_gradient(False)
    (w * x).sum().backward()
    with paddle.no_grad():
        g.add_(x)


def through_a_view(w, x):
    v = w.grad[:1]
    (w * x).sum().backward()
    with paddle.no_grad():
        v.add_(x[:1])
    return v + 0


def assigned(w, x):
    g = w.grad
    w.grad = x * 2
    (w * x).sum().backward()
    with paddle.no_grad():
        g.add_(x)


def in_a_branch(w, x):
    g = w.grad
    if x.sum() > 0:
        (w * x).sum().backward()
    with paddle.no_grad():
        g.add_(x)


def in_a_loop(w, x):
    g = w.grad
    for _ in range(3):
        (w * x).sum().backward()
        with paddle.no_grad():
            g.scale_(0.5)


def returned(w, x):
    g = w.grad
    (w * x).sum().backward()
    return g


HELD = [
    changed_after,
    changed_before,
    read_after,
    twice,
    cleared,
    taken_away,
    through_a_view,
    assigned,
    in_a_branch,
    in_a_loop,
    returned,
]


def listed(out):
    return [t.tolist() for t in (out if isinstance(out, tuple) else (out,)) if t is not None]


@pytest.mark.parametrize("passed", [False, True], ids=["captured", "passed"])
@pytest.mark.parametrize("function", HELD)
def test_who_holds_a_gradient_sees_what_a_run_does_with_it(function, passed):
    found = []
    for static in (False, True):
        w, x = paddle.create_parameter([2], "float32"), paddle.to_tensor([1.0, 2.0])
        w.set_value(np.array([1.0, 2.0], "float32"))
        (w * 3).sum().backward()
        outer = w.grad
        call = function if passed else lambda x, w=w: function(w, x)
        call = paddle.jit.to_static(call) if static else call
        for _ in range(3):
            found.append([listed(call(w, x) if passed else call(x)), w.grad.tolist(), outer.tolist()])
    assert found[:3] == found[3:]


def adds(x):
    (x * 2).sum().backward()


def adds_and_reads(x):
    (x * 2).sum().backward()
    return x.grad * 3


def reads(x):
    return x * 0 if x.grad is None else x.grad + 1


def clears_first(x):
    x.clear_gradient()
    (x * 3).sum().backward()


def clears_last(x):
    (x * 3).sum().backward()
    found = x.grad * 1
    x.clear_gradient()
    return found


def takes_away_last(x):
    (x * 3).sum().backward()
    x.clear_gradient(False)


def assigns(x):
    x.grad = paddle.ones([2])
    (x * 3).sum().backward()


@pytest.mark.parametrize(
    "calls",
    [
        (adds, adds, adds_and_reads, adds_and_reads, adds),
        (adds_and_reads, adds_and_reads, clears_last, clears_last, adds_and_reads),
        (reads, adds, reads, takes_away_last, reads),
        (clears_first, clears_first, reads, assigns, assigns, adds),
        (clears_last, clears_last, reads, takes_away_last, takes_away_last, clears_last),
    ],
)
def test_gradients_of_an_argument_add_up_over_calls(calls):
    """A trace knows of no gradient that an argument has."""
    found = []
    for static in (False, True):
        made = {f: paddle.jit.to_static(f) if static else f for f in calls}
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        for f in calls:
            found.append([listed(made[f](x)), None if x.grad is None else x.grad.tolist()])
    assert found[: len(calls)] == found[len(calls) :]


def test_one_program_serves_an_argument_with_and_without_a_gradient():
    static = paddle.jit.to_static(adds)
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    for _ in range(3):
        static(x)
    assert x.grad.tolist() == [6.0, 6.0] and static.get_traced_count() == 1
