"""The second interpreter: instead of running an op, append it to the block under construction.

Tensors made outside are captured by handle, as inputs. A handle rebound inside (in-place ops, buffers, parameters,
gradients) is noted in the frame's log, with what it held before; when the frame is left it gets that back, and the new
payload becomes an output of the block. So branches, loop bodies and whole programs treat state in one way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import numpy as np

from . import control
from .eager import explain
from .errors import GraphFreedError, TracedValueError, user_frame
from .graph import ancestors, close
from .interpreter import no_grad, state
from .op import REGISTRY, BoundOp
from .program import Block, Operator, Value
from .random import default_generator
from .tensor import Tensor, as_array, wrap


class Write(NamedTuple):
    """A piece of state that was replaced: an attribute of an object, or an item of a container."""

    owner: Any
    key: Any
    before: Any
    is_item: bool = False

    def get(self) -> Any:
        """What it holds now; MISSING if nothing."""
        return item(self.owner, self.key) if self.is_item else getattr(self.owner, self.key, MISSING)

    def put(self, value: Any) -> None:
        """Make it hold `value`; MISSING removes it."""
        if self.is_item and value is MISSING:
            del self.owner[self.key]
        elif self.is_item:
            self.owner[self.key] = value
        elif value is not MISSING:
            setattr(self.owner, self.key, value)
        elif self.key in getattr(self.owner, "__dict__", {}):
            delattr(self.owner, self.key)


class _Missing:
    def __repr__(self) -> str:
        return "<missing>"


MISSING = _Missing()


def item(container: Any, key: Any) -> Any:
    """An item, or MISSING."""
    try:
        return container[key]
    except (KeyError, IndexError):
        return MISSING


def attribute(obj: Any, name: str) -> Any:
    """What an object itself holds under a name; MISSING if it comes from the class."""
    held = getattr(obj, "__dict__", {})
    if name in held:
        return held[name]
    return MISSING if any(name in vars(c) for c in type(obj).__mro__) else getattr(obj, name, MISSING)


Key = tuple[int, Any, bool]


class Frame:
    """A block under construction."""

    def __init__(self, parent: Frame | None = None) -> None:
        self.parent = parent
        self.block = Block([], [], [])
        self.closed = False
        self.lifted: dict[Value, Value] = {}  # value of an outer frame -> input of this one
        self.origins: dict[Value, Value] = {}  # the reverse
        self.operands: list[Value] = []  # the outer value of each lifted input
        self.leaves: dict[Value, Any] = {}  # values whose gradient accumulates in a handle
        self.log: dict[Key, Write] = {}
        self.detached: dict[Value, Value] = {}
        self.known_true: set[Value] = set()  # conditions that hold wherever this block runs

    def inside(self, frame: Frame) -> bool:
        """True if `frame` is this one or encloses it."""
        here: Frame | None = self
        while here is not None and here is not frame:
            here = here.parent
        return here is frame

    def new_input(self, spec: Any, requires_grad: bool = False) -> Value:
        """Add an input."""
        value = Value(spec.shape, spec.dtype, self, requires_grad)
        self.block.inputs.append(value)
        return value

    def undo(self) -> dict[Key, tuple[Write, Any]]:
        """Give every written piece of state its old value back; returns what was written."""
        written = {key: (w, w.get()) for key, w in self.log.items()}
        for w in reversed(self.log.values()):
            w.put(w.before)
        self.log = {}
        return written


def origin(value: Value) -> Value:
    """The value that an input of an inner frame stands for."""
    while value.frame is not None and value in value.frame.origins:
        value = value.frame.origins[value]
    return value


class Capture(NamedTuple):
    """A tensor from outside that a program reads: its handle, and the input that stands for it."""

    handle: Any
    value: Value


class Checks:
    """The asserts and raises of a program, by number; the code is 0 while none has failed."""

    def __init__(self) -> None:
        self.code = wrap(jax.numpy.zeros((), jax.numpy.int32))
        self._errors: list[tuple[Callable[[], BaseException], Any]] = []

    def add(self, error: Callable[[], BaseException], where: Any) -> int:
        """Number of a new check."""
        self._errors.append((error, where))
        return len(self._errors)

    def texts(self) -> list[dict[str, str]]:
        """Type and text of each error, for a file."""
        return [{"type": type(e).__name__, "text": str(e)} for e in (make() for make, _ in self._errors)]

    def failure(self, number: int) -> BaseException:
        """The error of the check that failed."""
        make, where = self._errors[number - 1]
        error = make()
        error.add_note(f"raised by the static program for {where}: {getattr(where, 'source', '')}".rstrip(": "))
        return error


class Presence(NamedTuple):
    """When a variable that only some path defines is there: a flag, and the error of reading it where it is not."""

    flag: Value
    error: Callable[[], BaseException]
    where: Any


class Room:
    """The capacity that the loops of a program share, and the largest number of iterations that a run needed."""

    def __init__(self) -> None:
        self.capacity = control.Capacity()
        self.needed = wrap(jax.numpy.zeros((), jax.numpy.int32))


class Builder:
    """The interpreter that builds a Program."""

    def __init__(self, convert: Callable[[Any], Any] = lambda f: f) -> None:
        self.convert = convert
        self.layers: list[Any] = []
        self.deferred: list[Callable[[], None]] = []
        self.gradients: list[tuple[Tensor, str]] = []
        self.root = Frame()
        self.frame = self.root
        self.captures: dict[int, Capture] = {}
        self.providers: list[tuple[Callable[[], Any], Value]] = []
        self.checks: Checks | None = None
        self.negations: dict[Value, Value] = {}
        self.peeking = False  # a variable is passed on, not read
        self.room: Room | None = None  # of the loops that have a gradient
        self.arguments: dict[int, int] = {}  # id of an argument's handle -> its position

    def argument(self, spec: Any, position: int, requires_grad: bool = False) -> Tensor:
        """A handle on a new input of the program."""
        value = self.root.new_input(spec, requires_grad)
        handle = self.handle(value)
        self.arguments[id(handle)] = position
        if requires_grad:
            self.root.leaves[value] = handle
        return handle

    # -- frames ----------------------------------------------------------------------------------------------------
    @contextmanager
    def inner(self, frame: Frame | None = None) -> Iterator[Frame]:
        """Build a block inside the current one (or go back to one that is not finished)."""
        outer, self.frame = self.frame, frame or Frame(self.frame)
        try:
            yield self.frame
        finally:
            self.frame = outer

    def callee(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What to call for a user's function that the framework itself calls: its converted form."""
        return self.convert(function)

    def entered(self, layer: Any) -> None:
        """Note a layer that is called: its settings shape the program."""
        self.layers.append(layer)

    def defer(self, function: Callable[[], None]) -> None:
        """Call a Python function after each run instead of now."""
        self.deferred.append(function)

    def provide(self, get: Callable[[], Any]) -> Tensor:
        """An input that `get` gives before each run (a learning rate, say)."""
        array = get()
        value = self.root.new_input(jax.ShapeDtypeStruct(array.shape, array.dtype))
        self.providers.append((get, value))
        return wrap(value)

    def value_of(self, tensor: Tensor) -> Value:
        """The Value of a tensor in the current frame: its own, lifted from outside, or captured."""
        data = tensor._data
        if isinstance(data, Value):
            if data.frame is None or data.frame.closed or not self.frame.inside(data.frame):
                data.concrete("using a tensor")
            value = self._lift(data, self.frame)
            if data.presence is not None and not self.peeking:
                self._require(data.presence)
            if tensor.stop_gradient and value.requires_grad:
                return self._detach(value)
            if not tensor.stop_gradient and not value.requires_grad:
                return self._leaf(value, tensor)
            return value
        return self._lift(self._capture(tensor), self.frame)

    def _require(self, presence: Presence) -> None:
        """Check when the program runs that a variable is there, unless the branch we are in already implies it."""
        frame: Frame | None = self.frame
        while frame is not None:
            if origin(presence.flag) in frame.known_true:
                return
            frame = frame.parent
        self.frame.known_true.add(origin(presence.flag))
        self.check(self.handle(self._lift(presence.flag, self.frame)), presence.error, presence.where)

    def negation(self, condition: Value) -> Value:
        """The value of `not condition` in the current frame, made once."""
        key = origin(condition)
        if key not in self.negations or not self.frame.inside(self.negations[key].frame):
            self.negations[key] = self.value_of(self.handle(condition).logical_not())
        return self.negations[key]

    def check(self, passed: Tensor | None, error: Callable[[], BaseException], where: Any) -> None:
        """Fail with `error` when the program runs and `passed` is false, or whenever it gets here if that is None."""
        if self.checks is None:
            self.checks = Checks()
        number, code = self.checks.add(error, where), self.checks.code
        hit = code == 0 if passed is None else (code == 0).logical_and(passed.logical_not())
        code._set_payload((code + hit.astype("int32") * number)._data)

    def _capture(self, tensor: Tensor) -> Value:
        found = self.captures.get(id(tensor))
        if found is None:
            value = self.root.new_input(tensor._data, not tensor.stop_gradient)
            value.name = tensor._name
            found = self.captures[id(tensor)] = Capture(tensor, value)
            if not tensor.stop_gradient:
                self.root.leaves[value] = tensor
        return found.value

    def _lift(self, value: Value, frame: Frame) -> Value:
        if value.frame is frame:
            return value
        found = frame.lifted.get(value)
        if found is None:
            assert frame.parent is not None
            outer = self._lift(value, frame.parent)
            found = frame.lifted[value] = frame.new_input(value, value.requires_grad)
            found.freed = value.freed
            frame.origins[found] = value
            frame.operands.append(outer)
            if outer in frame.parent.leaves:
                frame.leaves[found] = frame.parent.leaves[outer]
        return found

    def _detach(self, value: Value) -> Value:
        found = self.frame.detached.get(value)
        if found is None:
            found = self.frame.detached[value] = self.emit(_identity(), (value,), requires_grad=False)[0]
        return found

    def _leaf(self, value: Value, tensor: Tensor) -> Value:
        """The user asked for gradients of a value that had none: from here on it is a leaf."""
        if not np.issubdtype(value.dtype, np.inexact) and value.dtype.kind != "V":
            return value
        leaf = self.emit(_identity(), (value,), requires_grad=True)[0]
        self.frame.leaves[leaf] = tensor
        tensor._data = leaf
        return leaf

    # -- ops -------------------------------------------------------------------------------------------------------
    def run(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Append an op; see interpreter.Interpreter."""
        inputs = tuple([self._input(a) for a in args])
        needs = state.grad_enabled and any(isinstance(v, Value) and v.requires_grad for v in inputs)
        outs = tuple([self.handle(v) for v in self.emit(bound, inputs, needs)])
        return outs[0] if not isinstance(self._last, tuple) else outs

    def _input(self, arg: Any) -> Any:
        if isinstance(arg, Tensor):
            return self.value_of(arg)
        if isinstance(arg, np.generic):
            return arg.item()
        return arg if isinstance(arg, bool | int | float | complex) else self.value_of(wrap(as_array(arg)))

    def handle(self, value: Value) -> Tensor:
        """A Tensor on a Value."""
        out = wrap(value)
        if value.requires_grad:
            out.stop_gradient = False
        return out

    def emit(self, bound: BoundOp, inputs: tuple[Any, ...], requires_grad: bool) -> tuple[Value, ...]:
        """Append an operator and infer its outputs."""
        specs = tuple([v.spec if isinstance(v, Value) else v for v in inputs])
        where = user_frame()
        try:
            self._last = out = bound.infer(specs)
        except Exception as e:
            raise explain(bound, tuple([wrap(v) if isinstance(v, Value) else v for v in inputs]), e) from None
        freed = any(isinstance(v, Value) and v.freed and v.requires_grad for v in inputs)
        values = []
        for spec in out if isinstance(out, tuple | list) else (out,):
            value = Value(spec.shape, spec.dtype, self.frame, requires_grad and bound.op.grad and _inexact(spec.dtype))
            value.freed, value.where = freed, where
            values.append(value)
        self.frame.block.ops.append(Operator(bound, inputs, tuple(values), where))
        return tuple(values)

    def run_random(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Append a random op; the generator's state is captured and updated."""
        word = default_generator.state
        out, following = self.run(bound, (word, *args))
        word._set_payload(following._data)
        return out

    # -- state -----------------------------------------------------------------------------------------------------
    def rebound(self, obj: Any, name: str) -> None:
        """Note what an attribute held before this frame changed it, unless the frame itself made the object."""
        key = (id(obj), name, False)
        if key not in self.frame.log and not self._is_local(obj):
            self.frame.log[key] = Write(obj, name, attribute(obj, name))

    def _is_local(self, obj: Any) -> bool:
        if not isinstance(obj, Tensor) or id(obj) in self.arguments or (id(obj), "_data", False) in self.frame.log:
            return False
        return isinstance(obj._data, Value) and obj._data.frame is self.frame

    def gradient_state(self, tensor: Tensor, only_if_empty: bool = False) -> None:
        """Note what .grad of a tensor holds before the program: later runs need the same kind of state.

        A gradient that is there becomes an input, read anew before each run. With `only_if_empty`, None and cleared
        zeros count as the same: the caller is about to put a first gradient there.
        """
        key = (id(tensor), "_grad", False)
        if key in self.root.log or self._is_local(tensor) or isinstance(tensor._grad, Tensor) and is_traced(tensor._grad):
            return
        held = tensor._grad
        kind = "some" if isinstance(held, Tensor) else "empty" if only_if_empty else "none" if held is None else "zeros"
        self.gradients.append((tensor, kind))
        if kind == "some":
            self.root.log[key] = Write(tensor, "_grad", held)
            tensor._grad = self.provide(lambda: tensor._grad._data)

    def is_outside(self, write: Write) -> bool:
        """True for state that outlives the trace: not a handle that the trace itself made."""
        owner = write.owner
        if not isinstance(owner, Tensor) or id(owner) in self.arguments:
            return True
        payload = self.root.log.get((id(owner), "_data", False))
        return isinstance(owner._data if payload is None else payload.before, jax.Array)

    def item_written(self, container: Any, key: Any) -> None:
        """The same for an item of a dict or list."""
        self.frame.log.setdefault((id(container), key, True), Write(container, key, item(container, key), True))

    def detached(self, tensor: Tensor) -> Tensor:
        """The value without its gradient."""
        return self.handle(self.value_of(tensor))

    def static_value(self, tensor: Tensor, what: str) -> Any:
        """The Python value of a tensor used as an attribute: only of one made outside."""
        if isinstance(tensor._data, Value):
            raise TracedValueError(
                f"{what} must be known while a static program is traced, but it is a traced "
                f"{tensor.dtype.name}{tensor.shape} tensor; pass a Python number, or an op that takes a tensor there"
            )
        array = tensor._array(what)
        return array.item() if array.size == 1 else array.tolist()

    # -- gradients -------------------------------------------------------------------------------------------------
    def backward(self, tensors: list[Tensor], grads: list[Tensor | None], retain_graph: bool) -> None:
        """Append the gradient of `tensors` and add it to the leaves' .grad."""
        roots = [self._root(t) for t in tensors]
        read = {v for op in ancestors(self.frame.block.ops, roots) for v in op.inputs if isinstance(v, Value)}
        self._check_reachable(read)
        leaves = [v for v in self.frame.leaves if v in read]
        found = self.gradient(roots, grads, leaves, retain_graph, create_graph=False)
        for leaf, g in zip(leaves, found, strict=True):
            if g is not None:
                self.frame.leaves[leaf]._accumulate(g)

    def grad(
        self,
        outputs: list[Tensor],
        inputs: list[Tensor],
        grads: list[Tensor | None],
        retain_graph: bool,
        create_graph: bool,
    ) -> list[Tensor | None]:
        """Gradients of the outputs with respect to the inputs; None where none depends on one."""
        roots, wrt = [self._root(t) for t in outputs], [self.value_of(t) for t in inputs]
        return self.gradient(roots, grads, wrt, retain_graph, create_graph)

    def register_hook(self, tensor: Tensor, hook: Callable[[Tensor], Any]) -> Any:
        """Refuse: a hook inside a static program would need a block of its own."""
        raise NotImplementedError(
            f"register_hook() at {user_frame()} inside a static function is not supported; register it on a leaf "
            "tensor outside, or change the gradient with paddle.autograd.PyLayer"
        )

    def custom_gradient(self, layer: Any, ctx: Any, inputs: list[Tensor], out: Any) -> Any:
        """Give results that forward() of a PyLayer made the gradient that its backward() computes, as a block."""
        outs = [t for t in (out if isinstance(out, tuple | list) else [out]) if isinstance(t, Tensor)]
        values = [self.value_of(t) for t in outs]
        with self.inner() as frame, no_grad():
            cotangents = [wrap(frame.new_input(v)) for v in values]
            found = layer.backward(ctx, *cotangents)
            grads = list(found) if isinstance(found, tuple | list) else [found]
            if len(grads) != len(inputs):
                raise ValueError(f"{layer.name}.backward gave {len(grads)} gradients, but forward took {len(inputs)} tensors")
            zeros = [t * 0 if g is None else g for g, t in zip(grads, inputs, strict=True)]
            frame.block.outputs = [self.value_of(g) for g in zeros]
        frame.closed = True
        bound = control.custom(frame.block, len(values), len(inputs))
        given = [self.value_of(t) for t in inputs]
        made = self.emit(bound, (*values, *given, *frame.operands), True)
        handles = iter([self.handle(v) for v in made])
        kept = [next(handles) if isinstance(t, Tensor) else t for t in (out if isinstance(out, tuple | list) else [out])]
        return type(out)(kept) if isinstance(out, tuple | list) else kept[0]

    def _check_reachable(self, read: set[Value]) -> None:
        for v in self.frame.block.inputs:
            if v in read and v.requires_grad and v not in self.frame.leaves:
                raise NotImplementedError(
                    f"backward() at {user_frame()} stands in a staged branch or loop, but the graph of its loss begins "
                    f"outside of it (at {v.where}); move the forward computation into the branch, or backward() out"
                )

    def _root(self, tensor: Tensor) -> Value:
        value = self.value_of(tensor)
        if not value.requires_grad:
            raise RuntimeError(
                f"backward() on a {tensor.dtype.name}{tensor.shape} tensor that does not require gradient: nothing "
                "that it was made from has stop_gradient=False (or it was made under paddle.no_grad())"
            )
        if value.freed:
            raise GraphFreedError(
                f"backward() a second time through the graph of the tensor made at {value.where}; "
                "call the first one as backward(retain_graph=True)"
            )
        if value in self.frame.leaves or value in self.frame.block.inputs:
            return self.emit(_identity(), (value,), requires_grad=True)[0]
        return value

    def gradient(
        self,
        roots: list[Value],
        grads: list[Tensor | None],
        wrt: list[Value],
        retain_graph: bool,
        create_graph: bool,
    ) -> list[Tensor | None]:
        """Move what the roots depend on into one grad operator; gradients of `wrt`, inner values included."""
        frame = self.frame
        given = [1.0 if g is None else self.value_of(g) for g in grads]
        ops = frame.block.ops
        needed = ancestors(ops, roots, stop=_starts(ops, wrt))
        block, mapping, outer = close(needed)
        made = {v: None for op in needed for v in op.outputs}
        first, moved = _before(ops, needed, [*outer, *given])
        forward = list(dict.fromkeys([*roots, *made]))
        inner = [v for v in dict.fromkeys(wrt) if v in made]
        block.outputs = [mapping[v] for v in [*forward, *inner]]
        outside = [v for v in dict.fromkeys(wrt) if v in mapping and v not in made]
        bound = control.grad(block, tuple([outer.index(v) for v in outside]), tuple(range(len(inner))), len(roots))
        outs = {v: Value(v.shape, v.dtype, frame, create_graph) for v in [*outside, *inner]}
        op = Operator(bound, tuple(moved), (*forward, *outs.values()), user_frame())
        taken = set(needed) | set(first)
        frame.block.ops = [*first, op, *[o for o in ops if o not in taken]]
        for v in made if not retain_graph else ():
            v.freed = v.freed or v.requires_grad
        return [self.handle(outs[v]) if v in outs else None for v in wrt]


def _starts(ops: list[Operator], wrt: list[Value]) -> set[Value]:
    """The values of `wrt` that depend on no other of them: where the differentiated computation begins."""
    wanted = set(wrt)
    starts = set()
    for v in wanted:
        above = {u for op in ancestors(ops, [v]) for u in op.inputs if isinstance(u, Value)}
        if not above & (wanted - {v}):
            starts.add(v)
    return starts


def _before(ops: list[Operator], needed: list[Operator], values: list[Any]) -> tuple[list[Operator], list[Any]]:
    """The operators behind values that a grad operator reads; a copy of those that it is about to take in."""
    first = ancestors(ops, [v for v in values if isinstance(v, Value)])
    if not set(first) & set(needed):
        return first, values
    block, mapping, outer = close(first)
    back = dict(zip(block.inputs, outer, strict=True))
    for op in block.ops:
        op.inputs = tuple(back.get(v, v) if isinstance(v, Value) else v for v in op.inputs)
    made = {v for op in first for v in op.outputs}
    return block.ops + [op for op in first if op not in set(needed)], [mapping[v] if v in made else v for v in values]


def is_traced(tensor: Tensor) -> bool:
    """True for a tensor that stands for a value of a program."""
    return isinstance(tensor._data, Value)


def _identity() -> BoundOp:
    return REGISTRY["identity"].bind(())


def _inexact(dtype: Any) -> bool:
    return bool(jax.numpy.issubdtype(dtype, jax.numpy.inexact))
