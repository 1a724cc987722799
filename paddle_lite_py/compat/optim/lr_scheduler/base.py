"""Base class of the schedules that torch has, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....core.errors import DataDependentError, user_frame
from ....core.interpreter import state
from ....optimizer.lr.base import Number
from .rates import first_rates, rates, set_rates


class GroupRates(Number):
    """A list of numbers that steps of a schedule change: inside a static function, those of each run."""

    def __get__(self, schedule: Any, owner: Any = None) -> Any:
        if schedule is None or state.interpreter.is_eager:
            return super().__get__(schedule, owner)
        return [state.interpreter.number(schedule, self._nth(i)) for i in range(len(schedule.__dict__[self.name]))]

    def _nth(self, i: int) -> Callable[[Any], float]:
        return lambda schedule: float(schedule.__dict__[self.name][i])


class LRScheduler:
    """Base class of schedules: each step() sets the rates that get_lr() gives.

    A subclass defines get_lr(), which returns a list with the rate of each group, from `self.base_lrs` and
    `self.last_epoch`, the number of the step.

    Arguments:
        optimizer: whose rate is set.
        last_epoch: number of the last finished step, to resume; -1: start at the beginning. Default: -1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Halving(paddle.compat.optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [rate * 0.5 ** self.last_epoch for rate in self.base_lrs]
        >>> opt = paddle.optimizer.SGD(0.5, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = Halving(opt)
        >>> schedule.step(); opt.get_lr(), schedule.get_last_lr()
        (0.25, [0.25])
    """

    _hidden: tuple[str, ...] = ("optimizer",)  # what a state_dict() does not hold
    last_epoch, _last_lr = Number(), GroupRates()

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        self.optimizer, self.last_epoch = optimizer, last_epoch
        self.base_lrs = first_rates(optimizer, last_epoch)
        self._last_lr = self.base_lrs
        self._first_step()

    def _first_step(self) -> None:
        self.step()

    def _now(self) -> list[float]:
        """Return the rates that the optimizer has, which the steps of other schedules may have changed."""
        return rates(self.optimizer)

    def _set(self, values: Sequence[float]) -> None:
        set_rates(self.optimizer, [float(v) for v in values])
        self._last_lr = rates(self.optimizer)

    def step(self, epoch: int | None = None) -> None:
        """Set the rates of the next step, or those of step `epoch`; in a static function, after each run of it."""
        if stepped_by_runs(self, epoch):
            return
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed: Any = getattr(self, "_get_closed_form_lr", None)
        self._set(self.get_lr() if epoch is None or closed is None else closed())

    def get_lr(self) -> list[float]:
        """Return the rate of each group at step `last_epoch`; every subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} has no get_lr()")

    def get_last_lr(self) -> list[float]:
        """Return the rates that the last step set."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer and functions."""
        return {k: getattr(self, k) for k in vars(self) if k not in self._hidden}

    def _held(self, name: str) -> Any:
        return self.__dict__[name]

    def forked(self) -> Any:
        """Return what a program reads numbers from: a copy that cannot step, since that would change the optimizer."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, step=self._read_after_step)
        return made

    def _read_after_step(self, *_arguments: Any) -> None:
        raise DataDependentError(
            f"{user_frame()} reads a {type(self).__name__} after its step() in the same static function: read it before"
        )

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from what state_dict() gave, with the rate that it had set."""
        outside_of_programs(self, "load_state_dict")
        vars(self).update({k: v for k, v in state_dict.items() if k not in self._hidden})
        self._set(self._last_lr)


class Factors(LRScheduler):
    """A schedule whose steps multiply the rate, so that several of them may act on one optimizer."""

    def _factor(self) -> float:
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        """See LRScheduler."""
        factor = self._factor()
        return [rate * factor for rate in self._now()]


def stepped_by_runs(schedule: Any, epoch: int | None) -> bool:
    """Return whether a static function is traced: each run of its program steps the schedule, as Python, at its end."""
    if state.interpreter.is_eager:
        return False
    if hasattr(schedule.optimizer, "param_groups"):
        outside_of_programs(schedule)
    if epoch is None:
        state.interpreter.advance(schedule, _step, True)
    else:
        state.interpreter.advance(schedule, lambda s: s.step(epoch))
    return True


def _step(schedule: LRScheduler) -> None:
    schedule.step()


def outside_of_programs(schedule: Any, method: str = "step") -> None:
    """Break the graph of a static function that changes a schedule in a way that its program cannot repeat."""
    if not state.interpreter.is_eager:
        raise DataDependentError(
            f"{type(schedule).__name__}.{method}() at {user_frame()} changes Python numbers: call it outside of the "
            "static function"
        )


def of_groups(who: str, name: str, value: Any, optimizer: Any) -> list[Any]:
    """Return a list with a value for each group of the optimizer."""
    n = len(rates(optimizer))
    values = list(value) if isinstance(value, list | tuple) else [value] * n
    if len(values) != n:
        raise ValueError(f"{who}: {name} has {len(values)} values; expected {n}, the number of groups")
    return values
