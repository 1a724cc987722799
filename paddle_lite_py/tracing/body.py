"""The computation of a traced program: a function of arrays, separate from what runs it on its state."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from ..core.memo import Memo
from ..ir import control, serialize
from ..ir.block import Block, Value
from ..ir.lower import lower
from ..ir.program import Program


def reached(block: Block, flows: Sequence[int]) -> set[Value]:
    """Return the values that gradients come to from the outputs `flows`: not those behind detach()."""
    found = {block.outputs[i] for i in flows}
    for op in reversed(block.ops):
        if any(v in found and v.requires_grad for v in op.outputs):
            found.update(v for v in op.inputs if isinstance(v, Value))
    return found


class Body:
    """A program as a function, while JAX traces.

    Arguments:
        place: which input of the program each array is.
        plain: it gives one result alone.
        flows: the outputs that gradients flow out of.
        traces: how often JAX has traced what stood in its place.
    """

    def __init__(self, program: Program, place: list[int], plain: bool, flows: Sequence[int], traces: int) -> None:
        self._program, self._lowered, self._place, self._plain = program, lower(program), place, plain
        self._flows = flows
        # Key: places of outputs; the program does not change.
        self._arrives: Memo[frozenset[int], list[bool]] = Memo("inputs that gradients of some outputs come to", 64)
        # Key: which arrays take a gradient; the program does not change.
        self._known_leaves: Memo[tuple[bool, ...], frozenset[int]] = Memo("outputs that are leaves", 64)
        self.traces = traces

    def reaches(self, outputs: frozenset[int]) -> list[bool]:
        """Whether a gradient comes to each array from some of the outputs that gradients flow out of."""
        known = self._arrives.get(outputs)
        if known is None:
            found = reached(self._program.block, [self._flows[i] for i in outputs])
            known = self._arrives.put(outputs, [self._program.block.inputs[i] in found for i in self._place])
        return known

    def leaves(self, takes: tuple[bool, ...]) -> frozenset[int]:
        """Return the outputs with a gradient that comes to no array that takes one: the program has made them leaves.

        Arguments:
            takes: whether each array takes a gradient.
        """
        known = self._known_leaves.get(takes)
        if known is None:
            gets = [self.reaches(frozenset([i])) for i in range(len(self._flows))]
            alone = [i for i, g in enumerate(gets) if not any(a and t for a, t in zip(g, takes, strict=False))]
            known = self._known_leaves.put(takes, frozenset(alone))
        return known

    def in_order(self, arrays: Sequence[Any]) -> list[Any]:
        """Arrays as the program takes them, given in the order: what it changes, other captures, arguments, others."""
        given = dict(zip(self._place, arrays, strict=True))
        return [given[i] for i in range(len(given))]

    def function(self, *arrays: Any) -> list[Any]:
        """Return all outputs."""
        return self._lowered(*self.in_order(arrays))

    def counted(self, *arrays: Any) -> list[Any]:
        """Return the same, where JAX traces it for a kind of arrays."""
        self.traces += 1
        return self.function(*arrays)

    def call(self, *arrays: Any) -> Any:
        """Return the only result, or all outputs."""
        outs = self.counted(*arrays)
        return outs[0] if self._plain else outs

    def text(self) -> str | None:
        """Return what call() computes, the same in each process; None where the program cannot be written down.

        It is all that lowering reads; what the user's function reads was read when the program was traced.
        """
        return self._written

    def said(self) -> tuple[Any, ...] | None:
        """Return the same of counted() and flowing(): all results, and which of them gradients flow out of."""
        return None if self._written is None else ("static", self._written, tuple(self._flows))

    # Key: the object itself, whose program stays.
    @functools.cached_property
    def _written(self) -> str | None:
        if any(op.name not in control.REBUILD and op.bound.said() is None for op in self._program.ops()):
            return None
        try:
            written = serialize.to_json(self._program, bare=True)
        except (TypeError, ValueError):
            return None
        return hashlib.sha256(json.dumps([written, self._place, self._plain]).encode()).hexdigest()

    def flowing(self, arrays: list[Any]) -> tuple[list[Any], list[Any]]:
        """Return the outputs that gradients flow out of, and all outputs."""
        outs = self.counted(*arrays)
        return [outs[i] for i in self._flows], outs
