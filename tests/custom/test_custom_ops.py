"""Operators of the user's own: with JAX, with NumPy, and compiled from C++; the order of what acts on the world."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import house
import paddle_lite_py as paddle
from paddle_lite_py import nn, passes
from paddle_lite_py.core.errors import MissingOperatorError
from paddle_lite_py.utils import cpp_extension, custom_op, numpy_op

SPEC = paddle.static.InputSpec


def fresh(code, *args):
    """Run code in a Python that knows nothing of this one; its output."""
    done = subprocess.run([sys.executable, "-c", code, *args], cwd=house.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def leaf(*values):
    return paddle.to_tensor(list(values), stop_gradient=False)


# -- with JAX ------------------------------------------------------------------------------------------------------
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
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            out = shifted_tanh(paddle.static.data("x", [None, 2]), by=2.0)
        (found,) = paddle.static.Executor().run(main, feed={"x": np.zeros((3, 2), "float32")}, fetch_list=[out])
    finally:
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
    with pytest.raises(TypeError, match=r"custom_op `f`: no parameter stands before `/`.*write def f\(x, /"):
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


def test_a_saved_model_runs_where_the_op_is_not_defined(tmp_path):
    path = str(tmp_path / "m")
    paddle.jit.save(lambda x: shifted_tanh(x) * 2.0, path, input_spec=[SPEC([None])])
    out = fresh(
        """
import sys
import paddle_lite_py as paddle
from paddle_lite_py import passes
m = paddle.jit.load(sys.argv[1])
x = paddle.to_tensor([0.0], stop_gradient=False)
m(x).backward()
print(m(x).tolist(), x.grad.tolist(), [op.name for op in m.program().ops()])
try:
    passes.function(m.program())(x)
except LookupError as e:
    print(type(e).__name__, e)
