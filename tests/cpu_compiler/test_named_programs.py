"""Programs that are saved lead to their executables by what they say, without a trace."""

from __future__ import annotations

import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import amp
from paddle_lite_py.core.config import user_secret
from paddle_lite_py.core.private_files import read_signed, write_signed
from paddle_lite_py.cpu_compiler import named_programs
from paddle_lite_py.host.tier import program_jit

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)

pytestmark = pytest.mark.usefixtures("all_are_large")


def pair(a, b):
    return jnp.sin(a) + b, a * b


def one(a, b):
    return a - b


def compiled(function=pair, text="pair"):
    return program_jit(function, 1, text=None if text is None else lambda: text)


@pytest.mark.parametrize("function", [pair, one])
def test_the_text_leads_to_the_executable(traces, function):
    first = compiled(function)(X, X)
    again = compiled(function)(X, X)
    assert traces == [function.__name__]
    for a, b in zip(first if function is pair else [first], again if function is pair else [again], strict=True):
        np.testing.assert_array_equal(a, b)
    assert isinstance(again, tuple) == (function is pair)


def test_a_function_without_text_is_traced(traces):
    for _ in range(2):
        compiled(text=None)(X, X)
    assert traces == ["pair"] * 2


@pytest.mark.parametrize(
    ("change", "traced"),
    [
        (lambda patch: compiled(text="other")(X, X), True),
        (lambda patch: compiled()(X[:1], X[:1]), True),
        (lambda patch: compiled()(X.astype("float64"), X), True),
        (
            lambda patch: patch.setattr(named_programs, "package_stamp", lambda: "of another day") or compiled()(X, X),
            True,
        ),
        (lambda patch: patch.setenv("FLAGS_anything", "1") or compiled()(X, X), True),
        (lambda patch: paddle.set_default_dtype("float64") or compiled()(X, X), True),
        (lambda patch: _under_amp(), True),
        (lambda patch: compiled()(X, X), False),
    ],
)
def test_all_that_an_executable_depends_on_is_in_its_name(traces, monkeypatch, change, traced):
    compiled()(X, X)
    change(monkeypatch)
    assert len(traces) == 1 + traced


def _under_amp():
    with amp.auto_cast():
        compiled()(X, X)


def test_a_program_may_replace_the_bool_of_numpy(traces, monkeypatch):
    wanted = compiled()(X > 0, X > 1)
    monkeypatch.setattr(np, "bool", bool)  # as packages do; NumPy cannot write its own dtype then
    np.testing.assert_array_equal(compiled()(X > 0, X > 1)[1], wanted[1])
    assert traces == ["pair"]


def test_numbers_are_no_arrays(traces):
    compiled()(1.0, X)
    assert compiled()(np.float64(1.0), X)[1].dtype == np.float64
    assert compiled()(1.0, X)[1].dtype == np.float32
    assert traces == ["pair"] * 2


@pytest.mark.parametrize("harm", ["unsigned", "gone", "of another program"])
def test_a_file_that_leads_nowhere_is_no_harm(tmp_path, traces, harm):
    compiled()(X, X)
    (known,) = tmp_path.glob("*.known")
    if harm == "unsigned":
        known.write_bytes(b"x" * 90)
    elif harm == "gone":
        next(tmp_path.glob("*.executable")).unlink()
    else:
        other = known.with_name(known.name.replace("-", "-0"))
        write_signed(other, user_secret(), read_signed(known, user_secret()))
        known.write_bytes(other.read_bytes())
    np.testing.assert_array_equal(compiled()(X, X)[1], X * X)
    assert traces == ["pair"] * 2
    compiled()(X, X)
    assert traces == ["pair"] * 2


SAVED = """
import sys
import paddle_lite_py as paddle
from paddle_lite_py.cpu_compiler import out_of_process
out_of_process.FEW = out_of_process.BASELINE = 1
traced, new = [], out_of_process.TracedFunction
out_of_process.TracedFunction = lambda fn, args: traced.append(fn.__name__) or new(fn, args)
net = paddle.jit.load(sys.argv[1])
with paddle.no_grad():
    print(net(paddle.ones(net.inputs[0].shape)).numpy().sum(), traced)
"""


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda: paddle.nn.Linear(3, 40000), [2, 3]),
        (lambda: paddle.nn.Conv2D(8, 8, 3), [1, 8, 48, 48]),  # a call of oneDNN, where that is installed
    ],
    ids=["linear", "convolution"],
)
def test_a_saved_program_is_not_traced_by_the_next_process(tmp_path, layer, shape):
    net = paddle.nn.Sequential(layer(), paddle.nn.Tanh())
    paddle.jit.save(net, str(tmp_path / "net"), [paddle.static.InputSpec(shape)])
    command = [sys.executable, "-c", SAVED, str(tmp_path / "net")]
    environment = {"PADDLE_LITE_CACHE_DIR": str(tmp_path / "cache"), "FLAGS_baseline_tier": "0", "PATH": ""}
    said = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout for _ in "12"]
    assert said[0].split()[1] == "['compute']" and said[1].split() == [said[0].split()[0], "[]"]
