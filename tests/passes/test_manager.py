"""Passes by name: registered, ordered, shown; and a long program through each of them."""

from __future__ import annotations

import time

import pytest

from paddle_lite_py import passes
from paddle_lite_py.ir.block import Block, Operator, Value
from paddle_lite_py.ir.program import Program
from paddle_lite_py.passes import PassManager, apply
from paddle_lite_py.registry.op import REGISTRY
from rewritten import exp_of_log, names, program_of


def test_passes_are_registered_ordered_and_found_by_name():
    with pytest.raises(ValueError, match="no pass is named 'fold_batchnorm'; did you mean 'fold_batch_norm'"):
        PassManager("fold_batchnorm")
    with pytest.raises(ValueError, match="pipeline 'clean' has no pass 'nothing'"):
        passes.register("mine", ["clean"], before="nothing")(lambda p: p)
    with pytest.raises(ValueError, match="'dead_code' is there already"):
        passes.register("dead_code")(lambda p: p)
    try:
        passes.register("exp_of_log", ["inference"], before="fold_batch_norm")(exp_of_log)
        order = passes.PIPELINES["inference"]
        assert order.index("exp_of_log") == order.index("fold_batch_norm") - 1
        assert names(apply(program_of(lambda x: x.log().exp() + 1.0), "inference")) == ["add"]
    finally:
        passes.manager.REGISTRY.pop("exp_of_log", None)
        passes.PIPELINES["inference"] = [n for n in order if n != "exp_of_log"]


def test_what_passes_changed_is_shown():
    manager = PassManager(["common_subexpressions", exp_of_log, "dead_code"])
    manager.apply(program_of(lambda x: x.log().exp() + x.log().exp()))
    assert manager.summary().splitlines()[:2] == [
        "common_subexpressions: 5 -> 3 operators", "exp_of_log: 3 -> 1 operators"
    ]  # fmt: skip
    changes = [line for line in manager.diff().splitlines() if line[0] in "+-" and " = " in line]
    assert [line[0] for line in changes].count("-") >= 5
    assert any(line.startswith("+  ") and "= add(%x, %x)" in line for line in changes)
    assert [s.changed for s in manager.steps] == [True, True, False]


def long_program(n):
    """n operators in a chain, one in four of them the same as the one before."""
    x = Value((2,), "float32")
    values, ops = [x], []
    for i in range(n):
        a = values[-2] if i % 4 == 3 else values[-1]
        out = Value((2,), "float32")
        name = "tanh" if i % 4 >= 2 else "exp"
        ops.append(Operator(REGISTRY[name].bind(()), (a,), (out,)))
        values.append(out)
    total = Value((2,), "float32")
    ops.append(Operator(REGISTRY["add"].bind(()), (values[-1], values[-2]), (total,)))
    return Program(Block([x], ops, [total]), ["x"])


def test_a_long_program_goes_through_each_pass():
    manager = PassManager(["inference", "auto_cast", exp_of_log])
    start = time.perf_counter()
    made = manager.apply(long_program(5000))
    assert len(made.ops()) < 5001 and time.perf_counter() - start < 60