""",
        path,
    )
    assert out.startswith("[2.0] [2.0] ['shifted_tanh', 'multiply']")
    assert "MissingOperatorError operator `shifted_tanh` is one of the user's own" in out
    assert issubclass(MissingOperatorError, LookupError)
    here = paddle.jit.load(path).program()
    assert passes.function(here)(paddle.zeros([1])).tolist() == [2.0]


# -- with NumPy ----------------------------------------------------------------------------------------------------
def test_a_numpy_function_runs_in_programs_and_has_the_users_gradient():
    calls = []

    @numpy_op(backward=lambda a, out, g: calls.append("backward") or 2 * a * g)
    def square(a):
        assert isinstance(a, np.ndarray)
        calls.append("forward")
        return a * a

    for wrap in (lambda f: f, paddle.jit.to_static):
        x = leaf(1.0, 3.0)
        wrap(lambda x: square(x).sum())(x).backward()
        assert x.grad.tolist() == [2.0, 6.0]
        assert calls == ["forward", "backward"]
        calls.clear()

    def step(x):
        for _ in range(3):
            x = square(x)
        x.sum().backward()

    x = leaf(1.0)
    paddle.jit.to_static(step)(x)
    assert x.grad.tolist() == [8.0] and calls == ["forward"] * 3 + ["backward"] * 3


def test_py_func_takes_lists_and_specs_and_writes_into_tensors():
    a, b, out = leaf(1.0, 2.0), leaf(3.0, 4.0), paddle.zeros([2])
    found = paddle.static.py_func(lambda x, y: x * y, [a, b], out)
    assert found is out and out.tolist() == [3.0, 8.0]
    low, high = paddle.static.py_func(
        lambda x: (x.min(keepdims=True), x.max(keepdims=True)), a, [SPEC([1], "float32"), SPEC([1], "float32")]
    )
    assert (float(low), float(high), low.stop_gradient) == (1.0, 2.0, True)
    seen = []
    assert paddle.static.py_func(lambda x: seen.append(x.sum()), a, None) is None
    assert seen == [3.0]


def test_py_func_leaves_out_what_its_backward_does_not_want():
    x, spec, given = leaf(1.0, 2.0), SPEC([2], "float32"), []

    def back(*arrays):
        given.append(len(arrays))
        return arrays[-1] * 5

    paddle.static.py_func(lambda v: v * 5, x, spec, back, skip_vars_in_backward_input=[x]).sum().backward()
    assert given == [2] and x.grad.tolist() == [5.0, 5.0]
    y = leaf(1.0, 1.0)
    paddle.static.py_func(lambda v, w: v + w, [x, y], spec, lambda v, w, o, g: (g, None)).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0] and y.grad.tolist() == [0.0, 0.0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrap", [lambda f: f, paddle.jit.to_static])
def test_errors_of_the_users_python_arrive_as_they_are(wrap, caplog):
    @numpy_op
    def shorter(a):
        return a[:1]

    @numpy_op
    def fails(a):
        raise KeyError("no such row")

    with pytest.raises(ValueError, match=r"`shorter` gave float32\[1\] as result 0, but float32\[2\] is declared"):
        wrap(lambda x: shorter(x) + 1.0)(leaf(1.0, 2.0))
    with pytest.raises(KeyError, match="no such row"):
        wrap(lambda x: fails(x) + 1.0)(leaf(1.0, 2.0))
    with pytest.raises(ValueError, match=r"py_func: out is declared as \[-1\]; give each dimension a number"):
        paddle.static.py_func(np.sort, leaf(1.0), SPEC([None], "float32"))
    with pytest.raises(TypeError, match="py_func: out is 3; expected a tensor or an InputSpec"):
        paddle.static.py_func(np.sort, leaf(1.0), 3)


@pytest.fixture
def static_mode():
    paddle.enable_static()
    with paddle.static.scope_guard(paddle.static.Scope()):
        yield
    paddle.disable_static()


@pytest.mark.usefixtures("static_mode")
def test_py_func_trains_in_the_static_mode_as_in_paddle():
    seen = []
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x, label = paddle.static.data("x", [None, 4]), paddle.static.data("label", [None, 1], "int64")
        h = paddle.static.nn.fc(x, 5, weight_attr=nn.initializer.Constant(0.1))
        out = main.current_block().create_var(name="out", dtype="float32", shape=h.shape)
        back = lambda y, dy: dy * (1 - np.square(y))  # noqa: E731
        h = paddle.static.py_func(np.tanh, h, out, back, skip_vars_in_backward_input=h)
        paddle.static.py_func(lambda a: seen.append(a.shape), h, None)
        h = paddle.static.nn.fc(h, 3, weight_attr=nn.initializer.Constant(0.2))
        loss = nn.functional.cross_entropy(h, label)
        paddle.optimizer.SGD(0.5).minimize(loss)
    exe, rng = paddle.static.Executor(), np.random.RandomState(0)
    exe.run(startup)
    feed = {"x": rng.rand(6, 4).astype("float32"), "label": rng.randint(0, 3, (6, 1))}
    losses = [float(exe.run(main, feed=feed, fetch_list=[loss])[0]) for _ in range(4)]
    # What PaddlePaddle 3.3.1 gives for the same program.
    np.testing.assert_allclose(losses, [1.0986123, 1.0677332, 1.0483236, 1.0358939], rtol=1e-5)
    assert seen == [(6, 5)] * 4


def test_saving_a_call_of_python_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"py_func at test_custom_ops.py:\d+ calls the Python function `sort`"):
        paddle.jit.save(
            lambda x: paddle.static.py_func(np.sort, x, x * 1.0), str(tmp_path / "m"), input_spec=[SPEC([2])]
        )


def test_effects_keep_their_order_in_a_training_step(capsys):
    told = []

    @numpy_op(backward=lambda a, out, g: g)
    def tell(a):
        told.append(float(a.sum()))
        return a

    def step(x):
        print("start")
        h = x * 2
        print("h")
        y = tell(h)
        for _ in range(paddle.to_tensor(2)):
            print("staged")
            y = y * 1.5
        while y.sum() < 30:
            print("while")
            y = y * 2
        print("end")
        loss = y.sum()
        loss.backward()
        print("after")
        return loss

    out, grads = [], []
    for f in (step, paddle.jit.to_static(step)):
        x = leaf(1.0, 2.0)
        f(x)
        paddle.device.synchronize()
        out.append(capsys.readouterr().out.split())
        grads.append(x.grad.tolist())
    assert out[0] == out[1] == ["start", "h", "staged", "staged", "while", "while", "end", "after"]
    assert grads[0] == grads[1] and told == [6.0, 6.0]


# -- in C++ --------------------------------------------------------------------------------------------------------
SOURCE = """
#include "xla/ffi/api/ffi.h"
namespace ffi = xla::ffi;
using Floats = ffi::Buffer<ffi::F32>;
using Result = ffi::ResultBuffer<ffi::F32>;

