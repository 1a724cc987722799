"""The StableHLO of a file as an op: eager, on the tape, and inside static functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest
from typing import Any

import numpy as np

from paddle_lite_py.core.arrays import spec_of
from paddle_lite_py.core.dtypes import is_inexact
from paddle_lite_py.ir.lower import lower
from paddle_lite_py.ir.program import Program
from paddle_lite_py.registry.bound import BoundOp
from paddle_lite_py.registry.op import Op

from .artifact import ArtifactError
from .loaded_gradient import differentiable

# StableHLO may ask for functions of the host; a saved program has no need of one of Python.
_HOST = re.compile(r"custom_call\s*@?\"?([\w.]*(?:callback|python)[\w.]*)", re.IGNORECASE)


def bind(exported: Any, name: str, program: Program) -> BoundOp:
    """The loaded StableHLO as an op, eager, on the tape and inside other static functions; without one, the program."""
    single = len(program.block.outputs) == 1
    if exported is None:
        run = lower(program)

        def compute(*arrays: Any) -> Any:
            outs = run(*arrays)
            return outs[0] if single else tuple(outs)

        return BoundOp(Op(compute, name), compute)
    if len(exported.in_avals) != len(program.block.inputs) or len(exported.out_avals) != len(program.block.outputs):
        raise ArtifactError("the StableHLO and the manifest are of different programs")
    for given, value in zip(exported.in_avals, program.block.inputs, strict=True):
        if np.dtype(given.dtype) != value.dtype or not _same_shape(given.shape, value.shape):
            raise ArtifactError("the StableHLO and the manifest are of different programs")
    if (host := _HOST.search(exported.mlir_module())) is not None:
        raise ArtifactError(f"the StableHLO calls `{host[1]}` of the host, which a saved program must not")

    call = differentiable(exported, lower(program))

    def fn(*arrays: Any) -> Any:
        outs = call(*arrays)
        return outs[0] if single else outs

    return _LoadedOp(fn, name, program)


class _LoadedOp(BoundOp):
    """StableHLO as an op. Its own gradient takes a cotangent for each result, so where some are absent (which must take
    no part: zero times inf is NaN) that of the program stands in.
    """

    __slots__ = ("_lowered",)

    def __init__(self, fn: Callable[..., Any], name: str, program: Program) -> None:
        super().__init__(Op(fn, name), fn)
        run = lower(program)
        self._lowered = BoundOp(Op(fn, name), lambda *arrays: tuple(run(*arrays)))

    def vjp(self, data: tuple[Any, ...], cotangents: tuple[Any, ...], mask: tuple[bool, ...]) -> list[Any]:
        """See BoundOp."""
        out = self.infer(tuple(map(spec_of, data)))
        absent = isinstance(out, tuple) and any(
            ct is None and is_inexact(o.dtype) for ct, o in zip_longest(cotangents, out)
        )
        return self._lowered.vjp(data, cotangents, mask) if absent else super().vjp(data, cotangents, mask)


def _same_shape(a: Any, b: Any) -> bool:
    return len(a) == len(b) and all(
        isinstance(m, int) == isinstance(n, int) and (m == n or not isinstance(m, int))
        for m, n in zip(a, b, strict=True)
    )
