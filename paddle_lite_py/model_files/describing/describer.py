"""What a static program has recorded, described with the operators of the reference: by the rows that write files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax.errors import InconclusiveDimensionOperation

from ...core.dtypes import numpy_name
from ...core.symbolic import is_symbolic
from ...eager.tensor import Parameter, Tensor
from ...ir.block import Operator, Value
from ...ir.control import GRAD
from ...optimizer.operators import Update
from ...static.program_state import ProgramState
from ..graph import ModelNode
from ..program_desc import OperatorDescription
from ..weights import NUMBERS
from ..writing.emitter import Emitter, Unwritable
from ..writing.pir_text import FileValue
from ..writing.programs import ProgramWriter, type_of
from . import kinds
from .description import RECORDED, ProgramDescription, Recorded, RecordedConstant, RecordedUpdate
from .differentiated import backward
from .rows import ROWS

FORWARD, OPTIMIZE = 0, 2  # the attribute op_role; that of gradients is 1


def describe(program: ProgramState) -> ProgramDescription:
    """Return the description of a program, with the numbers of its variables and operators as they are recorded."""
    return Describer(program).whole()


def extend(program: ProgramState, held: ProgramDescription) -> list[OperatorDescription] | None:
    """Return what has been appended to a program since it was described; None if that is not all that changed."""
    ops, n = program.builder.root.block.ops, len(held.seen)
    if held.seen != ops[:n] or any(op.bound.op is GRAD for op in ops[n:]):
        return None
    maker = Describer(program)
    maker.description = held
    before, held.operators = held.operators, []
    try:
        maker.go_on(ops[n:])
        return held.operators
    except KeyError:  # it reads what has no name
        return None
    finally:
        held.operators = before


class Describer(ProgramWriter):
    """Describes the operators of one program, in order."""

    rows = ROWS

    def __init__(self, program: ProgramState) -> None:
        Emitter.__init__(self)
        self.program, self.builder = program, program.builder
        self.description = ProgramDescription()
        self.env: dict[Value, FileValue] = {}
        self.names: dict[FileValue, str] = {}
        self.known: dict[FileValue, tuple[Any, bool]] = {}  # constants, and whether each is one number
        self.lists: dict[FileValue, list[FileValue]] = {}
        self.captured = {}  # nothing is written that has no name
        self.drawn: set[Value] = set()  # states of the stream of random numbers
        self.averaged: dict[Value, Operator] = {}  # statistics of a batch, by the running ones' updates
        self.final: dict[Value, str] = {}
        self.read_later: set[Value] = set()

    def whole(self) -> ProgramDescription:
        """Return the description of all that there is."""
        builder, out = self.builder, self.description
        builder.name_values()
        self.final = {v: name for name, (_, v) in builder.finals().items()}
        for op in builder.root.block.all_ops():
            out.reserved.update(v.name for v in op.outputs if v.name)
        for value in builder.root.block.inputs:
            self.input(value)
        for op in builder.root.block.ops:
            if op.name == "running_average" and isinstance(op.inputs[1], Value):
                self.averaged[op.inputs[1]] = op
        ops = self.needed()
        inner = [op for op in ops if op.bound.op is GRAD]
        every = [*ops, *[o for op in inner for o in op.bound.attrs[0].ops]]
        self.read_later = {v for op in every for v in op.inputs if isinstance(v, Value)} | set(self.final)
        for op in ops:
            out.operators += self.described(op)
        self.close()
        return out

    def go_on(self, ops: Sequence[Operator]) -> None:
        """Describe operators that were appended to what has a description."""
        builder, out = self.builder, self.description
        builder.name_values()
        self.final = {v: name for name, (_, v) in builder.finals().items()}
        out.reserved.update(v.name for op in ops for v in op.outputs if v.name)
        for value, name in out.values.items():
            self.env[value] = made = FileValue(type_of(value))
            self.names[made] = name
            self.note_sizes(made)
        for value in builder.root.block.inputs:
            if value not in self.env and value not in self.drawn:
                self.input(value)
        self.read_later = {v for op in ops for v in op.inputs if isinstance(v, Value)} | set(self.final)
        for op in ops:
            out.operators += self.described(op)
        self.close()

    def close(self) -> None:
        """Note what has been described."""
        out = self.description
        out.feeds = list(self.program.feeds)
        out.finals |= {s: out.values[v] for v, s in self.final.items() if v in out.values and out.values[v] != s}
        out.version, out.seen = self.builder.version, list(self.builder.root.block.ops)

    def needed(self) -> list[Operator]:
        """Return the operators without those that a gradient has again, and that nothing else reads."""
        ops = self.builder.root.block.ops
        again = {v.name for op in ops if op.bound.op is GRAD for v in op.outputs}
        wanted, kept = set(self.final), list[Operator]()
        for op in reversed(ops):
            own = [v for v in op.outputs if v.name not in again or op.bound.op is GRAD]
            if own or not op.outputs or wanted.intersection(op.outputs):
                kept.append(op)
                wanted.update(v for v in op.inputs if isinstance(v, Value))
        return kept[::-1]

    def input(self, value: Value) -> None:
        """Declare an input of the program: data, state, or what Python provides."""
        state = self.builder.states.get(value)
        if value is getattr(self.builder.captures.get(self.builder.word_home.name), "value", None):
            self.drawn.add(value)
            return
        name = value.name or self.description.unused("provided")
        handle = self.builder.shown(value) if state is not None else None
        made = self.named(value, name)
        self.note_sizes(made)
        if isinstance(state, Tensor) and state._name is None and not isinstance(state, Parameter):
            self.description.declare(name, value.shape, numpy_name(value.dtype), stops_gradient=not value.requires_grad)
            attrs = {"shape": list(value.shape), "dtype": NUMBERS[value.dtype], RECORDED: RecordedConstant(state)}
            self.description.operators.append(OperatorDescription("assign_value", {}, {"Out": [name]}, attrs))
            return
        trained = isinstance(handle, Parameter)
        variable = self.description.declare(
            name, value.shape, numpy_name(value.dtype), is_persistable=state is not None, is_parameter=trained,
            stops_gradient=not value.requires_grad, needs_check=state is None,
        )  # fmt: skip
        variable.is_parameter = trained or name in self.program.parameters

    def named(self, value: Value, name: str) -> FileValue:
        """Return the file's value of a new one here, under a name."""
        made = self.env[value] = FileValue(type_of(value))
        self.names[made], self.description.values[value] = name, name
        return made

    def symbol(self, name: str) -> FileValue:
        """Return the size that a symbol stands for."""
        return Emitter.symbol(self, name)

    # -- operators -------------------------------------------------------------------------------------------------
    def described(self, op: Operator, names: dict[Value, str] | None = None) -> list[OperatorDescription]:
        """Return the operators of the reference for one.

        Arguments:
            names: of its outputs, where they are not their own.
        """
        if isinstance(op.bound, Update):
            return self.update(op)
        if op.bound.op is GRAD and not any(o.bound.op is GRAD for o in op.bound.attrs[0].ops):
            return self.gradient(op)
        if op.name == "running_average" and op.outputs[0] in self.final and op.inputs[1] not in self.averaged:
            return []  # the normalization has it
        called = [self.new_name((names or {}).get(v) or v.name, op.name) for v in op.outputs]
        first = len(self.nodes)
        try:
            if op.name == "batch_norm" and dict(zip(op.bound.op.attr_names, op.bound.attrs, strict=False))["training"]:
                return self.normalization(op, called)
            if op.name not in self.rows or self.draws(op):
                raise Unwritable(op.name)
            self.name, self.out = op.name, [type_of(v) for v in op.outputs]
            found = self.by_row(op, [self.read(v) for v in op.inputs])
            return self.earlier(self.nodes[first:], op, found, called)
        except (Unwritable, InconclusiveDimensionOperation):
            return [self.recorded(op, called)]
        finally:
            del self.nodes[first:]

    def new_name(self, wanted: str | None, stem: str) -> str:
        """Return the name of an output: its own, if no other has it."""
        free = wanted and wanted not in self.description.variables
        return str(wanted) if free else self.description.unused((wanted or stem).partition(".tmp_")[0])

    def earlier(
        self, nodes: Sequence[ModelNode], op: Operator, found: Sequence[FileValue], called: list[str]
    ) -> list[OperatorDescription]:
        """Return operators of the newest generation as those of the one before."""
        for node in nodes:
            if (found_constant := kinds.constant(node)) is not None:
                self.known[node.results[0]] = found_constant
            if node.op == "builtin.combine":
                self.lists[node.results[0]] = list(node.operands)
            if node.op == "builtin.split":
                self.lists[node.operands[0]] = list(node.results)
        forms = [n for n in nodes if n.op not in ("builtin.combine", "builtin.split") and kinds.constant(n) is None]
        made = {v for n in forms for r in n.results for v in self.lists.get(r, [r])}
        given: dict[FileValue, str] = {}
        copies = []
        for value, file_value, name in zip(op.outputs, found, called, strict=False):
            if file_value in made and file_value not in given:
                given[file_value] = name
            else:
                copies.append((value, file_value, name))
        out = [each for node in forms for each in self.one(node, given, called[0])]
        for file_value, name in given.items():
            self.names[file_value] = name
        for value, file_value, name in copies:
            if value not in self.read_later and len(op.outputs) > 1:
                continue  # a result that nobody reads
            out += [*self.constants_of(file_value), OperatorDescription(
                "assign", {"X": [self.names[file_value]]}, {"Out": [name]}, {"op_role": FORWARD})]  # fmt: skip
            self.named(value, name)
            self.description.declare(name, value.shape, numpy_name(value.dtype))
        for value, file_value, name in zip(op.outputs, found, called, strict=False):
            if given.get(file_value) == name:
                self.env[value], self.description.values[value] = file_value, name
                file_value.type = type_of(value)
                variable = self.description.declare(name, value.shape, numpy_name(value.dtype))
                variable.stops_gradient = not value.requires_grad
        return out

    def one(self, node: ModelNode, given: dict[FileValue, str], stem: str) -> list[OperatorDescription]:
        """Return one operator, after the constants that it reads as values."""
        kind, row = kinds.kind_of(node)
        out = OperatorDescription(kind, {}, {}, kinds.attributes(node, row) | {"op_role": FORWARD})
        before: list[OperatorDescription] = []
        for token, operand in zip(kinds.tokens(kind, row, len(node.operands)), node.operands, strict=False):
            if operand is None:
                continue
            values = self.lists.get(operand)
            attribute = kinds.attribute_of(token)
            if values is None and operand in self.known and attribute is not None:
                out.attrs[attribute] = self.known[operand][0]
                continue
            for value in values or [operand]:
                before += self.constants_of(value)
            out.inputs[kinds.slot_of(token, values is not None)] = [self.names[v] for v in values or [operand]]
        for token, result in zip(row.results.split(), node.results, strict=False):
            values = self.lists.get(result, [result])
            out.outputs[token.removesuffix("*")] = [self.result(v, given, stem) for v in values]
        if kinds.gives_shape(kind):
            name = self.description.unused(stem.partition(".")[0])
            x = self.description.variables[out.inputs["X"][0]]
            self.description.declare(name, (0, *x.shape), x.dtype)
            out.outputs["XShape"] = [name]
        return [*before, kinds.with_defaults(out)]

    def result(self, value: FileValue, given: dict[FileValue, str], stem: str) -> str:
        name = given.get(value)
        if name is None:
            name = self.description.unused(stem.partition(".tmp_")[0])
            self.description.declare(name, value.type.shape, value.type.dtype)
        elif name not in self.description.variables:
            self.description.declare(name, value.type.shape, value.type.dtype)
        self.names[value] = name
        return name

    def constants_of(self, value: FileValue) -> list[OperatorDescription]:
        """Return the operator that makes a constant, where it has not been made."""
        if value in self.names:
            return []
        if value not in self.known or any(map(is_symbolic, value.type.shape)):
            raise Unwritable("a size that what comes later computes")
        name = self.names[value] = self.description.unused("constant")
        self.description.declare(name, value.type.shape, value.type.dtype)
        return [kinds.of_constant(*self.known[value], value, name)]

    # -- what no row has -------------------------------------------------------------------------------------------
    def draws(self, op: Operator) -> bool:
        """Whether an operator draws random numbers from the program's stream."""
        return bool(op.inputs) and op.inputs[0] in self.drawn

    def recorded(self, op: Operator, called: list[str]) -> OperatorDescription:
        """Return an operator as it was recorded, with its inputs in one slot, and its outputs in another one."""
        inputs, outputs, random = op.inputs, list(zip(op.outputs, called, strict=True)), self.draws(op)
        if random:
            inputs, (following, _) = inputs[1:], outputs.pop()
            self.drawn.add(following)
        read = [v for v in inputs if isinstance(v, Value)]
        before = [each for v in read for each in self.constants_of(self.env[v])]
        assert not before, "inputs of operators are variables"
        template = tuple([None if isinstance(v, Value) else v for v in inputs])
        attrs = {RECORDED: Recorded(op.bound, template, random), "op_role": FORWARD}
        for value, name in outputs:
            self.named(value, name)
            variable = self.description.declare(name, value.shape, numpy_name(value.dtype))
            variable.stops_gradient = not value.requires_grad
        slots = {"X": [self.names[self.env[v]] for v in read]}, {"Out": [name for _, name in outputs]}
        return OperatorDescription(op.name, *slots, attrs)

    def normalization(self, op: Operator, called: list[str]) -> list[OperatorDescription]:
        """Return a normalization by the batch, which changes its running statistics itself."""
        attrs = dict(zip(op.bound.op.attr_names, op.bound.attrs, strict=False))
        x, mean, variance, *rest = [self.read(v) for v in op.inputs]
        moved = [self.averaged.get(v) for v in op.outputs[1:3]]
        if len(rest) < 2 or any(m is None or m.outputs[0] not in self.final for m in moved):
            raise Unwritable("statistics that are not kept")
        (momentum,) = {dict(zip(m.bound.op.attr_names, m.bound.attrs, strict=False))["momentum"] for m in moved if m}
        slots = {"X": x, "Scale": rest[0], "Bias": rest[1], "Mean": mean, "Variance": variance}
        inputs = {slot: [self.names[v]] for slot, v in slots.items()}
        for value, name in zip(op.outputs, called, strict=True):
            self.named(value, name)
            self.description.declare(
                name, value.shape, numpy_name(value.dtype)
            ).stops_gradient = not value.requires_grad
        for m in moved:
            assert m is not None
            self.named(m.outputs[0], self.final[m.outputs[0]])
            self.averaged.pop(m.inputs[1])
        outputs = {"Y": called[:1], "MeanOut": inputs["Mean"], "VarianceOut": inputs["Variance"],
                   "SavedMean": called[1:2], "SavedVariance": called[2:3]}  # fmt: skip
        form = str(attrs["data_format"])
        given = {"momentum": momentum, "epsilon": attrs["epsilon"], "is_test": False, "use_global_stats": False,
                 "trainable_statistics": False, "op_role": FORWARD,
                 "data_layout": "NHWC" if form.endswith("C") and len(form) > 2 else "NCHW"}  # fmt: skip
        return [OperatorDescription("batch_norm", inputs, outputs, given)]

    def update(self, op: Operator) -> list[OperatorDescription]:
        """Return an update of parameters: an operator for each of them."""
        bound: Any = op.bound
        recipe, n = bound.recipe, len(bound.recipe.settings)
        rate, *rest = [self.names[self.read(v)] for v in op.inputs]
        skips = rest.pop() if recipe.skips else None
        grads, changed = rest[:n], rest[n:]
        slots: list[tuple[str, bool]] = [("Param", True)]
        slots += [("MasterParam", True)] if any(s.master for s in recipe.settings) else []
        arrays = [s for s in recipe.slots if not s.scalar], [s for s in recipe.slots if s.scalar]
        slots += [(_slot(s.name), True) for s in arrays[0]] + [(_slot(s.name), False) for s in arrays[1]]
        shared = RecordedUpdate(bound, slots, n, skips)
        parts, at = list[tuple[str, list[str | None]]](), 0
        for slot, own in slots:
            masters = [s.master for s in recipe.settings]
            wanted = masters if slot == "MasterParam" else [True] * n
            names: list[str | None] = []
            for i in range(n if own else 1):
                names.append(changed[at] if not own or wanted[i] else None)
                at += 1 if not own or wanted[i] else 0
            parts.append((slot, names if own else names * n))
        for value, name in zip(op.outputs, changed, strict=True):
            self.named(value, name)
        out = []
        for i, setting in enumerate(recipe.settings):
            state = {slot: [names[i]] for slot, names in parts if names[i] is not None}
            inputs: dict[str, Any] = {"Param": state["Param"], "Grad": [grads[i]], "LearningRate": [rate], **state}
            outputs: dict[str, Any] = {f"{slot}Out": names for slot, names in state.items()}
            attrs = {**dict(setting.hyper), RECORDED: shared, "op_role": OPTIMIZE}
            out.append(OperatorDescription(op.name, inputs, outputs, attrs))
        return out

    # -- gradients -------------------------------------------------------------------------------------------------
    def gradient(self, op: Operator) -> list[OperatorDescription]:
        """Return a block with its gradient: its operators, and theirs from the last to the first."""
        block, wrt, inner, n_roots, _ = op.bound.attrs
        n_in, n_forward = len(block.inputs), len(block.outputs) - len(inner)
        names = {v: str(o.name) for v, o in zip(block.outputs[:n_forward], op.outputs[:n_forward], strict=True)}
        for value, outer in zip(block.inputs, op.inputs[:n_in], strict=True):
            self.env[value] = self.read(outer)
            if isinstance(outer, Value) and outer in self.drawn:
                self.drawn.add(value)
            if isinstance(outer, Value) and outer in self.averaged:
                self.averaged[value] = self.averaged[outer]
        self.averaged.update({v: self.averaged[o] for v, o in zip(block.outputs, op.outputs, strict=False)
                              if o in self.averaged})  # fmt: skip
        forward = [each for o in block.ops for each in self.described(o, names)]
        values = self.description.values
        for value, outer in zip(block.outputs[:n_forward], op.outputs[:n_forward], strict=True):
            if value in self.env:
                self.env[outer], values[outer] = self.env[value], self.names[self.env[value]]
            elif value in self.drawn:
                self.drawn.add(outer)
        of = [block.inputs[i] for i in wrt] + list(block.outputs[n_forward:])
        wanted: dict[str, str] = {}
        for value, grad in zip(of, op.outputs[n_forward:], strict=True):
            name = self.names[self.env[value]]
            wanted[name] = str(grad.name)
            self.named(grad, wanted[name])
            self.description.declare(wanted[name], grad.shape, grad.dtype.name)
        starts = [self.names[self.read(s)] if isinstance(s, Value) else float(s) for s in op.inputs[n_in:]]
        roots = [self.names[self.env[v]] for v in block.outputs[:n_roots]]
        return [*forward, *backward(self.description, forward, dict(zip(roots, starts, strict=True)), wanted)]


def _slot(name: str) -> str:
    return "".join(part.capitalize() for part in name.removesuffix("_acc").split("_"))
