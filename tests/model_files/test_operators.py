"""Operators of model files, one by one, against what PaddlePaddle's kernels gave."""

import json
from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.model_files.building import build
from paddle_lite_py.model_files.graph import LiteralOperand, ModelBlock, ModelFeed, ModelGraph, ModelNode
from paddle_lite_py.model_files.operators.table import call

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = json.loads((GOLDEN / "file_operators.json").read_text())


def recorded(case, kind):
    """Arrays, None, and lists of arrays, as they were given or came out."""
    with np.load(GOLDEN / "file_operators.npz") as file:
        for i, n in enumerate(case["operands" if kind == "in" else "results"]):
            stem = f"{case['case']}/{kind}{i}"
            yield n and (file[stem] if n == "t" else [file[f"{stem}.{j}"] for j in range(n)])


def tensors(value):
    if isinstance(value, list):
        return [tensors(v) for v in value]
    return value if value is None else paddle.to_tensor(value)


def flat(value):
    return [x for v in value for x in flat(v)] if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize("case", CASES, ids=[c["case"] for c in CASES])
def test_an_operator_gives_what_the_kernel_gives(case):
    found = call(case["case"].partition("@")[0], [tensors(v) for v in recorded(case, "in")], case["attrs"])
    expected = flat(list(recorded(case, "out")))
    compared = [(a, b) for a, b in zip(flat(found), expected, strict=False) if a is not None and b is not None]
    assert compared
    for ours, theirs in compared:
        ours = np.asarray(ours)
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_a_condition_on_a_known_size_chooses_while_the_program_is_built():
    """The value of the branch that is not taken is a number that fills its place, of another shape."""
    inner = ModelBlock([], [ModelNode("scale", ["x", LiteralOperand(2.0)], {}, ["twice"])], [])
    nodes = [
        ModelNode("shape", ["x"], {}, ["sizes"]),
        ModelNode("slice", ["sizes", LiteralOperand([1]), LiteralOperand([2])], {"axes": [0]}, ["columns"]),
        ModelNode("greater_than", ["columns", LiteralOperand(1)], {}, ["wide"]),
        ModelNode("conditional_block", ["wide"], {}, [], [inner]),
        ModelNode("assign_values", [], {"shape": [1], "dtype": "float32", "fp32_values": [7.0]}, ["filler"]),
        ModelNode("cast", ["wide"], {"dtype": "int32"}, ["which"]),
        ModelNode("select_input", ["which", ["filler", "twice"]], {}, ["out"]),
    ]
    feeds = [ModelFeed("x", "x", (2, 3), "float32")]
    graph = ModelGraph([], feeds, ["out"], ModelBlock([], nodes, []), ["out"])
    paddle.enable_static()
    try:
        program, given, fetches = build(graph, {})
        (out,) = paddle.static.Executor().run(program, {"x": np.ones((2, 3), "float32")}, fetches)
    finally:
        paddle.disable_static()
    assert out.tolist() == [[2.0] * 3] * 2
    assert "cond" not in [op.name for op in program.builder.root.block.ops]
