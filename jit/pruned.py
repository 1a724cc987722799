"""A part of a function for a file: some of its results, and the arguments that these need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.errors import warn_user
from paddle_lite_py.ir.block import Block, Value
from paddle_lite_py.ir.program import Program
from paddle_lite_py.tracing.effects import Argument
from paddle_lite_py.tracing.input_spec import InputSpec
from paddle_lite_py.tracing.trace import Traced

from .kept import with_outputs


class Selection(NamedTuple):
    """The part of a function that is saved.

    Arguments:
        results: some of `f.outputs`; None: all.
        arguments: the names of those that are left; None: all.
    """

    results: Sequence[Any] | None = None
    arguments: Sequence[str] | None = None

    def of(self, traced: Traced, name: str) -> Traced:
        """That part of a trace.

        Raises:
            ValueError: if a result is none of its own, or needs an argument that is not left.
        """
        if self.results is not None:
            traced = _with_results(traced, self._places(traced, name))
        return traced if self.arguments is None else _with_arguments(traced, self.arguments, name)

    def _places(self, traced: Traced, name: str) -> list[int]:
        known = {f"out{i}": i for i in range(traced.n_results)}
        asked = [getattr(r, "name", None) for r in self.results or ()]
        if all(a in known for a in asked):
            return [known[str(a)] for a in asked]
        if len(asked) == traced.n_results:
            warn_user(
                f"jit.save of `{name}`: output_spec has other tensors than its outputs, but as many: all are saved"
            )
            return list(range(traced.n_results))
        raise ValueError(
            f"jit.save of `{name}`: output_spec names {asked}; it gives {list(known)}: take them from `outputs` of the "
            "static function"
        )


WHOLE = Selection()


def _with_results(traced: Traced, places: list[int]) -> Traced:
    """Return the trace with those of its results only: a tensor, or a list of them."""
    leaf = nested.LEAF
    return with_outputs(traced, [*places, *range(traced.n_results, len(traced.program.block.outputs))])._replace(
        structure=leaf if len(places) == 1 else nested.Nest(list, None, tuple([leaf] * len(places))),
        n_results=len(places),
        requires_grad=tuple([traced.requires_grad[i] for i in places]),
        left=(),
    )


def _with_arguments(traced: Traced, left: Sequence[str], name: str) -> Traced:
    """Return the trace with those of its arguments only, which must be all that it reads."""
    program, n = traced.program, traced.n_args
    names = program.input_names[:n]
    kept = [i for i in range(n) if names[i] in left]
    read = _read(program)
    for i in range(n):
        if i not in kept and program.block.inputs[i] in read:
            raise ValueError(
                f"jit.save of `{name}`: what it gives needs argument `{names[i]}`; name it in input_spec as well, or "
                "leave that result out (output_spec)"
            )
    order = [*kept, *range(n, len(program.block.inputs))]
    block = Block([program.block.inputs[i] for i in order], program.block.ops, program.block.outputs)
    inputs = [program.input_names[i] for i in order]
    now = {old: new for new, old in enumerate(kept)}
    return traced._replace(
        program=Program(block, inputs, program.output_names, program.captured, program.updates, program.measured),
        n_args=len(kept),
        structure=_renumber(traced.structure, now),
        effects=[e._replace(write=e.write._replace(owner=_at(e.write.owner, now))) for e in traced.effects],
    )


def _read(program: Program) -> set[Any]:
    """Return the values that operators take, and that the program returns."""
    taken = {v for op in program.ops() for v in op.inputs if isinstance(v, Value)}
    inner = {v for op in program.ops() for block in op.blocks for v in block.outputs}
    return taken | inner | set(program.block.outputs)


def _at(value: Any, now: dict[int, int]) -> Any:
    return Argument(now[value.position]) if isinstance(value, Argument) else value


def _renumber(structure: Any, now: dict[int, int]) -> Any:
    """Return a structure of results with arguments at their new positions."""
    if isinstance(structure, nested.Static):
        return nested.Static(_at(structure.value, now))
    if isinstance(structure, nested.Nest):
        return structure._replace(children=tuple([_renumber(c, now) for c in structure.children]))
    return structure


def fits(given: Any, declared: Any) -> bool:
    """True if what is saved may stand where another spec was declared: a size that is open takes any."""
    if not (isinstance(given, InputSpec) and isinstance(declared, InputSpec)):
        return True
    sizes = zip(given.shape, declared.shape, strict=False)
    same = all(a == b or not (isinstance(a, int) and isinstance(b, int)) or -1 in (a, b) for a, b in sizes)
    return same and given.dtype == declared.dtype and len(given.shape) == len(declared.shape)
