"""Programs as pictures: text in the DOT language of Graphviz, and what its `dot` makes of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from .block import Block, Operator, Value
from .program import Program

# Attributes longer than this are cut.
MAX_TEXT = 28
_HEAD = """digraph program {
  graph [fontname="Helvetica", fontsize=10, ranksep=0.3, nodesep=0.25];
  node [fontname="Helvetica", fontsize=10, shape=box, style="rounded,filled", fillcolor="#eef3fb", color="#5b7db1"];
  edge [fontname="Helvetica", fontsize=8, color="#555555", fontcolor="#555555", arrowsize=0.6];
"""
_ARGUMENT = 'shape=ellipse, style=filled, fillcolor="#dff0d8", color="#6a9a5b"'
_WEIGHT = 'shape=note, style=filled, fillcolor="#f4f0e6", color="#a89a75", fontsize=8'
_CONTROL = 'shape=hexagon, style=filled, fillcolor="#fbe9d7", color="#c58a4a"'
_RESULT = 'shape=ellipse, style=filled, fillcolor="#f7dede", color="#b86b6b"'
_INNER = 'shape=ellipse, style="filled,dashed", fillcolor="#ffffff", color="#888888", fontsize=8'


def to_dot(program: Program) -> str:
    """Return a program in the DOT language: operators with shapes and types between them, branches and loops as boxes.

    Examples:
        >>> from paddle_lite_py.ir.block import Block, Value
        >>> from paddle_lite_py.ir.program import Program
        >>> x = Value((2,), "float32")
        >>> print(to_dot(Program(Block([x], [], [x]), ["x"])).splitlines()[-4])
          v0 [label="x\\nfloat32[2]", shape=ellipse, ...];
    """
    drawing = _Drawing()
    for value, name in zip(program.block.inputs, program.input_names, strict=True):
        kind = _WEIGHT if value in program.captured else _ARGUMENT
        drawing.input(value, name, kind)
    drawing.operators(program.block)
    for value, name in zip(program.block.outputs, program.output_names, strict=True):
        drawing.result(value, name)
    return _HEAD + "\n".join(drawing.lines) + "\n}\n"


def render(text: str, path: str) -> None:
    """Write DOT text to a file, as the picture that the ending of its name asks for: png, svg, pdf.

    Raises:
        ValueError: if the name has no ending.
        RuntimeError: if a picture is requested and Graphviz is not installed, or it fails.
    """
    kind = Path(path).suffix.lower().removeprefix(".")
    if not kind:
        raise ValueError(f"draw: path is {path!r}; its suffix selects the format: .dot, .png, .svg or .pdf")
    if kind in ("dot", "gv", "txt"):
        Path(path).write_text(text)
        return
    if shutil.which("dot") is None:
        raise RuntimeError(
            f"draw: {path} needs Graphviz, whose program `dot` is not there; install the package graphviz of your "
            "system, or write a .dot file, which any Graphviz viewer shows"
        )
    done = subprocess.run(["dot", f"-T{kind}", "-o", path], input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"draw: dot could not write {path}: {done.stderr.strip()[:300]}")


class _Drawing:
    """Lines of DOT, and the node that each value comes from."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.nodes: dict[Value, str] = {}
        self.given: set[Value] = set()  # inputs, whose nodes say their type
        self.count = 0
        self.indent = "  "

    def node(self, label: str, style: str = "") -> str:
        name = f"v{self.count}"
        self.count += 1
        self.lines.append(f"{self.indent}{name} [label={_quoted(label)}{', ' * bool(style)}{style}];")
        return name

    def input(self, value: Value, name: str, style: str) -> None:
        self.nodes[value] = self.node(f"{name}\n{_type(value)}", style)
        self.given.add(value)

    def edge(self, start: str, end: str, style: str) -> None:
        self.lines.append(f"{self.indent}{start} -> {end} [{style}];")

    def flow(self, value: Value, end: str) -> None:
        self.edge(self.nodes[value], end, "" if value in self.given else f"label={_quoted(' ' + _type(value))}")

    def result(self, value: Any, name: str) -> None:
        """A node that a value leads to, or that shows a number."""
        if isinstance(value, Value):
            self.flow(value, self.node(name, _RESULT))
        else:
            self.node(f"{name} = {value!r}", _RESULT)

    def operators(self, block: Block) -> None:
        for op in block.ops:
            self.operator(op)

    def operator(self, op: Operator) -> None:
        style = f"tooltip={_quoted(str(op.where))}"
        end = self.node(_label(op), f"{_CONTROL}, {style}" if op.blocks else style)
        for v in op.inputs:
            if isinstance(v, Value):
                self.flow(v, end)
        self.nodes.update(dict.fromkeys(op.outputs, end))
        for name, attribute in zip(op.bound.op.attr_names, op.bound.attrs, strict=True):
            if isinstance(attribute, Block):
                self.block(f"{op.name}: {name}", attribute, end)

    def block(self, label: str, block: Block, owner: str) -> None:
        """A block inside of an operator, as a box that the operator leads to."""
        self.lines.append(f"{self.indent}subgraph cluster_{self.count} {{")
        self.indent += "  "
        self.lines.append(f'{self.indent}label={_quoted(label)}; style="rounded,dashed"; color="#c58a4a";')
        start = self.node("", "shape=point")
        read = {v for op in block.ops for v in op.inputs if isinstance(v, Value)}.union(block.outputs)
        for i, v in enumerate(block.inputs):
            if v in read:
                self.input(v, f"in{i}", _INNER)
                self.edge(start, self.nodes[v], "style=dashed, arrowhead=none")
        self.operators(block)
        for i, v in enumerate(block.outputs):
            self.result(v, f"out{i}")
        self.indent = self.indent[:-2]
        self.lines.append(f"{self.indent}}}")
        self.edge(owner, start, "style=dashed")


def _label(op: Operator) -> str:
    attrs = zip(op.bound.op.attr_names, op.bound.attrs, strict=True)
    shown = [f"{n}={_short(a)}" for n, a in attrs if not isinstance(a, Block) and a is not None]
    scalars = [f"{_short(v)}" for v in op.inputs if not isinstance(v, Value)]
    return "\n".join([op.name + (f"({', '.join(scalars)})" if scalars else ""), *shown[:4]])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3] + "..."


def _type(value: Value) -> str:
    return f"{value.dtype}[{', '.join(map(str, value.shape))}]"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
