"""Batches of a Model as programs: a step of training, evaluation or prediction is one call of XLA."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any

from ..core.errors import Where, is_own
from ..eager.tensor import Tensor
from ..jit import StaticFunction
from ..jit.host_random import note_draws
from ..jit.options import CompileOptions
from ..jit.raising import raised_by_user
from .eager_engine import EagerEngine, Found, Kind

# As many programs for one kind of batch mean that data decide which is needed: compiling would never end.
PROGRAMS = 8


class CompiledEngine(EagerEngine):
    """Compiles each step of a Model once for each size of batch, and runs eagerly what cannot be compiled.

    Arguments:
        model: with its network, optimizer, loss and metrics.
    """

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._parts: tuple[Any, ...] = ()  # of the model, that the programs are made of
        self._steps: dict[Kind, CompiledStep] = {}
        self._eager: set[str] = set()  # what has turned out not to be compilable

    def _run(self, kind: Kind, tensors: list[Tensor]) -> Found:
        self._look()
        if kind.what in self._eager:
            return super()._run(kind, tensors)
        step = self._steps.get(kind) or self._steps.setdefault(kind, CompiledStep(self._whole, self._step, kind))
        try:
            first, second = step(tensors)
        except Exception as e:
            if raised_by_user(e):
                raise
            return self._as_it_is(kind, tensors, e)
        if step.storms():
            self._give_up(kind, f"{PROGRAMS} programs were needed for batches of one size, since data decide", None)
        return first, (second if step.measures else self._measures(kind, second, tensors))

    def _whole(self, kind: Kind, tensors: Any) -> Found:
        """Return a step with what metrics compute."""
        losses, outputs = self._step(kind, tensors)
        return losses, self._measures(kind, outputs, tensors)

    def _look(self) -> None:
        """Begin anew where the user has given the model another optimizer, loss, ..."""
        m = self.model
        parts = (m.network, m._optimizer, m._loss, m._scaler, *m._metrics)
        if len(parts) != len(self._parts) or any(a is not b for a, b in zip(parts, self._parts, strict=True)):
            self._parts, self._steps, self._eager = parts, {}, set()

    def _as_it_is(self, kind: Kind, tensors: list[Tensor], error: Exception) -> Found:
        """Run eagerly, which raises what is wrong with the user's code; if nothing is, the compiler fails."""
        found = super()._run(kind, tensors)
        self._give_up(kind, f"{type(error).__name__}: {str(error)[:400]}", error.__traceback__)
        return found

    def _give_up(self, kind: Kind, why: str, tb: TracebackType | None) -> None:
        self._eager.add(kind.what)
        place = _place(tb)
        warnings.warn(
            f"Model: batches to {kind.what} run eagerly, which is slower, since "
            f"{type(self.model.network).__name__} cannot be compiled{f' (at {place})' if place else ''}. Why: {why}. "
            "paddle.Model(..., eager=True) runs eagerly without this warning",
            stacklevel=6,
        )


class CompiledStep:
    """The programs of one kind of step.

    Arguments:
        whole: the step with what metrics compute.
        alone: the step without, for metrics whose compute() only Python can run.
    """

    def __init__(self, whole: Callable[..., Any], alone: Callable[..., Any], kind: Kind) -> None:
        self._alone, self._kind, self.measures = alone, kind, True
        self._program = _static(whole, kind)
        self._known, self._worked = 0, False

    def __call__(self, tensors: list[Tensor]) -> Any:
        """Run the program."""
        try:
            found = self._program(*tensors)
        except Exception as e:
            if raised_by_user(e) or self._worked or self._kind.what == "predict":
                raise
            self._program, self.measures = _static(self._alone, self._kind), False
            found = self._program(*tensors)
        self._worked = True
        return found

    def storms(self) -> bool:
        """True if batches of one size have made too many programs."""
        cache = self._program.cache
        if cache.count == self._known:
            return False
        self._known = cache.count
        return max(Counter(r.what for r in cache.history).values()) > PROGRAMS


class HostRandomError(RuntimeError):
    """A step draws random numbers of Python or NumPy, which a program would keep from its trace."""


def drawing_nothing(call: Callable[[], Any]) -> Any:
    """Return the result of a call while it is traced.

    Raises:
        HostRandomError: if it has drawn random numbers of Python or NumPy; their generators are put back.
    """
    with note_draws() as drawn:
        out = call()
    if not drawn.lines:
        return out
    drawn.put_back()
    what = ", ".join(f"{name} at {line}" for line, name in drawn.lines.items())
    raise HostRandomError(f"random numbers of Python or NumPy are drawn ({what}), which a program would draw only once")


def _static(function: Callable[..., Any], kind: Kind) -> StaticFunction:
    def step(*tensors: Tensor) -> Any:
        return drawing_nothing(lambda: function(kind, tensors))

    step.__name__ = f"{kind.what}_step"
    return StaticFunction(step, None, CompileOptions(full_graph=True))


def _place(tb: TracebackType | None) -> Where | None:
    """Return the user's innermost line of a traceback."""
    found = None
    while tb is not None:
        name = tb.tb_frame.f_code.co_filename
        if not is_own(name) and "-packages" not in name:
            found = Where(name, tb.tb_lineno)
        tb = tb.tb_next
    return found
