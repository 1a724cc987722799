"""Running a program in parts: sizes that one part finds, the next one is compiled for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import small, symbolic
from ..core.interpreter import no_grad, state, use
from ..core.memo import Memo
from ..cpu_compiler import prepare
from ..eager.execute import EAGER
from ..eager.pending import payload_of
from ..eager.tensor import wrap
from ..host.tier import for_xla, on_host, program_jit, tiered
from ..host.varying import sizes_vary
from ..ir import control
from ..ir.block import Block, Operator, Value
from ..ir.lower import concrete, read, run_block
from ..ir.parts import ProgramPart, split
from ..ir.program import Measured
from .eager_gradients import run_gradient

# Programs compiled for one part: sizes may keep changing.
MAX_SIZES = 64


class PartedBlock:
    """A block with measured sizes, as a function of its inputs."""

    def __init__(self, block: Block, measured: dict[str, Measured]) -> None:
        self.block, self.measured = block, measured
        self.declared = [v.shape for v in block.inputs]
        self.parts = [PreparedPart(part, measured) for part in split(block, measured)]

    @property
    def traces(self) -> int:
        """The number of programs that were compiled."""
        return sum(part.traces for part in self.parts)

    def __call__(self, arrays: Sequence[Any], dims: symbolic.Dims | None = None) -> list[Any]:
        """Return all outputs for arrays, in the order of the block's inputs; sizes of blocks around it are known."""
        env = dict(zip(self.block.inputs, arrays, strict=True))
        dims = {**(dims or {}), **symbolic.solve(self.declared, [a.shape for a in arrays])}
        for part in self.parts:
            for name in part.symbols:
                if name not in dims:
                    dims[name] = 1 + self.measured[name].size(env[self.measured[name].value])
            env.update(part.run(env, dims) if state.timer is None else self._timed(part, env, dims))
        return [read(env, v) for v in self.block.outputs]

    def _timed(self, part: PreparedPart, env: dict[Value, Any], dims: symbolic.Dims) -> dict[Value, Any]:
        """Return the same as a span of a profiler's trace."""
        name = part.part.block.ops[0].name if part.apart else f"part {self.parts.index(part) + 1}"
        made = state.timer(name, "part", lambda: [*part.run(env, dims).items()])
        return dict(made)


class PreparedPart:
    """A part, compiled for sizes that have come more often than there are sizes: such as come again and again."""

    def __init__(self, part: ProgramPart, measured: dict[str, Measured]) -> None:
        self.part, self.symbols, self._traces, self.runs = part, part.symbols, 0, 0
        # Key: the sizes that the part depends on, which determine the shapes of its inputs. Before it is compiled
        # for them, how often they have come.
        self._compiled: Memo[Any, Any] = Memo("sizes of a part of a program", MAX_SIZES)
        # Programs in blocks are compiled for their sizes: an operator alone does not determine them.
        self.unrolled = not measured and not part.is_apart
        self.measured = not measured.keys().isdisjoint(part.symbols)
        self.simple = not any(op.blocks for op in part.block.ops)
        self.apart = [ApartOperator(op, measured) for op in part.block.ops] if part.is_apart else []

    @property
    def traces(self) -> int:
        """The number of programs that were compiled."""
        return self._traces + sum(op.traces for op in self.apart)

    @property
    def n_sizes(self) -> int:
        """For how many sizes it has run."""
        return len(self._compiled)

    def run(self, env: dict[Value, Any], dims: symbolic.Dims) -> dict[Value, Any]:
        """Run the part and return its results by value."""
        self.runs += 1
        if self.apart:
            return self._apart(env, dims)
        key = tuple([dims[name] for name in self.symbols])
        found: Any = self._compiled.recent(key) or 0
        if found.__class__ is int:
            if self.simple and found < self._worth():
                self._compiled.put(key, found + 1)
                return self._one_by_one(env, dims)
            arrays = [env[v] for v in self.part.block.inputs]
            found = self._compiled.put(key, self._made(dict(zip(self.symbols, key, strict=True)), arrays))
        outs = found(*[env[v] for v in self.part.block.inputs])
        return dict(zip(self.part.block.outputs, outs, strict=True))

    def _worth(self) -> int:
        """How often sizes come before it is compiled for them: where these are the caller's, it is a loop unrolled."""
        if self.measured:
            return max(len(self._compiled), 1)
        return len(self.part.block.ops) if self.unrolled else 0

    def _made(self, dims: symbolic.Dims, arrays: Sequence[Any]) -> Callable[..., Any]:
        """Return what runs arrays like these: a small part on small arrays runs on NumPy, as in eager code."""
        block = self.part.block

        def part(*arrays: Any) -> list[Any]:
            self._traces += 1
            with symbolic.known(dims):
                return run_block(block, arrays)

        n = len(block.ops)
        if all(small.is_small(a.shape, a.dtype) for a in arrays):
            run = tiered(part, len(arrays), deep=True, operators=n)
            return lambda *given: run(*map(on_host, given))
        compiled = program_jit(prepare(part), operators=n)
        return lambda *given: compiled(*map(for_xla, given))

    def _apart(self, env: dict[Value, Any], dims: symbolic.Dims) -> dict[Value, Any]:
        made = dict(env)
        for op in self.apart:
            outs = op.run([read(made, v) for v in op.operator.inputs], dims)
            made.update(zip(op.operator.outputs, outs, strict=True))
        return {v: made[v] for v in self.part.block.outputs}

    def _one_by_one(self, env: dict[Value, Any], dims: symbolic.Dims) -> dict[Value, Any]:
        """Return the same, each operator as eager code runs it."""
        tensors = {v: wrap(on_host(env[v])) for v in self.part.block.inputs}
        with use(EAGER), no_grad(), symbolic.known(dims), sizes_vary():
            for op in self.part.block.ops:
                self._run(op, tensors)
        return {v: payload_of(tensors[v]) for v in self.part.block.outputs}

    def _run(self, op: Operator, tensors: dict[Value, Any]) -> None:
        args = tuple([tensors[v] if isinstance(v, Value) else v for v in op.inputs])
        out = EAGER.run(concrete(op.bound), args)
        tensors.update(zip(op.outputs, out if isinstance(out, tuple) else (out,), strict=True))


class ApartOperator:
    """An operator that Python runs: it computes it, or chooses and repeats blocks that run in parts."""

    def __init__(self, operator: Operator, measured: dict[str, Measured]) -> None:
        self.operator, self.measured = operator, measured
        self.is_gradient = operator.bound.op is control.GRAD
        self.blocks = [] if self.is_gradient else [PartedBlock(block, measured) for block in operator.blocks]

    @property
    def traces(self) -> int:
        """The number of programs that were compiled."""
        return sum(block.traces for block in self.blocks)

    def run(self, args: list[Any], dims: symbolic.Dims) -> Sequence[Any]:
        """Run it and return its results."""
        if self.is_gradient:
            return run_gradient(self.operator, args, self.measured, dims)
        if not self.blocks:
            return self.operator.bound.fn(*args)
        return control.run_chosen(self.operator, args, lambda i, given: self.blocks[i](given, dims))
