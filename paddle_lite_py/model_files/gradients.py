"""Gradients of operators in training programs: each is that of the operator that it belongs to, computed once more.

XLA finds what is computed twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..core.interpreter import state
from ..core.memo import once
from ..eager.tensor import Tensor
from .graph import ModelFileError, ModelNode
from .operators.table import OPERATORS, P, tensor
from .operators.training import IN_TRAINING


class GradientNames(NamedTuple):
    """Names of the operands and results of an operator, and of those of its gradient."""

    operands: list[str]
    results: list[str]
    given: list[str]
    wanted: list[str]


@once
def signatures() -> dict[str, GradientNames]:
    """The operators that have a gradient, by name."""
    lines = Path(__file__).with_name("gradients.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(": ") for line in lines if not line.startswith("#")]
    names = {name: re.split("[>;]", text) for name, text in pairs}
    return {name: GradientNames(*map(str.split, sides)) for name, sides in names.items()}


@dataclass
class GradientNode(ModelNode):
    """The gradient of an operator.

    Attributes:
        forward: the operator.
        starts: for each of its results the value that is its gradient, or None.
        wanted: for each of its operands the value that its gradient is to be, or None.
    """

    forward: ModelNode = field(default_factory=lambda: ModelNode("", [], {}, []))
    starts: list[Any] = field(default_factory=list)
    wanted: list[Any] = field(default_factory=list)

    def __str__(self) -> str:
        return f"the gradient of {self.forward}"


def is_gradient(op: str) -> bool:
    """Whether an operator is the gradient of another one, and has no row of its own."""
    return op not in OPERATORS and op.removesuffix("_grad") in signatures() and op.endswith("_grad")


def of_operator(node: ModelNode, before: list[ModelNode], env: dict[Any, Any]) -> GradientNode:
    """Return an operator whose name says that it is a gradient, with the one that it belongs to.

    Arguments:
        before: what has run.

    Raises:
        ModelFileError: if there is none.
    """
    name = node.op.removesuffix("_grad")
    signature = signatures()[name]
    given = dict(zip(signature.given, node.operands, strict=False))
    kept = {n: ref for n, ref in given.items() if not n.endswith("_grad") and ref is not None}

    def fits(other: ModelNode) -> bool:
        known = _named(other, signature)
        shared = [known[n] == ref for n, ref in kept.items() if n in known]
        # Gradients that need no value of the operator, such as that of a transpose, can be taken from any similar one.
        return alike(other.attrs, node.attrs) and (
            all(shared) if shared else _have_shapes(other, signature, given, env)
        )

    found = next((n for n in reversed(before) if n.op in (name, f"{name}_", IN_TRAINING.get(name)) and fits(n)), None)
    if found is None:
        raise ModelFileError(f"{node} belongs to no operator `{name}` before it")
    made = dict(zip(signature.wanted, node.results, strict=False))
    starts = [given.get(f"{n}_grad") for n in signature.results]
    wanted = [made.get(f"{n}_grad") for n in signature.operands]
    return GradientNode(node.op, node.operands, node.attrs, node.results, [], node.layer, found, starts, wanted)


def alike(attrs: dict[str, Any], of_gradient: dict[str, Any]) -> bool:
    """Whether an operator has the attributes of a gradient, as far as both have them."""
    return all(attrs[k] == v for k, v in of_gradient.items() if k in attrs and not k.startswith("op_"))


def _named(node: ModelNode, signature: GradientNames) -> dict[str, Any]:
    named = dict(zip(signature.results, node.results, strict=False))
    return named | dict(zip(signature.operands, node.operands, strict=False))


def _have_shapes(node: ModelNode, signature: GradientNames, given: dict[str, Any], env: dict[Any, Any]) -> bool:
    known = _named(node, signature)
    pairs = [(known[n], given[f"{n}_grad"]) for n in signature.results if f"{n}_grad" in given]
    return all(_shapes(_found(a, env)) == _shapes(_found(b, env)) for a, b in pairs)


def _found(ref: Any, env: dict[Any, Any]) -> Any:
    return [env[r] for r in ref] if isinstance(ref, list) else env[ref]


def _shapes(value: Any) -> Any:
    return [_shapes(v) for v in value] if isinstance(value, list | tuple) else tuple(tensor(value)._payload.shape)


def differentiate(node: GradientNode, operands: list[Any], starts: list[Any], run: Any) -> list[Any]:
    """Return the gradients with respect to operands; None for those that are not needed.

    Arguments:
        operands: of the operator that is differentiated.
        starts: the gradients of its results.
        run: what computes it, a function of operands.
    """
    leaves = [_leaf(v) if ref is not None else v for v, ref in zip(operands, node.wanted, strict=True)]
    found = run(leaves)
    results = list(found) if isinstance(found, tuple | list) else [found]
    pairs = [p for r, s in zip(results, starts, strict=False) for p in zip(_flat(r), _flat(s), strict=False)]
    roots = [(r, s) for r, s in pairs if s is not None and isinstance(r, Tensor) and not r.stop_gradient]
    wanted = [t for v, ref in zip(leaves, node.wanted, strict=True) if ref is not None for t in _flat(v)]
    builder: Any = state.interpreter
    found = builder.grad([r for r, _ in roots], wanted, [_like(s, r) for r, s in roots], False) if roots else []
    made = iter(
        [P.zeros_like(t) if g is None else g for t, g in zip(wanted, found or [None] * len(wanted), strict=True)]
    )
    return [None if ref is None else _taken(made, v) for v, ref in zip(leaves, node.wanted, strict=True)]


def _like(start: Any, result: Tensor) -> Tensor:
    start = tensor(start)
    return start if start._payload.shape == result._payload.shape else P.reshape(start, list(result._payload.shape))


def _leaf(value: Any) -> Any:
    if isinstance(value, list):
        return [_leaf(v) for v in value]
    out = P.assign(tensor(value)).detach()
    out.stop_gradient = False
    return out


def _flat(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _taken(made: Any, like: Any) -> Any:
    return [next(made) for _ in like] if isinstance(like, list) else next(made)
