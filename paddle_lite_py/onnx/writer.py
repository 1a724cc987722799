"""A program with sizes known only at run time, as a graph of ONNX's own operators.

It is written as a model file of PaddlePaddle is: rows give each operator as operators of the reference, and forms give
these as ONNX's. A size is computed where it is needed, by the operators of the graph.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from ..core import symbolic
from ..core.dtypes import numpy_name
from ..eager.tensor import Tensor
from ..ir.block import Operator
from ..model_files.graph import ModelBlock, ModelNode
from ..model_files.writing.emitter import Unwritable, plain
from ..model_files.writing.pir_text import FileValue, PlaceAttribute, TensorType
from ..model_files.writing.programs import ProgramWriter, type_of
from ..tracing.trace import Traced

ANYWHERE = PlaceAttribute(0)
MAX_CONSTANT = 1024  # elements; a larger tensor of one number is expanded


class OnnxWriter(ProgramWriter):
    """Writes the operators of a program as nodes of ONNX.

    Arguments:
        forms: by name of an operator of the reference, what writes it; see forms.table.
        rows: by name of an operator of a program, what writes it with operators of the reference.
    """

    def __init__(self, traced: Traced, forms: dict[str, Any], rows: dict[str, Any]) -> None:
        super().__init__(traced)
        self.forms, self.rows = forms, rows
        self.known: dict[FileValue, np.ndarray] = {}  # constants
        self.lists: dict[FileValue, list[FileValue]] = {}
        self._same: dict[Any, FileValue] = {}

    def emit(self, name: str, operands: Sequence[FileValue | None], types: Sequence[Any], **attrs: Any) -> Any:
        """Return the results of an operator of the reference, None for those that its form does not have."""
        if name not in self.forms:
            raise Unwritable("" if name == self.name else f"which is `{name}` there")
        found = self.forms[name](self, list(types), *operands, **attrs)
        results = list(found) if isinstance(found, list | tuple) else [found]
        return results + [None] * (len(types) - len(results))

    def node(self, op: str, *operands: FileValue | None, to: TensorType, **attrs: Any) -> FileValue:
        """Append a node with one result."""
        return self.nodes_of(op, operands, [to], **attrs)[0]

    def nodes_of(
        self, op: str, operands: Sequence[FileValue | None], types: Sequence[TensorType], **attrs: Any
    ) -> list[FileValue]:
        """Append a node; its results."""
        results = [FileValue(t) for t in types]
        self.nodes.append(ModelNode(op, list(operands), attrs, results))
        return results

    # -- values that are known -------------------------------------------------------------------------------------
    def constant(self, array: Any, dtype: str | None = None) -> FileValue:
        """Return a constant; equal ones are one value."""
        found = np.asarray(array, dtype)
        key = found.dtype.str, found.shape, found.tobytes()
        if key not in self._same:
            made = self._same[key] = FileValue(TensorType(found.shape, numpy_name(found.dtype)))
            self.known[made] = found
            if found.size == 1:
                self.numbers[made] = found.reshape(-1)[0].item()
        return self._same[key]

    def full(self, value: Any, dtype: str, shape: Sequence[int] = (), _place: PlaceAttribute = ANYWHERE) -> FileValue:
        """Return a tensor of one number."""
        if isinstance(value, complex):
            raise Unwritable("ONNX's operators take no complex numbers")
        if np.prod(shape, dtype=np.int64) <= MAX_CONSTANT:
            return self.constant(np.full(shape, value, dtype))
        made = self.node("Expand", self.constant(value, dtype), self.ints(shape), to=TensorType(tuple(shape), dtype))
        self.numbers[made] = value
        return made

    def ints(self, values: Sequence[int]) -> FileValue:
        """Integers as a vector."""
        return self.constant(np.array(values, np.int64).reshape(-1))

    def array(self, values: np.ndarray) -> FileValue:
        """Return a tensor of numbers."""
        return self.constant(values)

    def weight(self, tensor: Tensor, _of: TensorType) -> FileValue:
        """Return a parameter, a buffer or a constant."""
        return self.constant(np.asarray(tensor._payload))

    def integers(self, value: Any, what: str) -> list[int]:
        """Return the numbers of a constant vector.

        Raises:
            Unwritable: they are known only at run time.
        """
        if isinstance(value, FileValue):
            if value not in self.known:
                raise Unwritable(f"{what} would be known only when it runs")
            value = self.known[value].reshape(-1).tolist()
        return [int(v) for v in (value if isinstance(value, list | tuple) else [value])]

    # -- sizes -----------------------------------------------------------------------------------------------------
    def size(self, dim: Any) -> FileValue:
        """Return a size as a tensor without dimensions, computed once in a block."""
        key = str(dim)
        if symbolic.is_symbolic(dim) and key not in self.sizes_known:
            self.sizes_known[key] = super().size(dim)
        return self.sizes_known[key] if symbolic.is_symbolic(dim) else self.constant(int(dim), "int64")

    def sizes(self, shape: Sequence[Any], one_is_free: bool = False) -> FileValue:
        """Sizes as a vector; with one_is_free -1 may stand for one of them that is not known."""
        unknown = [n for n in shape if symbolic.is_symbolic(n)]
        if not unknown or (one_is_free and -1 not in shape and len(unknown) == 1):
            return self.ints([-1 if symbolic.is_symbolic(n) else int(n) for n in shape])
        return self.joined([self.row_of(self.size(n)) for n in shape])

    def row_of(self, x: FileValue) -> FileValue:
        """Return a number as a vector of one element."""
        if x in self.known:
            return self.constant(self.known[x].reshape(1))
        return self.node("Reshape", x, self.ints([1]), to=TensorType((1,), x.type.dtype))

    def joined(self, parts: Sequence[FileValue], axis: int = 0, to: TensorType | None = None) -> FileValue:
        """Tensors behind one another; vectors, if no type is given."""
        total = sum(p.type.shape[0] for p in parts) if to is None else 0
        kind = TensorType((total,), parts[0].type.dtype) if to is None else to
        return parts[0] if len(parts) == 1 else self.node("Concat", *parts, to=kind, axis=axis)

    def size_of(self, value: FileValue, axis: int) -> FileValue:
        """Return the size of an axis of a tensor."""
        row = self.node("Shape", value, to=TensorType((1,), "int64"), start=axis, end=axis + 1)
        return self.node("Squeeze", row, self.ints([0]), to=TensorType((), "int64"))

    def element(self, vector: FileValue, at: int) -> FileValue:
        """Return an element of a vector."""
        return self.node("Gather", vector, self.constant(at, "int64"), to=TensorType((), vector.type.dtype), axis=0)

    # -- shapes ----------------------------------------------------------------------------------------------------
    def reshape(self, x: FileValue, shape: Sequence[Any]) -> FileValue:
        """Return a tensor in another shape; a size may be 0."""
        kind = TensorType(tuple(shape), x.type.dtype)
        if kind.shape == tuple(x.type.shape):
            return x
        if x in self.known and not symbolic.has_symbolic(kind.shape):
            return self.constant(self.known[x].reshape(kind.shape))
        is_plain = sum(symbolic.is_symbolic(n) or n == -1 for n in shape) < 2 and 0 not in shape
        return self.node("Reshape", x, self.sizes(shape, is_plain), to=kind, **({} if is_plain else {"allowzero": 1}))

    def expand(self, x: FileValue, shape: Sequence[Any]) -> FileValue:
        """Return a tensor repeated along axes of size 1, and new ones in front."""
        given, new = x.type.shape, len(shape) - len(x.type.shape)
        if tuple(shape) == tuple(given):
            return x
        wanted = [1 if i >= new and given[i - new] == n else n for i, n in enumerate(shape)]
        return self.node("Expand", x, self.sizes(wanted), to=TensorType(tuple(shape), x.type.dtype))

    def transpose(self, x: FileValue, perm: Sequence[int]) -> FileValue:
        """Return a tensor with its axes in another order."""
        order = [int(p) for p in perm]
        if order == sorted(order):
            return x
        if x in self.known:
            return self.constant(np.transpose(self.known[x], order))
        kind = TensorType(tuple([x.type.shape[p] for p in order]), x.type.dtype)
        return self.node("Transpose", x, to=kind, perm=order)

    def cast(self, x: FileValue, dtype: str) -> FileValue:
        """Return a tensor in a dtype."""
        if x.type.dtype == dtype:
            return x
        if x in self.known:
            return self.constant(self.known[x].astype(dtype))
        return self.node("Cast", x, to=TensorType(x.type.shape, dtype), dtype=dtype)

    def tensor(self, value: Any, dtype: str) -> FileValue:
        """Return a value, or a number as one, in a dtype."""
        return self.cast(value, dtype) if isinstance(value, FileValue) else self.constant(plain(value, dtype), dtype)

    # -- lists and control flow ------------------------------------------------------------------------------------
    def combined(self, values: Sequence[FileValue]) -> FileValue:
        """Several tensors as one operand."""
        made = FileValue([v.type for v in values])
        self.lists[made] = list(values)
        return made

    def items(self, values: FileValue) -> list[FileValue]:
        """Return the tensors of a list."""
        return self.lists[values]

    def copied(self, value: Any, _made: Container[FileValue] = ()) -> FileValue:
        """Return a result of a block as a value that is made there."""
        found = self.read(value)
        found = found if isinstance(found, FileValue) else self.constant(found)
        return self.node("Identity", found, to=found.type)

    def branch(self, condition: FileValue, types: Sequence[TensorType], blocks: list[ModelBlock]) -> list[FileValue]:
        """Return one of two blocks."""
        results = [FileValue(t) for t in types]
        self.nodes.append(ModelNode("If", [condition], {}, results, blocks))
        return results

    def loop(self, operands: Sequence[FileValue], step: ModelBlock) -> list[FileValue]:
        """Return a loop on its first operand, a truth value."""
        turn, goes_on = FileValue(TensorType((), "int64")), FileValue(TensorType((), "bool"))
        results = [FileValue(a.type) for a in step.arguments]
        own = [FileValue(r.type) for r in step.results]
        step.nodes += [
            ModelNode("Identity", [r], {}, [o]) for r, o in zip(step.results, own, strict=True)
        ]  # what a block gives is made within it
        block = ModelBlock([turn, goes_on, *step.arguments], step.nodes, own)
        self.nodes.append(ModelNode("Loop", [None, *operands], {}, results, [block]))
        return results

    def operator(self, op: Operator) -> Sequence[FileValue]:
        """Return the results of an operator, in the dtypes that it gives."""
        before = len(self.nodes)
        found = super().operator(op)
        if len(self.nodes) > before and not op.blocks:
            found = [self.cast(f, type_of(v).dtype) for f, v in zip(found, op.outputs, strict=False)]
        return found
