"""Decay when a metric stops improving."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.interpreter import state
from ...eager.tensor import Tensor
from ...ops.creation import zeros
from ...ops.search import where
from .base import LRScheduler, Number


class _Computed(Number):
    """A number that a static function may compute from tensors."""

    def __get__(self, schedule: Any, owner: Any = None) -> Any:
        return self if schedule is None else state.interpreter.attribute(schedule, self.name)

    def __set__(self, schedule: Any, value: Any) -> None:
        state.interpreter.set_attribute(schedule, self.name, value)


def _choose(condition: Any, a: Any, b: Any) -> Any:
    """Return the number a where the condition holds, else b."""
    if not isinstance(condition, Tensor):
        return a if condition else b
    kind = "int64" if _is_integer(a) and _is_integer(b) else "float64"
    return where(condition, *[zeros([], kind) + x for x in (a, b)]).item()


def _is_integer(number: Any) -> bool:
    return number.dtype.is_integer if isinstance(number, Tensor) else isinstance(number, int)


def _both(a: Any, b: Any) -> Any:
    """Whether both conditions hold, each a boolean of Python or a tensor."""
    if not isinstance(a, Tensor):
        return a and b
    return a.logical_and(b) if isinstance(b, Tensor) else b and a


class ReduceOnPlateau(LRScheduler):
    """Multiply the learning rate by `factor` when a metric has not improved for `patience` steps.

    Arguments:
        learning_rate: the initial learning rate.
        mode: "min" or "max": whether a smaller or a larger metric is better. Default: 'min'.
        factor: factor of each reduction, below 1. Default: 0.1.
        patience: number of steps without improvement that are tolerated. Default: 10.
        threshold: smallest change that counts as an improvement. Default: 0.0001.
        threshold_mode: "rel": the threshold is a fraction of the best metric; "abs": an absolute amount. Default:
            'rel'.
        cooldown: number of steps after a reduction in which the metric is ignored. Default: 0.
        min_lr: smallest learning rate. Default: 0.
        epsilon: reductions by less than this are not made. Default: 1e-08.
        verbose: print each new learning rate. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> schedule = paddle.optimizer.lr.ReduceOnPlateau(0.5, factor=0.1, patience=1)
        >>> for loss in [1.0, 1.0, 1.0]:
        ...     schedule.step(loss)
        >>> schedule()
        0.05
    """

    _keys = ("cooldown_counter", "best", "num_bad_epochs")
    # A metric may be a tensor of a static function, which then computes what follows from it.
    last_epoch, last_lr, best, num_bad_epochs, cooldown_counter = (_Computed() for _ in range(5))

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
        self.best = None
        super().__init__(learning_rate, -1, verbose)
        self._reported = self.last_lr

    def _begin(self) -> None:
        self._advance(None)

    def get_lr(self) -> float:
        """See LRScheduler."""
        return self.last_lr

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Record a metric, and reduce the learning rate if it has not improved for long enough.

        Arguments:
            metrics: the metric, a number or a tensor with one element.
            epoch: number of the step; None: the next.
        """
        if isinstance(metrics, Tensor | np.ndarray) and metrics.size != 1:
            raise ValueError(
                f"ReduceOnPlateau.step: a metric of one element is expected, got the shape {list(metrics.shape)}"
            )
        value = metrics.astype("float64").item() if isinstance(metrics, Tensor) else float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        waits = self.cooldown_counter > 0
        better = True if self.best is None else self._better(value, self.best)
        bad = _choose(better, 0, self.num_bad_epochs + 1)
        reduces = bad > self.patience
        lower = self.last_lr * self.factor
        lower = _choose(lower > self.min_lr, lower, self.min_lr)
        changes = _both(self.last_lr - lower > self.epsilon, _both(self.cooldown_counter <= 0, reduces))
        counter = self.cooldown_counter
        self.cooldown_counter = _choose(waits, counter - 1, _choose(reduces, self.cooldown, counter))
        self.best = _choose(waits, self.best, _choose(better, value, self.best))
        self.num_bad_epochs = _choose(waits, self.num_bad_epochs, _choose(reduces, 0, bad))
        self.last_lr = _choose(changes, lower, self.last_lr)
        if self.verbose:
            state.interpreter.after_run(self, ReduceOnPlateau._report_change)

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state_dict()."""
        super().set_state_dict(state_dict)
        self._reported = self.last_lr

    set_dict = set_state_dict

    def _report_change(self) -> None:
        if self.last_lr != self._reported:
            self._reported = self.last_lr
            self._report()

    def _better(self, value: float, best: float) -> bool:
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return value < best - margin if self.mode == "min" else value > best + margin
