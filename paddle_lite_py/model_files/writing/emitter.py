"""The emitter used by rows of the table: it writes operators of the reference on values of a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core import symbolic
from ...core.dtypes import numpy_name
from ..graph import ModelNode
from .pir_text import Double, DTypeAttribute, FileValue, IntArray, Long, PlaceAttribute, TensorType

ANYWHERE, HOST = PlaceAttribute(0), PlaceAttribute(1)
# Operators whose result has no elements that their first operand has not.
_TAKING = {"gather", "reshape", "slice", "squeeze", "strided_slice", "transpose", "unsqueeze"}


class Unwritable(ValueError):
    """Something has no form in a model file; the text says what."""


class Emitter:
    """Appends operators to the block that is being written."""

    def __init__(self) -> None:
        self.nodes: list[ModelNode] = []
        self.places: dict[str, tuple[FileValue, int]] = {}  # of symbols: a value, and its axis of that size
        self.sizes_known: dict[str, FileValue] = {}
        self.numbers: dict[FileValue, Any] = {}  # tensors of one number, and the number
        self.not_negative: set[FileValue] = set()  # integer buffers, and values taken from them
        self.constants: dict[Any, FileValue] = {}  # values that operators only read, by content
        self.name = ""  # of the operator that is being written
        self.out: list[TensorType] = []  # its results

    def emit(self, name: str, operands: Sequence[FileValue | None], types: Sequence[Any], **attrs: Any) -> Any:
        """Append an operator; its results."""
        results = [FileValue(t) for t in types]
        self.nodes.append(ModelNode(name, list(operands), attrs, results))
        return results

    def op(self, name: str, *operands: FileValue | None, to: Any = None, **attrs: Any) -> FileValue:
        """Append an operator of one result, which has the type of the first operand if none is given."""
        kind = to if to is not None else operands[0].type  # type: ignore[union-attr]
        (made,) = self.emit(name, operands, [kind], **attrs)
        if name in _TAKING and operands[0] in self.not_negative:
            self.not_negative.add(made)
        return made

    @contextmanager
    def block(self) -> Iterator[list[ModelNode]]:
        """Append to a new list of operators, and know sizes and constants that are made there within it alone."""
        before = self.nodes, self.sizes_known, self.places, self.constants
        self.nodes, self.sizes_known, self.places = [], dict(self.sizes_known), dict(self.places)
        self.constants = dict(self.constants)
        try:
            yield self.nodes
        finally:
            self.nodes, self.sizes_known, self.places, self.constants = before

    # -- values that are known -------------------------------------------------------------------------------------
    def full(self, value: Any, dtype: str, shape: Sequence[int] = (), place: PlaceAttribute = ANYWHERE) -> FileValue:
        """Return a tensor of one number."""
        if isinstance(value, float) and math.isnan(value):  # which the reference does not read
            infinite = self.full(math.inf, dtype, shape)
            return self.op("subtract", infinite, infinite)
        if isinstance(value, complex):
            raise Unwritable("a complex number has no form there")
        if isinstance(value, int) and abs(value) > 2**53:
            high, low = divmod(value, 1 << 31)
            whole = self.op("multiply", self.full(high, dtype, shape), self.full(1 << 31, dtype, shape))
            return self.op("add", whole, self.full(low, dtype, shape))
        attrs = {"shape": IntArray(shape), "value": Double(value), "dtype": DTypeAttribute(dtype), "place": place}
        made = self.op("full", to=TensorType(tuple(shape), dtype), **attrs)
        self.numbers[made] = value
        return made

    def number(self, value: Any, dtype: str = "int32") -> FileValue:
        """Return a number where the reference expects a tensor of one element for an attribute."""
        return self.once((value, dtype), lambda: self.full(value, dtype, [1], HOST))

    def count(self, n: Any) -> FileValue:
        """Return a size where the reference expects a tensor of one element for an attribute."""
        return self.cast(self.reshape(self.size(n), (1,)), "int32") if symbolic.is_symbolic(n) else self.number(n)

    def once(self, key: Any, make: Callable[[], FileValue]) -> FileValue:
        """Return a constant that operators only read: one for all of a key."""
        if key not in self.constants:
            self.constants[key] = make()
        return self.constants[key]

    def ints(self, values: Sequence[int]) -> FileValue:
        """Integers where the reference expects a tensor for an attribute."""
        return self.once(tuple(map(int, values)), lambda: self._ints(values))

    def _ints(self, values: Sequence[int]) -> FileValue:
        attrs = {"value": [Long(v) for v in values], "dtype": DTypeAttribute("int64"), "place": HOST}
        return self.op("full_int_array", to=TensorType((len(values),), "int64"), **attrs)

    def array(self, values: np.ndarray) -> FileValue:
        """Return a tensor of a few numbers."""
        flat, kind = values.reshape(-1).tolist(), TensorType(values.shape, numpy_name(values.dtype))
        if values.size and len(set(flat)) == 1:
            return self.full(flat[0], kind.dtype, values.shape)
        attrs = {"shape": list(values.shape), "dtype": DTypeAttribute(kind.dtype), "values": [Double(v) for v in flat]}
        return self.op("assign_value", to=kind, **attrs, place=ANYWHERE)

    def tensor(self, value: Any, dtype: str) -> FileValue:
        """Return a value, or a number as one, in a dtype."""
        return self.cast(value, dtype) if isinstance(value, FileValue) else self.full(plain(value, dtype), dtype)

    # -- sizes -----------------------------------------------------------------------------------------------------
    def sizes(self, shape: Sequence[Any], one_is_free: bool = False) -> FileValue:
        """Sizes as a tensor; with one_is_free -1 may stand for one of them that is not known."""
        unknown = [n for n in shape if symbolic.is_symbolic(n)]
        one_is_free &= -1 not in shape
        if not unknown or (one_is_free and len(unknown) == 1):
            return self.ints([-1 if symbolic.is_symbolic(n) else int(n) for n in shape])
        parts = [self.size(n) for n in shape]
        return self.op("stack", self.combined(parts), to=TensorType((len(parts),), "int64"), axis=0)

    def size(self, dim: Any) -> FileValue:
        """Return a size as a tensor without dimensions."""
        if not symbolic.is_symbolic(dim):
            return self.full(int(dim), "int64")
        found = symbolic.evaluate(dim, _Symbols(self))
        return found.value if isinstance(found, _SizeValue) else self.full(int(found), "int64")

    def symbol(self, name: str) -> FileValue:
        """Return the size that a symbol stands for."""
        if name not in self.sizes_known:
            if name not in self.places:
                raise Unwritable(f"its size {name} is known only when it has run")
            self.sizes_known[name] = self.size_of(*self.places[name])
        return self.sizes_known[name]

    def size_of(self, value: FileValue, axis: int) -> FileValue:
        """Return the size of an axis of a tensor."""
        shape = self.op("shape64", value, to=TensorType((len(value.type.shape),), "int64"))
        return self.element(shape, axis)

    def element(self, vector: FileValue, at: int) -> FileValue:
        """Return an element of a tensor of one dimension."""
        attrs = {"axes": [Long(0)], "infer_flags": [Long(1)], "decrease_axis": [Long(0)]}
        scalar = TensorType((), vector.type.dtype)
        return self.op("slice", vector, self.ints([at]), self.ints([at + 1]), to=scalar, **attrs)

    def note_sizes(self, value: FileValue) -> None:
        """Let the symbols in the shape of a value be found there."""
        for axis, n in enumerate(value.type.shape):
            if symbolic.is_symbolic(n) and str(n).isidentifier():
                self.places.setdefault(str(n), (value, axis))

    # -- what many rows need ---------------------------------------------------------------------------------------
    def combined(self, values: Sequence[FileValue]) -> FileValue:
        """Several tensors as one operand."""
        return self.op("builtin.combine", *values, to=[v.type for v in values])

    def items(self, values: FileValue) -> list[FileValue]:
        """Return the tensors of a list."""
        return self.emit("builtin.split", [values], values.type)

    def cast(self, x: FileValue, dtype: str) -> FileValue:
        """Return a tensor in a dtype."""
        if x.type.dtype == dtype:
            return x
        if x in self.numbers and dtype != "bool":
            return self.full(plain(self.numbers[x], dtype), dtype, x.type.shape)
        return self.op("cast", x, to=TensorType(x.type.shape, dtype), dtype=DTypeAttribute(dtype))

    def reshape(self, x: FileValue, shape: Sequence[Any]) -> FileValue:
        """Return a tensor in another shape."""
        given = x.type.shape
        if tuple(shape) == tuple(given):
            return x
        if x in self.numbers and not symbolic.has_symbolic(tuple(shape)):
            return self.full(self.numbers[x], x.type.dtype, shape)
        kept = [0 if symbolic.is_symbolic(n) and given[i : i + 1] == (n,) else n for i, n in enumerate(shape)]
        return self.op("reshape", x, self.sizes(kept, True), to=TensorType(tuple(shape), x.type.dtype))

    def expand(self, x: FileValue, shape: Sequence[Any]) -> FileValue:
        """Return a tensor repeated along axes of size 1, and new ones in front."""
        given, new = x.type.shape, len(shape) - len(x.type.shape)
        if tuple(shape) == tuple(given):
            return x
        if x in self.numbers and not symbolic.has_symbolic(tuple(shape)):
            return self.full(self.numbers[x], x.type.dtype, shape)
        kept = [-1 if i >= new and given[i - new] == n else n for i, n in enumerate(shape)]
        return self.op("expand", x, self.sizes(kept), to=TensorType(tuple(shape), x.type.dtype))

    def transpose(self, x: FileValue, perm: Sequence[int]) -> FileValue:
        """Return a tensor with its axes in another order."""
        if list(perm) == sorted(perm):
            return x
        shape = tuple([x.type.shape[p] for p in perm])
        return self.op("transpose", x, to=TensorType(shape, x.type.dtype), perm=[int(p) for p in perm])

    def unsqueeze(self, x: FileValue, axis: int) -> FileValue:
        """Return a tensor with a new axis of size 1."""
        shape = list(x.type.shape)
        shape.insert(axis, 1)
        return self.op("unsqueeze", x, self.ints([axis]), to=TensorType(tuple(shape), x.type.dtype))

    def squeeze(self, x: FileValue, axis: int) -> FileValue:
        """Return a tensor without an axis of size 1."""
        shape = tuple([n for i, n in enumerate(x.type.shape) if i != axis])
        return self.op("squeeze", x, self.ints([axis]), to=TensorType(shape, x.type.dtype))

    def matmul(self, x: FileValue, y: FileValue, transposed: bool = False, to: Any = None) -> FileValue:
        """Return a product of matrices, the second one transposed if that is wanted."""
        return self.op("matmul", x, y, to=to, transpose_x=False, transpose_y=transposed)

    def flip(self, x: FileValue, axes: Sequence[int]) -> FileValue:
        """Return a tensor with the order of elements reversed along axes."""
        return self.op("flip", x, axis=list(axes))

    def slice(self, x: FileValue, axis: int, start: Any, end: Any) -> FileValue:
        """Return a part of a tensor along one axis; its bounds are numbers or tensors."""
        n = end - start if isinstance(start, int) and isinstance(end, int) else None
        shape = tuple([n if i == axis else m for i, m in enumerate(x.type.shape)])
        first, last = (b if isinstance(b, FileValue) else self.ints([b]) for b in (start, end))
        attrs = {"axes": [Long(axis)], "infer_flags": [Long(1)], "decrease_axis": list[int]()}
        return self.op("slice", x, first, last, to=TensorType(shape, x.type.dtype), **attrs)


def plain(value: Any, dtype: str) -> Any:
    """Return a number as one of Python's, of the kind of a dtype."""
    value = value.item() if isinstance(value, np.generic) else value
    if dtype == "bool":
        return bool(value)
    return value if "float" in dtype or "complex" in dtype else int(value)


