"""Operators of model files, one by one, against what PaddlePaddle's kernels gave."""

import json
from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.model_files import legacy
from paddle_lite_py.model_files.building import build
from paddle_lite_py.model_files.graph import LiteralOperand, ModelBlock, ModelFeed, ModelGraph, ModelNode
from paddle_lite_py.model_files.operators.table import KnownValue, call
from paddle_lite_py.model_files.program_desc import OperatorDescription, VariableDescription, _graph

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


def test_sizes_and_ranges_that_are_known_stay_known():
    assert call("shape", [paddle.zeros([2, 3])], {}) == KnownValue([2, 3], "int32")
    assert call("shape64", [paddle.zeros([2, 3])], {}) == KnownValue([2, 3], "int64")
    ends = [KnownValue(n) for n in (0, 6, 2)]
    assert call("arange", ends, {"dtype": "int64"}) == KnownValue([0, 2, 4])
    assert call("arange", [KnownValue(0), KnownValue(99), KnownValue(1)], {}).shape == [99]


def test_a_value_is_set_between_bounds_that_are_tensors():
    names = {"Input": ["x"], "ValueTensor": ["v"], "StartsTensorList": ["a"], "EndsTensorList": ["b"]}
    settings = {"axes": [0], "starts": [], "ends": [], "steps": [1], "decrease_axes": []}
    node = legacy.normalized("set_value", names, {"Out": ["y"]}, settings)
    assert node.operands[:4] == ["x", "v", ["a"], ["b"]]
    given = [paddle.zeros([4]), paddle.ones([2]), [KnownValue(1)], [KnownValue(3)], KnownValue([1])]
    assert call(node.op, given, node.attrs).tolist() == [0, 1, 1, 0]


def test_a_list_of_an_earlier_generation_is_there_where_its_block_begins():
    lists = VariableDescription("list", kind=13)
    size = OperatorDescription("lod_array_length", {"X": ["list"]}, {"Out": ["n"]}, {})
    graph = _graph([({"list": lists}, [size])])
    assert [(n.op, n.results) for n in graph.block.nodes] == [("create_array", ["list"]), ("array_length", ["n"])]
    graph.fetches = ["n"]
    paddle.enable_static()
    program, _, fetches = build(graph, {})
    assert paddle.static.Executor().run(program, fetch_list=fetches)[0].tolist() == [0]


def test_a_value_without_dimensions_has_an_axis_to_remove():
    assert call("squeeze", [paddle.ones([]), KnownValue([0])], {}).shape == []
    assert call("squeeze", [paddle.ones([1, 2]), KnownValue([-2])], {}).shape == [2]
