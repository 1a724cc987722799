"""The values that a staged loop carries from one iteration to the next.

What is carried is found by tracing: a first attempt carries the tensors only; a number that an iteration changes, a
dtype that it promotes, or a write to state outside makes another attempt, until an iteration leaves the types alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax

from dy2static import Undefined
from paddle_lite_py.core import structure as nested
from paddle_lite_py.eager.tensor import Tensor, wrap
from paddle_lite_py.tracing.builder import Builder
from paddle_lite_py.tracing.frame import Frame, TracedValue, Write, is_leaf
from paddle_lite_py.tracing.traced_scalars import as_number, is_number

from . import grown, merge
from .cells import Cell, Path, content, detach, follow, store, variables, was_leaf, written_cell
from .cells import before as replaced
from .errors import loop_mismatch, replaced_and_changed, there_or_not


class Carry(NamedTuple):
    """A cell that an iteration changes: its content before the loop, and the dtypes its leaves are carried in."""

    cell: Cell
    structure: Any
    leaves: list[Any]
    shapes: list[tuple[Any, ...]]  # a size that changes is a name; those of one name are equal in each iteration
    dtypes: list[Any]
    are_numbers: list[bool]  # in eager code, in each iteration
    # Not surely defined before the loop: a flag is carried after the leaves.
    partial: bool = False


def _as_tuples(structure: Any) -> Any:
    if not isinstance(structure, nested.Nest):
        return structure
    kind = tuple if structure.kind is list else structure.kind
    return structure._replace(kind=kind, children=tuple(map(_as_tuples, structure.children)))


class Loop:
    """One staged loop being traced."""

    def __init__(self, builder: Builder, state: Any, where: Any, lists_grow: bool = True) -> None:
        self.builder, self.state, self.where, self.lists_grow = builder, state, where, lists_grow
        self.cells, self.bodies = variables(state), state.bodies
        self.start = list(state.get())
        self.carries: dict[Any, Carry] = {}  # by position of a variable, or key of a write
        self.writes: dict[Any, Write] = {}
        self.of_other_kind = set[Any]()
        self.growing: dict[Any, Any] = {}  # lists of which only a run knows the length, before the loop
        self.ends: dict[Any, Any] = {}  # the same after the iteration that widen() looks at
        self.added: dict[Any, int | None] = {}  # how many items each iteration adds to them, if all add as many
        for i, (cell, value) in enumerate(zip(self.cells, self.start, strict=True)):
            if not merge.is_absent(value) and any(isinstance(x, Tensor) for x in merge.parts(value)[1]):
                self.carry(i, cell, value)

    def carry(self, key: Any, cell: Cell, value: Any) -> None:
        """Carry a cell, with the types it starts with."""
        structure, leaves = merge.parts(value)
        shapes = [tuple(x._payload.shape) if isinstance(x, Tensor) else () for x in leaves]
        partial = merge.presence_flag(value) is not None
        dtypes, numbers = [merge.natural_dtype(x) for x in leaves], [merge.is_number_like(x) for x in leaves]
        self.carries[key] = Carry(cell, structure, leaves, shapes, dtypes, numbers, partial)

    # -- one attempt -----------------------------------------------------------------------------------------------
    def enter(self, frame: Frame, index: bool) -> tuple[list[TracedValue], Tensor | None]:
        """Give a frame its inputs and put them in the variables; returns the inputs and the iteration number."""
        inputs: list[TracedValue] = []
        number = None
        if index:
            inputs.append(frame.new_input(jax.ShapeDtypeStruct((), "int64")))
            number = wrap(inputs[0])
        values = list(self.start)
        self.inside, self.since = {}, self.builder.aliases.clock
        names: dict[str, Any] = {}
        for key, carry in self.carries.items():
            handles = []
            leaves = zip(carry.shapes, carry.dtypes, carry.leaves, carry.are_numbers, strict=True)
            for shape, dtype, leaf, stands_for_number in leaves:
                grad = isinstance(leaf, Tensor) and not leaf.stop_gradient
                fixed = tuple([0 if isinstance(n, str) else n for n in shape])
                value = frame.new_input(jax.ShapeDtypeStruct(fixed, dtype), grad or key in self.graded)
                if fixed != shape:
                    self.builder.measure(value, shape, names)
                value.is_number = stands_for_number
                inputs.append(value)
                handles.append(self.builder.handle(value))
            filled = nested.unflatten(carry.structure, iter(handles))
            if carry.partial:
                flag = frame.new_input(jax.ShapeDtypeStruct((), "bool"))
                inputs.append(flag)
                merge.with_presence(filled, flag, carry.cell.name, self.where)
            if key in self.writes:
                if self._starts_as_leaf(key):
                    frame.leaves[inputs[-1]] = self.writes[key].owner
                store(self.builder, self.writes[key], filled)
            else:
                values[key] = filled
            if key not in self.writes or self.writes[key].key not in ("_payload", "_grad"):
                self.inside[key] = filled
                before = self.start[key] if key not in self.writes else replaced(self.writes[key])
                self.builder.aliases.join(filled, [before], self.where)
        self.state.set(values)
        return inputs, number

    graded: frozenset[Any] = frozenset()

    def _starts_as_leaf(self, key: Any) -> bool:
        """Whether a carry is the payload of a leaf that gradients are taken of."""
        return key in self.writes and was_leaf(self.writes[key])

    def _remains_leaf(self, key: Any, path: Path) -> bool:
        """Whether it is one after each iteration too."""
        after = path.written[key][1] if key in path.written else None
        return self._starts_as_leaf(key) and (not isinstance(after, TracedValue) or is_leaf(after))

    def trace(self, run: Callable[[Tensor | None], Any], index: bool) -> tuple[Path, list[TracedValue], Any]:
        """Trace `run` (a body, or a test that returns its value) on fresh inputs."""
        box: dict[str, Any] = {}
        frame = Frame(self.builder.frame)

        def prepare() -> None:
            box["inputs"], box["number"] = self.enter(frame, index)

        def body() -> None:
            box["result"] = run(box["number"])

        path = follow(self.builder, body, self.state, prepare, frame)
        return path, box["inputs"], box["result"]

    def widen(self, path: Path) -> bool:
        """Compare an iteration's end with its start; True if the carries had to be changed."""
        changed, self.ends = False, {}
        for i, (cell, after) in enumerate(zip(self.cells, path.values, strict=True)):
            changed |= self._widen_one(i, cell, self.start[i], after, path)
        for key, (write, after) in path.written.items():
            if key not in self.writes:
                self.writes[key] = write
            cell = written_cell(write, self.bodies)
            changed |= self._widen_one(key, cell, replaced(self.writes[key]), content(after), path)
        return changed or self._tell_apart(path)

    def _tell_apart(self, path: Path) -> bool:
        """Give sizes of one name that differ after an iteration names of their own; True if there were any."""
        after: dict[str, set[str]] = {}
        changing = [(c.shapes, i, axis, n) for c, i, axis, n in self._find_changing_sizes(path)]
        for shapes, i, axis, size in changing:
            after.setdefault(shapes[i][axis], set()).add(size)
        for shapes, i, axis, size in changing:
            if len(after[shapes[i][axis]]) > 1:
                shapes[i] = (*shapes[i][:axis], f"{shapes[i][axis]}, then {size}", *shapes[i][axis + 1 :])
        return any(len(sizes) > 1 for sizes in after.values())

    def _find_changing_sizes(self, path: Path) -> Iterator[tuple[Carry, int, int, str]]:
        """The sizes that change: of which leaf of a carry, on which axis, and what they are after an iteration."""
        for key, carry in self.carries.items():
            leaves = map(path.final, merge.parts(self._after(key, path))[1])
            for i, (leaf, shape) in enumerate(zip(leaves, list(carry.shapes), strict=False)):
                for axis, n in enumerate(shape):
                    if isinstance(n, str):
                        yield carry, i, axis, str(leaf._payload.shape[axis])

    def _after(self, key: Any, path: Path) -> Any:
        """Return the content of a cell after an iteration."""
        if key in self.ends:
            return self.ends[key]
        return path.values[key] if key not in self.writes else content(path.written[key][1])

    def _widen_one(self, key: Any, cell: Cell, before: Any, after: Any, path: Path) -> bool:
        if after is before:
            return False
        if key not in self.carries:
            return self._newly_carried(key, cell, before, after)
        carry = self.carries[key]
        if cell.is_gradient and merge.is_blank(after):
            return False
        if path.has_changed(after):
            raise replaced_and_changed(cell.name, self.where)
        if key in self.growing:
            with self.builder.inner(path.frame):
                self.added[key] = grown.added_to(self.inside.get(key), after)
                after = self.ends[key] = grown.settled(self.builder, after, self.growing[key])
        structure, leaves = merge.parts(after)
        leaves = [path.final(x) for x in leaves]
        if self._changes_kind(key, structure):
            self.carries[key] = carry._replace(structure=structure)
            return True
        if structure != carry.structure or len(leaves) != len(carry.leaves):
            if self._grows(key, cell, before, after):
                return True
            raise loop_mismatch(cell.name, merge.describe(before), merge.describe(after), self.where)
        changed = False
        for i, leaf in enumerate(leaves):
            try:
                # A value that started as a Python number may become a tensor of a higher dtype.
                given = _sample(carry, i)
                free = self.builder.unknown is not None
                shape, dtype = merge.join(given, leaf, strict=_is_tensor(carry.leaves[i]), any_size=free)
                named = tuple([_size_name(m) if n is None else n for m, n in zip(carry.shapes[i], shape, strict=True)])
                if None in shape and named != carry.shapes[i]:
                    carry.shapes[i], changed = named, True
            except merge.Mismatch:
                found = merge.describe(_sample(carry, i))
                raise loop_mismatch(cell.name, found, merge.describe(leaf), self.where) from None
            if dtype != carry.dtypes[i]:
                carry.dtypes[i], changed = dtype, True
            if carry.are_numbers[i] and not merge.is_number_like(leaf):
                carry.are_numbers[i], changed = False, True
            if (
                isinstance(leaf, Tensor)
                and not leaf.stop_gradient
                and key not in self.graded
                and dtype.kind not in "biu"
            ):
                if all(not isinstance(x, Tensor) or x.stop_gradient for x in carry.leaves):
                    self.graded, changed = self.graded | {key}, True
        return changed

    def _changes_kind(self, key: Any, structure: Any) -> bool:
        """Whether an iteration makes tuples of lists, or lists of tuples: from the first one on they are carried so."""
        before = self.carries[key].structure
        if structure == before or key in self.of_other_kind or _as_tuples(structure) != _as_tuples(before):
            return False
        self.of_other_kind.add(key)
        return True

    def _grows(self, key: Any, cell: Cell, before: Any, after: Any) -> bool:
        """Whether a cell has a list that may have any length from now on."""
        start = None if key in self.growing or not self.lists_grow else grown.begun(self.builder, before, after)
        if start is None:
            return False
        self.growing[key] = start
        self.carry(key, cell, start)
        return True

    def _newly_carried(self, key: Any, cell: Cell, before: Any, after: Any) -> bool:
        if merge.is_absent(after) and not merge.is_absent(before) and cell.is_place and not cell.is_gradient:
            raise there_or_not(cell.name, self.where)
        if merge.is_absent(after) or not (cell.live or cell.carried):
            return False
        if cell.is_gradient and merge.is_blank(after) and (merge.is_blank(before) or merge.is_absent(before)):
            return False  # each iteration clears the gradients that it has accumulated
        if (
            merge.is_absent(before)
            or (cell.internal and before is None)
            or (cell.is_gradient and merge.is_blank(before))
        ):
            structure, leaves = merge.parts(after)
            if not leaves and structure == merge.parts(before)[0]:
                return False
            self.carry(key, cell, after)
            blank = self.carries[key]
            partial = merge.is_absent(before) and not cell.internal
            if partial and cell.is_place and self.builder.aliases.decides:
                raise there_or_not(cell.name, self.where)
            self.carries[key] = blank._replace(leaves=[None] * len(leaves), partial=partial)
            return True
        if merge.parts(before) == ([], []) or not merge.parts(before)[1]:
            if merge.parts(before)[0] == merge.parts(after)[0]:
                return False
            if self._grows(key, cell, before, after):
                return True
            raise loop_mismatch(cell.name, merge.describe(before), merge.describe(after), self.where)
        if not _same_numbers(before, after):
            self.carry(key, cell, before)
            return True
        return False

    # -- the operator ----------------------------------------------------------------------------------------------
    def specs(self) -> list[tuple[Any, Any]]:
        """Shape and dtype of what is carried; a size that changes is a name."""
        out: list[tuple[Any, Any]] = []
        for carry in self.carries.values():
            out += [*zip(carry.shapes, carry.dtypes, strict=True), *[((), "bool")] * carry.partial]
        return out

    def initial(self, path: Path) -> list[TracedValue]:
        """Values of the carries before the loop, in the current frame."""
        out = []
        for key, carry in self.carries.items():
            for leaf, shape, dtype in zip(carry.leaves, carry.shapes, carry.dtypes, strict=True):
                out.append(self._value(leaf, shape, dtype, self._remains_leaf(key, path)))
            if carry.partial:
                start = Undefined("") if None in carry.leaves else nested.unflatten(carry.structure, iter(carry.leaves))
                out.append(merge.as_value(self.builder, merge.is_there(start), "bool"))
        return out

    def _value(self, leaf: Any, shape: Any, dtype: Any, detached: bool) -> TracedValue:
        """Return the carried value of a tensor or number in the current frame; None for one that does not exist."""
        if leaf is None:
            return merge.zeros(self.builder, shape, dtype)
        value = merge.as_value(self.builder, leaf, dtype)
        return self.builder._detach(value) if detached and value.requires_grad else value

    def final(self, path: Path) -> list[TracedValue]:
        """Values of the carries after an iteration, in its frame."""
        out = []
        with self.builder.inner(path.frame):
            for key, carry in self.carries.items():
                after = self._after(key, path)
                leaves = [None] if carry.cell.is_gradient and merge.is_blank(after) else merge.parts(after)[1]
                for leaf, shape, dtype in zip(map(path.final, leaves), carry.shapes, carry.dtypes, strict=True):
                    out.append(self._value(leaf, shape, dtype, self._remains_leaf(key, path)))
                if carry.partial:
                    out.append(merge.as_value(self.builder, merge.is_there(after), "bool"))
        return out

    def leave(self, path: Path, results: list[TracedValue], at_least: int = 0, length: Any = None) -> None:
        """Put the results in the variables; the length is the number of iterations, where sizes tell it."""
        tensors = iter([self.builder.handle(v) for v in results])
        filled = {key: self._restore(c, tensors) for key, c in self.carries.items()}
        for key, added in self.added.items() if length is not None else ():
            if added is not None:
                filled[key] = grown.of_length(filled[key], grown.length(self.growing[key]) + added * length)
        values = [filled.get(i, self._restore_untouched(i, path)) for i in range(len(self.start))]
        self.state.set(values)
        for key, made in filled.items():
            before, after = self._around(key, path)
            self.builder.aliases.join(made, [after] if at_least else [before, after], self.where)
        for key, write in self.writes.items():
            if key in filled:
                if self._remains_leaf(key, path):
                    detach(filled[key])
                store(self.builder, write, filled[key])
            elif key in path.written and written_cell(write, self.bodies).is_gradient:
                store(self.builder, write, path.written[key][1])

    def _around(self, key: Any, path: Path) -> tuple[Any, Any]:
        """Return what a cell holds before the loop and after an iteration, without payloads: these have no alias."""
        if key not in self.writes:
            return self.start[key], path.values[key]
        write = self.writes[key]
        if write.key in ("_payload", "_grad"):
            return None, None
        return replaced(write), path.written[key][1] if key in path.written else replaced(write)

    def look_for_aliases(self, path: Path) -> None:
        """Tensors that an iteration leaves in variables must not be changed by the next one through another name."""
        ends = {key: self._around(key, path)[1] for key in self.carries}
        held = Counter([id(leaf) for end in ends.values() for leaf in merge.parts(end)[1]])

        def is_own(base: int) -> bool:
            return held[base] == 1 and base in made

        for key, inside in self.inside.items():
            leaves = [x for x in merge.parts(ends[key])[1] if isinstance(x, Tensor)]
            made = {id(x) for x in leaves if isinstance(x._payload, TracedValue) and x._payload.frame is path.frame}
            for now, after in zip(merge.parts(inside)[1], leaves, strict=False):
                self.builder.aliases.carried(now, after, self.since, is_own, self.where)

    def _restore(self, carry: Carry, tensors: Any) -> Any:
        value = nested.unflatten(carry.structure, tensors)
        for x, stands_for_number in zip(merge.parts(value)[1], carry.are_numbers, strict=True):
            if stands_for_number:
                as_number(x)
        return (
            merge.with_presence(value, next(tensors)._payload, carry.cell.name, self.where) if carry.partial else value
        )

    def _restore_untouched(self, i: int, path: Path) -> Any:
        before = self.start[i]
        if merge.is_absent(before) and not merge.is_absent(path.values[i]):
            return Undefined(self.cells[i].name, self.where)
        return before


def _size_name(size: Any) -> str:
    """The name of a size that changes: those that begin alike are taken to be equal until they turn out to differ."""
    return size if isinstance(size, str) else f"from {size}"


def _sample(carry: Carry, i: int) -> Any:
    """A tensor of the type a leaf is carried in."""
    shape = tuple([None if isinstance(n, str) else n for n in carry.shapes[i]])
    sample = wrap(TracedValue(shape, carry.dtypes[i], None))
    return as_number(sample) if carry.are_numbers[i] else sample


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor) and not is_number(x)


def _same_numbers(before: Any, after: Any) -> bool:
    (sb, lb), (sa, la) = merge.parts(before), merge.parts(after)
    return (
        bool(sb == sa)
        and all(merge.is_same_number(x, y) for x, y in zip(lb, la, strict=True) if not isinstance(y, Tensor))
        and not any(isinstance(y, Tensor) for y in la)
    )
