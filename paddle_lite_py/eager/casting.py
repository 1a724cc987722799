"""Mixed precision: the rules that say in which dtype an op computes, applied to the inputs of each op in both modes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..core.dtypes import as_dtype
from ..core.interpreter import state
from ..core.memo import Memo
from ..registry.bound import BoundOp
from ..registry.op import REGISTRY, Op
from . import gradients
from .execute import EAGER, Eager
from .pending import payload_of
from .tensor import Tensor

FLOAT32 = np.dtype(np.float32)
_LOW = (np.dtype(np.float16), np.dtype(jnp.bfloat16))


class Casting(NamedTuple):
    """Rules of mixed precision; hashable, since programs traced under different rules differ."""

    level: str  # "O1", "O2", or "OD": low precision for the white ops only, float32 for all others
    dtype: np.dtype
    white: frozenset[str] = frozenset()  # the user's: names of ops
    black: frozenset[str] = frozenset()
    promote: bool = True  # at level O2: an op with a float32 input computes in float32

    def __repr__(self) -> str:
        """Return a text that is the same in each process: the names of files come from it."""
        return f"{self.level} {self.dtype} {sorted(self.white)} {sorted(self.black)} {self.promote}"

    def rule(self, op: Op) -> str | None:
        """Return the rule for an op: "white", "float32", "keep", or None: it follows its inputs."""
        found = _rules.get((self, op), _UNKNOWN)
        return _rules.put((self, op), _rule(self, op)) if found is _UNKNOWN else found

    def kind(self, op: Op, found: set[np.dtype]) -> np.dtype | None:
        """Return the dtype that an op computes in, given those of its arguments; None: it takes them as they are."""
        rule = self.rule(op)
        if rule == "keep" or (rule is None and (FLOAT32 not in found or found.isdisjoint(_LOW))):
            return None
        return self.dtype if rule == "white" else FLOAT32

    def inputs(self, bound: BoundOp, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of an op in the dtype that it computes in."""
        kind = self.kind(bound.op, {payload_of(a).dtype for a in args if isinstance(a, Tensor)})
        if kind is None:
            return args
        return tuple([_cast(a, kind) if isinstance(a, Tensor) else a for a in args])


# Key: the settings of mixed precision, which are frozen, and the op.
_rules: Memo[Any, Any] = Memo("rules of mixed precision", 4096)
_UNKNOWN = object()


def _rule(casting: Casting, op: Op) -> str | None:
    if op.amp == "keep":
        return "keep"
    if op.name in casting.black or op.amp == "float32":
        return "float32"
    if op.name in casting.white or op.amp == "white":
        return "white"
    if casting.level == "OD" or (casting.level == "O1" and op.amp == "black"):
        return "float32"
    if casting.level == "O2" and not casting.promote:
        return "white"
    return "keep" if op.amp == "black" else None


def casts(held: np.dtype, kind: np.dtype) -> bool:
    """Whether mixed precision casts from one dtype to another."""
    return held != kind and (held == FLOAT32 or held in _LOW)


def _cast(x: Tensor, kind: np.dtype) -> Tensor:
    """Return a tensor in a dtype; only among float32 and the low ones."""
    if not casts(payload_of(x).dtype, kind):
        return x
    return state.interpreter.run(REGISTRY["cast"].bind((as_dtype(kind),)), (x,))


class ObservedEager(Eager):
    """Eager execution under mixed precision or observation; a class of its own, so that others do not pay for it."""

    def run(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Apply a bound op; see interpreter.Interpreter."""
        if state.casting is not None:
            args = state.casting.inputs(bound, args)
        if state.timer is None:
            out = super().run(bound, args)
        else:
            out = state.timer(bound.op.name.lstrip("_"), "op", super().run, bound, args)
        for observer in state.observers:
            observer(bound, args, out)
        return out

    # Replaces the plain function there, so that eager code without a profiler calls that directly.
    def backward(self, tensors: list[Any], grads: list[Any], retain_graph: bool) -> None:
        """Accumulate gradients in the leaves that the tensors depend on."""
        if state.timer is None:
            return gradients.backward(tensors, grads, retain_graph)
        return state.timer("backward", "backward", gradients.backward, tensors, grads, retain_graph)


OBSERVED_EAGER = ObservedEager()


def is_watched() -> bool:
    """Whether an observer is called with each op."""
    return bool(state.observers) or state.timer is not None


def eager_interpreter() -> Eager:
    """Return the interpreter of eager mode that the rules and observers in force need, where no ops wait."""
    return OBSERVED_EAGER if state.casting is not None or is_watched() else EAGER


def choose_interpreter() -> None:
    """Choose the interpreter that the rules and observers in force need; unless observed, ops that wait go on so."""
    if state.interpreter.is_eager and (is_watched() or not state.interpreter.waits):
        state.interpreter = eager_interpreter()


@contextmanager
def use(casting: Casting | None) -> Iterator[None]:
    """Put the rules in force for the block; None: no casts."""
    before, state.casting = state.casting, casting
    choose_interpreter()
    try:
        yield
    finally:
        state.casting = before
        choose_interpreter()
