"""A graph of a model file as a static program: each operator appends what the same function of this package does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.interpreter import state, use
from ..eager.random import default_generator
from ..eager.tensor import Tensor
from ..static import nn as static_nn
from ..static.mode import data, program_guard
from ..static.program import Program
from .graph import Graph, GraphBlock, ModelFileError, Node
from .operators import detection, elementwise, network, structure, values  # noqa: F401  (their operators)
from .operators.table import OPERATORS, call, number, tensor

Env = dict[Any, Any]
CONTROL = ("if", "while", "array_write_")


def build(graph: Graph, weights: dict[str, Tensor]) -> tuple[Program, list[Tensor], list[Tensor]]:
    """A program that computes a graph, with its feeds and fetches.

    Arguments:
        weights: parameters and buffers by name.

    Raises:
        ModelFileError: an operator is not known, or cannot be what it says.
    """
    refuse_unknown(graph)
    program = Program()
    env: Env = {w.ref: weights[w.name] for w in graph.weights}
    with use(program.builder), program_guard(program):
        feeds = [data(f.name, [None if n < 0 else n for n in f.shape], f.dtype) for f in graph.feeds]
        env.update({f.ref: t for f, t in zip(graph.feeds, feeds, strict=True)})
        _run(graph.block, env)
        fetches = [_fetched(tensor(env[ref])) for ref in graph.fetches]
    return program, feeds, fetches


def _fetched(found: Any) -> Tensor:
    """A result as a value of its own: an input may be one, and one value two of them."""
    return found if isinstance(found, Tensor) and not found._data.name else found.clone()


def refuse_unknown(graph: Graph) -> None:
    """Raise for operators that are not in the table, all of them at once."""
    missing: dict[str, str] = {}
    for node in _nodes(graph.block):
        if node.op not in OPERATORS and node.op not in CONTROL:
            missing.setdefault(node.op, node.layer)
    if missing:
        named = ", ".join(f"`{op}`" + (f" (layer {layer})" if layer else "") for op, layer in missing.items())
        raise ModelFileError(f"the model has operators that are not known here: {named}")


def _nodes(block: GraphBlock) -> Any:
    for node in block.nodes:
        yield node
        for inner in node.blocks:
            yield from _nodes(inner)


def _run(block: GraphBlock, env: Env) -> None:
    for node in block.nodes:
        try:
            _node(node, env)
        except ModelFileError:
            raise
        except Exception as e:
            raise ModelFileError(f"{node} cannot be built: {type(e).__name__}: {e}") from e


def _node(node: Node, env: Env) -> None:
    operands = [_operand(o, env) for o in node.operands]
    if node.op == "if":
        found: Any = _branch(node, operands, env)
    elif node.op == "while":
        found = _loop(node, operands, env)
    elif node.op == "array_write_":
        found = _written(node, operands, env)
    else:
        found = call(node.op, operands, node.attrs)
    results = found if isinstance(found, tuple) else found if _is_one_list(found, node) else (found,)
    for ref, value in zip(node.results, results, strict=False):
        if ref is not None:
            env[ref] = value


def _is_one_list(found: Any, node: Node) -> bool:
    """Whether a list is what several results are: of one result, it is that result itself."""
    return isinstance(found, list) and len(node.results) == len(found) == 1 and isinstance(found[0], list)


def _operand(ref: Any, env: Env) -> Any:
    if ref is None:
        return None
    if isinstance(ref, list):
        return [_operand(r, env) for r in ref]
    if ref not in env:
        raise ModelFileError(f"value {ref!r} is read before anything has made it")
    return env[ref]


def _branch(node: Node, operands: list[Any], env: Env) -> Any:
    def side(block: GraphBlock) -> Callable[[], Any]:
        def run() -> Any:
            inner = dict(env)
            _run(block, inner)
            return [tensor(inner[ref]) for ref in block.results]

        return run

    found = static_nn.cond(tensor(operands[0]), *map(side, node.blocks))
    return tuple(found)


def _loop(node: Node, operands: list[Any], env: Env) -> Any:
    """A loop on its first operand; the others are what it carries."""
    (body,) = node.blocks
    arrays = _arrays(operands[1:])

    def step(_going: Any, *carried: Any) -> Any:
        inner = env | dict(zip(body.arguments, carried, strict=True))
        _run(body, inner)
        return [tensor(inner[ref]) for ref in body.results]

    if arrays:
        return _unrolled(node, operands, env)
    found = static_nn.while_loop(lambda going, *_: going, step, list(map(tensor, operands)))
    return tuple(found[1:])


def _arrays(values: list[Any]) -> list[Any]:
    return [v for v in values if isinstance(v, list)]


def _unrolled(node: Node, operands: list[Any], env: Env) -> Any:
    raise ModelFileError(f"{node} carries a list of tensors, which is not available yet")


def _written(node: Node, operands: list[Any], env: Env) -> Any:
    """A list of tensors with one at a place; every name of the list sees it."""
    array, value, at = operands
    place = number(at)
    if not isinstance(place, int):
        raise ModelFileError(f"{node}: the place that is written is known only when the model runs")
    array += [None] * (place + 1 - len(array))
    array[place] = tensor(value)
    return array


__all__ = ["build", "default_generator", "refuse_unknown", "state"]
