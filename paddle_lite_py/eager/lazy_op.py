"""The abstract evaluation of a deferred op: whether it may be deferred, and what it will return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core import small
from ..core.memo import Memo
from ..host.tier import OP_STEPS, choose_tier
from ..registry.bound import BoundOp, check_memory
from .execute import NUMBERS, flows_of

MAX_KNOWN = 1024  # of one op: shapes may keep changing
MAX_TOLD = 64  # elements


class AbstractResult(NamedTuple):
    """The results of an op: shapes and dtypes, whether they are a tuple, which of them carry gradients (none: out
    of no one), whether XLA makes them of small arrays too, and the array if shapes alone tell it."""

    specs: list[Any]
    several: bool
    flows: tuple[bool, ...]
    on_xla: bool
    known: np.ndarray | None


class LazyOpInfo:
    """How a bound op is deferred.

    Arguments:
        bound: the op.

    Attributes:
        can: whether it may: not what acts on the world, or looks at its results.
        check: what looks at its arguments, if anything does.
        may_need_xla: whether it may be XLA's even where all of its arguments are the host's.
    """

    def __init__(self, bound: BoundOp) -> None:
        op, self._bound = bound.op, bound
        self.can = (
            bound.compiled and not op.effect and op.across is None and bound.evaluate_rule(op.output_check) is None
        )
        self.check = bound.evaluate_rule(op.input_check)
        self._fn, self.may_need_xla, self._has_gradient = check_memory(bound.fn), bound.plain, op.grad
        # Key: shapes and dtypes, classes of numbers, and the size up to which NumPy computes.
        self._known: Memo[Any, AbstractResult] = Memo(f"results of {op.name}, deferred", MAX_KNOWN)

    def results(self, data: Sequence[Any]) -> AbstractResult:
        """Return the abstract results for such arguments."""
        key = small.most(), *[d.__class__ if d.__class__ in NUMBERS else (d.shape, d.dtype) for d in data]
        found = self._known.get(key)
        if found is None:
            specs = [d if d.__class__ in NUMBERS else jax.ShapeDtypeStruct(d.shape, d.dtype) for d in data]
            traced = jax.jit(self._fn).trace(*specs)
            out = traced.out_info
            on_xla = self.may_need_xla and _all_small(data) and choose_tier(traced, specs, OP_STEPS)[0] is None
            several = isinstance(out, tuple)
            made = list(out) if several else [out]
            flows = tuple(flows_of(self._bound, made))
            told = None if several or out.size > MAX_TOLD else self._told_by_shapes(specs)
            found = self._known.put(key, AbstractResult(made, several, flows if any(flows) else (), on_xla, told))
        return found

    def _told_by_shapes(self, specs: list[Any]) -> np.ndarray | None:
        """Return the result of an op that looks at shapes alone, such as `shape`."""
        if self._has_gradient or any(s.__class__ in NUMBERS for s in specs):  # a number tells something itself
            return None
        try:
            return np.asarray(self._fn(*specs))
        except Exception:  # it asks for more of its arguments than they have
            return None


def _all_small(data: Sequence[Any]) -> bool:
    return all(d.__class__ in NUMBERS or small.is_small(d.shape, d.dtype) for d in data)
