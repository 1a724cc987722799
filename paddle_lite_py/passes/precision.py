"""Mixed precision as a pass: the casts that auto_cast() would have put in."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import numpy as np

from ..amp.auto_cast import rules
from ..core.dtypes import as_dtype
from ..core.errors import UNKNOWN, Where
from ..eager.casting import Casting, casts
from ..ir.block import Block, Operator, Value
from ..ir.control import COND, FOR, GRAD, WHILE, with_blocks
from ..ir.graph import copy_value
from ..ir.program import Program
from ..registry.op import REGISTRY
from .manager import register


class AutoCast:
    """Mixed precision: each operator computes as under amp.auto_cast() with the same settings.

    Arguments:
        dtype: "float16" or "bfloat16".
        level: "O1", "O2" or "OD"; see amp.auto_cast().
        custom_white_list, custom_black_list: names of ops to run in low precision, and in float32.
        use_promote: at level O2, an op with a float32 input runs in float32.
        keep_results: give the results in the dtypes that they had.

    Raises:
        ValueError: for another level or dtype, or an op in both lists.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.jit.to_static(lambda x: (x @ x).exp(), input_spec=[paddle.static.InputSpec([2, 2])])
        >>> [op.name for op in AutoCast(dtype="bfloat16")(f.main_program).ops()]
        ['cast', 'matmul', 'cast', 'exp']
    """

    __name__ = "auto_cast"

    def __init__(
        self,
        dtype: str = "bfloat16",
        level: str = "O1",
        custom_white_list: Iterable[str] | None = None,
        custom_black_list: Iterable[str] | None = None,
        use_promote: bool = True,
        keep_results: bool = False,
    ) -> None:
        self.keep_results = keep_results
        self.casting = rules(True, custom_white_list, custom_black_list, level, dtype, use_promote)

    def __call__(self, program: Program) -> Program:
        """Return the program with casts; itself if there is nothing to cast."""
        if self.casting is None:
            return program
        block = _Block(self.casting, program.block)
        outputs = block.outputs(range(len(program.block.outputs)) if self.keep_results else program.updates)
        if not block.changed:
            return program
        return program.replaced(Block(program.block.inputs, block.ops, outputs))


@register("auto_cast")
def auto_cast(program: Program) -> Program:
    """AutoCast() with its defaults: bfloat16 at level O1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 2))
        >>> model.eval()
        Sequential(
          (0): Linear(in_features=2, out_features=2, dtype=float32)
        )
        >>> x = paddle.ones([1, 2])
        >>> f = paddle.jit.to_static(lambda x: model(x), passes=[paddle.passes.auto_cast])
        >>> bool(paddle.allclose(f(x), model(x), atol=0.1))
        True
    """
    return AutoCast()(program)


class _Block:
    """One block made anew with casts."""

    def __init__(self, casting: Casting, source: Block, inputs: Iterable[Value] = ()) -> None:
        self.casting, self.source = casting, source
        self.now: dict[Value, Value] = dict(zip(source.inputs, inputs, strict=False))
        self.inputs = [self.now.get(v, v) for v in source.inputs]
        self.made: dict[tuple[Value, np.dtype], Value] = {}  # casts
        self.ops: list[Operator] = []
        self.changed = any(a is not b for a, b in zip(self.inputs, source.inputs, strict=True))
        for op in source.ops:
            self._add(op)

    def outputs(self, keep: Container[int]) -> list[Any]:
        """Return the outputs; those at the positions in `keep` in the dtype that they had."""
        return [
            self._as_before(v) if i in keep and isinstance(v, Value) else self._now(v)
            for i, v in enumerate(self.source.outputs)
        ]

    def kinds(self) -> list[Any]:
        """Return the dtypes of the outputs."""
        return [getattr(self._now(v), "dtype", type(v)) for v in self.source.outputs]

    def block(self, keep: Container[int]) -> Block:
        """Return the new block; the old one if nothing changed."""
        outputs = self.outputs(keep)
        return Block(self.inputs, self.ops, outputs) if self.changed else self.source

    def _now(self, v: Any) -> Any:
        return self.now.get(v, v) if isinstance(v, Value) else v

    def _as_before(self, v: Any) -> Any:
        return self._cast(self._now(v), v.dtype) if isinstance(v, Value) else v

    def _cast(self, v: Value, kind: Any, where: Where = UNKNOWN) -> Value:
        if v.dtype == kind:
            return v
        if (v, kind) not in self.made:
            out = Value(v.shape, kind, v.requires_grad)
            self.ops.append(Operator(REGISTRY["cast"].bind((as_dtype(kind),)), (v,), (out,), where))
            self.made[v, kind] = out
            self.changed = True
        return self.made[v, kind]

    def _add(self, op: Operator) -> None:
        given = tuple([self._now(v) for v in op.inputs])
        old = op
        if op.blocks:
            op, given = self._control(op, given)
        kind = self.casting.kind(op.bound.op, {v.dtype for v in given if isinstance(v, Value)})
        if kind is not None:
            cast = [isinstance(v, Value) and casts(v.dtype, kind) for v in given]
            given = tuple([self._cast(v, kind, op.where) if c else v for v, c in zip(given, cast, strict=True)])
        if op is old and all(a is b for a, b in zip(given, op.inputs, strict=True)):
            self.ops.append(op)
            return
        self.changed = True
        self._emit(op, given)

    def _control(self, op: Operator, given: tuple[Any, ...]) -> tuple[Operator, tuple[Any, ...]]:
        """Control flow with casts inside; what a loop carries, and the user's own gradients, stay as they are."""
        kind = op.bound.op
        if kind is GRAD:
            return with_blocks(op, lambda b: self._inner(b, given).block(())), given
        if kind is COND:
            branches = [self._inner(b, given[1:]) for b in op.blocks]
            differ = [i for i, (a, b) in enumerate(zip(*[b.kinds() for b in branches], strict=True)) if a != b]
            new = iter([b.block(differ) for b in branches])
            return with_blocks(op, lambda _: next(new)), given
        if kind not in (WHILE, FOR):
            return op, tuple([self._as_before(v) for v in op.inputs])
        carried = op.bound.attrs[op.bound.op.attr_names.index("n_carry")]
        given = (*[self._as_before(v) for v in op.inputs[:carried]], *given[carried:])
        every = range(len(op.outputs) + 1)
        skip = int(kind is FOR)  # its body is given the number of the iteration first
        return with_blocks(op, lambda b: self._inner(b, (*b.inputs[:skip], *given)).block(every)), given

    def _inner(self, block: Block, given: tuple[Any, ...]) -> _Block:
        """Return a block inside, whose inputs have the dtypes of what it is given now."""
        inputs = [v if v.dtype == g.dtype else _like(v, g.dtype) for v, g in zip(block.inputs, given, strict=False)]
        return _Block(self.casting, block, inputs)

    def _emit(self, op: Operator, given: tuple[Any, ...]) -> None:
        out = op.bound.infer(tuple([v.spec if isinstance(v, Value) else v for v in given]))
        outs = []
        for old, spec in zip(op.outputs, out if isinstance(out, tuple | list) else (out,), strict=True):
            if old.dtype == spec.dtype:
                outs.append(old)
                continue
            self.now[old] = _like(old, spec.dtype)
            outs.append(self.now[old])
        self.ops.append(Operator(op.bound, given, tuple(outs), op.where))


def _like(value: Value, dtype: Any) -> Value:
    out = copy_value(value)
    out.dtype = np.dtype(dtype)
    return out
