"""Sizes of a program known only at run time: how many elements a mask selects, what a tensor says of a shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.dtypes import is_inexact
from ..core.errors import DataDependentError, user_frame
from ..core.symbolic import has_symbolic
from ..core.unknown_size import Shape
from ..eager.tensor import Tensor
from ..ir import control
from ..ir.block import Operator, Value
from ..ir.parts import found_within, is_apart, measured_first
from ..ir.program import Measured
from ..registry.bound import BoundOp
from .fitting import inferred_by_samples
from .frame import Frame, TracedValue, origin, traced_copy
from .sizes import size_of
from .speculation import MAX_ELEMENTS, Speculation


class Measuring:
    """The part of the builder that makes such sizes symbols."""

    sizes: Any
    frame: Frame
    root: Frame
    unknown: Any = None  # the Symbols that such sizes are among; None where a program is of one call
    measured: dict[str, Measured]  # by their symbols
    value_of: Callable[[Tensor], TracedValue]
    handle: Callable[[Value], Tensor]
    speculation: Speculation | None

    def assume(self, tensor: Tensor, otherwise: Exception) -> Any:
        """The integers that a traced tensor holds: those of the call under way, and the program will serve calls with
        these only; or sizes that a run will find, and what is made with them is a later part.

        Raises:
            otherwise: for no integers, or too many of them; in the first case inside of a branch or loop.
        """
        if (size := size_of(tensor._payload)) is not None:
            return size
        shape: Any = tensor._payload.shape
        if (
            not all(isinstance(n, int) for n in shape)
            or tensor.size > MAX_ELEMENTS
            or is_inexact(tensor._payload.dtype)
        ):
            raise otherwise
        if self.unknown is None:
            if self.speculation is None or self.frame is not self.root:
                raise otherwise
            return self.speculation.value(tensor, otherwise)
        value = origin(self.value_of(tensor))  # an input of a branch that only its shapes need would not stay one
        if value.dtype.kind not in "iu" or len(shape) > 1:
            raise otherwise
        return [self._size(Measured(value, i)) for i in range(shape[0])] if shape else self._size(Measured(value))

    def _size(self, measured: Measured) -> Any:
        """Return the size that is measured so: its symbol stands for one more, so that it may be 0."""
        name = next((n for n, m in self.measured.items() if m == measured), None)
        name = name or self.unknown.new(f"size_{len(self.measured)}")
        self.measured[name] = measured
        return self.unknown.symbols[name] - 1

    def is_one_row(self, start: Any, stop: Any, size: Any) -> bool:
        """Whether these are the number of an iteration, which is below this size, and the next one."""
        at, after = start._payload, stop._payload
        maker = next((op for op in reversed(after.frame.block.ops) if after in op.outputs), None)
        if maker is None or maker.name != "add" or maker.inputs[1] != 1 or not isinstance(maker.inputs[0], TracedValue):
            return False
        first, limit = origin(maker.inputs[0]), origin(at).limit
        return first is origin(at) and limit is not None and str(limit) == str(size)

    def infer(self, bound: BoundOp, inputs: tuple[Any, ...], specs: tuple[Any, ...]) -> Any:
        """Shapes and dtypes of what a bound op gives."""
        try:
            return bound.infer(specs)
        except Exception:
            found = self._inferred_otherwise(bound, inputs)
            if found is None:
                raise
            return found

    def _inferred_otherwise(self, bound: BoundOp, inputs: tuple[Any, ...]) -> Any:
        known = {} if self.unknown is None else self.unknown.symbols
        known = known if self.sizes is None else self.sizes.symbols | known
        return inferred_by_samples(bound, inputs, known, self.measured) if self.measured else None

    def input_of(self, frame: Frame, value: TracedValue) -> TracedValue:
        """Return a new input of a frame for a value from outside, with the sizes that it has there."""
        found = frame.new_input(value, value.requires_grad)
        if frame.parent is not None and frame.sizes is not frame.parent.sizes:
            found.shape = self.sizes.branches.moved(value.shape, frame.sizes)
        return found

    def appended(self, bound: BoundOp, values: Sequence[Value]) -> None:
        """Called with each new operator."""

    def gradient(self, *args: Any, **kwargs: Any) -> Any:
        """Gradients; see Differentiation. The operators that they move stay behind those that measure their sizes."""
        found = super().gradient(*args, **kwargs)  # type: ignore[misc]
        if self.measured:
            block, copy = self.root.block, lambda v: traced_copy(v, self.root)
            block.ops, self.measured = measured_first(block.ops, self.measured, copy)
        self._refuse_blocks_in_parts(self.frame.block.ops)
        return found

    def _refuse_blocks_in_parts(self, ops: Sequence[Operator]) -> None:
        differentiated = [b for op in ops if op.bound.op is control.GRAD for b in op.blocks]
        for op in [op for block in differentiated for op in block.all_ops()]:
            if op.bound.op is control.CUSTOM and is_apart(op, self.measured):
                raise DataDependentError(
                    f"a gradient is asked for through the backward() of a PyLayer or hook at {op.where}, within which "
                    "sizes depend on the data: compute those outside of it"
                )

    def finds_sizes(self, bound: BoundOp) -> bool:
        """Whether the blocks of a branch or loop find sizes, or know of some what does not hold outside: its results
        cannot be inferred from them as a whole."""
        op = Operator(bound, (), (), user_frame())
        if self.measured and found_within(op, self.measured):
            return True
        knowing = set() if self.sizes is None else self.sizes.branches.knowing
        inside = [o for block in op.blocks for o in block.all_ops()] if knowing else []
        return bool(knowing) and not knowing.isdisjoint([*op.blocks, *[b for o in inside for b in o.blocks]])

    @property
    def run_on_host(self) -> Any:
        """Appends an operator that Python computes, where a program may run in parts; see Interpreter."""
        return None if self.unknown is None else self._append_on_host

    def _append_on_host(self, bound: BoundOp, tensors: Sequence[Tensor], results: Sequence[Any]) -> list[Tensor]:
        """Append an operator that Python computes between two parts of a run; see ops.on_host."""
        return [*map(self.handle, self.append_measured(bound, tuple(map(self.value_of, tensors)), results))]

    def append_measured(
        self, bound: BoundOp, inputs: tuple[Any, ...], results: Sequence[Any]
    ) -> tuple[TracedValue, ...]:
        """Append an operator that Python runs, between two parts of a run.

        Arguments:
            results: shape and dtype of each result; sizes known only at run time are None, or names if some are equal.
        """
        names: dict[str, Any] = {}
        outs = tuple([TracedValue((), dtype, self.frame, False) for _, dtype in results])
        for value, (shape, _) in zip(outs, results, strict=True):
            self.measure(value, shape, names)
        self.frame.block.ops.append(Operator(bound, inputs, outs, user_frame()))
        self.appended(bound, outs)
        return outs

    def measure(self, value: TracedValue, shape: Sequence[Any], names: dict[str, Any] | None = None) -> None:
        """Give a value a shape in which a size that is None, or a new name, is that which a run will find there."""
        known = {} if names is None else names
        sizes = []
        for axis, n in enumerate(shape):
            if isinstance(n, str) and n not in known:
                known[n] = self._size(Measured(value, axis=axis))
            sizes.append(self._size(Measured(value, axis=axis)) if n is None else known.get(n, n))
        value.shape = Shape(sizes) if has_symbolic(tuple(sizes)) else tuple(sizes)
