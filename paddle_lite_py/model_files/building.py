"""A graph of a model file as a static program: each operator appends what the same function of this package does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from ..core.dtypes import as_dtype
from ..core.interpreter import state, use
from ..eager.tensor import Parameter, Tensor, wrap
from ..ir.parts import words
from ..static import nn as static_nn
from ..static.mode import data, program_guard
from ..static.program import Program
from ..static.scope_variable import ScopeVariable
from .gradients import GradientNode, differentiate, is_gradient, of_operator
from .graph import LiteralOperand, ModelBlock, ModelFileError, ModelGraph, ModelNode, ModelWeight
from .legacy import CONTROL_INPUTS
from .operators import (  # noqa: F401  (their operators)
    arrays,
    detection,
    earlier,
    elementwise,
    fused,
    layers,
    library,
    network,
    quantized,
    structure,
    values,
)
from .operators.arrays import stacked
from .operators.table import OPERATORS, KnownValue, P, call, known_as, number, tensor
from .operators.training import IN_TRAINING, REPLACED

Env = dict[Any, Any]
CONTROL = ("if", "while", "conditional_block", "select_input")
# Operators that change an operand, which has the new value under its old name too: which one.
IN_PLACE = {
    "array_write_": 0,
    "increment_": 0,
    "assign_out_": 1,
    "set_value_": 0,
    "set_value_with_tensor_": 0,
    "scale_": 0,
}
MAX_ITERATIONS = 10_000  # of a loop that is unrolled


def build(graph: ModelGraph, weights: dict[str, Tensor]) -> tuple[Program, list[Tensor], list[Tensor]]:
    """Return a program that computes a graph, with its feeds and fetches.

    Arguments:
        weights: parameters and buffers by name.

    Raises:
        ModelFileError: an operator is not known, or cannot be what it says.
    """
    refuse_unknown(graph)
    program = Program()
    with use(program.builder), program_guard(program):
        env, feeds = _begun(graph, weights)
        try:
            run_block(graph.block, env)
            fetches = [_fetch(tensor(_operand(ref, env))) for ref in graph.fetches]
            return program, feeds, fetches
        except ModelFileError:
            if (of_one := _with_ones(graph, feeds, program.builder.unknown.squeezed)) is None:
                raise
    return build(of_one, weights)


def _with_ones(graph: ModelGraph, feeds: list[Tensor], squeezed: set[str]) -> ModelGraph | None:
    """Return the graph for the size 1 where it removes dimensions of unknown sizes; None if it does not.

    The reference counts on it where it saves a program. What follows may not be possible with any other size.
    """
    shapes = [tuple([1 if str(n) in squeezed else m for n, m in zip(t.shape, f.shape, strict=True)])
              for t, f in zip(feeds, graph.feeds, strict=True)]  # fmt: skip
    fixed = [replace(f, shape=s) for f, s in zip(graph.feeds, shapes, strict=True)]
    return None if fixed == graph.feeds else replace(graph, feeds=fixed)


def build_training(graph: ModelGraph, program: Program) -> None:
    """Let an empty program be a graph that trains: its weights are state in scopes, which it leaves changed.

    Raises:
        ModelFileError: an operator is not known, or cannot be what it says.
    """
    for node in _nodes(graph.block):
        node.op = IN_TRAINING.get(node.op, node.op) if node.attrs.get("is_test") is False else node.op
    refuse_unknown(graph)
    with use(program.builder), program_guard(program):
        states = {w.name: _state(w) for w in graph.weights}
        program.parameters.update({n: s for n, s in states.items() if isinstance(s, Parameter)})
        env, _ = _begun(graph, states)
        run_block(graph.block, env)
        for weight in graph.weights:
            if (new := env[weight.ref]) is not states[weight.name]:
                states[weight.name]._set_payload(P.cast(tensor(new), weight.dtype)._payload)
        program.fetches = [tensor(_operand(ref, env)) for ref in graph.fetches]
    _name_values(env)


def _begun(graph: ModelGraph, weights: dict[str, Tensor]) -> tuple[Env, list[Tensor]]:
    """Return the values that a program begins with, and its feeds among them."""
    feeds = [data(f.name, [None if n < 0 else n for n in f.shape], f.dtype) for f in graph.feeds]
    env: Env = {w.ref: weights[w.name] for w in graph.weights}
    return env | {f.ref: t for f, t in zip(graph.feeds, feeds, strict=True)}, feeds


def _state(weight: ModelWeight) -> Any:
    variable: Any = ScopeVariable(weight.name, weight.shape, as_dtype(weight.dtype).np)
    if weight.is_parameter:
        return Parameter.of_payload(variable, weight.name, weight.is_trainable)
    made = wrap(variable)
    made.name, made.persistable = weight.name, True
    return made


def _name_values(env: Env) -> None:
    """Give values the names that they have in the file, by which they are fetched."""
    for name, held in env.items():
        if isinstance(name, str) and isinstance(held, Tensor) and not isinstance(held._payload, ScopeVariable):
            held._payload.name = name


def _fetch(found: Any) -> Tensor:
    """Return a result as a value of its own: an input may be one, and one value two of them."""
    return P.assign(found)


def refuse_unknown(graph: ModelGraph) -> None:
    """Raise for operators that are not in the table, all of them at once."""
    missing: dict[str, str] = {}
    for node in _nodes(graph.block):
        known = isinstance(node, GradientNode) or is_gradient(node.op)
        if not known and known_as(node.op) not in OPERATORS and node.op not in CONTROL:
            missing.setdefault(node.op, node.layer)
    if missing:
        named = ", ".join(f"`{op}`" + (f" (layer {layer})" if layer else "") for op, layer in missing.items())
        raise ModelFileError(f"the model has operators that are not known here: {named}")


def _nodes(block: ModelBlock) -> Any:
    for node in block.nodes:
        yield node
        for inner in node.blocks:
            yield from _nodes(inner)


def run_block(block: ModelBlock, env: Env) -> None:
    """Append the operators of a block to the program under construction; `env` has its values by name.

    Raises:
        ModelFileError: an operator cannot be what it says.
    """
    for i, node in enumerate(block.nodes):
        try:
            _node(of_operator(node, block.nodes[:i], env) if is_gradient(node.op) else node, env)
        except ModelFileError:
            raise
        except Exception as e:
            raise ModelFileError(f"{node} cannot be built: {type(e).__name__}: {e}") from e


def _node(node: ModelNode, env: Env) -> None:
    if isinstance(node, GradientNode):
        return _gradient_of_block(node, env) if node.forward.blocks else _gradient(node, env)
    if node.op in CONTROL_INPUTS:
        env["before", id(node)] = dict(env)  # for its gradient
    operands = [_operand(o, env) for o in node.operands]
    if node.op == "if":
        found: Any = _branch(node, operands, env)
    elif node.op == "while":
        found = _loop(node, operands, env)
    elif node.op == "conditional_block":
        return _conditional(node, operands, env)
    elif node.op == "select_input":
        found = _selected(operands)
    else:
        found = call(node.op, operands, node.attrs)
    if node.op in IN_PLACE:
        env[node.operands[IN_PLACE[node.op]]] = found
    for at, new in zip(REPLACED.get(node.op, ()), found if node.op in REPLACED else (), strict=False):
        if at is not None and at < len(node.operands) and (ref := node.operands[at]):
            env.update(zip(ref, new, strict=True) if isinstance(ref, list) else [(ref, new)])
    results = found if isinstance(found, tuple) else found if _is_one_list(found, node) else (found,)
    for ref, value in zip(node.results, results, strict=False):
        if isinstance(ref, list):
            env.update(zip(ref, value or (), strict=False))
        elif ref is not None:
            env[ref] = value


def _gradient(node: GradientNode, env: Env) -> None:
    operands = [_operand(o, env) for o in node.forward.operands]
    starts = [_operand(s, env) if s is not None else None for s in node.starts]
    found = differentiate(node, operands, starts, lambda given: call(node.forward.op, given, node.forward.attrs))
    _set_gradients(node, found, env)


def _gradient_of_block(node: GradientNode, env: Env) -> None:
    """The gradient of a block that runs under a condition or in a loop, from the values that there were before it."""
    before: Env = env["before", id(node.forward)]
    starts = [tensor(_operand(s, env)) for s in node.starts]

    def run(leaves: list[Any]) -> Any:
        inner = before | {ref: v for ref, v in zip(node.operands, leaves, strict=True) if v is not None}
        if node.forward.op == "while":
            _node(node.forward, inner)
            return [tensor(inner[ref]) for ref in node.results]

        def taken() -> Any:
            run_block(node.forward.blocks[0], inner)
            return [tensor(inner[ref]) for ref in node.results]

        condition = tensor(_operand(node.forward.operands[0], before))
        return static_nn.cond(condition, taken, lambda: [P.zeros_like(s) for s in starts])

    operands = [
        before.get(ref) if grad is None else _operand(ref, before)
        for ref, grad in zip(node.operands, node.wanted, strict=True)
    ]
    _set_gradients(node, differentiate(node, operands, starts, run), env)


def _set_gradients(node: GradientNode, found: list[Any], env: Env) -> None:
    for ref, value in zip(node.wanted, found, strict=True):
        pairs = zip(ref, value, strict=False) if isinstance(ref, list) else [(ref, value)]
        env.update({r: v for r, v in pairs if r is not None})


def _is_one_list(found: Any, node: ModelNode) -> bool:
    """Whether a list is what several results are: of one result, it is that result itself."""
    return isinstance(found, list) and len(node.results) == len(found) == 1 and isinstance(found[0], list)


def _operand(ref: Any, env: Env) -> Any:
    if ref is None:
        return None
    if isinstance(ref, LiteralOperand):
        return KnownValue(ref.value, "float32" if isinstance(ref.value, float) else "int64")
    if isinstance(ref, list):
        return [_operand(r, env) for r in ref]
    if ref not in env:
        raise ModelFileError(f"value {ref!r} is read before anything has made it")
    return env[ref]


def _changed(block: ModelBlock, env: Env) -> list[Any]:
    """Values from outside that operators of a block change, or variables that they write again."""
    found = [n.operands[IN_PLACE[n.op]] for n in _nodes(block) if n.op in IN_PLACE]
    found += [ref for n in _nodes(block) for ref in n.results if ref is not None and not isinstance(ref, list)]
    return [ref for ref in dict.fromkeys(found) if ref in env]


def _branch(node: ModelNode, operands: list[Any], env: Env) -> Any:
    changed = list(dict.fromkeys(ref for block in node.blocks for ref in _changed(block, env)))

    def side(block: ModelBlock) -> Callable[[], Any]:
        def run() -> Any:
            inner = dict(env)
            run_block(block, inner)
            return [tensor(inner[ref]) for ref in (*block.results, *changed)]

        return run

    yes, no = map(side, node.blocks)
    which = operands[0]
    known = isinstance(which, KnownValue)
    found = (yes if number(which) else no)() if known else static_nn.cond(tensor(which), yes, no)
    n = len(found) - len(changed)
    env.update(zip(changed, found[n:], strict=True))
    return tuple(found[:n])


class PendingValue(NamedTuple):
    """The result of a block in an older file, where its condition holds: built where it is selected."""

    block: ModelBlock
    env: Env
    name: Any

    def build(self) -> Any:
        """Return the value."""
        inner = dict(self.env)
        run_block(self.block, inner)
        return tensor(inner[self.name])


def _conditional(node: ModelNode, operands: list[Any], env: Env) -> None:
    """A block that runs under a condition: what it changes is as it was otherwise, what it makes somebody selects."""
    (block,) = node.blocks
    for ref in _changed(block, env):
        new = PendingValue(block, dict(env), ref)
        old = tensor(env[ref])
        (env[ref],) = static_nn.cond(tensor(operands[0]), _giving(new), _giving(old))
    before = dict(env)
    for inner in _nodes(block):
        env.update(
            {r: PendingValue(block, before, r) for r in inner.results if not isinstance(r, list) and r not in env}
        )


def _giving(value: Any) -> Callable[[], list[Any]]:
    return lambda: [value.build() if isinstance(value, PendingValue) else tensor(value)]


def _selected(operands: list[Any]) -> Any:
    mask, (no, yes) = operands
    if isinstance(mask, KnownValue):
        return _giving(yes if number(mask) else no)()[0]
    (found,) = static_nn.cond(P.cast(tensor(mask), "bool"), _giving(yes), _giving(no))
    return found


def _loop(node: ModelNode, operands: list[Any], env: Env) -> Any:
    """Return a loop on its first operand; the others are what it carries, and what its body changes in place."""
    (body,) = node.blocks
    if isinstance(operands[0], KnownValue):
        return _unroll(node, operands, env)
    changed = [ref for ref in _changed(body, env) if ref != node.operands[0]]
    n = len(operands)
    for ref in [ref for ref in (*node.operands, *changed) if isinstance(env.get(ref), list)]:
        env[ref] = stacked(env[ref], _element(body, ref, env | dict(zip(body.arguments, operands[1:], strict=True))))
    operands = [_operand(o, env) for o in node.operands]

    def step(*carried: Any) -> Any:
        inner = env | dict(zip(changed, carried[n:], strict=True)) | {node.operands[0]: carried[0]}
        inner |= dict(zip(body.arguments, carried[1:n], strict=True))
        run_block(body, inner)
        return [tensor(inner[ref]) for ref in (*body.results, *changed)]

    first = _shaped(step, [*operands, *[env[ref] for ref in changed]])
    found = static_nn.while_loop(lambda going, *_: going, step, first)
    env.update(zip(changed, found[n:], strict=True))
    return tuple(found[1:n])


def _element(body: ModelBlock, ref: Any, env: Env) -> tuple[list[int], str]:
    """Shape and dtype of what a loop writes into a list."""
    writes = [n for n in _nodes(body) if n.op == "array_write_" and n.operands[0] == ref]
    builder: Any = state.interpreter
    with builder.inner():
        inner = {k: list(v) if isinstance(v, list) else v for k, v in env.items()}
        run_block(body, inner)
        found = tensor(inner[writes[0].operands[1]])
    return list(found._payload.shape), found.dtype.name


def _shaped(step: Callable[..., Any], operands: list[Any]) -> list[Any]:
    """Return the initial values of a loop. The file has a single number for a value that does not exist before it."""
    builder: Any = state.interpreter
    given, before = list(map(tensor, operands)), set(builder.measured)
    with builder.inner():
        after = step(*given)
    within = builder.measured.keys() - before

    def blank(of: Tensor) -> Tensor:
        return P.zeros([0 if within.intersection(words([n])) else n for n in of._payload.shape], of.dtype)

    both = zip(operands, given, after, strict=True)
    return [blank(b) if isinstance(o, KnownValue) and b.ndim != g.ndim else g for o, g, b in both]


def _unroll(node: ModelNode, operands: list[Any], env: Env) -> Any:
    """Return a loop whose condition is known."""
    (body,), (going, *carried) = node.blocks, operands
    for _ in range(MAX_ITERATIONS):
        if not isinstance(going, KnownValue):
            raise ModelFileError(f"{node}: whether it goes on is known at first, and later only in a run")
        if not number(going):
            return tuple(carried)
        env |= dict(zip(body.arguments, carried, strict=True))
        run_block(body, env)
        going, *carried = [env[ref] for ref in body.results]
    raise ModelFileError(f"{node} runs for more than {MAX_ITERATIONS} times")
