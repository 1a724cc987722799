"""Gradients of blocks that find sizes within their branches and loops: computed by eager code's tape.

XLA differentiates a block only as a whole, with all sizes known. The operators of such a block run one by one instead,
and record themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import symbolic
from ..core.arrays import full_on_host
from ..core.interpreter import state, use
from ..eager.execute import EAGER
from ..eager.pending import payload_of
from ..eager.tensor import Tensor, wrap
from ..host.tier import on_host
from ..host.varying import sizes_vary
from ..ir import control
from ..ir.block import Block, Operator, Value
from ..ir.lower import concrete, read
from ..ir.program import Measured

_RUN_BY_PYTHON = (control.COND, control.WHILE, control.FOR, control.RECOMPUTE)


def run_gradient(
    operator: Operator, args: Sequence[Any], measured: dict[str, Measured], dims: symbolic.Dims
) -> list[Any]:
    """Return the results of a grad operator for arrays: those of its block, then the gradients."""
    given = [wrap(on_host(a)) for a in args]
    before, state.grad_enabled = state.grad_enabled, True
    try:
        with use(EAGER), symbolic.known(dict(dims)) as known, sizes_vary():
            return [*map(payload_of, _RecordedBlocks(measured, known).differentiate(operator, given, again=False))]
    finally:
        state.grad_enabled = before


class _RecordedBlocks:
    """Runs blocks on tensors; branches and loops are chosen by Python, and sizes are known once they are found."""

    def __init__(self, measured: dict[str, Measured], dims: symbolic.Dims) -> None:
        self.dims = dims
        self.sizes: dict[Value, list[tuple[str, Measured]]] = defaultdict(list)
        for name, m in measured.items():
            self.sizes[m.value].append((name, m))

    def run(self, block: Block, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Return the outputs of a block."""
        env: dict[Value, Any] = {}
        self._define(env, block.inputs, tensors)
        for op in block.ops:
            outs = self._results(op, [read(env, v) for v in op.inputs])
            if any(isinstance(v, Value) and v.requires_grad for v in op.inputs):
                outs = [t if v.requires_grad else wrap(t._payload) for v, t in zip(op.outputs, outs, strict=True)]
            self._define(env, op.outputs, outs)
        return [_as_tensor(read(env, v)) for v in block.outputs]

    def differentiate(self, op: Operator, args: Sequence[Tensor], again: bool) -> list[Tensor]:
        """Return the results of a grad operator: those of its block, then the gradients, zeros where this run has none.

        Arguments:
            again: the gradients have gradients themselves.
        """
        block, wrt, inner, n_roots, _ = op.bound.attrs
        n_in, n_out = len(block.inputs), len(block.outputs) - len(inner)
        given = [_requiring_gradient(t) if i in wrt else t for i, t in enumerate(args[:n_in])]
        outs = self.run(block, given)
        asked = [*[given[i] for i in wrt], *outs[n_out:]]
        differentiable = [t for t in asked if not t.stop_gradient]
        roots = [(r, _seed(r, c)) for r, c in zip(outs[:n_roots], args[n_in:], strict=True) if not r.stop_gradient]
        found: list[Any] = [None] * len(differentiable)
        if roots and differentiable:
            found = EAGER.grad([r for r, _ in roots], differentiable, [c for _, c in roots], again)
        by_tensor = {id(t): g for t, g in zip(differentiable, found, strict=True) if g is not None}
        return [*outs[:n_out], *[by_tensor[id(t)] if id(t) in by_tensor else _zeros(t) for t in asked]]

    def _define(self, env: dict[Value, Any], values: Sequence[Value], tensors: Sequence[Tensor]) -> None:
        for value, tensor in zip(values, tensors, strict=True):
            env[value] = tensor
            for name, m in self.sizes.get(value, ()):
                self.dims[name] = 1 + m.size(payload_of(tensor))

    def _results(self, op: Operator, args: list[Any]) -> Sequence[Tensor]:
        if op.bound.op in _RUN_BY_PYTHON:
            found = control.run_chosen(op, args, lambda i, given: self.run(op.blocks[i], [*map(_as_tensor, given)]))
            return [*map(_as_tensor, found)]
        if op.bound.op is control.GRAD:
            return self.differentiate(op, [*map(_as_tensor, args)], again=True)
        if op.bound.op.on_host:
            made = op.bound.fn(*[payload_of(a) if isinstance(a, Tensor) else a for a in args])
            return [wrap(a) for a in made]
        out = EAGER.run(concrete(op.bound), tuple(args))
        return out if isinstance(out, tuple) else (out,)


def _requiring_gradient(tensor: Tensor) -> Tensor:
    if not tensor.stop_gradient:
        return tensor
    out = wrap(tensor._payload)
    out.stop_gradient = False
    return out


def _seed(root: Tensor, cotangent: Tensor) -> Tensor:
    """Return a cotangent of the shape and dtype of a root."""
    made = cotangent.astype(root.dtype)
    return made if made.shape == root.shape else made.expand(root.shape)


def _zeros(tensor: Tensor) -> Tensor:
    array = payload_of(tensor)
    return wrap(full_on_host(0, array.shape, array.dtype))


def _as_tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else wrap(np.asarray(value))
