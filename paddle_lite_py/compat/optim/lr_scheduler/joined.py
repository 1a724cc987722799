"""Schedules of schedules, and the one that watches a number."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from .base import LRScheduler, of_groups, outside_of_programs, stepped_by_runs
from .rates import first_rates, rates, set_rates


class SequentialLR(LRScheduler):
    """Several schedules one after the other, each from a step of its own.

    Arguments:
        schedulers: schedules of one optimizer.
        milestones: number of the first step of each schedule but the first one.

    Raises:
        ValueError: the numbers of schedules and of milestones do not fit.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> rates = paddle.compat.optim.lr_scheduler
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> both = [rates.ConstantLR(opt, 0.5), rates.ExponentialLR(opt, 0.5)]
        >>> schedule = rates.SequentialLR(opt, both, [1])
        >>> opt.get_lr(), schedule.step(), opt.get_lr(), schedule.step(), opt.get_lr()
        (0.5, None, 1.0, None, 0.5)
    """

    _hidden = ("optimizer", "_schedulers")

    def __init__(
        self, optimizer: Any, schedulers: Sequence[Any], milestones: Sequence[int], last_epoch: int = -1
    ) -> None:
        if len(milestones) != len(schedulers) - 1 or not schedulers:
            raise ValueError(
                f"SequentialLR: there are {len(schedulers)} schedulers and {len(milestones)} milestones; "
                "expected a milestone for each scheduler but the first one"
            )
        _of_one("SequentialLR", optimizer, schedulers)
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self.optimizer, self.last_epoch = optimizer, last_epoch + 1
        self.base_lrs = first_rates(optimizer, last_epoch)
        set_rates(optimizer, self.base_lrs)
        _undo(self)
        first = self._schedulers[bisect_right(self._milestones, 0)]
        first._first_step()
        self._last_lr = first.get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Step the schedule whose turn it is."""
        if stepped_by_runs(self, epoch):
            return
        if epoch is not None:
            raise ValueError(f"SequentialLR.step: epoch is {epoch}; expected None: it has no step of that number")
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        now = self._schedulers[i]
        now.step(*(0,) if i > 0 and self._milestones[i - 1] == self.last_epoch else ())
        self._last_lr = now.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """Return the attributes, and the states of the schedules."""
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from what state_dict() gave."""
        for schedule, saved in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            schedule.load_state_dict(saved)
        super().load_state_dict(state_dict)


class ChainedScheduler(SequentialLR):
    """Several schedules at the same time, each of which changes the rate that the one before left.

    Arguments:
        schedulers: schedules of one optimizer.
        optimizer: theirs. Default: that of the first schedule.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> rates = paddle.compat.optim.lr_scheduler
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = rates.ChainedScheduler([rates.ConstantLR(opt, 0.5), rates.ExponentialLR(opt, 0.5)])
        >>> opt.get_lr(), schedule.step(), opt.get_lr()
        (0.5, None, 0.25)
    """

    def __init__(self, schedulers: Sequence[Any], optimizer: Any = None) -> None:
        if not schedulers:
            raise ValueError("ChainedScheduler: there are no schedulers")
        self.optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        _of_one("ChainedScheduler", self.optimizer, schedulers)
        self._schedulers = list(schedulers)
        self._last_lr = self._schedulers[-1].get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Step all schedules."""
        if stepped_by_runs(self, epoch):
            return
        for schedule in self._schedulers:
            schedule.step(*() if epoch is None else (epoch,))
        self._last_lr = rates(self.optimizer)


class ReduceLROnPlateau(LRScheduler):
    """Lower the rate when a number has not improved for some steps.

    Arguments:
        mode: "min" (the number should fall) or "max". Default: 'min'.
        factor: of the rate. Default: 0.1.
        patience: number of steps without improvement that are allowed. Default: 10.
        threshold: what counts as an improvement. Default: 0.0001.
        threshold_mode: "rel" (a share of the best number) or "abs". Default: 'rel'.
        cooldown: number of steps after a change in which nothing is counted. Default: 0.
        min_lr: smallest rate, or a list of one for each group. Default: 0.0.
        eps: smallest change of the rate. Default: 1e-08.

    Raises:
        ValueError: factor is not below 1, or a mode is not known.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = paddle.compat.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=0)
        >>> schedule.step(1.0); schedule.step(1.0); opt.get_lr()
        0.5
    """

    def __init__(
        self,
        optimizer: Any,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0.0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1:
            raise ValueError(f"ReduceLROnPlateau: factor is {factor}; expected a number below 1")
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(
                f"ReduceLROnPlateau: mode is {mode!r} and threshold_mode {threshold_mode!r}; expected 'min' or 'max', "
                "and 'rel' or 'abs'"
            )
        self.mode, self.factor, self.patience, self.threshold = mode, factor, patience, threshold
        self.threshold_mode, self.cooldown, self.eps = threshold_mode, cooldown, eps
        self.min_lrs = [float(v) for v in of_groups("ReduceLROnPlateau", "min_lr", min_lr, optimizer)]
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = 0
        super().__init__(optimizer)

    def _first_step(self) -> None:
        self.last_epoch, self._last_lr = 0, self._now()

    def _is_better(self, number: float) -> bool:
        margin = self.threshold * (1 if self.mode == "max" else -1)
        best = self.best * (1 + margin) if self.threshold_mode == "rel" else self.best + margin
        return number > best if self.mode == "max" else number < best

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the number of a step into account."""
        outside_of_programs(self)
        number = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(number):
            self.best, self.num_bad_epochs = number, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown_counter - 1, 0
        if self.num_bad_epochs > self.patience:
            now = self._now()
            lower = [max(rate * self.factor, least) for rate, least in zip(now, self.min_lrs, strict=True)]
            set_rates(self.optimizer, [b if a - b > self.eps else a for a, b in zip(now, lower, strict=True)])
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._now()


def _of_one(who: str, optimizer: Any, schedulers: Sequence[Any]) -> None:
    for schedule in schedulers:
        if schedule.optimizer is not optimizer:
            raise ValueError(f"{who}: a {type(schedule).__name__} is of another optimizer; expected one for all")


def _undo(schedule: Any) -> None:
    """Take back the first steps of schedules inside, which were made when they were."""
    for inner in getattr(schedule, "_schedulers", ()):
        _undo(inner)
    if not hasattr(schedule, "_schedulers"):
        schedule.last_epoch -= 1
