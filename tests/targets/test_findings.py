"""What is found in programs that costs more than it looks; the steps of the benchmarks have none of it."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core.arrays import spec_of
from paddle_lite_py.targets import portable, portable_of

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
KINDS = ("mlp", "lenet", "resnet", "bert", "lm")


def found_in(function, *args, platform="tpu"):
    static = (
        function if isinstance(function, paddle.jit.StaticFunction) else paddle.jit.to_static(function, full_graph=True)
    )
    entry = static.get_concrete_program(*args)[1]
    return portable_of(entry.executable, [spec_of(a._payload) for a in args], platform)


@pytest.mark.parametrize("kind", KINDS)
def test_steps_of_the_benchmarks_have_none(kind):
    import workloads_paddle

    step, batch = workloads_paddle.training(kind, "step")
    for platform in ("tpu", "cuda"):
        made = found_in(step, *batch, platform=platform)
        assert not made.error and not made.found and made.data


def test_wide_numbers_are_found_with_their_lines():
    def mixed(x):
        y = x.astype("float64") * 2.0
        return y.sum(), (x * 3).astype("int64") + 1

    found = found_in(mixed, paddle.ones([300, 300])).found
    assert [f.kind for f in found] == ["float64", "float64", "int64"]
    assert all(f.where.startswith("test_findings.py:") for f in found)
    assert {f.op for f in found} == {"multiply", "sum", "add"}


def test_a_product_of_widened_numbers_is_found():
    def widened(x):
        return paddle.matmul(x.astype("float32"), x.astype("float32"))

    found = found_in(widened, paddle.ones([64, 64], "bfloat16")).found
    assert [(f.kind, f.op) for f in found] == [("widened product", "matmul")]
    assert not found_in(lambda x: paddle.matmul(x, x), paddle.ones([64, 64], "bfloat16")).found


def test_a_call_of_python_is_found():
    def step(x):
        return jax.pure_callback(lambda a: 2 * a, jax.ShapeDtypeStruct((2,), np.float32), x) + 1

    made = portable(step, [jax.ShapeDtypeStruct((2,), np.float32)], "cpu")
    assert made.error and [f.kind for f in made.found] == ["host callback"]
