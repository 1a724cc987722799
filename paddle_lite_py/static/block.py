"""The public view of a Program: blocks, operators, variables."""

from __future__ import annotations

import difflib
from abc import ABCMeta
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ..core.dtypes import as_dtype
from ..core.errors import Where
from ..core.no_effect import only_known
from ..eager.tensor import Parameter, Tensor
from ..ir.block import Operator
from ..optimizer.own_updates import UpdateBlock
from ..tracing.frame import TracedValue

if TYPE_CHECKING:
    from .program_state import ProgramState


# What PaddlePaddle's descriptions of operators have, and what programs that edit them in place call.
_OF_DESCRIPTIONS = frozenset(("desc", "idx", "input", "input_names", "output", "output_names", "_set_attr"))


class OperatorView:
    """One operator of a program."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator

    @property
    def type(self) -> str:
        """Name of the op."""
        return self.operator.name

    def name(self) -> str:
        """Name of the op."""
        return self.operator.name

    @property
    def input_arg_names(self) -> list[str]:
        """Names of the variables that it reads."""
        return [str(v.name) for v in self.operator.inputs if isinstance(v, TracedValue)]

    @property
    def output_arg_names(self) -> list[str]:
        """Names of the variables that it gives."""
        return [str(v.name) for v in self.operator.outputs]

    def all_attrs(self) -> dict[str, Any]:
        """Return its attributes by name."""
        bound = self.operator.bound
        return dict(zip(bound.op.attr_names, bound.attrs, strict=False))

    attrs = all_attrs

    def attr(self, name: str) -> Any:
        """Return one attribute.

        Raises:
            KeyError: if it has none of that name.
        """
        return self.all_attrs()[name]

    def has_attr(self, name: str) -> bool:
        """Whether it has an attribute."""
        return name in self.all_attrs()

    @property
    def attr_names(self) -> list[str]:
        """Names of its attributes."""
        return list(self.all_attrs())

    @property
    def where(self) -> Where:
        """The user's line that made it."""
        return self.operator.where

    def __getattr__(self, name: str) -> NoReturn:
        why = (
            ": operands have no slots, and programs are not edited in place; set FLAGS_enable_pir_api=0 before the "
            "program is built for operators that have and can, or read input_arg_names, output_arg_names and "
            "all_attrs(), and prune or quantize the layer before it is made static"
        )
        raise AttributeError(
            f"an operator has no attribute {name!r} here{why if name in _OF_DESCRIPTIONS else ''}", name=name, obj=self
        )

    def __repr__(self) -> str:
        outs, ins = ", ".join(self.output_arg_names), ", ".join(self.input_arg_names)
        return f"{outs} = {self.type}({ins})  # {self.where}"


class BlockView(metaclass=ABCMeta):  # noqa: B024  (UpdateBlock is one)
    """The outermost block of a program."""

    idx = 0

    def __init__(self, program: ProgramState) -> None:
        self.program = program

    @property
    def ops(self) -> list[OperatorView]:
        """Its operators in order."""
        return [OperatorView(op) for op in self.program.builder.root.block.ops]

    @property
    def vars(self) -> dict[str, Tensor]:
        """Its feeds, its state and what its operators give, by name."""
        program = self.program
        builder = program.builder
        out: dict[str, Tensor] = dict(program.parameters)
        for initial in program.initials.values():
            out.setdefault(initial.variable.name, _variable(initial.variable))
        out.update({str(v.name): c for v in builder.root.block.inputs if (c := builder.shown(v)) is not None})
        for op in builder.root.block.ops:
            out.update({str(v.name): builder.handle(v) for v in op.outputs})
        return out

    def var(self, name: str) -> Tensor:
        """Return the variable of a name.

        Raises:
            ValueError: if there is none, with the nearest names.
        """
        found = self.vars
        if name not in found:
            near = difflib.get_close_matches(name, found)
            raise ValueError(f"the program has no variable '{name}'{_hint(near)}")
        return found[name]

    def has_var(self, name: str) -> bool:
        """Whether there is a variable of that name."""
        return name in self.vars

    def create_var(
        self, name: str, dtype: Any = "float32", shape: Sequence[Any] = (), *, persistable: bool = False,
        stop_gradient: bool = False, **kwargs: Any,
    ) -> Tensor:  # fmt: skip
        """Return a tensor of a shape and dtype that py_func() is to give a value.

        An unknown first size (None, -1) is that of the program's data.
        """
        only_known(BlockView.create_var, kwargs)
        builder = self.program.builder
        firsts = [v.shape[0] for v in self.program.feeds.values() if v.shape and not isinstance(v.shape[0], int)]
        sizes = [firsts[0] if i == 0 and n in (None, -1) and firsts else n for i, n in enumerate(shape)]
        value = TracedValue(builder.unknown.shape(name, sizes), as_dtype(dtype).np, builder.root)
        out = builder.handle(value)
        out.name, out.persistable, out.stop_gradient = name, persistable, stop_gradient
        return out

    def append_op(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not available: operators are appended by calling functions.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "append_op: call the function of the op inside paddle.static.program_guard(), or set "
            "FLAGS_enable_pir_api=0; one of your own is made by paddle.utils.custom_op or paddle.static.py_func"
        )

    def all_parameters(self) -> list[Parameter]:
        """Return the parameters that were made in it."""
        return self.program.all_parameters()

    def __repr__(self) -> str:
        return str(self.program)


BlockView.register(UpdateBlock)  # what updates of users get as their block


def _variable(payload: Any) -> Tensor:
    from ..eager.tensor import wrap

    out = wrap(payload)
    out.persistable = True
    return out


def _hint(near: list[str]) -> str:
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