ffi::Error Cube(float scale, Floats x, Result y) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    float v = x.typed_data()[i];
    y->typed_data()[i] = scale * v * v * v;
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(cube, Cube, ffi::Ffi::Bind().Attr<float>("scale").Arg<Floats>().Ret<Floats>());

ffi::Error CubeGrad(float scale, Floats x, Floats, Floats g, Result dx) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    float v = x.typed_data()[i];
    dx->typed_data()[i] = 3 * scale * v * v * g.typed_data()[i];
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    cube_grad, CubeGrad,
    ffi::Ffi::Bind().Attr<float>("scale").Arg<Floats>().Arg<Floats>().Arg<Floats>().Ret<Floats>());

ffi::Error Sums(int64_t width, Floats x, Result y) {
  for (size_t i = 0; i < y->element_count(); ++i) {
    y->typed_data()[i] = 0;
    for (int64_t k = 0; k < width; ++k) y->typed_data()[i] += x.typed_data()[i * width + k];
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(sums, Sums, ffi::Ffi::Bind().Attr<int64_t>("width").Arg<Floats>().Ret<Floats>());
"""
needs_compiler = pytest.mark.skipif(not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernel")
    (folder / "cube.cc").write_text(SOURCE)
    return folder, cpp_extension.load("test_kernels", str(folder / "cube.cc"), build_directory=str(folder))


@needs_compiler
def test_a_compiled_op_runs_in_every_mode_with_its_gradient(kernel):
    folder, library = kernel
    assert repr(library) == "<library 'test_kernels': cube, cube_grad, sums>"
    for wrap in (lambda f: f, paddle.jit.to_static):
        x = leaf(1.0, 2.0)
        wrap(lambda x: library.cube(x, scale=2.0).sum())(x).backward()
        assert x.grad.tolist() == [6.0, 24.0]
    sums = library.define("sums", out=lambda x, width: SPEC([x.shape[0] // width], "float32"))
    assert sums(leaf(1.0, 2.0, 3.0, 4.0), width=2).tolist() == [3.0, 7.0]
    assert sums(leaf(1.0, 2.0), width=1).stop_gradient

    built = list(folder.glob("*.so"))
    cpp_extension.load("test_kernels", str(folder / "cube.cc"), build_directory=str(folder))
    assert list(folder.glob("*.so")) == built and len(built) == 1


@needs_compiler
@pytest.mark.usefixtures("static_mode")
def test_a_compiled_op_trains_in_the_static_mode(kernel):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        w = paddle.static.create_parameter([2], "float32", default_initializer=nn.initializer.Constant(1.0))
        loss = (kernel[1].cube(w * paddle.static.data("x", [None, 2]), scale=1.0) - 8.0).square().mean()
        paddle.optimizer.SGD(0.002).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(startup)
    losses = [float(exe.run(main, feed={"x": np.ones((n, 2), "float32")}, fetch_list=[loss])[0]) for n in (3, 3, 5, 5)]
    assert losses[0] == 49.0 and losses == sorted(losses, reverse=True)


@needs_compiler
def test_a_saved_model_asks_for_its_compiled_ops(kernel, tmp_path):
    folder, library = kernel
    path = str(tmp_path / "m")
    net = nn.Linear(2, 2)
    paddle.jit.save(lambda x: library.cube(net(x), scale=2.0), path, input_spec=[SPEC([None, 2])])
    code = """
import sys
import paddle_lite_py as paddle
from paddle_lite_py.utils import cpp_extension
try:
    paddle.jit.load(sys.argv[1])
except ValueError as e:
    print(type(e).__name__, e)
cpp_extension.load("test_kernels", sys.argv[2], build_directory=sys.argv[3])
x = paddle.ones([3, 2])
print(paddle.jit.load(sys.argv[1])(x).tolist())
"""
    first, second = fresh(code, path, str(folder / "cube.cc"), str(folder)).splitlines()
    assert "ArtifactError" in first and "test_kernels.cube, test_kernels.cube_grad" in first
    assert "utils.cpp_extension.load('test_kernels', [...])" in first
    np.testing.assert_allclose(eval(second), library.cube(net(paddle.ones([3, 2])), scale=2.0).numpy(), rtol=1e-5)


@needs_compiler
def test_wrong_calls_of_compiled_ops_are_explained(kernel):
    _, library = kernel
    with pytest.raises(ValueError, match=r"test_kernels.cube\(tensors\[0\]=float32\[1\].*expected 1 but got 0"):
        library.cube(leaf(1.0))
    with pytest.raises(ValueError, match=r"test_kernels.cube\(tensors\[0\]=float64\[1\]"):
        library.cube(leaf(1.0).astype("float64"), scale=1.0)
    with pytest.raises(AttributeError, match="has no handler `cub`; its handlers: cube, cube_grad, sums"):
        library.define("cub")
    with pytest.raises(TypeError, match="its rule for results gave 3; expected an InputSpec"):
        library.define("sums", out=lambda x, width: 3)(leaf(1.0), width=1)


@needs_compiler
def test_a_source_that_does_not_compile_is_shown_with_the_compilers_words(tmp_path):
    source = tmp_path / "broken.cc"
    source.write_text(SOURCE.replace("float v =", "flot v ="))
    with pytest.raises(cpp_extension.CompileError) as e:
        cpp_extension.load("broken", [str(source)], build_directory=str(tmp_path))
    assert f"refuses {source}" in str(e.value) and "flot" in str(e.value) and not list(tmp_path.glob("*.so"))


def test_what_cannot_be_compiled_is_explained(tmp_path, monkeypatch):
    source = tmp_path / "a.cc"
    with pytest.raises(FileNotFoundError, match="source .*a.cc is not there"):
        cpp_extension.load("a", [str(source)])
    source.write_text('#include "paddle/extension.h"\n')
    with pytest.raises(NotImplementedError, match="is written against Paddle's own C.. library"):
        cpp_extension.load("a", [str(source)])
    source.write_text("int x; // XLA_FFI_DEFINE_HANDLER_SYMBOL(cube, Cube, ...)\n")
    with pytest.raises(cpp_extension.CompileError, match="holds no operator"):
        cpp_extension.load("a", [str(source)])
    for make in (lambda: cpp_extension.CUDAExtension(["a.cu"]), lambda: cpp_extension.load("a", ["a.cu"])):
        with pytest.raises(NotImplementedError, match="operators in CUDA are not available"):
            make()
    source.write_text(SOURCE)
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(cpp_extension.CompileError, match="no C.. compiler was found .CXX=no-such-compiler"):
        cpp_extension.load("a", [str(source)])
    with pytest.raises(ValueError, match="pass name='...' and ext_modules=CppExtension"):
        cpp_extension.setup(name="a")


@needs_compiler
def test_setup_makes_a_package_of_operators(tmp_path):
    pytest.importorskip("setuptools")
    (tmp_path / "cube.cc").write_text(SOURCE)
    (tmp_path / "setup.py").write_text(
        f"import sys; sys.path.insert(0, {str(house.ROOT)!r})\n"
        "from paddle_lite_py.utils.cpp_extension import BuildExtension, CppExtension, setup\n"
        "setup(name='cubes', version='1.0', ext_modules=CppExtension(sources=['cube.cc']),\n"
        "      cmdclass={'build_ext': BuildExtension})\n"
    )
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build", "--build-lib", "out"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert {p.name for p in Path(tmp_path, "out", "cubes").iterdir()} == {"__init__.py", "cube.cc"}
    code = """
import sys
sys.path.insert(0, sys.argv[1])
import cubes
import paddle_lite_py as paddle
print(float(cubes.cube(paddle.ones([1]), scale=3.0)))
"""
    assert fresh(code, str(tmp_path / "out")).strip() == "3.0"
