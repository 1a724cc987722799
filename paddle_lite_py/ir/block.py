"""Values, operators and blocks: what a Program consists of. Control flow is operators that hold blocks."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from ..core.errors import UNKNOWN, Where
from ..core.traced_number import kind
from ..registry.bound import BoundOp

_ids = itertools.count()


class Value:
    """The result of an operator: a shape and a dtype, defined once."""

    __slots__ = ("__weakref__", "dtype", "id", "name", "requires_grad", "shape", "weak", "where")

    def __init__(self, shape: tuple[Any, ...], dtype: Any, requires_grad: bool = False) -> None:
        self.id = next(_ids)
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)
        self.requires_grad = requires_grad
        self.weak = False  # a Python number: it does not decide the dtype of results
        self.name: str | None = None
        self.where: Where = UNKNOWN

    @property
    def spec(self) -> jax.ShapeDtypeStruct:
        """Shape and dtype, as JAX writes them."""
        return jax.ShapeDtypeStruct(self.shape, self.dtype, weak_type=self.weak)

    def __repr__(self) -> str:
        return f"%{self.name or self.id}"


class Operator:
    """One application of a bound op: inputs are Values or Python scalars."""

    __slots__ = ("bound", "inputs", "outputs", "where")

    def __init__(
        self, bound: BoundOp, inputs: tuple[Any, ...], outputs: tuple[Value, ...], where: Where = UNKNOWN
    ) -> None:
        self.bound = bound
        self.inputs = inputs
        self.outputs = outputs
        self.where = where

    @property
    def name(self) -> str:
        """Name of the op."""
        return self.bound.op.name

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks it holds, if it is control flow."""
        return tuple(a for a in self.bound.attrs if isinstance(a, Block))

    def __repr__(self) -> str:
        return f"{', '.join(map(repr, self.outputs))} = {self.bound}({', '.join(map(repr, self.inputs))})"


def _key(bound: BoundOp) -> Any:
    # Of control flow, whose bound op is made for its blocks, these count.
    attrs = bound.attrs
    if not any(isinstance(a, Block) for a in attrs):
        return bound
    return bound.op, tuple([a.key() if isinstance(a, Block) else (kind(a), a) for a in attrs])


class Block:
    """Inputs, operators in order, outputs. Closed: all that it reads is its own inputs."""

    __slots__ = ("inputs", "ops", "outputs")

    def __init__(self, inputs: list[Value], ops: list[Operator], outputs: list[Any]) -> None:
        self.inputs = inputs
        self.ops = ops
        self.outputs = outputs  # Values, or Python scalars

    def with_ops(self, ops: list[Operator], outputs: list[Any] | None = None) -> Block:
        """Return the block with other operators, and outputs; itself if the operators are the same."""
        if len(ops) == len(self.ops) and all(map(operator.is_, ops, self.ops)):
            return self
        return Block(self.inputs, ops, self.outputs if outputs is None else outputs)

    def key(self) -> tuple[Any, ...]:
        """Return a hashable form of its computation: blocks with equal keys give equal results for equal arguments."""
        numbers: dict[Value, int] = {}

        def at(v: Any) -> Any:
            return (kind(v), v) if not isinstance(v, Value) else numbers.setdefault(v, len(numbers))

        def spec(v: Value) -> Any:
            return at(v), v.shape, v.dtype, v.weak, v.requires_grad

        inputs = tuple(map(spec, self.inputs))
        ops = tuple([(_key(o.bound), tuple(map(at, o.inputs)), tuple(map(spec, o.outputs))) for o in self.ops])
        return inputs, ops, tuple(map(at, self.outputs))

    def all_ops(self) -> Iterator[Operator]:
        """Yield its operators and those of the blocks inside, depth first."""
        for op in self.ops:
            yield op
            for block in op.blocks:
                yield from block.all_ops()
