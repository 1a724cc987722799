"""Blocks, operators and variables of a described program, as programs of the earlier generation edit them in place."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core.dtypes import DType, as_dtype
from ...core.no_effect import only_known
from ...eager.tensor import Tensor, wrap
from ...static.program import Program
from ...static.scope import Scope
from ...tracing.frame import TracedValue
from ..program_desc import OperatorDescription, VariableDescription
from .describer import describe, extend
from .description import RECORDED, ProgramDescription, Recorded, RecordedUpdate
from .rebuilding import rebuild


def description_of(program: Program) -> ProgramDescription:
    """Return the description of a program, made where there is none of what it has recorded."""
    held = program.description
    if held is not None and (held.edited or held.version == program.builder.version):
        return held
    block = DescribedBlock(program)
    if held is not None and (more := extend(program, held)) is not None:
        held.operators += [DescribedOperator(block, op) for op in more]
        return held
    held = program.description = describe(program)
    held.operators = [DescribedOperator(block, op) for op in held.operators]
    return held


def settle(program: Program) -> None:
    """Let a program be what its description says.

    Raises:
        ModelFileError: if it cannot be.
        RuntimeError: while a branch or loop of it is built.
    """
    held, builder = program.description, program.recorder
    if builder.frame is not builder.root:
        raise RuntimeError("a program is edited while a branch or loop of it is built; edit it before or after that")
    held.edited = False
    try:
        rebuild(program, held)
    except BaseException:
        held.edited = True
        raise


def copied(program: Program, out: Program) -> None:
    """Let a clone of a program have a copy of its description, which says more than what was recorded by it."""
    held, clones, builder = program.description, out.builder.clone_map, out.builder
    made = out.description = replace(
        held,
        variables={n: replace(v) for n, v in held.variables.items()},
        values={clones[v]: n for v, n in held.values.items() if v in clones},
        handles={n: builder.handle(clones[h._payload]) for n, h in held.handles.items() if h._payload in clones},
        feeds=list(held.feeds), finals=dict(held.finals), reserved=set(held.reserved),
        version=builder.version, seen=list(builder.root.block.ops),
    )  # fmt: skip
    made.operators = [
        DescribedOperator(
            DescribedBlock(out), OperatorDescription(op.kind, dict(op.inputs), dict(op.outputs), dict(op.attrs))
        )
        for op in held.operators
    ]


def fitted(program: Program, scope: Scope) -> Program:
    """Return the program, or one like it whose state has the shapes that it has in a scope.

    Raises:
        ModelFileError: if an operator cannot have such operands.
    """
    found = {n: tuple(scope.homes[n].shape) for n, s in program.states().items() if n in scope.homes}
    others = {n: shape for n, shape in found.items() if shape != program.states()[n].shape}
    if not others:
        return program
    out = program.clone()
    held = description_of(out)
    for name, shape in others.items():
        held.variables[name].shape = shape
    held.edited = True
    settle(out)
    return out


class DescribedOperator(OperatorDescription):
    """An operator with slots, whose inputs and outputs are names of variables."""

    __eq__, __hash__ = object.__eq__, object.__hash__

    def __init__(self, block: DescribedBlock, of: OperatorDescription) -> None:
        super().__init__(of.kind, of.inputs, of.outputs, of.attrs)
        self.block = block

    @property
    def type(self) -> str:
        """The kind of the operator."""
        return self.kind

    @property
    def idx(self) -> int:
        """Its place in the block."""
        return self.block.ops.index(self)

    @property
    def desc(self) -> DescribedOperator:
        """The description of the operator, which it is itself."""
        return self

    def id(self) -> int:
        """Return its place in the block."""
        return self.idx

    input_names = property(lambda self: list(self.inputs), doc="The slots of inputs.")
    output_names = property(lambda self: list(self.outputs), doc="The slots of outputs.")
    attr_names = property(lambda self: list(self.all_attrs()), doc="The names of attributes.")
    input_arg_names = property(lambda self: _all(self.inputs), doc="The names of the variables that it reads.")
    output_arg_names = property(lambda self: _all(self.outputs), doc="The names of the variables that it gives.")

    def input(self, name: str) -> list[str]:
        """Return the names of the variables in a slot of inputs.

        Raises:
            ValueError: if it has no such slot.
        """
        return list(self._slot(self.inputs, name, "input"))

    def output(self, name: str) -> list[str]:
        """Return the names of the variables in a slot of outputs.

        Raises:
            ValueError: if it has no such slot.
        """
        return list(self._slot(self.outputs, name, "output"))

    def _slot(self, slots: dict[str, list[str]], name: str, what: str) -> list[str]:
        if name not in slots:
            raise ValueError(f"operator `{self.kind}` has no {what} '{name}'; it has {', '.join(slots) or 'none'}")
        return slots[name]

    # -- attributes ------------------------------------------------------------------------------------------------
    def all_attrs(self) -> dict[str, Any]:
        """Return its attributes by name."""
        return dict(self.attrs)

    def attr(self, name: str) -> Any:
        """Return one attribute.

        Raises:
            ValueError: if it has none of that name.
        """
        if name not in self.attrs:
            raise ValueError(f"operator `{self.kind}` has no attribute '{name}'; it has {', '.join(self.attrs)}")
        value = self.attrs[name]
        return list(value) if isinstance(value, list) else value

    def has_attr(self, name: str) -> bool:
        """Whether it has an attribute."""
        return name in self.attrs

    def _set_attr(self, name: str, value: Any) -> None:
        """Set an attribute.

        Raises:
            NotImplementedError: for an operator that is recorded here in another form than there.
        """
        if self.attrs.get(name, self) == value:
            return
        if isinstance(self.attrs.get(RECORDED), Recorded | RecordedUpdate) and not name.startswith("op_"):
            raise NotImplementedError(
                f"operator `{self.kind}` keeps the attributes that it was recorded with ('{name}' cannot be {value!r}):"
                " call the function again with other arguments, or remove the operator"
            )
        self.attrs[name] = value
        self.block.change()

    # -- inputs and outputs ----------------------------------------------------------------------------------------
    def set_input(self, name: str, names: Sequence[str]) -> None:
        """Let a slot of inputs name other variables."""
        self.inputs[name] = list(names)
        self.block.change()

    def set_output(self, name: str, names: Sequence[str]) -> None:
        """Let a slot of outputs name other variables."""
        self.outputs[name] = list(names)
        self.block.change()

    def _rename_input(self, old: str, new: str) -> None:
        """Read another variable."""
        _rename(self.inputs, old, new)
        self.block.change()

    def _rename_output(self, old: str, new: str) -> None:
        """Give another variable."""
        _rename(self.outputs, old, new)
        self.block.change()

    def infer_shape(self, _block: Any) -> None:
        """Infer the shapes of its outputs, as those of all operators of the program.

        Raises:
            ModelFileError: if an operator cannot have such operands or attributes.
        """
        program = self.block.program
        if description_of(program).edited:
            settle(program)

    def __repr__(self) -> str:
        return f"{', '.join(self.output_arg_names)} = {self.kind}({', '.join(self.input_arg_names)})"


class DescribedVariable(Tensor):
    """A variable of a described program: a name, which stands for what the program last made under it."""

    def __init__(self, program: Program, name: str) -> None:
        self.__dict__.update(_program=program, _of=name)

    @property
    def _description(self) -> VariableDescription:
        return description_of(self._program).variables[self._of]

    @property
    def name(self) -> str:
        """The name."""
        return self._of

    @name.setter
    def name(self, value: str) -> None:
        self.block._rename_var(self._of, value)

    @property
    def shape(self) -> Any:
        """The sizes, a tuple; -1 for one that is not known."""
        return self._description.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return as_dtype(self._description.dtype)

    persistable = property(lambda self: self._description.is_persistable, doc="Whether a scope keeps it.")
    is_parameter = property(lambda self: self._description.is_parameter, doc="Whether it is a parameter.")
    trainable = property(lambda self: not self.stop_gradient, doc="Whether it is trained.")
    desc = property(lambda self: self, doc="Its description, which it is itself.")
    block = property(lambda self: DescribedBlock(self._program), doc="The block that it is of.")

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient passes through it."""
        return self._description.stops_gradient

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self._description.stops_gradient = value

    def set_shape(self, shape: Sequence[int]) -> None:
        """Give it another shape; those of what operators make of it follow when the program is next used."""
        self._description.shape = tuple(map(int, shape))
        self.block.change()

    @property
    def _payload(self) -> Any:
        found = self.block._held(self._of)
        return found._payload

    @_payload.setter
    def _payload(self, value: Any) -> None:
        description_of(self._program).handles[self._of] = wrap(value)

    def __repr__(self) -> str:
        return f"var {self.name} : shape={list(self.shape)}, dtype={self.dtype.name}"


