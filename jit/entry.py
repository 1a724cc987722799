"""A compiled program, and the conditions under which it stands for the function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from paddle_lite_py.core.context import context
from paddle_lite_py.core.interpreter import layer_version
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.traced_number import ScalarGuard, ScalarInputs, call
from paddle_lite_py.eager.pending import payload_of
from paddle_lite_py.eager.tensor import Parameter, Tensor
from paddle_lite_py.ir.program import Program
from paddle_lite_py.tracing import spans
from paddle_lite_py.tracing.dimensions import Dimensions
from paddle_lite_py.tracing.effects import Argument
from paddle_lite_py.tracing.executor import Executable

from .errors import HeldGradientError, InnerGradientError
from .guards import ABSENT, Codes, Guard, same


class Entry:
    """A compiled program of one function.

    Arguments:
        executable: the program.
        expected: (shape, dtype, stop_gradient) of each tensor argument.
        found: guards to look at on each call.
        settled: guards on layers, to look at after some layer's configuration changed.
        seen: what the trace saw of the arguments that are numbers.
        sizes: the unknown dimensions of the arguments, and what was taken for granted of them.
    """

    concrete: Any = None  # the form shown to the user, made on first use
    failed: Any = None  # the guard that did not hold last
    called_once = True  # it was called once
    padded_runs = 0  # see Buckets

    @property
    def program(self) -> Program:
        """The program itself."""
        return self.traced.program

    def __init__(
        self,
        executable: Executable,
        expected: Any,
        found: list[Any],
        settled: list[Any],
        seen: list[ScalarGuard],
        sizes: Dimensions | None = None,
    ) -> None:
        self.executable = executable
        self.traced = executable.traced
        self.expected, self.seen, self.sizes = expected, seen, sizes
        self.context, self.grad_enabled = context(), mode.grad_enabled
        self.needs_grad = bool(self.traced.flows)  # under no_grad too, of what enable_grad() surrounds
        self._run = executable.run_with_grad if self.needs_grad else executable.run
        # Whether the gradients of arguments matter.
        self.from_leaves = bool(self.traced.reached or self.traced.asked)
        self.run: Any = self._from_leaves if self.from_leaves else self._run
        self._direct = executable.plain and not executable.fixed and not self.needs_grad
        spans.follow_caller(self)
        # Most guards compare one value: looked at here without a call of their own.
        self.values = [(g.read, g.key, g.value, g) for g in found if type(g) is Guard]
        self.guards = [g for g in found if type(g) is not Guard]
        # The code of one function is looked at without a call.
        self.coded = (
            found[0].functions[0]
            if [type(g) for g in found] == [Codes] and len(found[0].value) == 1
            else _unchanged_code
        )
        self.code = self.coded.__code__
        # Nothing to look at while no layer's configuration changes.
        self.changes_arguments = any(type(e.write.owner) is Argument for e in self.traced.effects)
        # Of parameters a change counts as one of the configuration; other tensors are looked at.
        self.loose = [(h, h.stop_gradient) for h in self.traced.captures if not isinstance(h, Parameter)]
        guarded = found if self.coded is _unchanged_code else ()
        self.owned = self.traced.owned
        self.plain = not (guarded or self.owned or seen or self.traced.gradients or self.traced.paths or self.loose)
        self.flags = [
            (h, h.stop_gradient, dict(h._hooks or {}), payload_of(h).shape, payload_of(h).dtype)
            for h in self.traced.captures
        ]
        self.layer_guards = [*settled, *self.traced.assumed]
        # A change made by the trace itself holds for one run.
        lasts = all(fact.holds() for fact in self.traced.assumed)
        self.layer_version = layer_version.number if lasts else None

    def notify_profiler(self, wanted: bool) -> None:
        """Called when a profiler begins to record, and when it ends."""
        # The compiled function itself, where there is nothing to do but call it.
        self.call = self.executable.jitted if self._direct and not wanted else None

    def _from_leaves(self, tensors: Sequence[Tensor]) -> Any:
        """Run a program with a backward() that ends at arguments, which must therefore be where eager code begins.

        The trace knew of no gradient that an argument has. One that is there is set aside, and added to. A program
        that has read it, or what it has come to, cannot serve.
        """
        for position, where in self.traced.reached.items():
            if tensors[position]._source is not None:
                raise InnerGradientError(self.traced.program.input_names[position], where)
        held = {}
        for position, use in self.traced.asked.items():
            tensor = tensors[position]
            grad = tensor._grad
            if grad is None or use == "replaced":
                continue
            if use == "read" or (use == "summed" and isinstance(grad, Tensor)):
                raise HeldGradientError
            if isinstance(grad, Tensor):
                held[id(tensor)] = tensor, grad
        for tensor, _ in held.values():
            tensor._grad = None
        try:
            out = self._run(tensors)
        except BaseException:
            for tensor, grad in held.values():
                tensor._grad = grad
            raise
        for tensor, grad in held.values():
            if isinstance(found := tensor._grad, Tensor):  # else it was cleared in the end
                tensor._grad = grad
                tensor._accumulate_plain(found)
        return out

    def takes(self, shapes: Sequence[Any]) -> bool:
        """True if what is taken for granted of sizes holds for arguments of these shapes."""
        return self.sizes is None or self.sizes.hold(shapes)

    def agrees(self, found: list[Any]) -> bool:
        """True if the program takes for granted what a run of another one has found."""
        return not any(a.differs(v) for a, v in zip(self.traced.speculated, found, strict=False))

    def run_with(self, tensors: list[Tensor], numbers: ScalarInputs) -> Any:
        """Run for a call whose changing numbers are these."""
        if not numbers:
            return self.run(tensors)
        before, call.numbers = call.numbers, numbers
        try:
            return self.run(tensors)
        finally:
            call.numbers = before

    def owns_otherwise(self, tensors: Sequence[Tensor]) -> str | None:
        """Describe which attribute of an argument, given to it by the user, is not what it was; None if none is."""
        for owned in self.owned:
            position, name, value = owned
            now = owned.now(tensors[position])
            if now is not value and not same(now, value):
                return f"{self.traced.program.input_names[position]}.{name} changed from {value!r:.60} to {now!r:.60}"
        return None

    def stale(self, numbers: ScalarInputs = ()) -> str | None:
        """Describe why the program is stale; None if it is valid."""
        for read, key, value, guard in self.values:
            if read(key, ABSENT) is not value and not guard.holds():
                self.failed = guard
                return guard.change()
        for g in self.guards:
            if not g.holds():
                return g.change()
        for handle, flag in self.loose:
            if handle.stop_gradient is not flag:
                return _describe_unfrozen(handle, flag)
        for s in self.seen:
            if not s.holds(numbers):
                return s.cause
        return self._state_differs() or self._layers_differ()

    def _state_differs(self) -> str | None:
        for place, spec, _ in self.traced.paths:
            now = place.get()
            if (
                not isinstance(now, Tensor)
                or payload_of(now).shape != spec.shape
                or payload_of(now).dtype != spec.dtype
            ):
                return f"{type(place.owner).__name__}.{place.key} changed from {spec!r:.60} to {now!r:.60}"
        for handle, kind in self.traced.gradients:
            grad = handle._grad
            found = "some" if grad.__class__ is Tensor else "none" if grad is None else "zeros"
            if found != kind and not _is_compatible(kind, found):
                return f"the gradient of '{handle.name}' changed from {kind} to {found}"
        return None

    def _layers_differ(self) -> str | None:
        if self.layer_version == layer_version.number:
            return None
        version = layer_version.number
        if (now := context()) != self.context:
            return f"the mode changed from {self.context} to {now}"
        for g in self.layer_guards:
            if not g.holds():
                self.failed = g
                return g.change()
        for handle, flag, hooks, shape, dtype in self.flags:
            now = payload_of(handle)
            if now.shape != shape or now.dtype != dtype:
                return f"'{handle.name}' changed from {dtype}{[*shape]} to {now.dtype}{[*now.shape]}"
            if handle.stop_gradient is not flag:
                return _describe_unfrozen(handle, flag)
            if (handle._hooks or {}) != hooks:
                return f"the hooks on the gradient of '{handle.name}' changed"
        self.layer_version = version
        return None


class Other(NamedTuple):
    """Why another program than the one found first is needed, and which may serve."""

    cause: str
    serves: Callable[[Entry], bool]


def _unchanged_code() -> None:
    """Stands for a function whose code stays as it is."""


def _describe_unfrozen(handle: Tensor, flag: bool) -> str:
    return f"stop_gradient of '{handle.name}' changed from {flag} to {handle.stop_gradient}"


def _is_compatible(kind: str, found: str) -> bool:
    """True if a program made for one kind of gradient before the run serves another: see Builder.gradient_state."""
    return (kind == "empty" and found != "some") or (kind == "any" and found != "none")
