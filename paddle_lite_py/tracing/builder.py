"""The second interpreter: instead of running an op, append it to the block under construction.

Tensors made outside are captured by handle, as inputs. A handle rebound inside (in-place ops, buffers, parameters,
gradients) is noted in the frame's log, with what it held before; when the frame is left it gets that back, and the new
payload becomes an output of the block. So branches, loop bodies and whole programs treat state in one way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from ..core.arrays import as_array, is_array, is_outside
from ..core.dtypes import is_inexact
from ..core.errors import DataDependentError, MadeInTraceError, SparseError, user_frame
from ..core.interpreter import Interpreter, state, use
from ..core.quotients import shortest
from ..core.symbolic import is_symbolic
from ..core.traced_number import ScalarGuard, TracedNumber
from ..eager.execute import EAGER, has_shared_gradient, run_on_others
from ..eager.op_errors import explain
from ..eager.random import default_generator
from ..eager.tensor import ZEROS, Tensor, wrap
from ..eager.views import link
from ..ir.block import Operator, Value
from ..registry.bound import BoundOp
from ..registry.op import REGISTRY
from .aliases import Aliases
from .checks import Checks, Cleared, DefinedFlag, LoopBuffer, note_refusal
from .container_notes import ContainerNotes
from .differentiate import Differentiation, identity
from .effects import Copies
from .frame import Capture, Frame, Key, Replay, TracedValue, Write, is_leaf, origin
from .measuring import Measuring
from .owned import OwnedAttributes
from .places import attribute
from .schedules import ScheduleTracing, TracedSchedule
from .speculation import Speculation
from .traced_scalars import as_number, cast_numbers, element_at, is_number


class Builder(Measuring, Differentiation, ScheduleTracing, ContainerNotes, OwnedAttributes, Interpreter):
    """The interpreter that builds a Program."""

    is_tracing = True

    def __init__(self, convert: Callable[[Any], Any] = lambda f: f) -> None:
        super().__init__()
        self.convert = convert
        self.layers, self.assumed = list[Any](), list[Any]()
        self.measured = {}
        self.schedules: dict[int, TracedSchedule] = {}  # that the program steps or reads, by id
        self.seen: list[ScalarGuard] = []  # what the trace has found out about numbers that it does not know
        self.initial: dict[Key, Any] = {}  # stand-ins for the values of attributes before a run
        self.gradients: list[tuple[Tensor, str]] = []
        self.stand_ins: list[tuple[Tensor, Tensor, TracedValue]] = []  # for gradients that are there, and their data
        self.root = Frame()
        self.frame = self.root
        self.captures, self.constants = dict[Any, Capture](), {}
        self.providers: list[tuple[Callable[[], Any], TracedValue]] = []
        self.numbers: dict[Any, TracedValue] = {}
        self.checks: Checks | None = None
        self.negations: dict[TracedValue, TracedValue] = {}
        self.peeking = False  # a variable is passed on, not read
        self.loop_buffer: LoopBuffer | None = None  # of the loops that have a gradient
        self.speculation: Speculation | None = None  # what the call under way holds, where the trace is of one
        self.outside: dict[int, tuple[Any, bool]] = {}  # containers that were there before: see ContainerNotes
        self.replays: list[tuple[Any, Replay, tuple[Any, ...]]] = []  # what each run does with them again
        self.told: set[Any] = set()  # places that the user has been warned of
        self.copies, self.stored_values = Copies(), set[int]()  # ids of Python values that it puts into state
        self.is_of_calls = False  # whether the program is run by calls of a function: see begins()
        self.looked: dict[int, tuple[Tensor, Any]] = {}  # tensors that Python has read, and what they held
        self.reached: dict[int, Any] = {}  # arguments that a backward() gives gradients to, and where
        self.asked: dict[int, str] = {}  # how the gradients of arguments are first used: see Entry
        self.arguments: dict[int, int] = {}  # id of an argument's handle -> its position
        self.replaced: dict[int, Write] = {}  # by ids of tensors from outside, where a run puts others in their place
        self.given: dict[int, list[int]] = {}  # id of a tensor that is an output -> its places among the outputs
        self.kept: list[Tensor] = []  # so that ids stay theirs
        self.frozen: dict[int, Tensor] = {}  # by id, those that required gradients until the function stopped them
        self.catching: list[tuple[Frame, Callable[[], Any], bool]] = []  # the handlers around: see jit.catching
        self.aliases = Aliases(decides=False)
        self.unsure: frozenset[Any] = frozenset()  # statements on which it depends whether there is a gradient
        self.decided: frozenset[Any] = frozenset()  # statements that data decide, whether or not they can be staged

    def argument(self, spec: Any, position: int, requires_grad: bool = False) -> Tensor:
        """Return a handle on a new input of the program."""
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
        """Return the converted form of a user's function that the framework calls."""
        return self.convert(function)

    def entered(self, layer: Any) -> None:
        """Note a layer that is called: its settings shape the program."""
        self.layers.append(layer)

    def assumes(self, fact: Any) -> bool:
        """Note a fact that the program relies on."""
        self.assumed.append(fact)
        return True

    def provide(self, get: Callable[[], Any]) -> Tensor:
        """Return an input that `get` gives before each run (a learning rate, say)."""
        with use(EAGER):
            array = get()
        value = self.root.new_input(jax.ShapeDtypeStruct(array.shape, array.dtype))
        self.providers.append((get, value))
        return wrap(value)

    def _number(self, number: TracedNumber) -> TracedValue:
        """Return the input that a number which changes from call to call has become."""
        if number.of not in self.numbers:
            dtype = np.dtype("int64" if type(number.value) is int else "float64")
            value = self.numbers[number.of] = self.root.new_input(jax.ShapeDtypeStruct((), dtype))
            value.weak = True
            self.providers.append((number.get, value))
        return self.numbers[number.of]

    def value_of(self, tensor: Tensor) -> TracedValue:
        """Return the TracedValue of a tensor in the current frame: its own, lifted from outside, or captured."""
        data = tensor._payload
        if self.aliases.stale:
            self.aliases.read(tensor)
        if isinstance(data, TracedValue):
            if data.frame is None or data.frame.closed or not self.frame.inside(data.frame):
                data.concrete("using a tensor")
            value = self._lift(data, self.frame)
            if data.defined is not None and not self.peeking:
                self._require(data.defined)
            if not tensor.stop_gradient and not value.requires_grad:
                return self._lift(self._leaf(data, tensor), self.frame)
        else:
            value = self._lift(self._capture(tensor), self.frame)
        return self._detach(value) if tensor.stop_gradient and value.requires_grad else value

    def _require(self, defined: DefinedFlag) -> None:
        """Check when the program runs that a variable is there, unless the branch we are in already implies it."""
        frame: Frame | None = self.frame
        while frame is not None:
            if origin(defined.flag) in frame.known_true:
                return
            frame = frame.parent
        self.frame.known_true.add(origin(defined.flag))
        self.check(self.handle(self._lift(defined.flag, self.frame)), defined.error, defined.where)

    def negation(self, condition: TracedValue) -> TracedValue:
        """Return the value of `not condition` in the current frame, made once."""
        key = origin(condition)
        if key not in self.negations or not self.frame.inside(self.negations[key].frame):
            self.negations[key] = self.value_of(self.handle(condition).logical_not())
        return self.negations[key]

    def check(
        self, passed: Tensor | None, error: Callable[..., BaseException], where: Any, shown: Sequence[Tensor] = ()
    ) -> None:
        """Fail with error(*shown) when the program runs and `passed` is false, or gets here if that is None."""
        self.checks = self.checks or Checks()
        self.checks.fail(self.checks.add(error, where), passed, [self.twin(t, detached=True) for t in shown])

    def _capture(self, tensor: Tensor, held: Any = None) -> TracedValue:
        """Return the input that a tensor from outside is; `held`: what it had there, if that has been replaced."""
        found = self.captures.get(id(tensor))
        if found is None:
            takes_gradient = not tensor.stop_gradient or id(tensor) in self.frozen
            value = self.root.new_input(tensor._payload if held is None else held, takes_gradient)
            value.name = tensor._name
            found = self.captures[id(tensor)] = Capture(tensor, value)
            if value.requires_grad:
                self.root.leaves[value] = tensor
        return found.value

    def _lift(self, value: TracedValue, frame: Frame) -> TracedValue:
        if value.frame is frame:
            return value
        found = frame.lifted.get(value)
        if found is None:
            assert frame.parent is not None
            outer = self._lift(value, frame.parent)
            found = frame.lifted[value] = self.input_of(frame, value)
            found.freed = value.freed
            frame.origins[found] = value
            frame.operands.append(outer)
            for leaves in (frame.parent.leaves, frame.parent.changed_leaves):
                if outer in leaves:
                    frame.leaves[found] = leaves[outer]
        return found

    def _detach(self, value: TracedValue) -> TracedValue:
        if value not in self.frame.detached:
            self.frame.detached[value] = self.emit(identity(), (value,), requires_grad=False)[0]
        return self.frame.detached[value]

    def _leaf(self, value: TracedValue, tensor: Tensor) -> TracedValue:
        """Make a value without gradient a leaf, since the user has requested its gradients.

        Of a tensor that was one before its data were changed, gradients go on to where those of the former data go.
        """
        if not np.issubdtype(value.dtype, np.inexact) and value.dtype.kind != "V":
            return value
        before = self._former_leaf(tensor, value)
        with self.inner(value.frame):  # where it was made: a branch that reads it must not keep it
            if before is None:
                leaf = self.emit(identity(), (value,), requires_grad=True)[0]
                value.frame.leaves[leaf] = tensor
            else:
                leaf = self._with_gradient_of(value, self._lift(before, value.frame))
                value.frame.changed_leaves[leaf] = tensor
        tensor._payload = leaf
        return leaf

    def _former_leaf(self, tensor: Tensor, like: TracedValue) -> TracedValue | None:
        """Return the input that a tensor was before its data were changed, read or not; None if it was none."""
        found = like.frame.leaf_of(tensor, like)
        if found is not None or id(tensor) in self.captures:
            return found
        held = like.frame.before(tensor)
        alike = is_array(held) and (held.shape, held.dtype) == (like.shape, like.dtype)
        return self._capture(tensor, held) if alike else None

    # -- ops -------------------------------------------------------------------------------------------------------
    def run(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Append an op; see interpreter.Interpreter."""
        if state.casting is not None:
            args = state.casting.inputs(bound, args)
        numbers = any(map(is_number, args))
        try:
            inputs = tuple([self._input(a) for a in (cast_numbers(args, bound.op) if numbers else args)])
        except SparseError:
            if (found := run_on_others(bound, args)) is NotImplemented:
                raise
            return found
        needs = state.grad_enabled and any(isinstance(v, TracedValue) and v.requires_grad for v in inputs)
        values = self.emit(bound, inputs, needs)
        outs = tuple(map(self.handle, values))
        made = outs[0] if not isinstance(self._last, tuple) else outs
        if bound.views is not None:
            link(args[0], made, bound, args[1:])
        return made

    def _input(self, arg: Any) -> Any:
        if isinstance(arg, Tensor):
            return self.value_of(arg)
        if type(arg) is TracedNumber:
            return self._lift(self._number(arg), self.frame)
        if isinstance(arg, np.generic):
            return arg.item()
        if is_symbolic(arg):
            return self.emit(REGISTRY["dimension"].bind((arg,)), (), False)[0]
        return arg if isinstance(arg, bool | int | float | complex) else self.value_of(wrap(as_array(arg)))

    @staticmethod
    def handle(value: Value) -> Tensor:
        """Return a Tensor on a TracedValue."""
        out = wrap(value)
        if value.requires_grad:
            out.stop_gradient = False
        return as_number(out) if getattr(value, "is_number", False) else out

    def emit(self, bound: BoundOp, inputs: tuple[Any, ...], requires_grad: bool) -> tuple[TracedValue, ...]:
        """Append an operator and infer its outputs."""
        bound = bound if self.sizes is None else self.sizes.branches.bound_in(bound, self.frame.sizes)
        specs = tuple([v.spec if isinstance(v, TracedValue) else v for v in inputs])
        where = user_frame()
        try:
            self._last = out = self.infer(bound, inputs, specs)
            if self.sizes is not None:
                self.sizes.given(bound, out)
        except Exception as e:
            self._last = out = None if self.sizes is None else self.sizes.refused(bound, inputs, e)
            if out is None:
                given = tuple([wrap(v) if isinstance(v, TracedValue) else v for v in inputs])
                error = explain(bound, given, e)
                if self.frame is self.root and type(error) in (ValueError, TypeError, IndexError):
                    note_refusal(error)
                raise error from None
        freed = any(isinstance(v, TracedValue) and v.freed and v.requires_grad for v in inputs)
        values = []
        for spec in out if isinstance(out, tuple | list) else (out,):
            shape, needs = shortest(spec.shape), requires_grad and bound.op.grad and is_inexact(spec.dtype)
            value = TracedValue(shape, spec.dtype, self.frame, needs)
            value.freed, value.where = freed, where
            if None in shape:
                self.measure(value, shape)
            values.append(value)
        self.frame.block.ops.append(Operator(bound, inputs, tuple(values), where))
        return tuple(values)

    def run_random(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Append a random op; the generator's state is captured and updated."""
        word = default_generator.state
        out, following = self.run(bound, (word, *args))
        word._set_payload(following._payload)
        return out

    # -- state -----------------------------------------------------------------------------------------------------
    def stored(self, name: str, shape: tuple[int, ...], dtype: Any, draw: Callable[[], Any], own: bool = False) -> Any:
        """Return draw(): state is made while the program is traced, not by it."""
        if not own:
            self.begins("a parameter")
        with use(EAGER):
            return draw()

    def begins(self, what: str) -> None:
        """Refuse to make what is another one in each call.

        Raises:
            MadeInTraceError: it would be the same in all runs of the program.
        """
        if self.is_of_calls:
            raise MadeInTraceError(
                f"the function makes {what} at {user_frame()}: a program would make it once, and all calls share it. "
                "Make it outside of the static function, or mark the function that makes it with "
                "@paddle.jit.not_to_static"
            )

    def rebind(self, tensor: Tensor, data: Any) -> None:
        """Give a tensor another payload, noted in the log."""
        if self.frame is not self.root:
            self.rebound(tensor, "stop_gradient")
        self.rebound(tensor, "_payload")
        self.aliases.written(tensor)
        tensor._payload = self.value_of(wrap(data)) if is_array(data) else data

    def sees(self, tensor: Tensor) -> bool:
        """Whether the payload of a tensor is of this frame, one around it, or outside."""
        data = tensor._payload
        frame = data.frame if isinstance(data, TracedValue) else self.root
        return frame is not None and not frame.closed and self.frame.inside(frame)

    def rebound(self, obj: Any, name: str) -> None:
        """Note what an attribute held before this frame changed it, unless the frame itself made the object."""
        key = (id(obj), name, False)
        if name == "_grad":
            self._asks(obj, "replaced")
        if key not in self.frame.log and not self._is_local(obj):
            self.frame.log[key] = Write(obj, name, attribute(obj, name))

    def _is_local(self, obj: Any) -> bool:
        if not isinstance(obj, Tensor) or id(obj) in self.arguments or (id(obj), "_payload", False) in self.frame.log:
            return False
        return isinstance(obj._payload, TracedValue) and obj._payload.frame is self.frame

    def gradient_state(self, tensor: Tensor, only_if_empty: bool = False) -> None:
        """Note what .grad of a tensor holds before the program: later runs need the same kind of state.

        A gradient that is there becomes an input, read anew before each run. With `only_if_empty`, None and cleared
        zeros count as the same: the caller is about to put a first gradient there.
        """
        if isinstance(tensor._grad, Cleared):
            if not only_if_empty:
                tensor._grad = self.settled(tensor)
            return
        key, held = (id(tensor), "_grad", False), tensor._grad
        self._asks(tensor, "added" if only_if_empty else "read")
        if key in self.root.log or self._is_local(tensor) or (isinstance(held, Tensor) and is_traced(held)):
            return
        kind = "some" if isinstance(held, Tensor) else "empty" if only_if_empty else "none" if held is None else "zeros"
        self.gradients.append((tensor, kind))
        if kind == "some":
            self.root.log[key] = Write(tensor, "_grad", held)
            tensor._grad = self.provide(lambda: tensor._grad._payload)
            self.stand_ins.append((tensor, tensor._grad, tensor._grad._payload))

    def cleared(self, tensor: Tensor) -> Any:
        """Zeros where there was a gradient; which it was is only looked at when somebody asks, since a backward()
        that comes first gives the same either way."""
        if self.frame is not self.root:
            self.gradient_state(tensor)
        if isinstance(tensor._grad, Cleared):
            return tensor._grad
        if self.frame is self.root and (id(tensor), "_grad", False) not in self.root.log and not self._is_local(tensor):
            return Cleared(tensor._grad)
        if has_shared_gradient(tensor):
            tensor._grad.zero_()
        return None if tensor._grad is None else ZEROS

    def settled(self, tensor: Tensor) -> Any:
        """Return a cleared gradient: from here on the program depends on whether there was one."""
        kind = "none" if tensor._grad.held is None else "any"
        self.gradients.append((tensor, kind))
        return None if kind == "none" else ZEROS

    def is_outside(self, write: Write) -> bool:
        """True for state that outlives the trace: not a handle that the trace itself made."""
        owner = write.owner
        if not isinstance(owner, Tensor) or id(owner) in self.arguments:
            return True
        payload = self.root.log.get((id(owner), "_payload", False))
        return is_outside(owner._payload if payload is None else payload.before)

    def is_leaf(self, tensor: Tensor) -> bool:
        """True for what is not made by the program: captured, or an argument."""
        held = tensor._payload
        return tensor.stop_gradient or (is_leaf(held) if isinstance(held, TracedValue) else tensor._source is None)

    def twin(self, tensor: Tensor, detached: bool = False) -> Tensor:
        """Another handle on the value of a tensor: of this program, so that each run reads the tensor itself."""
        value = self.value_of(tensor)
        return self.handle(self._detach(value) if detached and value.requires_grad else value)

    def static_value(self, tensor: Tensor, what: str) -> Any:
        """Return the Python value of a tensor used as an attribute; of a traced one, that of the call under way."""
        if isinstance(tensor._payload, TracedValue):
            error = DataDependentError(
                f"{what} at {user_frame()} must be known while a static program is traced, but it is a traced "
                f"{tensor.dtype.name}{[*tensor.shape]} tensor; pass an int, or use an op that takes a tensor there"
            )
            found = self.assume(tensor, error)
            return found[0] if tensor.size == 1 and isinstance(found, list) else found
        array = tensor._read(what)
        return array.item() if array.size == 1 else array.tolist()

    def looked_at(self, tensor: Tensor) -> None:
        """The program stands for what a tensor from outside holds now."""
        self.looked[id(tensor)] = tensor, tensor._payload

    def item(self, tensor: Tensor, index: tuple[int, ...]) -> Any:
        """Return one element as a traced Python number; see scalars."""
        if is_number(tensor):
            return tensor
        (value,) = self.emit(identity(), (self.value_of(element_at(tensor, index)),), requires_grad=False)
        return as_number(self.handle(value))


def is_traced(tensor: Tensor) -> bool:
    """True for a tensor that stands for a value of a program."""
    return isinstance(tensor._payload, TracedValue)
