"""A block under construction, and the log of the state that it changes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from ..core.errors import UNKNOWN, EscapedTensorError, TracedValueError, user_frame
from ..core.symbolic import has_symbolic
from ..core.unknown_size import Shape
from ..eager.tensor import TIES, Tensor
from ..ir.block import Block, Value
from . import places
from .places import MISSING


class Write(NamedTuple):
    """A piece of state that was replaced: an attribute of an object, or an item of a container."""

    owner: Any
    key: Any
    before: Any
    is_item: bool = False

    @property
    def is_tie(self) -> bool:
        """Whether it says what a tensor is a view of, or part of: known while tracing, and nothing a run changes."""
        return (self.key in TIES or self.key == "stop_gradient") and isinstance(self.owner, Tensor)

    def get(self) -> Any:
        """Return its current value; MISSING if there is none."""
        if self.key is CONTENTS:
            return places.copy_of(self.owner)
        return (places.item if self.is_item else places.attribute)(self.owner, self.key)

    def put(self, value: Any) -> None:
        """Make it hold `value`; MISSING removes it."""
        if isinstance(self.key, Replay):
            getattr(self.owner, self.key.method)(*value)
        elif self.key is CONTENTS:
            places.refill(self.owner, value)
        elif self.is_item:
            places.set_item(self.owner, self.key, value)
        elif value is not MISSING and is_of_each_run(self.owner, self.key):
            self.owner.__dict__[self.key] = value
        else:
            places.set_attribute(self.owner, self.key, value)


def is_of_each_run(obj: Any, name: str) -> bool:
    """Whether a program takes an attribute from each run, as the attribute itself sees to."""
    return hasattr(type(places.of_class(obj, name)), "of_each_run")


class Replay(NamedTuple):
    """The key of a write that calls a method of a container again in each run: `losses.append(loss)`."""

    method: str


# The key of a write of the whole content of a list, dict or set.
CONTENTS = "<contents>"


Key = tuple[int, Any, bool]


class TracedValue(Value):
    """A value of a block under construction, with what its builder knows of it. It stands in a Tensor meanwhile."""

    __slots__ = ("defined", "frame", "freed", "is_number", "limit")

    def __init__(self, shape: tuple[Any, ...], dtype: Any, frame: Frame | None, requires_grad: bool = False) -> None:
        super().__init__(shape, dtype, requires_grad)
        if has_symbolic(self.shape):
            self.shape = Shape(self.shape)
        self.frame: Any = frame  # the block that defines it
        self.is_number = False  # a stand-in for the result of int(), float() or item(): see traced_scalars
        self.limit: Any = None  # of the number of an iteration: it is at least 0, and less than this size
        self.freed = False  # a backward() in the program has consumed the graph behind it
        self.defined: Any = None  # for a variable that some path leaves undefined: see checks.DefinedFlag

    def concrete(self, what: str) -> Any:
        """Raise: there is no data here. `what` is the user's call that needs them."""
        made = f" (made at {self.where})" if self.where is not UNKNOWN else ""
        kind = f"{self.dtype}[{', '.join(map(str, self.shape))}]"
        if self.frame is None or self.frame.closed:
            raise EscapedTensorError(
                f"{what} at {user_frame()}: this {kind} tensor{made} belongs to a static function whose trace has "
                "ended, so it has no data; return it from the function, or write it into a tensor made "
                "outside: buffer.set_value(x)"
            )
        raise TracedValueError(
            f"{what} at {user_frame()} needs the value of a {kind} tensor{made} while a static program is traced, "
            "when it has no value yet; keep it a tensor (paddle.where, tensor arithmetic), let to_static convert the "
            "`if` or `while` that asks, or move this line out of the static function"
        )


def is_leaf(value: TracedValue) -> bool:
    """Whether gradients end at a value: it was not computed from anything that requires gradients."""
    return not value.requires_grad or value in value.frame.leaves or value in value.frame.changed_leaves


