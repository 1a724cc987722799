"""A program of ours as the graph of a model file."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from jax.errors import InconclusiveDimensionOperation

from ...core import structure as nested
from ...core.dtypes import numpy_name
from ...core.symbolic import is_symbolic
from ...eager.tensor import Parameter, Tensor
from ...ir.block import Block, Operator, Value
from ...ir.program import Program
from ...ir.simplify import only_needed
from ...registry.op import unpack
from ...tracing.effects import Argument
from ...tracing.trace import Traced
from ..graph import ModelBlock, ModelFeed, ModelFileError, ModelGraph, ModelNode, ModelWeight
from .emitter import Emitter, Unwritable
from .pir_text import FileValue, TensorType, known_sizes
from .rows import detection, elementwise, indexing, layers, library, places, recurrent, shaping  # noqa: F401  (they enter their rows)
from .rows.primitives import written_by_primitives
from .rows.table import ROWS

MOST_NAMED = 20  # of what has no form, in a message


def to_graph(traced: Traced) -> tuple[ModelGraph, dict[str, Tensor]]:
    """Return the graph of what a traced program gives, and its weights by name.

    Raises:
        ModelFileError: naming all operators that have no form in such a file, and their lines.
    """
    writer = ProgramWriter(traced)
    graph = writer.graph()
    if writer.refused:
        what = "write them with other operators, or save without format"
        raise ModelFileError(f"a model file of PaddlePaddle has no form of\n  {named(writer.refused)}\n{what}")
    return graph, writer.weights


def named(refused: dict[str, None]) -> str:
    """What has no form, one a line."""
    first, more = list(refused)[:MOST_NAMED], len(refused) - MOST_NAMED
    return "\n  ".join(first) + (f"\n  and {more} more" if more > 0 else "")


class ProgramWriter(Emitter):
    """Writes the operators of a traced program."""

    rows = ROWS

    def __init__(self, traced: Traced) -> None:
        super().__init__()
        self.traced, block = traced, traced.program.block
        self.captured = dict(zip(block.inputs[traced.n_args :], traced.captures, strict=True))
        self.env: dict[Value, FileValue] = {}
        self.weights: dict[str, Tensor] = {}
        self.declared: list[ModelWeight] = []
        self.refused: dict[str, None] = {}

    def graph(self) -> ModelGraph:
        """Return the whole program."""
        traced, block = self.traced, self.traced.program.block
        given = list(zip(block.inputs, traced.program.input_names, strict=True))[: traced.n_args]
        feeds = [self.feed(value, name) for value, name in given]
        outputs = block.outputs[: traced.n_results]
        names, measured = list(traced.program.input_names), traced.program.measured
        whole = Program(Block(block.inputs, block.ops, outputs), names, measured=measured)
        self.run(only_needed(whole).block.ops)
        results = self.results(list(_leaves(traced.structure, iter(outputs), block.inputs)))
        names = [f"fetch_name_{i}" for i in range(len(results))]
        return ModelGraph(self.declared, feeds, results, ModelBlock([], used(self.nodes, results), []), names)

    def results(self, values: Sequence[Any]) -> list[FileValue]:
        """Return the program's results. The reference merges equal ones, and then misses one of two: the second one
        is a copy of the first one's copy."""
        made = {v for node in self.nodes for v in node.results}
        given, first = [self.copied(v, made) for v in values], dict[FileValue, FileValue]()
        same = _equal_values(self.nodes)
        for i, value in enumerate(given):
            known = first.get(same[value])
            first[same[value]] = given[i] = value if known is None else self.op("assign", known)
        return given

    def feed(self, value: Value, name: str) -> ModelFeed:
        self.env[value] = made = FileValue(type_of(value))
        self.note_sizes(made)
        return ModelFeed(made, name, tuple(known_sizes(value.shape)), numpy_name(value.dtype))

    def read(self, value: Any) -> Any:
        """Return the file's value for a value here; a number is itself."""
        if isinstance(value, Tensor):
            return self.weight(value, TensorType(tuple(value._payload.shape), numpy_name(value._payload.dtype)))
        if not isinstance(value, Value):
            return value
        if value not in self.env:
            if value not in self.captured:
                raise Unwritable("a size that what comes later computes")
            self.env[value] = self.weight(self.captured[value], type_of(value))
        return self.env[value]

    def symbol(self, name: str) -> FileValue:
        """Return the size that a symbol stands for; of one that a value tells, one more."""
        found = self.traced.program.measured.get(name)
        if found is None or name in self.sizes_known:
            return super().symbol(name)
        value = self.read(found.value)
        if found.axis is not None:
            size = self.size_of(value, found.axis)
        else:
            size = self.element(self.cast(self.reshape(value, (-1,)), "int64"), found.element or 0)
        self.sizes_known[name] = self.op("add", size, self.full(1, "int64"))
        return self.sizes_known[name]

    def weight(self, tensor: Tensor, of: TensorType) -> FileValue:
        """Return a parameter, a buffer or a constant."""
        name = tensor._name or f"constant_{len(self.weights)}"
        name = name if name not in self.weights else f"{name}_{len(self.weights)}"
        self.weights[name], made = tensor, FileValue(of)
        trains = isinstance(tensor, Parameter) and not tensor.stop_gradient
        if of.dtype.startswith(("int", "uint")) and not trains and np.min(np.asarray(tensor._payload), initial=0) >= 0:
            self.not_negative.add(made)
        self.declared.append(ModelWeight(made, name, tuple(known_sizes(of.shape)), of.dtype, True, trains, True))
        return made

    # -- operators -------------------------------------------------------------------------------------------------
    def run(self, ops: Sequence[Operator]) -> None:
        """Write operators in order; what cannot be is noted."""
        for op in ops:
            try:
                found = self.operator(op)
            except Unwritable as e:
                self.refused[f"`{op.name}` at {op.where}" + (f": {e}" if str(e) else "")] = None
                found = [FileValue(type_of(v)) for v in op.outputs]
            for value, made in zip(op.outputs, found, strict=False):
                made.type = type_of(value) if self.is_new(made) else made.type
                self.env[value] = made

    def is_new(self, made: FileValue) -> bool:
        """Whether a value is nothing that stands for another one of the program already."""
        return bool(self.nodes) and made in self.nodes[-1].results

    def operator(self, op: Operator) -> Sequence[FileValue]:
        control = getattr(self, f"_{op.name}", None) if op.blocks else None
        if op.blocks and control is None:
            raise Unwritable("")
        inputs = [self.read(v) for v in op.inputs]
        self.name, self.out = op.name, [type_of(v) for v in op.outputs]
        if control is not None:
            return control(op, inputs)
        if op.name not in self.rows:
            return written_by_primitives(self, op, inputs)
        try:
            return self.by_row(op, inputs)
        except Unwritable as e:
            return self.otherwise(op, inputs, e)
        except InconclusiveDimensionOperation:
            return self.otherwise(op, inputs, Unwritable("its sizes must be known"))

    def otherwise(self, op: Operator, inputs: Sequence[Any], reason: Unwritable) -> Sequence[FileValue]:
        """Return an operator whose row does not serve, by what it computes."""
        try:
            return written_by_primitives(self, op, inputs)
        except Unwritable:
            raise reason from None

    def by_row(self, op: Operator, inputs: Sequence[Any]) -> Sequence[FileValue]:
        """Return an operator as its row has it."""
        bound = op.bound
        attrs = dict(zip(bound.op.attr_names, bound.attrs, strict=True))
        given = inputs if bound.layout is None else unpack(tuple(inputs), bound.layout)
        given = [*given, *[None] * (len(bound.op.tensor_params) - len(given))]
        found = self.rows[op.name](self, *given, **attrs)
        return found if isinstance(found, tuple | list) else [found]

    # -- control flow ----------------------------------------------------------------------------------------------
    @contextmanager
    def inner(self, block: Block, given: Sequence[Any], arguments: int = 0) -> Iterator[ModelBlock]:
        """A block, open to the end. Its inputs stand for what is given, but for the first ones, which are arguments."""
        values = [FileValue(type_of(v)) for v in block.inputs[:arguments]]
        with self.block() as nodes:
            self.env.update(zip(block.inputs, [*values, *given[arguments:]], strict=True))
            for value in values:
                self.note_sizes(value)
            self.run(block.ops)
            yield ModelBlock(values, nodes, [self.copied(v) for v in block.outputs])

    def copied(self, value: Any, made: Container[FileValue] = ()) -> FileValue:
        """A result as a value of its own: it may be an input, or lie outside the block, if it is none of those made."""
        found = self.read(value)
        if found in made:
            return found
        return self.op("assign", found) if isinstance(found, FileValue) else self.full(found, natural_dtype(found))

    def settled(self, given: Sequence[Any], inputs: Sequence[Value]) -> list[FileValue]:
        """Return the operands of an operator with blocks; a number becomes a value there."""
        return [self.tensor(v, numpy_name(w.dtype)) for v, w in zip(given, inputs, strict=True)]

    def condition(self, value: Any) -> FileValue:
        """Return a truth value as the reference has it."""
        return self.reshape(self.tensor(value, "bool"), ())

    def _cond(self, op: Operator, inputs: Sequence[Any]) -> Sequence[FileValue]:
        condition, given, blocks = self.condition(inputs[0]), self.settled(inputs[1:], op.blocks[0].inputs), []
        for side in op.blocks:
            with self.inner(side, given) as block:
                block.results = [
                    self.cast(r, numpy_name(v.dtype)) for r, v in zip(block.results, op.outputs, strict=True)
                ]
            blocks.append(block)
        return self.branch(condition, [type_of(v) for v in op.outputs], blocks)

    def branch(self, condition: FileValue, types: Sequence[TensorType], blocks: list[ModelBlock]) -> list[FileValue]:
        """Return one of two blocks."""
        results = [FileValue(t) for t in types]
        self.nodes.append(ModelNode("if", [condition], {}, results, blocks))
        return results

    def _while(self, op: Operator, inputs: Sequence[Any]) -> Sequence[FileValue]:
        attrs = dict(zip(op.bound.op.attr_names, op.bound.attrs, strict=True))
        test, body, n = attrs["test"], attrs["body"], attrs["n_carry"]
        given = self.settled(inputs, body.inputs)
        first = self.goes_on(test, given)
        with self.inner(body, given, n) as step:
            step.results.insert(0, self.goes_on(test, [*step.results, *given[n:]]))
        return self.loop([first, *given[:n]], step)

    def goes_on(self, test: Block, given: Sequence[FileValue]) -> FileValue:
        """Return the condition of a loop."""
        self.env.update(zip(test.inputs, given, strict=True))
        self.run(test.ops)
        return self.condition(self.read(test.outputs[0]))

    def loop(self, operands: Sequence[FileValue], step: ModelBlock) -> list[FileValue]:
        """Return a loop on its first operand."""
        results = [FileValue(a.type) for a in step.arguments]
        self.nodes.append(ModelNode("while", list(operands), {}, results, [step]))
        return results

    def _for(self, op: Operator, inputs: Sequence[Any]) -> Sequence[FileValue]:
        """Return a loop of known length, as one on a condition that counts."""
        attrs = dict(zip(op.bound.op.attr_names, op.bound.attrs, strict=True))
        body, n, length = attrs["body"], attrs["n_carry"], self.size(attrs["length"])
        given, truth = [self.full(0, "int64"), *self.settled(inputs, body.inputs[1:])], TensorType((), "bool")
        first = self.op("less_than", given[0], length, to=truth)
        with self.inner(body, given, n + 1) as step:
            count = self.op("add", step.arguments[0], self.full(1, "int64"))
            step.results = [self.op("less_than", count, length, to=truth), count, *step.results]
        return self.loop([first, *given[: n + 1]], step)[1:]

    def _recompute(self, op: Operator, inputs: Sequence[Any]) -> Sequence[FileValue]:
        (block,) = op.blocks
        self.env.update(zip(block.inputs, inputs, strict=True))
        self.run(block.ops)
        return [self.tensor(self.read(v), natural_dtype(v)) for v in block.outputs]

    def _custom(self, op: Operator, inputs: Sequence[Any]) -> Sequence[FileValue]:
        """Results with a gradient of the user's: a file has none."""
        return [self.op("assign", v) for v in inputs[: len(op.outputs)]]


