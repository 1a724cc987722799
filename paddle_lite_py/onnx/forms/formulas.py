"""Formulas of values whose sizes are known only at run time: nodes, with numbers as constants of matching dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...model_files.graph import ModelBlock
from ...model_files.writing.pir_text import FileValue, TensorType
from ..writer import OnnxWriter


class Formulas:
    """Appends nodes to what a writer writes."""

    def __init__(self, w: OnnxWriter) -> None:
        self.w = w

    def __call__(self, op: str, *operands: Any, dtype: str | None = None, rank: int | None = None, **attrs: Any) -> Any:
        """One node; the result has the dtype and the number of dimensions of the first operand if none are given."""
        first: TensorType = next(v for v in operands if isinstance(v, FileValue)).type
        given = [v if isinstance(v, FileValue) else self.w.constant(v, first.dtype) for v in operands]
        n = max(len(v.type.shape) for v in given) if rank is None else rank
        return self.w.node(op, *given, to=TensorType((None,) * n, dtype or first.dtype), **attrs)

    def reshape(self, x: FileValue, shape: Sequence[int]) -> FileValue:
        """Return a value in another shape."""
        return self("Reshape", x, self.w.ints(shape), rank=len(shape))

    def count(self, n: FileValue) -> FileValue:
        """Return the numbers below a size."""
        return self("Range", self.w.constant(0, "int64"), n, self.w.constant(1, "int64"), rank=1)

    def like(self, x: FileValue, value: float) -> FileValue:
        """Return a number in the dtype of a value."""
        return self.w.constant(value, x.type.dtype)

    def part(self, x: FileValue, axis: int, start: int, end: int) -> FileValue:
        """Return a part of a value along an axis."""
        return self("Slice", x, self.w.ints([start]), self.w.ints([end]), self.w.ints([axis]))

    def sizes_of(self, x: FileValue, start: int, end: int) -> FileValue:
        """Sizes of axes as a vector."""
        return self("Shape", x, dtype="int64", rank=1, start=start, end=end)

    def column(self, x: FileValue, i: int) -> FileValue:
        """Return one column of a matrix."""
        return self("Gather", x, self.w.constant(i, "int64"), axis=1, rank=1)

    def columns(self, parts: Sequence[FileValue]) -> FileValue:
        """Vectors as the columns of a matrix."""
        return self("Concat", *[self.reshape(p, [-1, 1]) for p in parts], axis=1)

    def top(self, x: FileValue, k: FileValue, axis: int, largest: bool = True) -> list[FileValue]:
        """Return the first elements in an order and their places; of equal ones the earlier comes first."""
        shape = (None,) * len(x.type.shape)
        kinds = [TensorType(shape, x.type.dtype), TensorType(shape, "int64")]
        return self.w.nodes_of("TopK", [x, k], kinds, axis=axis, largest=int(largest), sorted=1)

    def suppressed(
        self, boxes: FileValue, scores: FileValue, threshold: float, least: Any = None, most: int | None = None
    ) -> FileValue:
        """Image, class and box [found, 3] of those that overlap no better one of their class by more than a threshold.

        Arguments:
            least: scores that are not above it do not count.
            most: largest number of boxes of a class.
        """
        w = self.w
        count = self.sizes_of(boxes, 1, 2) if most is None else w.ints([most])
        rule = [w.constant(np.array([v], np.float32)) for v in (threshold, least) if v is not None]
        return self("NonMaxSuppression", boxes, scores, count, *rule, dtype="int64", rank=2)

    def best_first(self, found: FileValue, scores: FileValue) -> FileValue:
        """Numbers of boxes in the order of their scores; of equal ones the earlier box comes first."""
        size = self.sizes_of(found, 0, 1)
        found, _ = self.top(found, size, 0, largest=False)
        _, order = self.top(self("Gather", scores, found, axis=0), size, 0)
        return self("Gather", found, order, axis=0)

    def for_each(
        self, n: FileValue, start: Sequence[FileValue], step: Callable[..., Sequence[FileValue]]
    ) -> list[FileValue]:
        """What values become that step(i, *values) changes for each i below n; their sizes may change."""
        w = self.w
        values = [FileValue(v.type) for v in (w.constant(0, "int64"), *start)]
        with w.block() as nodes:
            made = step(*values)
            count = self("Add", values[0], 1)
            block = ModelBlock(values, nodes, [self("Less", count, n, dtype="bool"), count, *made])
        first = self("Greater", n, 0, dtype="bool")
        return w.loop([first, w.constant(0, "int64"), *start], block)[1:]
