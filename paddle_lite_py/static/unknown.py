"""Unknown dimensions of a static program: each is a symbol of its own, until an op says that two are the same."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import jax
from jax import export

from ..core import symbolic
from ..ir.block import Block, Operator, Value

if TYPE_CHECKING:
    from ..tracing.builder import Builder

# Where an op fails on unknown dimensions: how many of them are looked at, and how many ways to make some the same.
MAX_SYMBOLS, MAX_TRIES = 6, 500


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
        """What emit() gives; where it fails, as few unknown dimensions as it takes are made the same."""
        try:
            return emit()
        except Exception:
            found = self._found(bound, inputs) if self.symbols else None
            if found is None:
                raise
        for name, other in found:
            self._unify(builder, name, other)
        return emit()

    def _found(self, bound: Any, inputs: tuple[Any, ...]) -> tuple[tuple[str, Any], ...] | None:
        """Symbols in the inputs, and what they must be for the op to be possible: other ones, a product, a number."""
        sizes = [n for v in inputs if isinstance(v, Value) for n in v.shape]
        words = list(dict.fromkeys([w for n in sizes for w in self._words(n)]))[:MAX_SYMBOLS]
        pairs: list[tuple[str, Any]] = [(b, self.symbols[a]) for a, b in itertools.combinations(words, 2)]
        others = dict.fromkeys([n for n in sizes if symbolic.is_symbolic(n) or n > 1])
        every = pairs + [(a, n) for a in words for n in others if a not in self._words(n)]
        tries = itertools.chain(((p,) for p in every), *[itertools.combinations(pairs, n) for n in (2, 3)])
        for chosen in itertools.islice(tries, MAX_TRIES):
            if len({name for name, _ in chosen}) == len(chosen) and self._fits(
                bound, inputs, self.symbols | dict(chosen)
            ):
                return chosen
        return None

    def _fits(self, bound: Any, inputs: tuple[Any, ...], known: dict[str, Any]) -> bool:
        try:
            bound.infer(tuple([_spec(v, known) if isinstance(v, Value) else v for v in inputs]))
        except Exception:  # not with these
            return False
        return True

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
