"""Operators that a user writes with JAX."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import paddle_lite_py as paddle
from custom_ops import SPEC, fresh, leaf
from paddle_lite_py import passes
from paddle_lite_py.core.errors import MissingOperatorError
from paddle_lite_py.utils import custom_op


@custom_op
def shifted_tanh(x, /, by=1.0):
    return jnp.tanh(x) + by


@custom_op(backward=lambda inputs, outputs, grads: (grads[0] * 10.0, None))
def tenfold(x, y, /):
    return x + y


def test_an_op_of_a_jax_function_has_shapes_and_a_gradient_everywhere():
    x = leaf(0.5, -1.0)
    shifted_tanh(x, by=2.0).sum().backward()
    want = 1 - np.tanh([0.5, -1.0]) ** 2
    np.testing.assert_allclose(x.grad.numpy(), want, rtol=1e-5)
    x.clear_grad()
    static = paddle.jit.to_static(lambda x: shifted_tanh(x, by=2.0).sum())
    static(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), want, rtol=1e-5)
    assert str(static.main_program.ops()[0].outputs[0].spec.shape) == "(2,)"

    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        out = shifted_tanh(paddle.static.data("x", [None, 2]), by=2.0)
    (found,) = paddle.static.Executor().run(main, feed={"x": np.zeros((3, 2), "float32")}, fetch_list=[out])
    paddle.disable_static()
    assert found.tolist() == [[2.0, 2.0]] * 3


@pytest.mark.parametrize("wrap", [lambda f: f, paddle.jit.to_static])
def test_the_users_gradient_is_used(wrap):
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    wrap(lambda x, y: tenfold(x, y).sum())(x, y).backward()
    assert x.grad.tolist() == [10.0, 10.0] and y.grad.tolist() == [0.0, 0.0]


def test_lists_of_tensors_and_several_results():
    @custom_op
    def total_and_count(xs: list, /, scale=1.0):
        return sum(xs) * scale, jnp.asarray(len(xs))

    total, count = total_and_count([leaf(1.0), leaf(2.0), leaf(3.0)], scale=2.0)
    assert total.tolist() == [12.0] and int(count) == 3


def test_wrong_definitions_and_gradients_are_explained():
    with pytest.raises(TypeError, match=r"custom_op `f`: no parameter comes before `/`.*write def f\(x, /"):
        custom_op(lambda x: x, name="f")
    with pytest.raises(ValueError, match="custom_op `matmul`: an op of the framework has this name"):
        custom_op(lambda x, /: x, name="matmul")
    for name, given, message in (
        ("few", lambda i, o, g: (), "backward of `few` gave 0 gradients, but the operator takes 1 tensors"),
        ("form", lambda i, o, g: (g[0][:1],), r"gradient of shape \[1\] for tensor 0, which is float32\[2\]"),
    ):
        op = custom_op(lambda x, /: x * 2.0, name=name, backward=given)
        with pytest.raises(ValueError, match=message):
            op(leaf(1.0, 2.0)).sum().backward()


def test_defining_an_op_again_replaces_it():
    first = custom_op(lambda x, /: x + 1.0, name="again")
    second = custom_op(lambda x, /: x + 2.0, name="again")
    x = paddle.zeros([1])
    assert (float(first(x)), float(second(x))) == (1.0, 2.0)


def test_a_saved_model_needs_the_op(tmp_path):
    path = str(tmp_path / "m")
    paddle.jit.save(lambda x: shifted_tanh(x) * 2.0, path, input_spec=[SPEC([None])])
    out = fresh(
        """
import sys
import jax.numpy as jnp
import paddle_lite_py as paddle
from paddle_lite_py import passes
m = paddle.jit.load(sys.argv[1])
x = paddle.to_tensor([0.0], stop_gradient=False)
print([op.name for op in m.program().ops()])
for run in (m, passes.function(m.program())):
    try:
        run(x)
    except (LookupError, ValueError) as e:
        print(e)

@paddle.utils.custom_op
def shifted_tanh(x, /, by=1.0):
    return jnp.tanh(x) + by

m = paddle.jit.load(sys.argv[1])
m(x).backward()
print(m(x).tolist(), x.grad.tolist())
""",
        path,
    )
    assert out.startswith("['shifted_tanh', 'multiply']") and out.endswith("[2.0] [2.0]\n")
    assert out.count("operator `shifted_tanh` is one of the user's own, and not known in this process") == 2
    assert issubclass(MissingOperatorError, LookupError)
    here = paddle.jit.load(path).program()
    assert passes.function(here)(paddle.zeros([1])).tolist() == [2.0]


def wave_of(function):
    @custom_op(name="wave")
    def wave(x, /):
        return function(x)

    return wave


def test_a_program_with_an_operator_that_is_defined_anew_is_exported_anew(tmp_path):
    found = []
    for function in (jnp.sin, jnp.cos):
        wave = wave_of(function)
        path = tmp_path / function.__name__
        paddle.jit.save(lambda x, op=wave: op(x), str(path), input_spec=[SPEC([2])])
        found.append({f.read_bytes() for f in tmp_path.glob(f"{path.name}*.stablehlo")})
    assert found[0] and found[0].isdisjoint(found[1])
