"""The abstract evaluation of a deferred op: whether it may be deferred, and what it will return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import jax
import numpy as np

from ..core import memory, small
from ..core.jax_compat.jaxprs import reads_arguments
from ..core.memo import Memo
from ..core.symbolic import python_text
from ..host.open_sizes import OpenFunctions, read_sizes
from ..host.tier import OP_STEPS, choose_tier
from ..registry.bound import BoundOp, require_memory
from ..registry.text import text_or_none
from .abstract_results import AbstractResult, EarlierResults
from .execute import NUMBERS, flows_of

MAX_KNOWN = 1024  # of one op: shapes may keep changing
MAX_TOLD = 64  # elements


def text_of_call(bound: BoundOp, kinds: tuple[Any, ...]) -> str | None:
    """Return the text of an op with the kinds of its arguments; None if the op has none."""
    return text_or_none(bound, [k.__name__ if k.__class__ is type else k for k in kinds])


def kinds_of(data: Sequence[Any]) -> tuple[Any, ...]:
    """Return what the results of an op depend on: the size up to which NumPy computes, shapes and dtypes of arrays,
    classes of numbers."""
    return small.most(), *[d.__class__ if d.__class__ in NUMBERS else (d.shape, d.dtype) for d in data]


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
        self._fn, self.may_need_xla, self._has_gradient = bound.fn, bound.plain, op.grad
        # Key: kinds_of() the arguments.
        self._known: Memo[Any, AbstractResult] = Memo(f"results of {op.name}, deferred", MAX_KNOWN)
        self._open = OpenFunctions(op.name)

    def results(
        self, data: Sequence[Any], earlier: Callable[[str | None], EarlierResults] = EarlierResults
    ) -> AbstractResult:
        """Return the abstract results for such arguments.

        Arguments:
            earlier: those that earlier processes have found, given the text of this call, which may be the first one.

        Raises:
            MemoryError: there is not as much memory as they take.
        """
        key = kinds_of(data)
        found = self._known.get(key)
        if found is None:
            # Not the data: the frames of an error, of what cannot be traced with open sizes, would hold it for a while.
            specs = [d if d.__class__ in NUMBERS else jax.ShapeDtypeStruct(d.shape, d.dtype) for d in data]
            opened = self._open.find(specs, self._make_open, self._trace, of=small.most())
            found = self._new(specs, key, earlier) if opened is None else opened(*specs)
            require_memory(found.specs)
            self._known.put(key, found)
        return found

    def _new(self, specs: Sequence[Any], key: Any, earlier: Callable[[str | None], EarlierResults]) -> AbstractResult:
        text = text_of_call(self._bound, key)
        kept = earlier(text)
        found = kept.get(text)
        if found is not None:
            return found
        with memory.paused_collection():
            return kept.put(text, self._traced(specs))

    def _make_open(self, args: Sequence[Any], _numbers: Any, sizes: Any) -> Callable[..., AbstractResult] | None:
        """Return the function of arrays whose sizes are open that gives the abstract results for such."""
        found = self._traced(args, sizes)
        if found.known is not None:
            return None
        shapes = read_sizes(len(args), sizes, python_text(f"[{', '.join(str(s.shape) for s in found.specs)}]"))

        def results(*data: Any) -> AbstractResult:
            pairs = zip(shapes(*data), found.specs, strict=True)
            return found._replace(specs=[jax.ShapeDtypeStruct(shape, s.dtype) for shape, s in pairs])

        return results

    def _traced(self, specs: Sequence[Any], sizes: Mapping[str, str] = MappingProxyType({})) -> AbstractResult:
        traced = self._trace(*specs)
        out = traced.out_info
        on_xla = self.may_need_xla and _all_small(specs) and choose_tier(traced, specs, OP_STEPS, sizes)[0] is None
        several = isinstance(out, tuple)
        made = list(out) if several else [out]
        flows = tuple(flows_of(self._bound, made))
        told = None if several or out.size > MAX_TOLD or reads_arguments(traced.jaxpr) else self._told(specs, out)
        return AbstractResult(made, several, flows if any(flows) else (), on_xla, told)

    def _trace(self, *specs: Any) -> Any:
        return jax.jit(self._fn).trace(*specs)

    def _told(self, specs: Sequence[Any], out: Any) -> np.ndarray | None:
        """Return the result of an op that looks at shapes alone, such as `shape`."""
        if self._has_gradient or any(s.__class__ in NUMBERS for s in specs):  # a number tells something itself
            return None
        try:
            found = np.asarray(self._fn(*specs))
        except Exception:  # it asks for more of its arguments than they have
            return None
        return found if (found.shape, found.dtype) == (out.shape, out.dtype) else None


def _all_small(data: Sequence[Any]) -> bool:
    return all(d.__class__ in NUMBERS or small.is_small(d.shape, d.dtype) for d in data)
