"""Schedules along cosines and triangles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .base import LRScheduler, of_groups
from .rates import set_rates


class CosineAnnealingLR(LRScheduler):
    """Cosine annealing, from the initial rate to eta_min in T_max steps, and back up.

    Arguments:
        T_max: number of steps of the half period.
        eta_min: smallest rate. Default: 0.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = paddle.compat.optim.lr_scheduler.CosineAnnealingLR(opt, 2)
        >>> schedule.step(); round(opt.get_lr(), 6)
        0.5
    """

    def __init__(self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """See LRScheduler."""
        step, now = self.last_epoch, self._now()
        if step == 0:
            return now
        if (step - 1 - self.T_max) % (2 * self.T_max) == 0:
            up = (1 - math.cos(math.pi / self.T_max)) / 2
            return [rate + (first - self.eta_min) * up for rate, first in zip(now, self.base_lrs, strict=True)]
        factor = (1 + math.cos(math.pi * step / self.T_max)) / (1 + math.cos(math.pi * (step - 1) / self.T_max))
        return [(rate - self.eta_min) * factor + self.eta_min for rate in now]

    def _get_closed_form_lr(self) -> list[float]:
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (rate - self.eta_min) * height for rate in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine annealing that begins again, in periods each T_mult times longer than the one before.

    Arguments:
        T_0: number of steps of the first period.
        T_mult: factor of the length of each further period. Default: 1.
        eta_min: smallest rate. Default: 0.0.

    Raises:
        ValueError: T_0 or T_mult is not a positive integer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = paddle.compat.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 2)
        >>> schedule.step(); schedule.step(); opt.get_lr()
        1.0
    """

    def __init__(self, optimizer: Any, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"CosineAnnealingWarmRestarts: {name} is {value!r}; expected an integer of at least 1")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """See LRScheduler."""
        done, length = float(self.last_epoch), self.T_0
        if self.T_mult == 1:
            done %= length
        while done >= length:
            done, length = done - length, length * self.T_mult
        height = (1 + math.cos(math.pi * done / length)) / 2
        return [self.eta_min + (rate - self.eta_min) * height for rate in self.base_lrs]


_MOMENTUM = (
    "{}: cycle_momentum is True, and the momentum of an optimizer does not change here; write cycle_momentum=False"
)


class OneCycleLR(LRScheduler):
    """One cycle: up to max_lr, and down to a rate far below the initial one (Smith and Topin, 2017).

    Arguments:
        max_lr: the largest rate, or a list of one for each group.
        total_steps: number of all steps; None: epochs * steps_per_epoch.
        epochs: number of epochs.
        steps_per_epoch: number of steps of an epoch.
        pct_start: share of the steps in which the rate rises. Default: 0.3.
        anneal_strategy: "cos" or "linear". Default: 'cos'.
        cycle_momentum: False; the momentum does not change here. Default: True.
        div_factor: the initial rate is max_lr / div_factor. Default: 25.0.
        final_div_factor: the last rate is the initial one / final_div_factor. Default: 10000.0.
        three_phase: fall to the initial rate as fast as it rose, and then to the last one. Default: False.

    Raises:
        ValueError: cycle_momentum is True, or the number of steps is not known or exceeded.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = paddle.compat.optim.lr_scheduler.OneCycleLR(opt, 1.0, 10, cycle_momentum=False)
        >>> round(opt.get_lr(), 6)
        0.04
    """

    _hidden = ("optimizer", "_anneal")

    def __init__(
        self,
        optimizer: Any,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if cycle_momentum:
            raise ValueError(_MOMENTUM.format("OneCycleLR"))
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"OneCycleLR: anneal_strategy is {anneal_strategy!r}; expected 'cos' or 'linear'")
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("OneCycleLR: total_steps is None; expected it, or epochs and steps_per_epoch")
        self.total_steps = epochs * steps_per_epoch if total_steps is None else total_steps  # type: ignore[operator]
        top, end = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        low, last = 1 / div_factor, 1 / (div_factor * final_div_factor)
        stops = [(0.0, low), (top, 1.0), *([(2 * top + 0.0, low)] if three_phase else []), (float(end), last)]
        self._stops, self._anneal = stops, _cosine if anneal_strategy == "cos" else _straight
        self._max_lrs = [float(v) for v in of_groups("OneCycleLR", "max_lr", max_lr, optimizer)]
        if last_epoch == -1:
            set_rates(optimizer, [v * low for v in self._max_lrs])
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """See LRScheduler."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"OneCycleLR: step {step} is beyond total_steps, {self.total_steps}")
        pairs = [*zip(self._stops, self._stops[1:], strict=False)]
        (start, low), (end, high) = next((p for p in pairs if step <= p[1][0]), pairs[-1])
        height = self._anneal(low, high, (step - start) / (end - start))
        return [v * height for v in self._max_lrs]


class CyclicLR(LRScheduler):
    """Triangular waves between two rates (Smith, 2015).

    Arguments:
        base_lr: the lower rate, or a list of one for each group.
        max_lr: the upper rate, or a list of one for each group.
        step_size_up: number of steps of the rising half. Default: 2000.
        step_size_down: number of steps of the falling half; None: step_size_up.
        mode: "triangular", "triangular2" (half the height in each further cycle) or "exp_range" (the height times
            gamma ** step). Default: 'triangular'.
        gamma: for mode="exp_range". Default: 1.0.
        scale_fn: function that gives the factor of the height; it replaces mode. None: by mode.
        scale_mode: its argument: the number of the "cycle", or of the step ("iterations"). Default: 'cycle'.
        cycle_momentum: False; the momentum does not change here. Default: True.

    Raises:
        ValueError: cycle_momentum is True, or mode is not known.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = paddle.compat.optim.lr_scheduler.CyclicLR(opt, 0.5, 1.0, 2, cycle_momentum=False)
        >>> schedule.step(); opt.get_lr()
        0.75
    """

    _hidden = ("optimizer", "scale_fn")

    def __init__(
        self,
        optimizer: Any,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        last_epoch: int = -1,
    ) -> None:
        if cycle_momentum:
            raise ValueError(_MOMENTUM.format("CyclicLR"))
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"CyclicLR: mode is {mode!r}; expected 'triangular', 'triangular2' or 'exp_range'")
        self.mode, self.gamma, self.scale_fn = mode, gamma, scale_fn
        self.by_cycle = scale_mode == "cycle" if scale_fn else mode != "exp_range"
        self.total_size = float(step_size_up + (step_size_up if step_size_down is None else step_size_down))
        self.step_ratio = step_size_up / self.total_size
        self.max_lrs = [float(v) for v in of_groups("CyclicLR", "max_lr", max_lr, optimizer)]
        if last_epoch == -1:
            set_rates(optimizer, [float(v) for v in of_groups("CyclicLR", "base_lr", base_lr, optimizer)])
        super().__init__(optimizer, last_epoch)

    def _height(self, number: float) -> float:
        if self.scale_fn is not None:
            return float(self.scale_fn(number))
        return float({"triangular": 1.0, "triangular2": 0.5 ** (number - 1)}.get(self.mode, self.gamma**number))

    def get_lr(self) -> list[float]:
        """See LRScheduler."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        done = 1.0 + self.last_epoch / self.total_size - cycle
        part = done / self.step_ratio if done <= self.step_ratio else (done - 1) / (self.step_ratio - 1)
        height = part * self._height(cycle if self.by_cycle else self.last_epoch)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]


def _cosine(start: float, end: float, part: float) -> float:
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _straight(start: float, end: float, part: float) -> float:
    return (end - start) * part + start
