"""A graph of nodes as an ONNX model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..model_files.graph import ModelBlock, ModelNode
from ..model_files.writing.pir_text import FileValue, TensorType


class ModelText:
    """Names and nodes of one model.

    Arguments:
        known: the constants, of which those that a node reads are written.
    """

    def __init__(self, known: dict[FileValue, np.ndarray]) -> None:
        self.known, self.used = known, dict[FileValue, None]()
        self.names: dict[FileValue, str] = {}

    def model(
        self, name: str, inputs: Sequence[tuple[FileValue, str]], outputs: Sequence[tuple[FileValue, str]],
        nodes: Iterable[ModelNode], opset: int,
    ) -> Any:  # fmt: skip
        """Return the whole."""
        from onnx import helper, numpy_helper

        self.names.update([*inputs, *outputs])
        written = [self.node(n) for n in nodes]
        constants = [numpy_helper.from_array(self.known[v], self.names[v]) for v in self.used]
        given, made = ([self.info(v) for v, _ in some] for some in (inputs, outputs))
        graph = helper.make_graph(written, name, given, made, constants)
        operators = [helper.make_opsetid("", opset)]
        return helper.make_model(graph, opset_imports=operators, ir_version=helper.find_min_ir_version_for(operators))

    def name(self, value: FileValue | None) -> str:
        """What a value is called; the empty name is that of an operand that is absent."""
        if value is None:
            return ""
        if value in self.known:
            self.used[value] = None
        return self.names.setdefault(value, f"v{len(self.names)}")

    def node(self, node: ModelNode) -> Any:
        """Return a node, with the blocks that it holds."""
        from onnx import helper

        attrs: dict[str, Any] = {k: element_type(v) if k == "dtype" else v for k, v in node.attrs.items()}
        if "dtype" in attrs:
            attrs["to"] = attrs.pop("dtype")
        names = ("then_branch", "else_branch") if node.op == "If" else ("body",)
        blocks = {n: self.block(b) for n, b in zip(names, node.blocks, strict=False)}
        operands = [self.name(v) for v in node.operands]
        while operands and not operands[-1]:
            operands.pop()
        return helper.make_node(node.op, operands, [self.name(v) for v in node.results], **attrs, **blocks)

    def block(self, block: ModelBlock) -> Any:
        """Return a branch, or the body of a loop; the sizes of what it gives may change from turn to turn."""
        from onnx import helper

        nodes = [self.node(n) for n in block.nodes]
        arguments, results = ([self.info(v, False) for v in some] for some in (block.arguments, block.results))
        return helper.make_graph(nodes, "block", arguments, results)

    def info(self, value: FileValue, is_named: bool = True) -> Any:
        """Return the name and type of a value; a size that is not known has a name, or none where it may change."""
        from onnx import helper

        kind: TensorType = value.type
        unknown = [str(n) if is_named else None for n in kind.shape]
        shape = [n if isinstance(n, int) else u for n, u in zip(kind.shape, unknown, strict=True)]
        return helper.make_tensor_value_info(self.name(value), element_type(kind.dtype), shape)


def element_type(dtype: str) -> int:
    """ONNX's number for a dtype."""
    from onnx import helper

    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
