"""A schedule that follows a metric."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...eager.tensor import Tensor
from .base import LRScheduler


class ReduceOnPlateau(LRScheduler):
    """Times `factor` when a metric has not become better for more than `patience` steps.

    Arguments:
        learning_rate: the first rate.
        mode: "min" or "max": which way is better.
        factor: below 1.
        patience: steps without a better value that are borne.
        threshold: what counts as better: by this part ("rel") or amount ("abs") of the best, as threshold_mode says.
        cooldown: steps after a reduction that are not counted.
        min_lr: the lowest rate.
        epsilon: a smaller change is not made.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> schedule = paddle.optimizer.lr.ReduceOnPlateau(0.5, factor=0.1, patience=1)
        >>> for loss in [1.0, 1.0, 1.0]:
        ...     schedule.step(loss)
        >>> schedule()
        0.05
    """

    _keys = ("cooldown_counter", "best", "num_bad_epochs")

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        if mode.lower() not in ("min", "max"):
            raise ValueError(f"ReduceOnPlateau: mode is {mode!r}; expected 'min' or 'max'")
        if threshold_mode.lower() not in ("rel", "abs"):
            raise ValueError(f"ReduceOnPlateau: threshold_mode is {threshold_mode!r}; expected 'rel' or 'abs'")
        if factor >= 1:
            raise ValueError(f"ReduceOnPlateau: factor is {factor}; expected less than 1")
        self.mode, self.threshold_mode, self.factor = mode.lower(), threshold_mode.lower(), factor
        self.patience, self.threshold, self.cooldown = patience, threshold, cooldown
        self.min_lr, self.epsilon = min_lr, epsilon
        self.cooldown_counter = self.num_bad_epochs = 0
        self.best: float | None = None
        super().__init__(learning_rate, -1, verbose)

    def get_lr(self) -> float:
        """See LRScheduler."""
        return self.last_lr

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take note of the metric, a number or a tensor of one element."""
        if isinstance(metrics, Tensor | np.ndarray) and metrics.size != 1:
            raise ValueError(
                f"ReduceOnPlateau.step: a metric of one element is expected, got the shape {list(metrics.shape)}"
            )
        value = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._better(value, self.best):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self._reduce()

    def _reduce(self) -> None:
        self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        lower = max(self.last_lr * self.factor, self.min_lr)
        if self.last_lr - lower > self.epsilon:
            self.last_lr = lower
            self._report()

    def _better(self, value: float, best: float) -> bool:
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return value < best - margin if self.mode == "min" else value > best + margin
