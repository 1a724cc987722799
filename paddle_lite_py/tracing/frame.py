"""A block under construction, and the log of the state that it changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection
from types import MemberDescriptorType
from typing import Any, NamedTuple

from ..core.errors import UNKNOWN, EscapedTensorError, TracedValueError, is_own, user_frame
from ..core.symbolic import has_symbolic
from ..core.unknown_size import Shape
from ..eager.tensor import TIES, Tensor
from ..ir.block import Block, Value


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
        """What it holds now; MISSING if nothing."""
        if self.key is CONTENTS:
            return self.owner.copy()
        return item(self.owner, self.key) if self.is_item else attribute(self.owner, self.key)

    def put(self, value: Any) -> None:
        """Make it hold `value`; MISSING removes it."""
        if isinstance(self.key, Replay):
            getattr(self.owner, self.key.method)(*value)
        elif self.key is CONTENTS:
            self.owner.clear()
            (self.owner.update if hasattr(self.owner, "update") else self.owner.extend)(value)
        elif self.is_item and value is MISSING:
            _remove(self.owner, self.key)
        elif self.is_item:
            self.owner[self.key] = value
        elif value is not MISSING and is_of_each_run(self.owner, self.key):
            self.owner.__dict__[self.key] = value
        elif value is not MISSING:
            setattr(self.owner, self.key, value)
        elif attribute(self.owner, self.key) is not MISSING:
            delattr(self.owner, self.key)


def is_of_each_run(obj: Any, name: str) -> bool:
    """Whether a program takes an attribute from each run, as the attribute itself sees to."""
    return hasattr(getattr(type(obj), name, None), "of_each_run")


class Replay(NamedTuple):
    """The key of a write that calls a method of a container again in each run: `losses.append(loss)`."""

    method: str


class _Missing:
    def __repr__(self) -> str:
        return "<missing>"


MISSING = _Missing()
# The key of a write that stands for all that a list, dict or set holds.
CONTENTS = "<contents>"


def _remove(container: Any, key: Any) -> None:
    for kind in (OrderedDict, dict):
        if isinstance(container, kind):
            return kind.__delitem__(container, key)  # a class of the user may refuse, and yet the trace put it there
    del container[key]


def item(container: Any, key: Any) -> Any:
    """An item, or MISSING."""
    try:
        return container[key]
    except (KeyError, IndexError):
        return MISSING


def attribute(obj: Any, name: str) -> Any:
    """What an object itself holds under a name; MISSING if it comes from the class.

    Nothing of the user's is run for it, no property and no `__getattr__`: Python runs none where an attribute is set.
    """
    held, classes = getattr(obj, "__dict__", {}), type(obj).__mro__
    if name in held:
        return held[name]
    for c in classes:
        if name in vars(c):
            return getattr(obj, name, MISSING) if type(vars(c)[name]) is MemberDescriptorType else MISSING
    own = next((f for c in classes if (f := vars(c).get("__getattr__")) and is_own(f.__code__.co_filename)), None)
    try:
        return MISSING if own is None else own(obj, name)
    except AttributeError:
        return MISSING


Key = tuple[int, Any, bool]


class TracedValue(Value):
    """A value of a block under construction, with what its builder knows of it. It stands in a Tensor meanwhile."""

    __slots__ = ("defined", "frame", "freed", "is_number")

    def __init__(self, shape: tuple[Any, ...], dtype: Any, frame: Frame | None, requires_grad: bool = False) -> None:
        super().__init__(shape, dtype, requires_grad)
        if has_symbolic(self.shape):
            self.shape = Shape(self.shape)
        self.frame: Any = frame  # the block that defines it
        self.is_number = False  # it stands for what int(), float() or item() would give: see traced_scalars
        self.freed = False  # a backward() in the program has consumed the graph behind it
        self.defined: Any = None  # for a variable that some path leaves undefined: see checks.DefinedFlag

    def concrete(self, what: str) -> Any:
        """Raise: there is no data here. `what` is the user's call that asked for them."""
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
    """Whether gradients end at a value, where they are asked for: nothing that they flow through has made it."""
    return not value.requires_grad or value in value.frame.leaves


def traced_copy(value: Value, frame: Frame) -> TracedValue:
    """A new value like another one, in a frame."""
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
        self.log: dict[Key, Write] = {}
        self.detached: dict[TracedValue, TracedValue] = {}
        self.known_true: set[TracedValue] = set()  # conditions that hold wherever this block runs

    def inside(self, frame: Frame) -> bool:
        """True if `frame` is this one or encloses it."""
        here: Frame | None = self
        while here is not None and here is not frame:
            here = here.parent
        return here is frame

    def new_input(self, spec: Any, requires_grad: bool = False) -> TracedValue:
        """Add an input."""
        value = TracedValue(spec.shape, spec.dtype, self, requires_grad)
        value.weak = getattr(spec, "weak", False)
        self.block.inputs.append(value)
        return value

    def note_contents(self, container: Any) -> None:
        """Note all that a list, dict or set holds, which takes the place of notes on its items."""
        key = (id(container), CONTENTS, True)
        if key in self.log:
            return
        before = container.copy()
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
    """The value that an input of an inner frame stands for."""
    while value.frame is not None and value in value.frame.origins:
        value = value.frame.origins[value]
    return value


class Capture(NamedTuple):
    """A tensor from outside that a program reads: its handle, and the input that stands for it."""

    handle: Any
    value: TracedValue
