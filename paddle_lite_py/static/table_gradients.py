"""Gradients for an optimizer, those of tables as rows: what a step has not looked up is neither read nor written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.interpreter import no_grad
from ..eager.tensor import Tensor, wrap
from ..ir.block import Value
from ..optimizer import rows
from .differentiation import append_backward

if TYPE_CHECKING:
    from .recording import RecordingBuilder


class _TableUse(NamedTuple):
    """A parameter that nothing but lookups reads: ids and results of each, and the id that pads."""

    parameter: Any
    lookups: list[tuple[Value, Value]]
    padding: int | None


def append_by_rows(builder: RecordingBuilder, optimizer: Any, loss: Tensor, parameters: Any) -> list[tuple[Any, Any]]:
    """append_backward() with RowsGradients for the tables that an optimizer updates by rows."""
    known: dict[Any, Any] = {**builder.program.parameters}
    wanted: list[Any] = list(known.values() if parameters is None else parameters)
    given = [known[p] if isinstance(p, str) and p in known else p for p in wanted]
    tables = [use for p in given if (use := _use(builder, optimizer, p)) is not None]
    if not tables:
        return append_backward(builder, loss, parameters)
    results = {id(v): wrap(v) for use in tables for _, v in use.lookups}
    for handle in results.values():
        handle.stop_gradient = False
    own = {id(use.parameter) for use in tables}
    pairs = append_backward(builder, loss, [*[p for p in given if id(p) not in own], *results.values()])
    found = {id(handle): g for handle, g in pairs}
    out: list[tuple[Any, Any]] = [(p, g) for p, g in pairs if id(p) not in {id(h) for h in results.values()}]
    with no_grad():
        for use in tables:
            lookups = [(wrap(i), g) for i, v in use.lookups if (g := found.get(id(results[id(v)]))) is not None]
            if lookups:
                out.append((use.parameter, rows.gradient_of(lookups, use.parameter.shape[0], use.padding)))
    return out


def _use(builder: RecordingBuilder, optimizer: Any, parameter: Any) -> _TableUse | None:
    """How a parameter is looked up, if nothing else reads it and the optimizer may update it by rows."""
    if parameter.name not in builder.tables or parameter.stop_gradient or not _by_rows(optimizer, parameter):
        return None
    value = builder.captured(parameter)
    readers = [op for op in builder.root.block.ops if value in op.inputs]
    if value is None or not readers or not all(op.name == "embedding" and op.inputs[1] is value for op in readers):
        return None
    padding = {dict(zip(op.bound.op.attr_names, op.bound.attrs, strict=True))["row"] for op in readers}
    lookups = [(op.inputs[0], op.outputs[0]) for op in readers]
    return _TableUse(parameter, lookups, *padding) if len(padding) == 1 else None


def _by_rows(optimizer: Any, parameter: Any) -> bool:
    plain = optimizer._weight_decay is None and optimizer._grad_clip is None and parameter.regularizer is None
    return plain and type(optimizer).__name__ in rows.BY_ROWS and not optimizer._multi_precision
