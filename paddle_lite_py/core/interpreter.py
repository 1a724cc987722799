"""The mode, decided in one place: each thread has a current interpreter, swapped by a context manager."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ..dispatch.bound import BoundOp


class Interpreter(Protocol):
    """What applies an op: eager execution, or a Program under construction."""

    def run(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Apply a bound op to tensors and Python scalars; returns one Tensor or a tuple of them."""

    def run_random(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """The same for an op whose first argument is the random state, and which returns the next state last."""

    def data_of(self, tensor: Any, what: str) -> Any:
        """The array of a tensor whose payload is none, or an error saying why there is none yet."""

    def stored(self, name: str, shape: tuple[int, ...], dtype: Any, draw: Any, own: bool = False) -> Any:
        """The payload of new state (a parameter, an accumulator): what draw() gives, now or when the program starts.

        `own` state is nobody else's: in a program it gets the first number after its name that is free.
        """

    def created(self, parameter: Any) -> Any:
        """Told of a new parameter; returns it, or the one that has its name in the program under construction."""

    def minimized(self, optimizer: Any, loss: Any, parameters: Any, no_grad_set: Any) -> Any:
        """(parameter, gradient) pairs that optimizer.minimize(loss) has to compute; None where backward() did."""

    def starting(self, program: Any) -> AbstractContextManager[None]:
        """While first values of new state go to this startup program; to the one in force for None."""

    def engine(self, model: Any) -> Any:
        """What runs the batches of a Model; None where it runs them itself."""

    def rebind(self, tensor: Any, data: Any) -> None:
        """Give a tensor another payload."""

    def rebound(self, obj: Any, attribute: str) -> None:
        """Told before an attribute that is state (a payload, a gradient) is replaced."""

    def backward(self, tensors: list[Any], grads: list[Any], retain_graph: bool) -> None:
        """Accumulate gradients in the leaves that the tensors depend on."""

    def grad(
        self, outputs: list[Any], inputs: list[Any], grads: list[Any], retain_graph: bool, create_graph: bool
    ) -> list[Any]:
        """Gradients of the outputs with respect to the inputs; None where none depends on one."""

    def custom_gradient(self, layer: Any, ctx: Any, inputs: list[Any], out: Any) -> Any:
        """Give the results of a PyLayer the gradient that its backward() computes."""

    def callee(self, function: Any) -> Any:
        """What to call for a user's function that the framework itself calls, such as a layer's forward."""

    def entered(self, layer: Any) -> None:
        """Told that a layer is called."""

    def defer(self, function: Any) -> None:
        """Call a Python function when the code runs: now, or after each run of the program under construction."""

    def register_hook(self, tensor: Any, hook: Any) -> Any:
        """Call `hook` with the gradient of a tensor; returns a handle that removes it."""

    def gradient_state(self, tensor: Any, only_if_empty: bool = False) -> None:
        """Told before .grad of a tensor is read or replaced."""

    def cleared(self, tensor: Any) -> Any:
        """What .grad of a tensor holds once it is cleared to zeros: None stays None."""

    def is_leaf(self, tensor: Any) -> bool:
        """True unless a recorded op made the tensor."""

    def detached(self, tensor: Any) -> Any:
        """Cut a new handle from the graph of the one whose payload it shares."""

    def looked_at(self, tensor: Any) -> None:
        """Told that Python has looked at the data of a tensor."""

    def item(self, tensor: Any, index: tuple[int, ...]) -> Any:
        """One number of a tensor."""

    def static_value(self, tensor: Any, what: str) -> Any:
        """The Python value of a tensor, or an error saying why there is none yet."""


class Config:
    """Counts changes of the configuration of layers and parameters, so that programs see in one comparison that
    nothing changed."""

    epoch = 0


config = Config()


class _State(threading.local):
    interpreter: Interpreter
    grad_enabled = True
    casting: Any = None  # the rules of mixed precision in force (casting.Casting)
    observers: tuple[Any, ...] = ()  # called with each op that runs eagerly


state = _State()


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
