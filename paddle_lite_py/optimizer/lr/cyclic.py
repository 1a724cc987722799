"""Cyclic and cosine schedules."""

from __future__ import annotations

import math
from collections.abc import Callable

from .base import LRScheduler, positive


def cosine(start: float, end: float, part: float) -> float:
    """Interpolate from start to end along half a cosine."""
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def straight(start: float, end: float, part: float) -> float:
    """Interpolate from start to end linearly."""
    return (end - start) * part + start


class CosineAnnealingDecay(LRScheduler):
    """Cosine annealing (Loshchilov and Hutter, 2016): from learning_rate to eta_min in T_max steps, and back up.

    `lr = eta_min + (learning_rate - eta_min) * (1 + cos(pi * step / T_max)) / 2`

    Arguments:
        learning_rate: the initial, and largest, learning rate.
        T_max: number of steps of the half period.
        eta_min: smallest learning rate. Default: 0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> schedule = paddle.optimizer.lr.CosineAnnealingDecay(0.5, T_max=2)
        >>> schedule.step(); round(schedule(), 4)
        0.25
    """

    def __init__(
        self, learning_rate: float, T_max: float, eta_min: float = 0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        positive("CosineAnnealingDecay", T_max=T_max)
        self.T_max, self.eta_min = T_max, float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See LRScheduler."""
        return cosine(self.base_lr, self.eta_min, self.last_epoch / self.T_max)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine annealing with warm restarts (Loshchilov and Hutter, 2016).

    The rate falls from learning_rate to eta_min in T_0 steps and restarts; each period is T_mult times longer than the
    one before.

    Arguments:
        learning_rate: the learning rate at each restart.
        T_0: number of steps of the first period.
        T_mult: factor of the length of each further period. Default: 1.
        eta_min: smallest learning rate. Default: 0.

    Raises:
        ValueError: if T_0 or T_mult is not a positive integer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.CosineAnnealingWarmRestarts(0.5, 5)()
        0.5
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"CosineAnnealingWarmRestarts: {name} is {value!r}; expected an integer of at least 1")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See LRScheduler."""
        done, length = self.last_epoch, self.T_0
        if self.T_mult == 1:
            done %= length
        while done >= length:
            done -= length
            length *= self.T_mult
        return cosine(self.base_lr, self.eta_min, done / length)


class OneCycleLR(LRScheduler):
    """One-cycle policy: warm up to max_learning_rate, then anneal to end_learning_rate (Smith and Topin, 2017).

    Arguments:
        max_learning_rate: the largest learning rate.
        total_steps: number of steps of the whole cycle.
        divide_factor: the initial rate is max_learning_rate / divide_factor. Default: 25.0.
        end_learning_rate: the final learning rate. Default: 0.0001.
        phase_pct: fraction of the steps in which the rate rises. Default: 0.3.
        anneal_strategy: "cos" or "linear". Default: 'cos'.
        three_phase: fall to the initial rate as fast as it rose, and then to the final rate. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.OneCycleLR(1.0, 10)().__round__(4)
        0.04
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        positive("OneCycleLR", total_steps=total_steps, max_learning_rate=max_learning_rate)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"OneCycleLR: anneal_strategy is {anneal_strategy!r}; expected 'cos' or 'linear'")
        if not 0 <= phase_pct <= 1:
            raise ValueError(f"OneCycleLR: phase_pct is {phase_pct}; expected a number in [0, 1]")
        first = max_learning_rate / divide_factor
        top = phase_pct * total_steps - 1
        stops = [(0.0, first), (top, max_learning_rate)]
        if three_phase:
            stops.append((2 * top, first))
        self._stops = [*stops, (total_steps - 1.0, end_learning_rate)]
        self.total_steps, self._anneal = total_steps, cosine if anneal_strategy == "cos" else straight
        super().__init__(first, last_epoch, verbose)

    def get_lr(self) -> float:
        """See LRScheduler."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"OneCycleLR: step {step} is beyond total_steps, {self.total_steps}")
        for (start, low), (end, high) in zip(self._stops, self._stops[1:], strict=False):
            if step <= end or end == self._stops[-1][0]:
                return self._anneal(low, high, (step - start) / (end - start))
        raise AssertionError("unreachable")


class CyclicLR(LRScheduler):
    """Cyclical learning rate: triangular waves between two rates (Smith, 2015).

    Arguments:
        base_learning_rate: lower bound.
        max_learning_rate: upper bound.
        step_size_up: number of steps of the rising half.
        step_size_down: number of steps of the falling half; None: step_size_up.
        mode: "triangular" (constant amplitude), "triangular2" (amplitude halved in each cycle) or "exp_range"
            (amplitude times exp_gamma**step). Default: 'triangular'.
        exp_gamma: base of the amplitude for mode="exp_range". Default: 1.0.
        scale_fn: function that returns the factor of the amplitude; it replaces mode. None: by mode.
        scale_mode: argument of scale_fn: the number of the "cycle", or of the step ("iterations"). Default: 'cycle'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.CyclicLR(0.1, 0.5, 4)()
        0.1
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"CyclicLR: mode is {mode!r}; expected 'triangular', 'triangular2' or 'exp_range'")
        if scale_mode not in ("cycle", "iterations"):
            raise ValueError(f"CyclicLR: scale_mode is {scale_mode!r}; expected 'cycle' or 'iterations'")
        down = step_size_up if step_size_down is None else step_size_down
        positive("CyclicLR", step_size_up=step_size_up, step_size_down=down)
        self.max_lr, self.cycle_size = float(max_learning_rate), float(step_size_up + down)
        self.amplitude, self.step_up_pct = self.max_lr - base_learning_rate, step_size_up / self.cycle_size
        self.mode, self.gamma, self.scale_fn = mode, exp_gamma, scale_fn or self._height
        self.scale_mode = scale_mode if scale_fn else "iterations" if mode == "exp_range" else "cycle"
        super().__init__(base_learning_rate, last_epoch, verbose)

    def _height(self, number: float) -> float:
        return {"triangular": 1.0, "triangular2": 0.5 ** (number - 1)}.get(self.mode, self.gamma**number)

    def get_lr(self) -> float:
        """See LRScheduler."""
        cycle = 1 + self.last_epoch // self.cycle_size
        done = 1.0 + self.last_epoch / self.cycle_size - cycle
        peak = self.step_up_pct
        part = done / peak if done <= peak else (1 - done) / (1 - peak)
        height = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        return self.base_lr + self.amplitude * part * height
