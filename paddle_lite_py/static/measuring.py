"""Sizes of a static program that only a run tells: how many elements a mask selects, what a tensor says of a shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import DataDependentError, user_frame
from ..eager.tensor import Tensor
from ..ir.block import Operator, Value
from ..ir import control
from ..ir.parts import is_apart, measured_first
from ..ir.program import Measured
from ..registry.bound import BoundOp
from ..tracing.frame import Frame, TracedValue, traced_copy
from ..tracing.speculation import MAX_ELEMENTS
from .unknown import Unknown, inferred_by_samples


class Measuring:
    """The part of the builder that makes such sizes symbols."""

    frame: Frame
    root: Frame
    unknown: Unknown
    measured: dict[str, Measured]  # by their symbols
    value_of: Callable[[Tensor], TracedValue]
    handle: Callable[[Value], Tensor]
    appended: Callable[[BoundOp, Sequence[Value]], None]

    def assume(self, tensor: Tensor, otherwise: Exception) -> Any:
        """The size that a run will find in a tensor, or the list of them: what is made with it is a later part.

        Raises:
            otherwise: for no integers, or too many of them.
        """
        value = self.value_of(tensor)
        shape: Any = value.shape
        counted = value.dtype.kind in "iu" and len(shape) < 2 and all(isinstance(n, int) for n in shape)
        if not counted or (shape and shape[0] > MAX_ELEMENTS):
            raise otherwise
        return [self._size(Measured(value, i)) for i in range(shape[0])] if shape else self._size(Measured(value))

    def _size(self, measured: Measured) -> Any:
        """The size that is measured so: its symbol stands for one more, so that it may be 0."""
        name = next((n for n, m in self.measured.items() if m == measured), None) or self.unknown.new("size")
        self.measured[name] = measured
        return self.unknown.symbols[name] - 1

    def infer(self, bound: BoundOp, inputs: tuple[Any, ...], specs: tuple[Any, ...]) -> Any:
        """Shapes and dtypes of what a bound op gives."""
        try:
            return bound.infer(specs)
        except Exception:
            found = inferred_by_samples(bound, inputs, self.unknown.symbols, self.measured)
            if found is None:
                raise
            return found

    def gradient(self, *args: Any, **kwargs: Any) -> Any:
        """Gradients; see Differentiation. The operators that they move stay behind those that measure their sizes."""
        found = super().gradient(*args, **kwargs)  # type: ignore[misc]
        if self.measured:
            block, copy = self.root.block, lambda v: traced_copy(v, self.root)
            block.ops, self.measured = measured_first(block.ops, self.measured, copy)
        self._refuse_blocks_in_parts(self.frame.block.ops)
        return found

    def _refuse_blocks_in_parts(self, ops: Sequence[Operator]) -> None:
        for op in [o for op in ops if op.bound.op is control.GRAD for b in op.blocks for o in b.ops]:
            if is_apart(op, self.measured):
                raise DataDependentError(
                    f"a gradient is asked for through the {op.name} at {op.where}, which holds what Python has to run, "
                    "since its sizes depend on the data: compute those before it, or ask for no gradient there"
                )

    def run_on_host(self, bound: BoundOp, tensors: Sequence[Tensor], results: Sequence[Any]) -> list[Tensor]:
        """Append an operator that Python computes between two parts of a run; see ops.on_host."""
        outs: list[TracedValue] = []
        names: dict[str, Any] = {}
        for shape, dtype in results:
            outs.append(made := TracedValue((), dtype, self.frame, False))
            for axis, n in enumerate(shape):
                if isinstance(n, str) and n not in names:
                    names[n] = self._size(Measured(made, axis=axis))
            made.shape = tuple([names.get(n, n) for n in shape])
        self.frame.block.ops.append(Operator(bound, tuple(map(self.value_of, tensors)), tuple(outs), user_frame()))
        self.appended(bound, outs)
        return [*map(self.handle, outs)]