class _Symbols(dict[str, Any]):
    """The symbols of an expression of sizes."""

    def __init__(self, emitter: Emitter) -> None:
        super().__init__()
        self.emitter = emitter

    def __missing__(self, name: str) -> _SizeValue:
        return _SizeValue(self.emitter, self.emitter.symbol(name))


class _SizeValue:
    """A size that the operators of an expression are written for."""

    def __init__(self, emitter: Emitter, value: FileValue) -> None:
        self.emitter, self.value = emitter, value

    def _with(self, name: str, other: Any, swapped: bool = False) -> _SizeValue:
        theirs = other.value if isinstance(other, _SizeValue) else self.emitter.full(int(other), "int64")
        both = (theirs, self.value) if swapped else (self.value, theirs)
        return _SizeValue(self.emitter, self.emitter.op(name, *both))

    def __add__(self, other: Any) -> _SizeValue:
        return self._with("add", other)

    def __sub__(self, other: Any) -> _SizeValue:
        return self._with("subtract", other)

    def __rsub__(self, other: Any) -> _SizeValue:
        return self._with("subtract", other, True)

    def __mul__(self, other: Any) -> _SizeValue:
        return self._with("multiply", other)

    def __neg__(self) -> _SizeValue:
        return self._with("multiply", -1)

    def __floordiv__(self, other: Any) -> _SizeValue:
        return self._with("floor_divide", other)

    def __rfloordiv__(self, other: Any) -> _SizeValue:
        return self._with("floor_divide", other, True)

    def __mod__(self, other: Any) -> _SizeValue:
        return self._with("remainder", other)

    def __rmod__(self, other: Any) -> _SizeValue:
        return self._with("remainder", other, True)

    def __pow__(self, other: int) -> _SizeValue:
        return self if other == 1 else self * self ** (other - 1)

    def maximum(self, other: Any) -> _SizeValue:
        """Return the larger one."""
        return self._with("maximum", other)

    def minimum(self, other: Any) -> _SizeValue:
        """Return the smaller one."""
        return self._with("minimum", other)

    __radd__ = __add__
    __rmul__ = __mul__