class DescribedBlock:
    """The outermost block of a described program."""

    idx = 0

    def __init__(self, program: Program) -> None:
        self.program = program

    desc = property(lambda self: self, doc="The description of the block, which it is itself.")

    def change(self) -> None:
        """Note that the description differs from what the program has recorded."""
        description_of(self.program).edited = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DescribedBlock) and other.program is self.program

    def __hash__(self) -> int:
        return hash(id(self.program))

    # -- operators -------------------------------------------------------------------------------------------------
    @property
    def ops(self) -> list[DescribedOperator]:
        """Its operators in order."""
        return description_of(self.program).operators

    @ops.setter
    def ops(self, operators: list[DescribedOperator]) -> None:
        held = description_of(self.program)
        if list(operators) != held.operators:
            held.operators, held.edited = list(operators), True

    def append_op(
        self, type: str, inputs: Any = None, outputs: Any = None, attrs: Any = None, **_more: Any
    ) -> DescribedOperator:
        """Append an operator.

        Arguments:
            type: its kind, such as "elementwise_mul".
            inputs: variables, or their names, by slot.
            outputs: the same, of what it gives.
            attrs: its attributes by name.

        Raises:
            NotImplementedError: if there is no such operator here.
        """
        return self._insert_op(len(self.ops), type, inputs, outputs, attrs)

    def _prepend_op(self, type: str, inputs: Any = None, outputs: Any = None, attrs: Any = None) -> DescribedOperator:
        """Insert an operator before all others."""
        return self._insert_op(0, type, inputs, outputs, attrs)

    def _insert_op(
        self, index: int, type: str, inputs: Any = None, outputs: Any = None, attrs: Any = None
    ) -> DescribedOperator:
        """Insert an operator at a place."""
        read, given = ({k: self._named(v) for k, v in (slots or {}).items()} for slots in (inputs, outputs))
        made = OperatorDescription(type, read, given, dict(attrs or {}))
        out = DescribedOperator(self, made)
        self.ops.insert(index, out)
        self.change()
        return out

    def _named(self, given: Any) -> list[str]:
        """Return the names of variables in a slot; what the program has not read yet is captured."""
        out = []
        for v in given if isinstance(given, list | tuple) else [given]:
            if isinstance(v, Tensor) and not isinstance(v, DescribedVariable):
                # State has its name though an operator may have changed it.
                state = self.program.recorder.variable_of(v)
                if state is None or not self.has_var(state.name):
                    state = self.program.builder.value_of(v)
                out.append(str(state.name))
            elif v is not None:
                out.append(v if isinstance(v, str) else v.name)
        return out

    def _remove_op(self, index: int, _sync: bool = True) -> None:
        """Remove the operator at a place."""
        del self.ops[index]
        self.change()

    # -- variables -------------------------------------------------------------------------------------------------
    @property
    def vars(self) -> dict[str, DescribedVariable]:
        """Its variables by name."""
        return {name: DescribedVariable(self.program, name) for name in description_of(self.program).variables}

    def var(self, name: str) -> DescribedVariable:
        """Return the variable of a name.

        Raises:
            ValueError: if there is none, with the nearest names.
        """
        known = description_of(self.program).variables
        if name not in known:
            near = difflib.get_close_matches(name, known)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise ValueError(f"the program has no variable '{name}'{hint}")
        return DescribedVariable(self.program, name)

    def has_var(self, name: str) -> bool:
        """Whether there is a variable of that name."""
        return name in description_of(self.program).variables

    def _find_var_recursive(self, name: str) -> DescribedVariable | None:
        """Return the variable of a name, or None."""
        return self.var(name) if self.has_var(name) else None

    def create_var(
        self, name: str | None = None, dtype: Any = "float32", shape: Sequence[Any] = (), *, persistable: bool = False,
        stop_gradient: bool = False, **kwargs: Any,
    ) -> DescribedVariable:  # fmt: skip
        """Declare a variable, which an operator is to give, or with persistable a scope."""
        only_known(DescribedBlock.create_var, kwargs, "type")
        held = description_of(self.program)
        name = name or held.unused("_generated_var")
        sizes = [-1 if n is None else n for n in shape]
        held.declare(name, sizes, as_dtype(dtype).name, is_persistable=persistable, stops_gradient=stop_gradient)
        return self.var(name)

    def _clone_variable(self, var: Any, force_persistable: bool = True) -> DescribedVariable:
        """Declare a variable like one of another program."""
        held, known = description_of(self.program), description_of(var.block.program).variables[var.name]
        if var.name not in held.variables:
            held.variables[var.name] = replace(known)
        made = held.variables[var.name]
        made.is_persistable = made.is_persistable or force_persistable
        return self.var(var.name)

    def _rename_var(self, old: str, new: str) -> DescribedVariable:
        """Rename a variable, and wherever operators name it."""
        held = description_of(self.program)
        found = held.variables.pop(old)
        found.name = new
        held.variables[new] = found
        for op in held.operators:
            _rename(op.inputs, old, new)
            _rename(op.outputs, old, new)
        held.values = {v: new if n == old else n for v, n in held.values.items()}
        held.finals = {new if s == old else s: new if n == old else n for s, n in held.finals.items()}
        held.feeds = [new if n == old else n for n in held.feeds]
        held.edited = True
        return self.var(new)

    def _remove_var(self, name: str, _sync: bool = True) -> None:
        """Forget a variable."""
        description_of(self.program).variables.pop(name)
        self.change()

    def all_parameters(self) -> list[DescribedVariable]:
        """Return the parameters."""
        return [v for v in self.vars.values() if v.is_parameter]

    def _held(self, name: str) -> Any:
        """Return what a name stands for in the program as it is recorded."""
        builder = self.program.builder  # with all edits
        held = description_of(self.program)
        if name in held.handles:
            return held.handles[name]
        if name in self.program.parameters:
            return self.program.parameters[name]
        value = next((v for v, n in held.values.items() if n == name), None)
        if value is None:
            v = held.variables[name]
            sizes = [None if n < 0 else n for n in v.shape]
            value = TracedValue(builder.unknown.shape(name, sizes), as_dtype(v.dtype).np, builder.root)
            value.name = name
            held.handles[name] = made = wrap(value)
            return made
        shown = builder.shown(value)
        return builder.handle(value) if shown is None else shown

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.ops))


def _all(slots: Mapping[str, list[str]]) -> list[str]:
    return [name for names in slots.values() for name in names]


def _rename(slots: dict[str, list[str]], old: str, new: str) -> None:
    for slot, names in slots.items():
        slots[slot] = [new if n == old else n for n in names]
