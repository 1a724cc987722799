"""Operators that are compiled from C++."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import house
import paddle_lite_py as paddle
from custom_ops import SPEC, fresh, leaf
from paddle_lite_py import nn
from paddle_lite_py.utils import cpp_extension

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


@needs_compiler
def test_a_library_that_others_could_have_put_there_is_not_loaded(kernel, tmp_path):
    """The name of a library tells what it was made of, and so can be foreseen."""
    folder, _ = kernel
    (planted,) = folder.glob("test_kernels-*.so")
    (tmp_path / planted.name).write_bytes(b"no library")
    tmp_path.chmod(0o777)
    source = str(folder / "cube.cc")
    with pytest.warns(UserWarning, match="compiled again in each process: others can write to"):
        path = cpp_extension._built("test_kernels", [Path(source)], [Path(source).read_text()], [], tmp_path, False)
    assert path.parent != tmp_path and path.read_bytes()[:4] == b"\x7fELF"
