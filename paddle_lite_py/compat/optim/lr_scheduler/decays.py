"""Schedules whose rate falls, or rises, by factors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from .base import Factors, LRScheduler, of_groups


class StepLR(Factors):
    """Multiply the rate by gamma every step_size steps.

    Arguments:
        step_size: number of steps of one rate.
        gamma: the factor. Default: 0.1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = paddle.compat.optim.lr_scheduler.StepLR(opt, 1, 0.5)
        >>> schedule.step(); opt.get_lr()
        0.5
    """

    def __init__(self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma if self.last_epoch and self.last_epoch % self.step_size == 0 else 1.0

    def _get_closed_form_lr(self) -> list[float]:
        return [rate * self.gamma ** (self.last_epoch // self.step_size) for rate in self.base_lrs]


class MultiStepLR(Factors):
    """Multiply the rate by gamma at each of some steps.

    Arguments:
        milestones: numbers of the steps.
        gamma: the factor. Default: 0.1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = paddle.compat.optim.lr_scheduler.MultiStepLR(opt, [1, 3], 0.5)
        >>> schedule.step(); schedule.step(); opt.get_lr()
        0.5
    """

    def __init__(self, optimizer: Any, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return float(self.gamma ** self.milestones.get(self.last_epoch, 0))

    def _get_closed_form_lr(self) -> list[float]:
        passed = sum(n for milestone, n in self.milestones.items() if milestone <= self.last_epoch)
        return [rate * self.gamma**passed for rate in self.base_lrs]


class ExponentialLR(Factors):
    """Multiply the rate by gamma in each step.

    Arguments:
        gamma: the factor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = paddle.compat.optim.lr_scheduler.ExponentialLR(opt, 0.5)
        >>> schedule.step(); schedule.step(); opt.get_lr()
        0.25
    """

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma if self.last_epoch else 1.0

    def _get_closed_form_lr(self) -> list[float]:
        return [rate * self.gamma**self.last_epoch for rate in self.base_lrs]


class _Scaled(Factors):
    """A schedule whose rate is the initial one, times a factor of the number of the step."""

    def _scale(self, step: int) -> float:
        raise NotImplementedError

    def _factor(self) -> float:
        before = self._scale(self.last_epoch - 1) if self.last_epoch > 0 else 1.0
        return self._scale(self.last_epoch) / before if before else 0.0

    def _get_closed_form_lr(self) -> list[float]:
        return [rate * self._scale(self.last_epoch) for rate in self.base_lrs]


class ConstantLR(_Scaled):
    """Multiply the rate by a factor for some steps.

    Arguments:
        factor: of the first steps. Default: 1 / 3.
        total_iters: number of these steps. Default: 5.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = paddle.compat.optim.lr_scheduler.ConstantLR(opt, 0.5, 1)
        >>> opt.get_lr(), schedule.step(), opt.get_lr()
        (0.5, None, 1.0)
    """

    def __init__(self, optimizer: Any, factor: float = 1 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _scale(self, step: int) -> float:
        return self.factor if step < self.total_iters else 1.0


class LinearLR(_Scaled):
    """Multiply the rate by a factor that goes from start_factor to end_factor in total_iters steps.

    Arguments:
        start_factor: of the first step. Default: 1 / 3.
        end_factor: of step total_iters and all later ones. Default: 1.0.
        total_iters: number of steps of the change. Default: 5.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = paddle.compat.optim.lr_scheduler.LinearLR(opt, 0.5, total_iters=2)
        >>> schedule.step(); opt.get_lr()
        0.75
    """

    def __init__(
        self,
        optimizer: Any,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            raise ValueError(
                f"LinearLR: start_factor is {start_factor} and end_factor {end_factor}; expected numbers in [0, 1], "
                "the first above 0"
            )
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _scale(self, step: int) -> float:
        part = min(step, self.total_iters) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * part


class PolynomialLR(_Scaled):
    """Let the rate fall to 0 in total_iters steps: `rate * (1 - step / total_iters) ** power`.

    Arguments:
        total_iters: number of steps. Default: 5.
        power: of the polynomial. Default: 1.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = paddle.compat.optim.lr_scheduler.PolynomialLR(opt, 2)
        >>> schedule.step(); opt.get_lr()
        0.5
    """

    def __init__(self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _scale(self, step: int) -> float:
        return float((1 - min(step, self.total_iters) / self.total_iters) ** self.power)


class MultiplicativeLR(Factors):
    """Multiply the rate in each step by what a function of its number gives.

    Arguments:
        lr_lambda: the function, or a list of one for each group.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = paddle.compat.optim.lr_scheduler.MultiplicativeLR(opt, lambda step: 1 / step)
        >>> schedule.step(); schedule.step(); opt.get_lr()
        0.5
    """

    _hidden = ("optimizer", "lr_lambdas")

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.lr_lambdas = of_groups("MultiplicativeLR", "lr_lambda", lr_lambda, optimizer)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """See LRScheduler."""
        now = self._now()
        if self.last_epoch <= 0:
            return now
        return [rate * f(self.last_epoch) for rate, f in zip(now, self.lr_lambdas, strict=True)]


class LambdaLR(LRScheduler):
    """Multiply the initial rate by what a function of the number of the step gives.

    Arguments:
        lr_lambda: the function, or a list of one for each group.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> schedule = paddle.compat.optim.lr_scheduler.LambdaLR(opt, lambda step: 0.5 ** step)
        >>> schedule.step(); opt.get_lr()
        0.5
    """

    _hidden = ("optimizer", "lr_lambdas")

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.lr_lambdas = of_groups("LambdaLR", "lr_lambda", lr_lambda, optimizer)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """See LRScheduler."""
        return [rate * f(self.last_epoch) for rate, f in zip(self.base_lrs, self.lr_lambdas, strict=True)]
