"""Rewrites: a pattern of operators, and the computation that takes its place, written as ordinary paddle code."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from ..autograd import enable_grad
from ..core import structure as nested
from ..eager import casting
from ..ir.block import Block, Operator, Value
from ..ir.control import GRAD, with_blocks
from ..ir.graph import swapped, with_inputs
from ..ir.program import Program
from ..ir.simplify import dead_code
from ..tracing.effects import Argument
from ..tracing.trace import Traced, trace
from .block_captures import BlockCaptures, thread_state
from .pattern import Call, Matcher


class PassError(ValueError):
    """A pass cannot do the requested change to a program.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.passes.PassError, ValueError)
        True
    """


class Match:
    """A match of a pattern, by the names in it: tensors, numbers, None where an argument is absent, calls.

    Arguments:
        weights: the tensors that values of the program stand for.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> @paddle.passes.rewrite(paddle.passes.Call("matmul", "a", "b"))
        ... def doubled(m):
        ...     return m.a * 2
        >>> f = paddle.jit.to_static(lambda x: paddle.matmul(x, x), passes=[doubled])
        >>> f(paddle.ones([2, 2])).tolist()
        [[2.0, 2.0], [2.0, 2.0]]
    """

    def __init__(self, found: dict[str, Any], values: dict[str, Any], weights: dict[Value, Any]) -> None:
        self._found, self._values, self._weights = found, values, weights

    def __getattr__(self, name: str) -> Any:
        try:
            return self._found[name]
        except KeyError:
            raise AttributeError(f"the pattern has no name {name!r}; it has {', '.join(self._found)}") from None

    def weight(self, name: str) -> Any:
        """Return the weight or buffer that an argument is; None if it is computed, or an argument of the program."""
        return self._weights.get(self._values.get(name))  # type: ignore[arg-type]


Rule = tuple[Call, Callable[[Match], Any]]


def rewrite(*patterns: Call) -> Callable[[Callable[[Match], Any]], Callable[[Program], Program]]:
    """Return a pass that replaces what matches a pattern, in the program and in the branches and loops of it.

    The function below it is given what was found, and returns the tensor that takes the place of the result (several
    for an op with several results), computed with any paddle function; None leaves things as they are. Weights and
    buffers that it brings along become weights of the program, and where it updates buffers, each run will.

    Arguments:
        patterns: the first that matches counts.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> from paddle_lite_py.passes import call, rewrite
        >>> @rewrite(call("exp", call("log", "x")))
        ... def exp_of_log(m):
        ...     return m.x
        >>> net = paddle.jit.to_static(lambda x: (x.log().exp() + 1.0), input_spec=[paddle.static.InputSpec([2])])
        >>> [op.name for op in exp_of_log(net.main_program).ops()]
        ['add']
    """

    def decorate(function: Callable[[Match], Any]) -> Callable[[Program], Program]:
        @functools.wraps(function)
        def run(program: Program) -> Program:
            return Rewriting(run.__name__, [(p, function) for p in patterns], program).program()

        run.__annotations__ = {"program": Program, "return": Program}
        return run

    return decorate


class Rewriting:
    """One run of a pass with rules over a program, in one walk."""

    def __init__(self, name: str, rules: list[Rule], program: Program) -> None:
        self.name, self.source = name, program
        self.rules: dict[str | None, list[Rule]] = {}
        for rule in rules:
            for op_name in rule[0].names or (None,):
                self.rules.setdefault(op_name, []).append(rule)
        self.top = BlockCaptures(dict(program.captured), program.captured)
        # Tensors that only the program updates.
        self.taken = {id(program.captured[v]) for v in program.updates.values() if v in program.captured}

    def program(self) -> Program:
        """Return the rewritten program."""
        source, top = self.source, self.top
        block = self._block(source.block, top)
        new = [v for v in top.captured if v not in source.captured]
        if block is source.block and not new:
            return source
        at = last_captured(source) + 1
        inputs = [*block.inputs[:at], *new, *block.inputs[at:]]
        names = [*source.input_names[:at], *(v.name or "weight" for v in new), *source.input_names[at:]]
        updates = source.updates | {len(block.outputs) + i: top.inputs[h] for i, h in enumerate(top.state)}
        outputs = [*block.outputs, *top.state.values()]
        output_names = [*source.output_names, *(f"{top.inputs[h].name}.new" for h in top.state)]
        return dead_code(Program(Block(inputs, block.ops, outputs), names, output_names, top.captured, updates))

    def _block(self, block: Block, captures: BlockCaptures, fixed: frozenset[Value] = frozenset()) -> Block:
        uses = Counter(v for op in block.ops for v in op.inputs if isinstance(v, Value))
        uses.update(v for v in block.outputs if isinstance(v, Value))
        matcher, swaps, ops = Matcher(uses), dict[Value, Value](), list[Operator]()
        for op in block.ops:
            op = self._inside(with_inputs(op, swaps), captures)
            made = None if fixed.intersection(op.outputs) else self._replaced(op, matcher, captures)
            if made is None:
                ops.append(op)
                matcher.add(op)
                continue
            new, values = made
            for a, b in zip(op.outputs, values, strict=False):
                swaps[a] = b
                uses[b] = uses[b] + uses[a]
            for o in new:
                ops.append(o)
                matcher.add(o)
                uses.update(v for v in o.inputs if isinstance(v, Value))
        return block.with_ops(ops, [swapped(v, swaps) for v in block.outputs])

    def _inside(self, op: Operator, captures: BlockCaptures) -> Operator:
        if not op.blocks:
            return op
        every = captures.inside(op)
        blocks = [self._block(b, inner, watched(op)) for b, inner in zip(op.blocks, every, strict=True)]
        if any(inner.state or inner.inputs.keys() > inner.given for inner in every):
            made = thread_state(op, blocks, every, captures)
            if isinstance(made, str):
                raise self.error(op, made)
            return made
        new = iter(blocks)
        return with_blocks(op, lambda _: next(new))

    def error(self, op: Operator, why: str) -> PassError:
        """Return an error that names the pass and the operator."""
        return PassError(f"pass `{self.name}` on `{op.name}` at {op.where}: {why}")

    def _replaced(
        self, op: Operator, matcher: Matcher, captures: BlockCaptures
    ) -> tuple[list[Operator], list[Value]] | None:
        for pattern, function in (*self.rules.get(op.name, ()), *self.rules.get(None, ())):
            found = matcher.match(pattern, op)
            if found is None:
                continue
            made = self._traced(function, found, captures)
            values = _flat(made)
            if values and not any(matcher.uses.get(v, 0) for v in op.outputs[len(values) :]):
                done = Splice(self, op, captures).result(made, found)
                if done is not None:
                    return done
        return None

    def _traced(self, function: Callable[[Match], Any], found: dict[str, Any], captures: BlockCaptures) -> Traced:
        slots: list[tuple[str, int | None, Value]] = [(k, None, v) for k, v in found.items() if isinstance(v, Value)]
        slots += [(k, i, v) for k, vs in found.items() if isinstance(vs, list) for i, v in enumerate(vs)]

        def fill(*tensors: Any) -> Any:
            held = {k: list(v) if isinstance(v, list) else v for k, v in found.items()}
            for (k, i, _), t in zip(slots, tensors, strict=True):
                if i is None:
                    held[k] = t
                else:
                    held[k][i] = t
            return function(Match(held, found, captures.captured))

        values = [v for _, _, v in slots]
        with casting.use(None), enable_grad():
            return trace(fill, [v.spec for v in values], [v.requires_grad for v in values], [k for k, _, _ in slots])


class Splice:
    """Puts what a rewrite traced into the place of an operator."""

    def __init__(self, rewriting: Rewriting, op: Operator, captures: BlockCaptures) -> None:
        self.r, self.op, self.captures = rewriting, op, captures

    def result(self, made: Traced, found: dict[str, Any]) -> tuple[list[Operator], list[Value]] | None:
        """Return the new operators, and the values that take the place of the operator's outputs; None to leave it."""
        given = [v for v in found.values() if isinstance(v, Value)]
        given += [v for vs in found.values() if isinstance(vs, list) for v in vs]
        block = made.program.block
        if made.providers or made.checks or made.loop_buffer or made.schedules:
            raise self.error("its replacement holds a check, an optimizer step or a loop of unknown length")
        captures = [self.captures.value(h) for h in made.captures]
        inputs = dict(zip(block.inputs, [*given, *captures], strict=True))
        ops = [_at_place_of(with_inputs(o, inputs), self.op) for o in block.ops]
        outs = [swapped(v, inputs) for v in block.outputs]
        leaves = iter(outs)
        values = [self._value(p, leaves, given) for p in _flat(made)]
        fresh = {v for o in ops for v in o.outputs}
        if not all(self._fits(old, new, new in fresh) for old, new in zip(self.op.outputs, values, strict=False)):
            return None
        for effect, value in zip(made.effects, outs[made.n_results :], strict=True):
            self._update(effect, value)
        return ops, values

    def _value(self, place: Any, leaves: Iterator[Any], given: list[Value]) -> Value:
        if place is nested.LEAF:
            return next(leaves)
        return given[place.position] if isinstance(place, Argument) else self.captures.value(place)

    def _fits(self, old: Value, new: Value, fresh: bool) -> bool:
        if (old.shape, old.dtype) != (new.shape, new.dtype):
            raise self.error(f"it is {_kind(old)}, its replacement {_kind(new)}: both must agree")
        if fresh:  # where a gradient ends, it still ends
            new.requires_grad = new.requires_grad and old.requires_grad
        return fresh or old.requires_grad == new.requires_grad

    def _update(self, effect: Any, value: Value) -> None:
        handle = effect.write.owner
        if effect.write.key != "_payload" or effect.n_leaves != 1 or id(handle) in self.r.taken:
            raise self.error("its replacement changes more than buffers of its own")
        self.captures.entering(handle)
        self.captures.state[id(handle)] = value

    def error(self, why: str) -> PassError:
        """Return an error that names the pass and the operator."""
        return self.r.error(self.op, why)


def watched(op: Operator) -> frozenset[Value]:
    """Return the values that the gradients of a block are taken with respect to: these must stay."""
    if op.bound.op is not GRAD:
        return frozenset()
    block, _, inner, *_ = op.bound.attrs
    return frozenset(block.outputs[len(block.outputs) - len(inner) :])


def last_captured(program: Program) -> int:
    """Position of the last input that stands for a tensor, or that of the last input; -1 where there is none."""
    places = [i for i, v in enumerate(program.block.inputs) if v in program.captured]
    return places[-1] if places else len(program.block.inputs) - 1


def _flat(made: Traced) -> list[Any]:
    """Return the results of a rewrite: LEAF for what was computed, an Argument, or a tensor; empty for None."""
    structure = made.structure
    parts = structure.children if isinstance(structure, nested.Nest) else (structure,)
    places = [p.value if isinstance(p, nested.Static) else p for p in parts]
    return [] if any(p is None for p in places) else places


def _at_place_of(op: Operator, old: Operator) -> Operator:
    return Operator(op.bound, op.inputs, op.outputs, old.where)


def _kind(value: Value) -> str:
    return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
