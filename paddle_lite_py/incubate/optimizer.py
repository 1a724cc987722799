"""Optimizers around optimizers: parameters that look ahead, and their averages over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..core.argument_docs import document as _document
from ..core.interpreter import no_grad, use
from ..core.no_effect import AT_HAND, Immaterial, Refused, no_effect
from ..eager.execute import EAGER
from ..eager.tensor import Tensor
from ..ops.creation import zeros
from ..ops.search import where
from ..optimizer import LBFGS

__all__ = ["LBFGS", "LookAhead", "ModelAverage"]


def _count() -> Tensor:
    """Return a counter that static functions and conditions count in as well."""
    return zeros([], "int64")


class LookAhead:
    """Lookahead optimizer: every k steps, slow weights move toward the parameters, which restart from there.

    `slow = slow + alpha * (parameter - slow)`, and the parameter becomes `slow`.

    Other attributes are those of the inner optimizer.

    Arguments:
        inner_optimizer: the optimizer that updates the parameters at each step.
        alpha: step size of the slow weights, from 0 to 1. Default: 0.5.
        k: number of steps between two updates of the slow weights. Default: 5.

    Raises:
        ValueError: if alpha or k are out of range.

    Source: Zhang et al., Lookahead Optimizer: k steps forward, 1 step back, 2019.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.incubate.LookAhead(paddle.optimizer.SGD(0.1, [w]), alpha=0.5, k=2)
        >>> for _ in range(3):
        ...     w.sum().backward(); opt.step(); opt.clear_grad(); print(round(w.item(), 2))
        0.9
        0.85
        0.75
    """

    def __init__(self, inner_optimizer: Any, alpha: float = 0.5, k: int = 5, name: str | None = None) -> None:
        if not 0.0 <= alpha <= 1.0 or not isinstance(k, int) or k < 1:
            raise ValueError(f"LookAhead: alpha is {alpha} and k {k!r}; expected a number from 0 to 1 and a count")
        self.inner_optimizer, self.alpha, self.k = inner_optimizer, alpha, k
        self._slow: dict[int, Tensor] = {}
        self._steps = _count()

    def __getattr__(self, name: str) -> Any:
        if name == "inner_optimizer":
            raise AttributeError(name)
        return getattr(self.inner_optimizer, name)

    @no_grad()
    def step(self) -> None:
        """A step of the inner optimizer, and the way back where it is due."""
        self.inner_optimizer.step()
        self._follow()

    def _follow(self) -> None:
        self._steps.set_value(self._steps + 1)
        begins, is_due = self._steps.equal(1), (self._steps % self.k).equal(0)
        for p in self.inner_optimizer._parameter_list:
            if p.stop_gradient:
                continue
            slow = self._slow_of(p)
            start = where(begins, p, slow)
            now = where(is_due, p * self.alpha + start * (1.0 - self.alpha), p)
            slow.set_value(where(is_due, now, start))
            p.set_value(now)

    def _slow_of(self, p: Any) -> Tensor:
        if id(p) not in self._slow:
            with use(EAGER):  # state, also where a static function comes here first
                self._slow[id(p)] = zeros(p.shape, p.dtype)
        return self._slow[id(p)]

    @no_grad()
    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> Any:
        """step(), after the user's loss.backward(); the arguments are those of the inner optimizer."""
        made = self.inner_optimizer.minimize(loss, startup_program, parameters, no_grad_set)
        self._follow()
        return made


class ModelAverage:
    """Averages of parameters over the last steps, which apply() puts in their place for a while.

    Arguments:
        average_window_rate: the window as part of all steps so far.
        parameters: of which averages are kept.
        min_average_window, max_average_window: bounds of the window, in steps.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(0.0))
        >>> average = paddle.incubate.ModelAverage(0.5, [w], min_average_window=4, max_average_window=8)
        >>> for value in (1.0, 2.0, 6.0):
        ...     w.set_value(paddle.to_tensor([value])); average.step()
        >>> with average.apply():
        ...     print(w.item())
        3.0
        >>> w.item()
        6.0
    """

    def __init__(
        self, average_window_rate: float, parameters: Iterable[Any] | None = None, min_average_window: int = 10000,
        max_average_window: int = 10000, name: str | None = None,
    ) -> None:  # fmt: skip
        if parameters is None:
            raise ValueError("ModelAverage: parameters is None; expected those of a layer, as from layer.parameters()")
        self._rate, self._least, self._most = average_window_rate, min_average_window, max_average_window
        self._parameters = [p for p in parameters if not p.stop_gradient]
        self._sums = [p.detach() * 0 for p in self._parameters]
        self._old = [p.detach() * 0 for p in self._parameters]  # of the window before
        self._count, self._old_count, self._updates = _count(), _count(), _count()
        self._kept: list[Any] = []

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Clear the gradients of the parameters; True sets them to zero, False removes them."""
        for p in self._parameters:
            p.clear_gradient(set_to_zero)

    def state_dict(self) -> dict[str, Tensor]:
        """Return the sums and counts, by which set_state_dict() goes on.

        Returns:
            Tensors by the names of the parameters and of what they are, such as "w_0_sum_1".
        """
        counts = {"num_accumulates": self._count, "old_num_accumulates": self._old_count, "num_updates": self._updates}
        sums = {f"{p.name}_sum_1": total for p, total in zip(self._parameters, self._sums, strict=True)}
        old = {f"{p.name}_sum_3": total for p, total in zip(self._parameters, self._old, strict=True)}
        return {**sums, **old, **counts}

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from what state_dict() returned.

        Raises:
            KeyError: the state of a parameter is missing.
        """
        for name, kept in self.state_dict().items():
            if name not in state_dict:
                raise KeyError(f"ModelAverage: the state has no {name!r}; it has {sorted(state_dict)[:6]}")
            kept.set_value(state_dict[name])

    @no_grad()
    def step(self) -> None:
        """Take in the parameters as they are."""
        self._updates.set_value(self._updates + 1)
        count = self._count + 1
        window = (self._updates.astype("float64") * self._rate).clip(max=float(self._most))
        is_full = (count >= self._least).logical_and(count.astype("float64") >= window)
        for p, total, old in zip(self._parameters, self._sums, self._old, strict=True):
            now = total + p
            old.set_value(where(is_full, now, old))
            total.set_value(where(is_full, now * 0, now))
        self._old_count.set_value(where(is_full, count, self._old_count))
        self._count.set_value(where(is_full, count * 0, count))

    @no_effect(
        loss=Immaterial("averages are of parameters as they are"),
        startup_program=Immaterial("averages begin with the object"),
        parameters=Refused("averages are of the parameters that ModelAverage was made with"),
        no_grad_set=Immaterial("no gradient is taken"),
    )
    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> Any:
        """step()."""
        self.step()
        return [], []

    @contextmanager
    @no_effect(executor=AT_HAND)
    def apply(self, executor: Any = None, need_restore: bool = True) -> Iterator[None]:
        """Replace the parameters by their averages in the block, and restore them afterwards by default."""
        self._kept = [p.detach().clone() for p in self._parameters]
        total = max(int(self._count + self._old_count), 1)
        for p, s, o in zip(self._parameters, self._sums, self._old, strict=True):
            p.set_value((s + o) / total)
        try:
            yield
        finally:
            if need_restore:
                self.restore()

    @no_effect(executor=AT_HAND)
    def restore(self, executor: Any = None) -> None:
        """The parameters as they were before apply()."""
        for p, value in zip(self._parameters, self._kept, strict=True):
            p.set_value(value)


_document(globals())
