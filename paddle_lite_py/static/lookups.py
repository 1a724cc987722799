"""Tables that servers keep, as a program sees them: their rows are fed, and the gradients of these are fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from ..core.processes import job
from ..eager.tensor import Tensor, wrap
from .current import current

if TYPE_CHECKING:
    from .recording import RecordingBuilder


class Lookup(NamedTuple):
    """The rows of a table for some ids.

    Arguments:
        table: its name.
        ids: the name of the value with the ids.
        rows: the name of the data that is fed with the rows.
        padding: an id that reads as zeros and is not trained.
        trained: whether the gradient of the rows goes to the servers.
    """

    table: str
    ids: str
    rows: str
    padding: int | None
    trained: bool

    @property
    def gradient(self) -> str:
        """The name of the gradient of the rows."""
        return f"{self.rows}@GRAD"


def look_up(
    builder: RecordingBuilder, ids: Tensor, weight: Tensor, padding: int | None, trained: bool = True, entry: Any = None
) -> Tensor | None:
    """Return the rows of a table, which servers keep in the place of a parameter; None in a job without servers."""
    session = job.session
    if session is None or builder.frame is not builder.root:
        return None
    table = _table(builder, weight, entry)
    value = builder.value_of(ids)
    if not value.name:
        builder.name_values()
    program = builder.program
    spec = jax.ShapeDtypeStruct((*value.shape, table.shape[1]), np.dtype("float32"))
    rows = builder.root.new_input(spec, trained)
    rows.name, rows.where = f"{table.name}@ROWS_{len(program.lookups)}", value.where
    out = wrap(rows)
    out.stop_gradient = not trained
    builder.root.leaves[rows] = out
    builder.version += 1
    program.feeds[rows.name] = rows
    program.lookups.append(Lookup(table.name, str(value.name), rows.name, padding, trained))
    return out


def _table(builder: RecordingBuilder, weight: Tensor, entry: Any) -> Any:
    """Return the table that a parameter stands for, which no process of those that train has any more."""
    from ..distributed.fleet.served.tables import Table

    session, name = job.session, weight.name
    assert session is not None
    builder.program.parameters.pop(name, None)
    initial = current.startup.initials.pop(name, None)
    if initial is not None:
        current.startup.builder.version += 1
        rows, columns = weight.shape
        drawn = getattr(initial.draw, "initializer", None)
        drawn = getattr(drawn, "inner", drawn)  # the row that pads is not read there
        session.tables.setdefault(name, Table(name, (rows, columns), drawn, entry))
    if name not in session.tables:
        raise ValueError(
            f"embedding: '{name}' was made before fleet.init(), or has a value; servers make tables themselves"
        )
    return session.tables[name]
