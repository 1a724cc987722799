"""The mode, decided in one place: each thread has a current interpreter, swapped by a context manager."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple, TypeAlias

# An op with its attributes fixed, a registry.bound.BoundOp: that is defined above this module.
BoundOp: TypeAlias = Any


class Observer:
    """The callbacks of an interpreter besides ops; the defaults are those of plain Python outside of a program."""

    def looked_at(self, tensor: Any) -> None:
        """Called after Python has read the data of a tensor."""

    def rebound(self, obj: Any, attribute: str) -> None:
        """Called before an attribute that is state (a payload, a gradient) is replaced."""

    def attribute_of(self, tensor: Any, name: str) -> Any:
        """Return an attribute that a tensor has not got: of none, but in a trace."""
        raise AttributeError(f"'{type(tensor).__name__}' object has no attribute '{name}'", name=name, obj=tensor)

    def name_of(self, tensor: Any) -> str | None:
        """Return the name that the caller has given to what a traced tensor stands for; None if there is none."""
        return None

    def gradient_state(self, tensor: Any, only_if_empty: bool = False) -> None:
        """Called before .grad of a tensor is read or replaced."""

    def entered(self, layer: Any) -> None:
        """Called when a layer is called."""

    def assumes(self, fact: Any) -> bool:
        """Whether code may rely on a fact that holds now.

        A program does if it can ask fact.holds() before a run, which it does once `layer_version` has changed.
        """
        return True

    def stored(self, name: str, shape: tuple[int, ...], dtype: Any, draw: Callable[[], Any], own: bool = False) -> Any:
        """The payload of new state (a parameter, an accumulator): what draw() gives, now or when the program starts.

        `own` state is nobody else's: in a program it gets the first number after its name that is free.
        """
        return draw()

    def begins(self, what: str) -> None:
        """Called before state is made, or drawn, that is another one in each call of the code."""

    def created(self, parameter: Any) -> Any:
        """Called with each new parameter; returns it, or the one of that name in the program under construction."""
        return parameter

    def minimized(self, optimizer: Any, loss: Any, parameters: Any, no_grad_set: Any) -> Any:
        """(parameter, gradient) pairs that optimizer.minimize(loss) has to compute; None where backward() did."""
        return None

    def look_up(self, ids: Any, weight: Any, padding: int | None) -> Any:
        """The rows of a table that servers keep in the place of a parameter; None where the process has it itself."""
        return None

    def starting(self, program: Any) -> AbstractContextManager[None]:
        """While first values of new state go to this startup program; to the one in force for None."""
        return nullcontext()

    def callee(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return what to call in place of a user's function that the framework calls, such as a layer's forward."""
        return function

    def flush(self) -> None:
        """Compute the ops that wait, if any do."""

    def finish_update(self) -> None:
        """The same where an update of parameters is one of them: its gradients are wanted no more."""

    # Schedules: Python objects that steps change, and that give numbers.
    def made_schedule(self, schedule: Any) -> None:
        """Called with each new schedule."""

    def advance(self, schedule: Any, change: Callable[[Any], None], _counted: bool = False) -> None:
        """Change a schedule when the code runs: now, or after each run of the program under construction.

        Arguments:
            _counted: all counted changes of a schedule are the same, so that a program may count them.
        """
        change(schedule)

    def after_run(self, schedule: Any, call: Callable[[Any], None]) -> None:
        """Tell of what has become of a schedule: now, or after each run."""
        call(schedule)

    def number(self, schedule: Any, read: Callable[[Any], Any]) -> Any:
        """Return a number of a schedule at this point."""
        return read(schedule)

    def set_number(self, schedule: Any, name: str, value: Any) -> None:
        """Set an attribute that changes of the schedule change as well."""
        schedule.__dict__[name] = value

    def has_advanced(self, schedule: Any) -> bool | None:
        """Whether the program under construction changes a schedule on the way to here."""

    def attribute(self, owner: Any, name: str) -> Any:
        """Return the number, or None, that an attribute holds when the code runs."""
        return owner.__dict__[name]

    def is_set(self, owner: Any, name: str) -> bool | None:
        """Whether the program under construction has set it on the way to here."""

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """Set it then."""
        owner.__dict__[name] = value


class UpdateRule(NamedTuple):
    """An update of parameters, of (rate, gradients, what changes, flags), in its two forms."""

    name: str
    operator: Callable[[], BoundOp]
    compiled: Callable[[int], Callable[..., list[Any]]]  # for so many arrays that change, whose memory it reuses


