"""static.draw: programs as text for Graphviz, and as pictures where it is installed."""

from __future__ import annotations

import re
import shutil

import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.static import InputSpec, draw

FLOW_BOXES = ["cond: true", "cond: false", "while: test", "while: body"]


def flow(x):
    if x.sum() > 0:
        x = x * 2.0
    while x.sum() < 10.0:
        x = x + 1.0
    return x.tanh()


def balanced(text):
    """Every node of an edge is declared, and braces close."""
    body = re.sub(r'"(\\.|[^"\\])*"', '""', text)
    assert body.count("{") == body.count("}")
    declared = set(re.findall(r"^\s*(v\d+) \[", body, re.M))
    edges = re.findall(r"(v\d+) -> (v\d+)", body)
    assert edges and {n for e in edges for n in e} <= declared
    return declared, edges


def test_a_net_is_drawn_with_weights_shapes_and_attributes():
    net = nn.Sequential(nn.Conv2D(1, 2, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3))
    program = paddle.jit.to_static(net, input_spec=[InputSpec([None, 1, 4, 4])]).forward.main_program
    text = draw(program)
    nodes, _ = balanced(text)
    assert len(nodes) == 1 + 4 + 4 + 1  # the image, weights, operators, the result
    assert "conv2d\\nstride=(1, 1)\\npadding=1" in text and "float32[batch, 2, 4, 4]" in text
    assert text.count("shape=note") == 4


def test_branches_and_loops_are_boxes_within_the_program():
    program = paddle.jit.to_static(flow, input_spec=[InputSpec([2], "float32", "x")]).main_program
    text = draw(program)
    balanced(text)
    assert list(re.findall(r'label="(\w+: \w+)"', text)) == FLOW_BOXES
    assert "less_than(10.0)" in text and "bool[]" in text


def test_text_that_needs_care_is_quoted():
    spec = InputSpec([2, 2], "float32", 'a"b\\')
    text = draw(paddle.jit.to_static(lambda x: x.exp(), input_spec=[spec]).main_program)
    assert 'a\\"b\\\\\\nfloat32[2, 2]' in text


def test_a_static_program_is_drawn():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        nn.Linear(2, 3)(paddle.static.data("x", [None, 2]))
    text = draw(main)
    paddle.disable_static()
    assert "linear" in text and "x\\nfloat32[x_0, 2]" in text and text.count("shape=note") == 2


def test_the_file_is_what_its_ending_says(tmp_path, monkeypatch):
    program = paddle.jit.to_static(flow, input_spec=[InputSpec([2])]).main_program
    assert draw(program, str(tmp_path / "p.dot")) == (tmp_path / "p.dot").read_text()
    with pytest.raises(ValueError, match="its suffix selects the format"):
        draw(program, str(tmp_path / "p"))
    with pytest.raises(TypeError, match="program is a int; expected a Program"):
        draw(3)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="needs Graphviz, whose program `dot` is not there"):
        draw(program, str(tmp_path / "p.png"))


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_pictures_are_made_where_graphviz_is_installed(tmp_path):
    program = paddle.jit.to_static(flow, input_spec=[InputSpec([2])]).main_program
    draw(program, str(tmp_path / "p.svg"))
    assert all(box in (tmp_path / "p.svg").read_text() for box in FLOW_BOXES)
    with pytest.raises(RuntimeError, match="dot could not write"):
        draw(program, str(tmp_path / "p.nosuchkind"))
