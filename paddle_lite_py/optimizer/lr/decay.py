"""Decay by a formula or in steps."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence

from .base import LRScheduler, function, positive


class NoamDecay(LRScheduler):
    """Schedule of the Transformer: linear warmup, then inverse square root decay (Vaswani et al., 2017).

    `lr = learning_rate * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)`

    Arguments:
        d_model: size of the model's hidden states.
        warmup_steps: number of steps in which the rate rises.
        learning_rate: factor of the rate. Default: 1.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> schedule = paddle.optimizer.lr.NoamDecay(d_model=100, warmup_steps=10)
        >>> schedule.step(); round(schedule(), 6)
        0.003162
    """

    def __init__(
        self, d_model: int, warmup_steps: int, learning_rate: float = 1.0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        positive("NoamDecay", d_model=d_model)
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See LRScheduler."""
        falling = 1.0 if self.last_epoch == 0 else self.last_epoch**-0.5
        return self.base_lr * self.d_model**-0.5 * min(falling, self.warmup_steps**-1.5 * self.last_epoch)


class PiecewiseDecay(LRScheduler):
    """Piecewise constant learning rate: values[i] before step boundaries[i], the last value after all boundaries.

    Arguments:
        boundaries: increasing step numbers at which the rate changes.
        values: the learning rates, one more than boundaries.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> schedule = paddle.optimizer.lr.PiecewiseDecay(boundaries=[1], values=[0.5, 0.1])
        >>> schedule(), schedule.step(), schedule()
        (0.5, None, 0.1)
    """

    def __init__(
        self, boundaries: Sequence[float], values: Sequence[float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        if len(values) != len(boundaries) + 1:
            raise ValueError(
                f"PiecewiseDecay: {len(boundaries)} boundaries need {len(boundaries) + 1} values, got {len(values)}"
            )
        self.boundaries, self.values = boundaries, values
        super().__init__(values[0], last_epoch, verbose)

    def get_lr(self) -> float:
        """See LRScheduler."""
        return self.values[sum(self.last_epoch >= b for b in self.boundaries)]


class _Gamma(LRScheduler):
    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)


class NaturalExpDecay(_Gamma):
    """Exponential decay: `lr = learning_rate * exp(-gamma * step)`.

    Arguments:
        gamma: decay rate.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.NaturalExpDecay(0.5, 0.1)()
        0.5
    """

    def get_lr(self) -> float:
        """See LRScheduler."""
        return self.base_lr * math.exp(-self.gamma * self.last_epoch)


class InverseTimeDecay(_Gamma):
    """Inverse time decay: `lr = learning_rate / (1 + gamma * step)`.

    Arguments:
        gamma: decay rate.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.InverseTimeDecay(0.5, 0.1)()
        0.5
    """

    def get_lr(self) -> float:
        """See LRScheduler."""
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class ExponentialDecay(_Gamma):
    """Geometric decay: `lr = learning_rate * gamma**step`.

    Arguments:
        gamma: factor of each step, in (0, 1).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.ExponentialDecay(0.5, 0.5)()
        0.5
    """

    def get_lr(self) -> float:
        """See LRScheduler."""
        return self.base_lr * self.gamma**self.last_epoch


class PolynomialDecay(LRScheduler):
    """Polynomial decay: `lr = (learning_rate - end_lr) * (1 - step / decay_steps)**power + end_lr`.

    Arguments:
        decay_steps: number of steps of the decay.
        end_lr: final learning rate. Default: 0.0001.
        power: exponent of the polynomial. Default: 1.0.
        cycle: after decay_steps steps, lengthen the decay to the next multiple of decay_steps instead of staying at
            end_lr. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.PolynomialDecay(0.5, 10)()
        0.5
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        positive("PolynomialDecay", decay_steps=decay_steps, power=power)
        self.decay_steps, self.end_lr, self.power, self.cycle = decay_steps, end_lr, power, cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See LRScheduler."""
        step, steps = self.last_epoch, self.decay_steps
        if self.cycle:
            steps = steps * max(1, math.ceil(step / steps))
        else:
            step = min(step, steps)
        return (self.base_lr - self.end_lr) * (1 - step / steps) ** self.power + self.end_lr


class StepDecay(LRScheduler):
    """Step decay: multiply the rate by gamma every step_size steps: `lr = learning_rate * gamma**(step // step_size)`.

    Arguments:
        step_size: number of steps between two decays.
        gamma: factor of each decay, below 1. Default: 0.1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> schedule = paddle.optimizer.lr.StepDecay(0.5, step_size=2, gamma=0.1)
        >>> schedule.step(); schedule.step(); schedule()
        0.05
    """

    def __init__(
        self, learning_rate: float, step_size: int, gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        positive("StepDecay", step_size=step_size)
        if gamma >= 1:
            raise ValueError(f"StepDecay: gamma is {gamma}; expected less than 1")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See LRScheduler."""
        return self.base_lr * self.gamma ** (self.last_epoch // self.step_size)


class MultiStepDecay(LRScheduler):
    """Step decay: multiply the rate by gamma at each milestone.

    Arguments:
        milestones: increasing step numbers at which the rate decays.
        gamma: factor of each decay, below 1. Default: 0.1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> schedule = paddle.optimizer.lr.MultiStepDecay(0.5, milestones=[1, 3], gamma=0.1)
        >>> schedule.step(); schedule()
        0.05
    """

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(milestones, list | tuple):
            raise TypeError(f"MultiStepDecay: milestones is a {type(milestones).__name__}; expected a list of steps")
        if sorted(set(milestones)) != list(milestones):
            raise ValueError(f"MultiStepDecay: milestones is {milestones}; expected growing numbers")
        if gamma >= 1:
            raise ValueError(f"MultiStepDecay: gamma is {gamma}; expected less than 1")
        self.milestones, self.gamma = milestones, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See LRScheduler."""
        return self.base_lr * self.gamma ** bisect_right(self.milestones, self.last_epoch)


class LambdaDecay(LRScheduler):
    """Schedule given by a function: `lr = learning_rate * lr_lambda(step)`.

    Arguments:
        lr_lambda: function from the step number to a factor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> schedule = paddle.optimizer.lr.LambdaDecay(0.5, lambda step: 1 / (1 + step))
        >>> schedule.step(); schedule()
        0.25
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        function("LambdaDecay", lr_lambda)
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See LRScheduler."""
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LRScheduler):
    """Schedule given by factors: `lr = learning_rate * lr_lambda(1) * ... * lr_lambda(step)`.

    Arguments:
        lr_lambda: function from the step number to the factor of this step.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.MultiplicativeDecay(0.5, lambda epoch: 0.9)()
        0.5
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        function("MultiplicativeDecay", lr_lambda)
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See LRScheduler."""
        return self.base_lr * math.prod(self.lr_lambda(step) for step in range(1, self.last_epoch + 1))
