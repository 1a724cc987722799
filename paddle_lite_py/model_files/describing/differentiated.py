"""The gradients of described operators: `kind_grad` for each, from the last to the first, as the reference has them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ..legacy import GRADIENT
from ..program_desc import OperatorDescription
from ..weights import NUMBERS
from .description import EMPTY, ProgramDescription

BACKWARD = 1


def backward(
    description: ProgramDescription, forward: list[OperatorDescription], starts: dict[str, Any], wanted: dict[str, str]
) -> list[OperatorDescription]:
    """Return the operators that give gradients.

    Arguments:
        forward: the operators that are differentiated.
        starts: where it begins: a number, or the name of a gradient, by name.
        wanted: the names of the gradients to give, by those of what they are gradients of.
    """
    return _Backward(description, forward, wanted).run(starts)


class _Backward:
    def __init__(
        self, description: ProgramDescription, forward: list[OperatorDescription], wanted: dict[str, str]
    ) -> None:
        self.description, self.forward, self.wanted = description, forward, wanted
        self.active = set(wanted)  # what depends on something whose gradient is wanted
        for op in forward:
            if self.active.intersection(n for names in op.inputs.values() for n in names):
                outs = [n for names in op.outputs.values() for n in names]
                self.active.update(n for n in outs if self.is_differentiable(n))
        self.parts: dict[str, list[str]] = {}  # of gradients that are sums
        through = [op for op in forward if self.active.intersection(n for names in op.outputs.values() for n in names)]
        self.uses = Counter(n for op in through for names in op.inputs.values() for n in names)
        self.out: list[OperatorDescription] = []

    def is_differentiable(self, name: str) -> bool:
        variable = self.description.variables[name]
        return not variable.stops_gradient and variable.dtype.startswith(("float", "bfloat", "complex"))

    def run(self, starts: dict[str, Any]) -> list[OperatorDescription]:
        for root, start in starts.items():
            if isinstance(start, str):
                self.parts.setdefault(root, []).append(start)
            else:
                v = self.description.variables[root]
                attrs = {"shape": list(v.shape), "value": start, "dtype": NUMBERS[np.dtype(v.dtype)]}
                self.append("fill_constant", {}, {"Out": [self.part(root)]}, attrs)
        for op in reversed(self.forward):
            self.operator(op)
        for name, gradient in self.wanted.items():
            if name not in self.parts:
                self.append("fill_zeros_like", {"X": [name]}, {"Out": [gradient]}, {})
            elif (whole := self.whole(name)) != gradient:
                self.append("assign", {"X": [whole]}, {"Out": [gradient]}, {})
        return self.out

    def append(self, kind: str, inputs: dict[str, Any], outputs: dict[str, Any], attrs: dict[str, Any]) -> None:
        self.out.append(OperatorDescription(kind, inputs, outputs, attrs | {"op_role": BACKWARD}))

    def name(self, name: str) -> str:
        return self.wanted.get(name, name + GRADIENT)

    def part(self, name: str) -> str:
        """Return the name of the next gradient of a variable, or of the next part of it where several add up."""
        parts = self.parts.setdefault(name, [])
        whole = self.name(name)
        made = whole if self.uses[name] <= 1 and not parts else f"{whole}@RENAME@block0@{len(parts)}"
        parts.append(made)
        variable = self.description.variables[name]
        self.description.declare(made, variable.shape, variable.dtype)
        return made

    def whole(self, name: str) -> str:
        """Return the name of the gradient of a variable, after its parts have been added."""
        parts = self.parts[name]
        if len(parts) > 1:
            whole, variable = self.name(name), self.description.variables[name]
            self.description.declare(whole, variable.shape, variable.dtype)
            self.append("sum", {"X": list(parts)}, {"Out": [whole]}, {})
            self.parts[name] = [whole]
        return self.parts[name][0]

    def operator(self, op: OperatorDescription) -> None:
        given = {slot: [self.whole(n) if n in self.parts and n in self.active else EMPTY for n in names]
                 for slot, names in op.outputs.items()}  # fmt: skip
        given = {slot: names for slot, names in given.items() if any(n != EMPTY for n in names)}
        if not given:
            return
        asked = {slot: [n in self.active for n in names] for slot, names in op.inputs.items()}
        if not any(map(any, asked.values())):
            return
        inputs = op.inputs | op.outputs | {slot + GRADIENT: names for slot, names in given.items()}
        outputs = {
            slot + GRADIENT: [self.part(n) if a else EMPTY for n, a in zip(op.inputs[slot], each, strict=True)]
            for slot, each in asked.items()
            if any(each)
        }
        self.append(f"{op.kind}_grad", inputs, outputs, dict(op.attrs))
