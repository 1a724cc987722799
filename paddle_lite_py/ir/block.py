"""Values, operators and blocks: what a Program consists of. Control flow is operators that hold blocks."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from ..core.errors import UNKNOWN, EscapedTensorError, TracedValueError, Where, user_frame
from ..registry.bound import BoundOp

_ids = itertools.count()


class Value:
    """What an operator gives: a shape and a dtype, defined once. It stands in a Tensor while a program is traced."""

    __slots__ = (
        "__weakref__", "dtype", "frame", "freed", "id", "is_number", "name", "defined", "requires_grad", "shape",
        "weak", "where",
    )  # fmt: skip

    def __init__(self, shape: tuple[Any, ...], dtype: Any, frame: Any = None, requires_grad: bool = False) -> None:
        self.id = next(_ids)
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)
        self.frame = frame  # the block under construction that defines it
        self.requires_grad = requires_grad
        self.weak = False  # a Python number: it does not decide the dtype of what it is combined with
        self.is_number = False  # it stands for a Python number that int(), float() or item() would give; see scalars
        self.freed = False  # a backward() in the program has consumed the graph behind it
        self.defined: Any = None  # for a variable that some path leaves undefined: see builder.Presence
        self.name: str | None = None
        self.where: Where = UNKNOWN

    @property
    def spec(self) -> jax.ShapeDtypeStruct:
        """Shape and dtype, as JAX writes them."""
        return jax.ShapeDtypeStruct(self.shape, self.dtype, weak_type=self.weak)

    def __repr__(self) -> str:
        return f"%{self.name or self.id}"

    def concrete(self, what: str) -> Any:
        """Raise: there is no data here. `what` is the user's call that asked for them."""
        made = f" (made at {self.where})" if self.where is not UNKNOWN else ""
        kind = f"{self.dtype}[{', '.join(map(str, self.shape))}]"
        if self.frame is None or self.frame.closed:
            raise EscapedTensorError(
                f"{what} at {user_frame()}: this {kind} tensor{made} belongs to a static function whose trace has "
                "ended, so it has no data; return it from the function, or write it into a tensor made "
                "outside: buffer.set_value(x)"
            )
        raise TracedValueError(
            f"{what} at {user_frame()} needs the value of a {kind} tensor{made} while a static program is traced, "
            "when it has no value yet; keep it a tensor (paddle.where, tensor arithmetic), let to_static convert the "
            "`if` or `while` that asks, or move this line out of the static function"
        )


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


class Block:
    """Inputs, operators in order, outputs. Closed: all that it reads is its own inputs."""

    __slots__ = ("inputs", "ops", "outputs")

    def __init__(self, inputs: list[Value], ops: list[Operator], outputs: list[Any]) -> None:
        self.inputs = inputs
        self.ops = ops
        self.outputs = outputs  # Values, or Python scalars

    def with_ops(self, ops: list[Operator], outputs: list[Any] | None = None) -> Block:
        """The block with other operators, and outputs; itself if the operators are the same."""
        if len(ops) == len(self.ops) and all(map(operator.is_, ops, self.ops)):
            return self
        return Block(self.inputs, ops, self.outputs if outputs is None else outputs)

    def all_ops(self) -> Iterator[Operator]:
        """Its operators and those of the blocks inside, depth first."""
        for op in self.ops:
            yield op
            for block in op.blocks:
                yield from block.all_ops()
