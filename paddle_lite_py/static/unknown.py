"""Unknown dimensions of a static program: each is a symbol of its own, until an op says that two are the same."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import jax
from jax import export

from .. import symbolic
from ..program import Block, Operator, Value

if TYPE_CHECKING:
    from ..builder import Builder

# Pairs of symbols to try where an op fails on unknown dimensions.
MAX_SYMBOLS = 6


class Unknown:
    """The symbols of one program."""

    def __init__(self) -> None:
        self.scope = export.SymbolicScope()
        self.symbols: dict[str, Any] = {}

    def shape(self, name: str, sizes: Iterable[Any]) -> tuple[Any, ...]:
        """A shape whose unknown sizes (None, -1) are symbols; sizes of other data of the program stay theirs."""
        return tuple([self._new(name, i) if n is None or n == -1 else n for i, n in enumerate(sizes)])

    def _new(self, name: str, axis: int) -> Any:
        stem = re.sub(r"\W", "_", name).lstrip("_0123456789") or "n"
        text = f"{stem}_{axis}"
        while text in self.symbols:
            text += "_"
        self.symbols[text] = export.symbolic_shape(text, scope=self.scope)[0]
        return self.symbols[text]

    def settled(self, builder: Builder, emit: Callable[[], Any], bound: Any, inputs: tuple[Any, ...]) -> Any:
        """What emit() gives; where it fails, two unknown dimensions with which it would not are made the same."""
        try:
            return emit()
        except Exception:
            pair = self._pair(bound, inputs) if self.symbols else None
            if pair is None:
                raise
        self._unify(builder, *pair)
        return emit()

    def _pair(self, bound: Any, inputs: tuple[Any, ...]) -> tuple[str, Any] | None:
        """A symbol in the inputs, and what it must be for the op to be possible: another one, a product, a number."""
        sizes = [n for v in inputs if isinstance(v, Value) for n in v.shape]
        found = list(dict.fromkeys([w for n in sizes for w in self._words(n)]))[:MAX_SYMBOLS]
        pairs: list[tuple[str, Any]] = [(b, self.symbols[a]) for a, b in itertools.combinations(found, 2)]
        others = dict.fromkeys([n for n in sizes if symbolic.is_symbolic(n) or n > 1])
        pairs += [(a, n) for a in found for n in others if a not in self._words(n)]
        for name, other in pairs:
            known = self.symbols | {name: other}
            try:
                bound.infer(tuple([_spec(v, known) if isinstance(v, Value) else v for v in inputs]))
            except Exception:  # not these two
                continue
            return name, other
        return None

    def _words(self, size: Any) -> list[str]:
        """The symbols that a size is made of."""
        words = re.findall(r"[A-Za-z_]\w*", str(size)) if symbolic.is_symbolic(size) else []
        return [w for w in words if w in self.symbols]

    def _unify(self, builder: Builder, name: str, other: Any) -> None:
        known = self.symbols | {name: other}
        frame: Any = builder.frame
        while frame is not None:
            _rename(frame.block, known)
            frame = frame.parent
        self.symbols = {k: symbolic.substitute(v, known) for k, v in self.symbols.items()}


def _spec(value: Value, known: dict[str, Any]) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(symbolic.substitute(value.shape, known), value.dtype, weak_type=value.weak)


def _rename(block: Block, known: dict[str, Any]) -> None:
    for value in block.inputs:
        value.shape = symbolic.substitute(value.shape, known)
    for op in block.ops:
        for value in op.outputs:
            value.shape = symbolic.substitute(value.shape, known)
        for inner in op.blocks:
            _rename(inner, known)
        _rename_attributes(op, known)


def _rename_attributes(op: Operator, known: dict[str, Any]) -> None:
    if any(map(symbolic.has_symbolic, op.bound.attrs)):
        attrs = tuple([symbolic.substitute(a, known) for a in op.bound.attrs])
        op.bound = op.bound.op.bind(attrs, op.bound.layout)
