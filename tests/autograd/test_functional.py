"""paddle.grad: what is left out on the way, and what there is no gradient of."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle


def leaf(*data):
    return paddle.to_tensor(list(data), stop_gradient=False)


@pytest.mark.parametrize("create_graph", [False, True])
def test_no_gradient_flows_through_no_grad_vars(create_graph):
    x = leaf(2.0, float("nan"), 3.0)
    y = x * x
    z = (y * x)[::2].sum()
    for _ in range(2):  # and a second time, when it is a gradient like any other again
        (found,) = paddle.grad(z, x, no_grad_vars=[y], retain_graph=True, create_graph=create_graph)
        assert found[::2].tolist() == [4.0, 9.0]
    (whole,) = paddle.grad(z, x, no_grad_vars=[paddle.ones([1])])
    assert whole[::2].tolist() == [12.0, 27.0]


@pytest.mark.parametrize("full_graph", [True, False])
def test_a_static_function_refuses_no_grad_vars(full_graph):
    def f(x):
        y = x * x
        return paddle.grad((y * x).sum(), x, no_grad_vars=[y])[0]

    with pytest.raises(NotImplementedError, match="no_grad_vars is not available inside of a static function"):
        paddle.jit.to_static(f, full_graph=full_graph)(leaf(2.0))


@pytest.mark.parametrize("kind", [RuntimeError, ValueError])
def test_what_no_output_depends_on(kind):
    x, other = leaf(1.0), leaf(2.0)
    with pytest.raises(kind, match=r"no output depends on inputs\[1\]"):
        paddle.grad(x * 2, [x, other])
    with pytest.raises(kind, match="has stop_gradient=True"):
        paddle.grad(x * 2, paddle.ones([1]))


@pytest.mark.parametrize("make", [lambda x: x, lambda x: x * 1], ids=["leaf", "inner"])
def test_a_hook_returns_a_tensor_or_none(make):
    x = leaf(1.0)
    y = make(x)
    y.register_hook(lambda g: 1)
    with pytest.raises(TypeError, match="a hook of a gradient returned 1; expected a tensor, or None"):
        (y * 2).backward()


@pytest.mark.parametrize("create_graph", [False, True])
def test_the_gradient_of_a_tensor_by_itself_requires_one_with_create_graph(create_graph):
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    given = paddle.to_tensor([3.0, 4.0])
    for outputs, seeds, want in (([x], None, [1, 1]), ([x], [given], [3, 4]), ([x + 1, x], None, [2, 2])):
        (dx,) = paddle.grad(outputs, [x], seeds, create_graph=create_graph)
        assert dx.tolist() == want and dx.stop_gradient is not create_graph and given.stop_gradient
        if create_graph:
            (dx * dx).sum().backward()


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("shape", [[], [1], [1, 1]])
@pytest.mark.parametrize("of", [[], [1]])
def test_a_seed_of_one_number_has_any_shape_and_dtype(create_graph, shape, of):
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    seed = paddle.full(shape, 3.0, "float64")
    for out in (paddle.matmul(x, x).reshape(of), (x * x).sum().reshape(of)):
        (dx,) = paddle.grad([out], [x], [seed], create_graph=create_graph)
        assert dx.tolist() == [6.0, 12.0] and dx.dtype == paddle.float32
        paddle.autograd.backward([out], [seed], retain_graph=True)
        assert x.grad.tolist() == [6.0, 12.0]
        x.clear_grad()
