"""The state of a staged statement: the user's variables, and whatever else its bodies write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dy2static.converted_code import Closure
from paddle_lite_py.eager.tensor import Tensor, wrap
from paddle_lite_py.ir.block import Value
from paddle_lite_py.ir.graph import ancestors
from paddle_lite_py.tracing import places
from paddle_lite_py.tracing.builder import Builder
from paddle_lite_py.tracing.escape import find_made
from paddle_lite_py.tracing.frame import CONTENTS, Frame, TracedValue, Write, is_leaf
from paddle_lite_py.tracing.owned import label_of

from .errors import changed_leaf

# The name of what `and`, `or` and a ternary give: often nothing but its truth is of interest.
EXPRESSION = "the expression"


class Cell(NamedTuple):
    """One piece of state: its name in messages, and whether anything reads it afterwards."""

    name: str
    internal: bool  # the converter made it, and only reads it where it is defined
    live: bool
    carried: bool
    is_gradient: bool = False
    is_place: bool = False  # an attribute or item, of which anybody may ask whether it is there


def variables(state: Any) -> list[Cell]:
    """Return a cell for each variable of a statement."""
    return [
        Cell(
            "what is returned" if state.is_internal(i) else name,
            state.is_internal(i),
            live,
            carried,
            is_place=i >= state._plain,
        )  # fmt: skip
        for i, (name, live, carried) in enumerate(zip(state.names, state.live_out, state.carried, strict=True))
    ]


def name_of(owner: Any, bodies: tuple[Any, ...]) -> str | None:
    """Return the user's name for an object that the bodies of a statement use."""
    for body in bodies:
        for name, cell in zip(body.__code__.co_freevars, body.__closure__ or (), strict=True):
            try:
                if cell.cell_contents is owner:
                    return name
            except ValueError:  # not set yet
                continue
    return None


def written_cell(write: Write, bodies: tuple[Any, ...] = ()) -> Cell:
    """Return a cell for a write that was seen in a body."""
    owner = write.owner
    if isinstance(owner, Tensor):
        what = "gradient of " if write.key == "_grad" else ""
        return Cell(f"{what}tensor '{label_of(owner)}'", False, True, True, write.key == "_grad")
    if write.key is CONTENTS:
        name = name_of(owner, bodies) or f"the {type(owner).__name__} that its methods change"
        return Cell(name, False, True, True)
    place = f"[{write.key!r}]" if write.is_item else f".{write.key}"
    return Cell(f"{name_of(owner, bodies) or type(owner).__name__}{place}", False, True, True, is_place=True)


class Path(NamedTuple):
    """The effects of one path of a statement: its frame, the variables after it, and what else it wrote."""

    frame: Frame
    values: tuple[Any, ...]
    written: dict[Any, tuple[Write, Any]]

    items: tuple[tuple[Write, Any], ...] = ()  # its writes to lists and dicts, which have been restored by now

    @property
    def changed(self) -> set[int]:
        """Ids of the lists and dicts that the path has changed."""
        return {id(w.owner) for w, _ in self.items}

    def contents_of(self, write: Write) -> Any:
        """Return the content of a container of which the path has at most set items."""
        found = places.copy_of(write.before)
        for w, value in self.items:
            if w.owner is write.owner:
                w._replace(owner=found).put(value)
        return found

    def has_changed(self, value: Any) -> bool:
        """Whether the value is, or holds, a list or dict that the path has changed."""
        if not self.items or not isinstance(value, list | tuple | dict):
            return False
        children = value.values() if isinstance(value, dict) else value
        return id(value) in self.changed or any(map(self.has_changed, children))

    def final(self, x: Any) -> Any:
        """Return a tensor with the payload that the path has left it; other values as they are."""
        found = self.written.get((id(x), "_payload", False)) if isinstance(x, Tensor) else None
        return x if found is None else content(found[1])


def follow(builder: Builder, body: Callable[[], Any], state: Any, prepare: Callable[[], None] | None = None,
           frame: Frame | None = None) -> Path:  # fmt: skip
    """Trace a body in a frame of its own, and put everything back as it was."""
    before = values = state.get()
    slots = {(id(s.obj), s.key, s.item) for s in state._slots}
    with builder.inner(frame) as inner:
        try:
            if prepare is not None:
                prepare()
            body()
            values = state.get()
        finally:
            has_open_sizes = builder.unknown is not None
            written = inner.undo(lambda log: find_made(log, before, values, has_open_sizes=has_open_sizes))
            state._set(before[: state._plain])
    items = tuple([(w, now) for w, now in written.values() if w.is_item])
    for key, (write, _) in written.items():
        if _is_variable(write, state):
            builder.item_written(write.owner, write.key)
            slots.add(key)
    return Path(inner, values, {k: v for k, v in written.items() if k not in slots}, items)


def _is_variable(write: Write, state: Any) -> bool:
    """True for a global or nonlocal variable that the state has by name."""
    if not write.is_item or write.key not in state.names[: state._plain]:
        return False
    body = state.bodies[0]
    closure = dict(zip(body.__code__.co_freevars, body.__closure__ or (), strict=True))
    if isinstance(write.owner, Closure):
        return write.key in closure and write.owner.cell(write.key) is closure[write.key]
    return write.owner is body.__globals__ and write.key not in closure


def content(value: Any) -> Any:
    """Return the content of a write, with payloads as tensors."""
    if isinstance(value, Value):
        return Builder.handle(value)
    return wrap(value) if hasattr(value, "addressable_shards") else value


def before(write: Write) -> Any:
    """Return the content that a write replaced. A tensor handle has its payload back by now, and stands for itself."""
    return write.owner if write.key == "_payload" else content(write.before)


def was_leaf(write: Write) -> bool:
    """Whether a write replaces the payload of a leaf that gradients are taken of."""
    owner, key, held, _ = write
    if key != "_payload" or owner.stop_gradient or owner._source is not None:
        return False
    return not isinstance(held, TracedValue) or is_leaf(held)


def look_for_leaves(path: Path, ends: list[Any], where: Any) -> None:
    """Gradients of what a path leaves end at the outer leaves that it has read, not at what it has put into them.

    Raises:
        StagingError: the path has changed a leaf, and its ends need the gradient of that.
    """
    frame, lifted = path.frame, set(path.frame.lifted.values())
    changed = {id(w.owner) for w, _ in path.written.values() if was_leaf(w)}
    leaves = {v: t for v, t in frame.leaves.items() if v not in lifted and id(t) in changed}
    for op in ancestors(frame.block.ops, [v for v in ends if v.requires_grad and not v.freed]) if leaves else ():
        for v in leaves.keys() & set(op.inputs):
            raise changed_leaf(leaves[v].name, where)


def detach(tensor: Tensor) -> None:
    """Make the new payload of a leaf one that gradients end at: the statement has written to it as to a leaf."""
    tensor._payload.requires_grad, tensor.stop_gradient = False, True


def store(builder: Builder, write: Write, value: Any) -> None:
    """Write a merged value in the current frame, noted there."""
    if write.key is CONTENTS:
        builder.contents_written(write.owner)
    elif write.is_item:
        builder.item_written(write.owner, write.key)
    else:
        builder.rebound(write.owner, write.key)
    write.put(value._payload if write.key == "_payload" else value)
    if write.key == "_payload" and write.owner.stop_gradient and not value.stop_gradient:
        builder.rebound(write.owner, "stop_gradient")  # a recorded write has made it part of the graph
        write.owner.stop_gradient = False
