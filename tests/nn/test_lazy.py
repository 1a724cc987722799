"""LazyGuard: parameters without data, drawn or given later."""

from __future__ import annotations

import copy

import pytest

import paddle_lite_py as paddle


def lazy():
    with paddle.LazyGuard():
        return paddle.nn.Linear(3, 4)


def test_what_is_drawn_later_is_what_would_have_been_drawn():
    net = lazy()
    assert not any(p._is_initialized() for p in net.parameters())
    paddle.seed(3)
    for p in net.parameters():
        p.initialize()
    paddle.seed(3)
    assert (net.weight.numpy() == paddle.nn.Linear(3, 4).weight.numpy()).all() and net.weight._is_initialized()


def test_given_values_need_no_drawing():
    net, other = lazy(), paddle.nn.Linear(3, 4)
    net.set_state_dict(other.state_dict())
    x = paddle.ones([2, 3])
    assert (net(x).numpy() == other(x).numpy()).all()


def in_static_code(net):
    paddle.jit.to_static(net)(paddle.ones([2, 3]))


def in_a_static_step(net):
    @paddle.jit.to_static
    def step(x):
        net(x).mean().backward()
        net.weight.set_value(net.weight - net.weight.grad)

    step(paddle.ones([2, 3]))


@pytest.mark.parametrize(
    "use",
    [lambda net: net(paddle.ones([2, 3])), lambda net: net.weight.numpy(), in_static_code, in_a_static_step],
)
def test_using_what_has_no_data_says_so(use):
    with pytest.raises(RuntimeError, match=r"linear_\d+.w_0.*float32\[3, 4\].*initialize\(\)"):
        use(copy.deepcopy(lazy()))


def test_what_has_values_is_not_drawn_again():
    with pytest.raises(RuntimeError, match="has values"):
        paddle.nn.Linear(1, 1).weight.initialize()
