"""The interpreter of static mode: it records ops, and appends gradients."""

from __future__ import annotations

from typing import Any

from ..eager.tensor import Tensor
from .differentiation import append_backward
from .lookups import look_up
from .recording import RecordingBuilder
from .table_gradients import append_by_rows


class StaticBuilder(RecordingBuilder):
    """Appends ops, gradients and lookups in tables to one static Program."""

    def look_up(self, ids: Tensor, weight: Tensor, padding: int | None) -> Tensor | None:
        """Return the rows of a table that servers keep; None where they keep none."""
        self.tables.add(weight.name)
        return look_up(self, ids, weight, padding, not weight.stop_gradient)

    def minimized(self, optimizer: Any, loss: Tensor, parameters: Any, no_grad_set: Any) -> Any:
        """Return the gradients of what an optimizer trains.

        Raises:
            ValueError: if the loss depends on nothing of it.
        """
        self.program.optimizers.append(optimizer)
        given = parameters or optimizer._parameter_list or None
        if self.tables and self.change_gradients is None and self.checkpoints is None and no_grad_set is None:
            found = append_by_rows(self, optimizer, loss, given)
        else:
            found = append_backward(self, loss, given, no_grad_set)
        if not (pairs := [(p, g) for p, g in found if g is not None]):
            where = self.value_of(loss).where
            raise ValueError(f"minimize: the loss made at {where} depends on none of the parameters that are trained")
        return pairs
