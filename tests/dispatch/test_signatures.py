"""What every public function accepts beyond its own arguments: `out`, `name`, other spellings, more keywords."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import paddle_lite_py as paddle


@pytest.mark.parametrize(
    ("name", "args"), [("add", 2), ("exp", 1), ("clip", 1), ("bitwise_and", 2), ("prod", 1), ("concat", -2)]
)
def test_out_is_rebound_to_the_result(name, args):
    kind = "int32" if name == "bitwise_and" else "float32"
    given = [paddle.ones([2], kind) for _ in range(abs(args))]
    given = [given] if args < 0 else given
    out = paddle.zeros([1], kind)
    result = getattr(paddle, name)(*given, out=out)
    assert result is out
    np.testing.assert_array_equal(out.numpy(), getattr(paddle, name)(*given).numpy())


def test_out_of_several_results():
    values, indices = paddle.zeros([1]), paddle.zeros([1], "int64")
    paddle.topk(paddle.to_tensor([1.0, 3.0, 2.0]), 2, out=(values, indices))
    assert values.tolist() == [3.0, 2.0] and indices.tolist() == [1, 2]
    with pytest.raises(ValueError, match="out has 1 tensors for 2 results"):
        paddle.topk(paddle.ones([3]), 2, out=(values,))


def test_a_gradient_flows_through_out():
    x, out = paddle.to_tensor([2.0], stop_gradient=False), paddle.zeros([1])
    paddle.multiply(x, x, out=out)
    out.backward()
    assert x.grad.tolist() == [4.0]


def test_out_in_a_static_function():
    @paddle.jit.to_static
    def f(x):
        out = paddle.zeros([2])
        paddle.add(x, 1.0, out=out)
        return out * 2

    assert f(paddle.ones([2])).tolist() == [4.0, 4.0]


def test_new_tensors_may_require_a_gradient():
    for made in (
        paddle.zeros([2], requires_grad=True),
        paddle.rand([2], device="cpu", requires_grad=True),
        paddle.ones([1]).new_full([2], 1.0, requires_grad=True, pin_memory=True),
        paddle.ones([1]).new_zeros(2, 3, requires_grad=True),
        paddle.arange(3.0, requires_grad=True, name="x"),
    ):
        assert not made.stop_gradient
    assert paddle.zeros([2]).stop_gradient


def test_a_name_may_be_given_by_position():
    assert paddle.zeros([2], "float32", "zeros").shape == [2]
    assert paddle.clip(paddle.ones([1]), 0.0, 0.5, None).tolist() == [0.5]


def test_scaled_sums_and_rounded_quotients():
    x, y = paddle.to_tensor([5.0, -5.0]), paddle.to_tensor([3.0, 3.0])
    assert paddle.add(x, y, alpha=2).tolist() == [11.0, 1.0]
    assert x.subtract(y, alpha=2).tolist() == [-1.0, -11.0]
    assert paddle.divide(x, y, rounding_mode="floor").tolist() == [1.0, -2.0]
    assert x.clone().divide_(y, rounding_mode="trunc").tolist() == [1.0, -1.0]


@pytest.mark.parametrize(
    ("make", "keyword"),
    [
        (lambda: paddle.nn.LocalResponseNorm(3), "input"),
        (lambda: paddle.nn.AvgPool2D(2), "input"),
        (lambda: paddle.nn.SyncBatchNorm(2), "x"),
        (lambda: paddle.nn.Dropout2D(0.0), "input"),
        (lambda: paddle.nn.Unfold(2), "input"),
        (lambda: paddle.trunc_, "input"),
        (lambda: paddle.abs_, "x"),
        (lambda: paddle.distribution.ExpTransform(), "input"),
    ],
)
def test_the_first_argument_by_the_keyword_of_the_reference(make, keyword):
    x, function = paddle.ones([1, 2, 4, 4]), make()
    np.testing.assert_array_equal(function(**{keyword: x.clone()}).numpy(), function(x.clone()).numpy())


def test_an_in_place_function_without_its_tensor():
    with pytest.raises(TypeError, match="trunc_.*missing.*'x'"):
        paddle.trunc_()


def test_signatures_are_those_of_the_reference():
    expected = {
        "add": "(x, y, name=None, *, alpha=1, out=None)",
        "mean": "(x, axis=None, keepdim=False, name=None, *, dtype=None, out=None)",
        "prod": "(x, axis=None, keepdim=False, dtype=None, out=None, name=None)",
        "zeros": "(shape, dtype=None, name=None, *, out=None, device=None, requires_grad=False, pin_memory=False)",
        "bitwise_and_": "(x, y, name=None)",
        "clip": "(x, min=None, max=None, name=None, *, out=None)",
    }
    for name, text in expected.items():
        found = inspect.signature(getattr(paddle, name))
        bare = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
        assert str(inspect.Signature(bare)) == text
