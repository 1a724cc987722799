"""Linear schedules and warmup."""

from __future__ import annotations

from typing import Any

from .base import LRScheduler, positive


class LinearWarmup(LRScheduler):
    """Linear warmup from start_lr to end_lr, followed by a constant rate or another schedule.

    Arguments:
        learning_rate: rate after the warmup, a float or an LRScheduler, which starts then.
        warmup_steps: number of steps of the warmup.
        start_lr: learning rate at the start of the warmup.
        end_lr: learning rate at its end.
        last_epoch: number of the last finished step, to resume a schedule; -1: start at the beginning. Default: -1.
        verbose: print each new learning rate. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> schedule = paddle.optimizer.lr.LinearWarmup(0.5, warmup_steps=2, start_lr=0.0, end_lr=0.5)
        >>> schedule(), schedule.step(), schedule()
        (0.0, None, 0.25)
    """

    def __init__(
        self,
        learning_rate: Any,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(learning_rate, int | float | LRScheduler):
            raise TypeError(
                f"LinearWarmup: learning_rate is {learning_rate!r:.60}; expected a number or an LRScheduler"
            )
        if end_lr <= start_lr:
            raise ValueError(f"LinearWarmup: end_lr is {end_lr}; expected more than start_lr, {start_lr}")
        self.learning_rate, self.warmup_steps, self.start_lr, self.end_lr = (
            learning_rate,
            warmup_steps,
            start_lr,
            end_lr,
        )
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        """See LRScheduler."""
        if self.last_epoch < self.warmup_steps:
            return (self.end_lr - self.start_lr) * self.last_epoch / self.warmup_steps + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate._advance(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return float(self.learning_rate)

    def state_dict(self) -> dict[str, Any]:
        """Return the state, including that of the schedule after the warmup."""
        out = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            out["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return out

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state_dict()."""
        super().set_state_dict(state_dict)
        if isinstance(self.learning_rate, LRScheduler) and "LinearWarmup_LR" in state_dict:
            self.learning_rate.set_state_dict(state_dict["LinearWarmup_LR"])


class LinearLR(LRScheduler):
    """Linear change of a factor: `lr = learning_rate * factor`, from start_factor to end_factor in total_steps steps.

    Arguments:
        learning_rate: the base learning rate.
        total_steps: number of steps of the change.
        start_factor: factor of the first step.
        end_factor: factor from step total_steps on. Default: 1.0.
        last_epoch: number of the last finished step, to resume a schedule; -1: start at the beginning. Default: -1.
        verbose: print each new learning rate. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.optimizer.lr.LinearLR(0.5, 10, start_factor=0.5)()
        0.25
    """

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        positive("LinearLR", total_steps=total_steps)
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            raise ValueError(f"LinearLR: start_factor {start_factor} and end_factor {end_factor} must be in [0, 1]")
        self.total_steps, self.start_factor, self.end_factor = total_steps, start_factor, end_factor
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """See LRScheduler."""
        done = min(self.last_epoch, self.total_steps) / self.total_steps
        return self.base_lr * (self.start_factor + (self.end_factor - self.start_factor) * done)
