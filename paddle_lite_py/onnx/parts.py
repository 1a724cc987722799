"""Programs in parts as ONNX models, in which the sizes that a run finds are computed by the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model_files.writing.emitter import Unwritable
from ..model_files.writing.programs import named
from ..model_files.writing.rows.table import ROWS
from ..tracing.trace import Traced
from .forms import detection, elementwise, indexing, layers, shaping  # noqa: F401  (they enter their forms)
from .forms.rows import OWN
from .forms.table import FORMS
from .proto import ModelText
from .writer import OnnxWriter


def in_parts(name: str, traced: Traced, names: Sequence[str], opset: int) -> Any:
    """Return the model of what a traced program gives.

    Arguments:
        names: of its inputs.

    Raises:
        Unwritable: naming the operators that have no form in ONNX, and their lines.
    """
    writer = OnnxWriter(traced, FORMS, ROWS | OWN)
    graph = writer.graph()
    if writer.refused:
        raise Unwritable(named(writer.refused))
    inputs = [(feed.ref, given) for feed, given in zip(graph.feeds, names, strict=True)]
    outputs = [(value, f"out{i}") for i, value in enumerate(graph.fetches)]
    return ModelText(writer.known).model(name, inputs, outputs, graph.block.nodes, opset)