def _equal_values(nodes: Sequence[ModelNode]) -> dict[FileValue, FileValue]:
    """For each result of operators the first one that is made in the same way."""
    same: dict[FileValue, FileValue] = {}
    known: dict[Any, ModelNode] = {}
    for node in nodes:
        key = node.op, tuple([same.get(v, v) for v in node.operands]), repr(node.attrs)
        first = node if node.blocks else known.setdefault(key, node)
        same.update(zip(node.results, first.results, strict=True))
    return same


def used(nodes: Sequence[ModelNode], results: Sequence[FileValue]) -> list[ModelNode]:
    """Operators that something reads the results of."""
    wanted, kept = set(results), list[ModelNode]()
    for node in reversed(nodes):
        if wanted.isdisjoint(node.results):
            continue
        for block in node.blocks:
            block.nodes = used(block.nodes, block.results)
            wanted.update(v for inner in _all_nodes(block) for v in inner.operands)
            wanted.update(block.results)
        wanted.update(node.operands)
        kept.append(node)
    return kept[::-1]


def _all_nodes(block: ModelBlock) -> Iterator[ModelNode]:
    for node in block.nodes:
        yield node
        for inner in node.blocks:
            yield from _all_nodes(inner)
            yield from [ModelNode("", inner.results, {}, [])]


def _leaves(structure: Any, outputs: Iterator[Any], inputs: Sequence[Value]) -> Iterator[Any]:
    """Yield the tensors of a result, in order; what is none has no place in such a file."""
    if structure is nested.LEAF:
        yield next(outputs)
    elif isinstance(structure, nested.Static) and isinstance(structure.value, Argument | Tensor):
        yield inputs[structure.value.position] if isinstance(structure.value, Argument) else structure.value
    elif isinstance(structure, nested.Nest):
        for child in structure.children:
            yield from _leaves(child, outputs, inputs)


def natural_dtype(value: Any) -> str:
    """Return the dtype of a value, or of a number."""
    if isinstance(value, Value):
        return numpy_name(value.dtype)
    return "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float32"


def type_of(value: Value) -> TensorType:
    """Shape and dtype of a value."""
    return TensorType(tuple([n if is_symbolic(n) else int(n) for n in value.shape]), numpy_name(value.dtype))