class Interpreter(Observer, ABC):
    """The implementation of ops in one mode: eager execution, or a Program under construction."""

    is_eager = False  # whether ops run, at once or in a queue
    waits = False  # whether it is a queue of ops that have not run yet
    at_once = False  # whether ops run when they are called, under mixed precision and observation, too
    has_placements = True  # whether tensors may lie over a mesh
    is_tracing = False  # whether ops become operators of a Program
    sizes: Any = None  # the unknown dimensions of a trace that has some
    size_answers: Any = None  # what tells code about unknown dimensions
    constants: dict[int, Any] | None = None  # by id, the tensors that a trace has made of numbers, and their arrays
    is_one_row: Any = None  # tells whether x[start:stop] has one row for certain, in a dimension of a size
    # Appends an operator that Python computes, for a bound op, tensors and what is known of its results; None where
    # such functions are called, which refuse to be traced.
    run_on_host: Any = None

    @abstractmethod
    def run(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Apply a bound op to tensors and Python scalars; returns one Tensor or a tuple of them."""

    @abstractmethod
    def run_random(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Return the same for an op whose first argument is the random state, and which returns the next state last."""

    @abstractmethod
    def rebind(self, tensor: Any, data: Any) -> None:
        """Give a tensor another payload."""

    def overwrite(self, tensor: Any, data: Any) -> None:
        """The same where the tensor keeps its place in the graph."""
        self.rebind(tensor, data)

    @abstractmethod
    def twin(self, tensor: Any, detached: bool = False) -> Any:
        """Another handle on the value of a tensor, at the same place in the graph or at none."""

    @abstractmethod
    def sees(self, tensor: Any) -> bool:
        """Whether the payload of a tensor belongs here: not one that a trace has left behind, say."""

    @abstractmethod
    def static_value(self, tensor: Any, what: str) -> Any:
        """The Python value of a tensor, or an error saying why there is none yet."""

    @abstractmethod
    def item(self, tensor: Any, index: tuple[int, ...]) -> Any:
        """Return one number of a tensor."""

    @abstractmethod
    def is_leaf(self, tensor: Any) -> bool:
        """True unless a recorded op made the tensor."""

    @abstractmethod
    def cleared(self, tensor: Any) -> Any:
        """Return the value of a tensor's .grad after it is cleared to zeros: None stays None."""

    def as_gradient(self, tensor: Any) -> Any:
        """Return the value of a tensor as a gradient, which nothing made: eager ones are leaves that have gradients."""
        return self.twin(tensor, detached=True)

    @abstractmethod
    def backward(self, tensors: list[Any], grads: list[Any], retain_graph: bool) -> None:
        """Accumulate gradients in the leaves that the tensors depend on."""

    @abstractmethod
    def grad(self, outputs: list[Any], inputs: list[Any], grads: list[Any], create_graph: bool) -> list[Any]:
        """Gradients of the outputs with respect to the inputs; None where none depends on one."""

    @abstractmethod
    def register_hook(self, tensor: Any, hook: Any) -> Any:
        """Call `hook` with the gradient of a tensor; returns a handle that removes it."""

    @abstractmethod
    def custom_gradient(self, layer: Any, ctx: Any, inputs: list[Any], out: Any) -> Any:
        """Give the results of a PyLayer the gradient that its backward() computes."""

    def update(self, rule: UpdateRule, rate: Any, grads: list[Any], changed: list[Any], flags: tuple[Any, ...]) -> None:
        """Change parameters and the state of their optimizer, in eager mode.

        Arguments:
            rule: how.
            rate: the learning rate.
            grads: gradients.
            changed: what changes.
            flags: tensors that may leave everything as it is.
        """
        raise NotImplementedError

    def data_of(self, tensor: Any, what: str) -> Any:
        """Return the array of a tensor whose payload is none, or an error saying why there is none yet."""
        return tensor._payload.concrete(what)


class LayerVersion:
    """Counts changes of the configuration of layers and parameters, so that programs see in one comparison that
    nothing changed."""

    number = 0


layer_version = LayerVersion()


class _State(threading.local):
    interpreter: Interpreter
    grad_enabled = True
    casting: Any = None  # the rules of mixed precision in force (casting.Casting)
    observers: tuple[Any, ...] = ()  # called with each op that runs eagerly
    # While a profiler records: runs what it is given, as a named span of the trace; (name, kind, function, *arguments).
    timer: Any = None


state = _State()


def begin_with(interpreter: Interpreter) -> None:
    """Set the interpreter that each thread begins with."""
    _State.interpreter = interpreter


def is_building() -> bool:
    """Whether a static program is under construction.

    Example:
        >>> is_building()
        False
    """
    return getattr(state.interpreter, "program", None) is not None


@contextmanager
def use(interpreter: Interpreter) -> Iterator[None]:
    """Make `interpreter` the current one for the block."""
    before = state.interpreter
    state.interpreter = interpreter
    try:
        yield
    finally:
        state.interpreter = before


@contextmanager
def no_grad() -> Iterator[None]:
    """Record no gradients in the block."""
    before, state.grad_enabled = state.grad_enabled, False
    try:
        yield
    finally:
        state.grad_enabled = before


# Callbacks after each backward() of the user, in any mode.
after_backward: list[Callable[[], None]] = []


def run_backward(tensors: list[Any], grads: list[Any], retain_graph: bool) -> None:
    """backward() in the current mode, and what follows it."""
    state.interpreter.backward(tensors, grads, retain_graph)
    if after_backward:
        for call in [*after_backward]:
            call()