def traced_copy(value: Value, frame: Frame) -> TracedValue:
    """Return a new value like another one, in a frame."""
    made = TracedValue(value.shape, value.dtype, frame, value.requires_grad)
    made.name, made.where, made.weak = value.name, value.where, value.weak
    return made


class Frame:
    """A block under construction."""

    def __init__(self, parent: Frame | None = None) -> None:
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.block = Block([], [], [])
        self.closed = False
        self.lifted: dict[TracedValue, TracedValue] = {}  # value of an outer frame -> input of this one
        self.origins: dict[TracedValue, TracedValue] = {}  # the reverse
        self.operands: list[TracedValue] = []  # the outer value of each lifted input
        self.leaves: dict[TracedValue, Any] = {}  # values whose gradient accumulates in a handle
        self.changed_leaves: dict[TracedValue, Any] = {}  # what became of their data: gradients go on to the leaf
        self.log: dict[Key, Write] = {}
        self.detached: dict[TracedValue, TracedValue] = {}
        self.known_true: set[TracedValue] = set()  # conditions that hold wherever this block runs
        self.holds: tuple[Any, ...] = ()  # what it has been chosen for: size_facts.Facts
        self.sizes: Any = None if parent is None else parent.sizes  # the branch_sizes.Branch that it is in

    def inside(self, frame: Frame) -> bool:
        """True if `frame` is this one or encloses it."""
        here: Frame | None = self
        while here is not None and here is not frame:
            here = here.parent
        return here is frame

    def leaf_of(self, tensor: Any, like: TracedValue) -> TracedValue | None:
        """Return the input that a tensor from outside is, of this frame or of one around it: gradients go on to it."""
        for v, leaf in self.leaves.items():
            if leaf is tensor and (v.shape, v.dtype) == (like.shape, like.dtype) and v in self.block.inputs:
                return v
        return None if self.parent is None else self.parent.leaf_of(tensor, like)

    def before(self, tensor: Any) -> Any:
        """Return the payload of a tensor before this frame and those around it changed it; None if they did not."""
        held = None if self.parent is None else self.parent.before(tensor)
        write = self.log.get((id(tensor), "_payload", False))
        return held if held is not None or write is None else write.before

    def new_input(self, spec: Any, requires_grad: bool = False) -> TracedValue:
        """Add an input."""
        value = TracedValue(spec.shape, spec.dtype, self, requires_grad)
        value.weak = getattr(spec, "weak", False)
        self.block.inputs.append(value)
        return value

    def note_contents(self, container: Any, held: Any = None) -> None:
        """Note all that a list, dict or set holds, which takes the place of notes on its items.

        Arguments:
            held: what it held, where it has been changed already.
        """
        key = (id(container), CONTENTS, True)
        if key in self.log:
            return
        before = places.copy_of(container) if held is None else held
        noted = [(k, w) for k, w in self.log.items() if w.is_item and w.owner is container]
        for k, write in reversed(noted):
            write._replace(owner=before).put(write.before)
            del self.log[k]
        self.log[key] = Write(container, CONTENTS, before, True)

    def undo(self, made: Callable[[list[Write]], Collection[int]] = lambda log: ()) -> dict[Key, tuple[Write, Any]]:
        """Give every written piece of state its old value back; returns what was written.

        The objects that the block itself made (`made` tells their ids) are left as they are: nobody saw them before.
        """
        log, self.log = self.log, {}
        own = made(list(log.values()))
        written = {key: (w, w.get()) for key, w in log.items() if id(w.owner) not in own}
        for w, _ in reversed(written.values()):
            w.put(w.before)
        return {key: found for key, found in written.items() if not found[0].is_tie}


def origin(value: TracedValue) -> TracedValue:
    """Return the value that an input of an inner frame stands for."""
    while value.frame is not None and value in value.frame.origins:
        value = value.frame.origins[value]
    return value


class Capture(NamedTuple):
    """A tensor from outside that a program reads: its handle, and the input that stands for it."""

    handle: Any
    value: TracedValue
