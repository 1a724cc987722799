"""What Model calls at each point of training, evaluation and prediction."""

from __future__ import annotations

import numbers
import os
import time
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..optimizer.lr import LRScheduler as Scheduler

__all__ = [
    *("Callback", "EarlyStopping", "LRScheduler", "ModelCheckpoint", "ProgBarLogger", "ReduceLROnPlateau"),
]

Logs = dict[str, Any] | None


class Callback:
    """Base of callbacks: a subclass overrides what it wants to hear of; `self.model` is the Model.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Note(paddle.callbacks.Callback):
        ...     def on_epoch_end(self, epoch, logs=None):
        ...         print("epoch", epoch)
        >>> Note().on_epoch_end(3)
        epoch 3
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        """Told the settings of fit(), evaluate() or predict()."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Told the model."""
        self.model = model

    def on_train_begin(self, logs: Logs = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: Logs = None) -> None:
        """After the last epoch."""

    def on_eval_begin(self, logs: Logs = None) -> None:
        """Before an evaluation."""

    def on_eval_end(self, logs: Logs = None) -> None:
        """After an evaluation."""

    def on_predict_begin(self, logs: Logs = None) -> None:
        """Before a prediction."""

    def on_predict_end(self, logs: Logs = None) -> None:
        """After a prediction."""

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Before an epoch."""

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """After an epoch."""

    def on_train_batch_begin(self, step: int, logs: Logs = None) -> None:
        """Before a batch of training."""

    def on_train_batch_end(self, step: int, logs: Logs = None) -> None:
        """After a batch of training."""

    def on_eval_batch_begin(self, step: int, logs: Logs = None) -> None:
        """Before a batch of evaluation."""

    def on_eval_batch_end(self, step: int, logs: Logs = None) -> None:
        """After a batch of evaluation."""

    def on_predict_batch_begin(self, step: int, logs: Logs = None) -> None:
        """Before a batch of prediction."""

    def on_predict_batch_end(self, step: int, logs: Logs = None) -> None:
        """After a batch of prediction."""


class CallbackList:
    """Several callbacks as one."""

    def __init__(self, callbacks: Iterable[Callback], model: Any, params: dict[str, Any]) -> None:
        self.callbacks = list(callbacks)
        for callback in self.callbacks:
            callback.set_model(model)
            callback.set_params(params)

    def call(self, point: str, *args: Any) -> None:
        """Tell each of them: call("epoch_end", epoch, logs)."""
        for callback in self.callbacks:
            getattr(callback, f"on_{point}")(*args)


def _text(logs: dict[str, Any]) -> str:
    parts = []
    for key, value in logs.items():
        if key in ("step", "batch_size"):
            continue
        numeric = isinstance(value, list | np.ndarray | numbers.Number)
        values = [float(v) for v in np.asarray(value).ravel()] if numeric else []
        parts.append(f"{key}: {' '.join(f'{v:.4f}' for v in values)}" if values else f"{key}: {value}")
    return " - ".join(parts)


class ProgBarLogger(Callback):
    """Prints the losses and metrics.

    Arguments:
        log_freq: batches between two lines.
        verbose: 0: nothing, 1: a line for each epoch, 2: and for each log_freq batches.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.callbacks.ProgBarLogger(log_freq=10).log_freq
        10
    """

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        super().__init__()
        self.log_freq, self.verbose = log_freq, verbose
        self._since = 0.0

    def _begin(self) -> None:
        self._since = time.perf_counter()

    def _line(self, kind: str, step: int, logs: Logs, last: bool = False) -> None:
        steps = self.params.get("steps")
        chosen = last if self.verbose == 1 else self.verbose > 1 and (last or (step + 1) % self.log_freq == 0)
        if chosen:
            of = f"/{steps}" if steps else ""
            speed = (time.perf_counter() - self._since) / (step + 1) * 1000
            print(f"{kind}step {step + 1}{of} - {_text(logs or {})} - {speed:.0f}ms/step")

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Print the number of the epoch."""
        self._begin()
        if self.verbose:
            print(f"Epoch {epoch + 1}/{self.params.get('epochs')}")

    def on_train_batch_end(self, step: int, logs: Logs = None) -> None:
        """Print a line now and then."""
        if self.verbose > 1:
            self._line("", step, logs)

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Print the last line of the epoch."""
        self._line("", (logs or {}).get("step", 0), logs, last=True)

    def on_eval_begin(self, logs: Logs = None) -> None:
        """Start the clock."""
        self._begin()
        if self.verbose:
            print("Eval begin...")

    def on_eval_end(self, logs: Logs = None) -> None:
        """Print the result."""
        if self.verbose:
            print(f"Eval - {_text(logs or {})}")

    def on_predict_begin(self, logs: Logs = None) -> None:
        """Start the clock."""
        self._begin()

    def on_predict_end(self, logs: Logs = None) -> None:
        """Print how many batches there were."""
        if self.verbose:
            self._line("Predict ", (logs or {}).get("step", 0), {}, last=True)


class ModelCheckpoint(Callback):
    """Saves the model after each save_freq epochs, as save_dir/epoch, and at the end as save_dir/final.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.callbacks.ModelCheckpoint(save_freq=2, save_dir="models").save_freq
        2
    """

    def __init__(self, save_freq: int = 1, save_dir: str | None = None) -> None:
        super().__init__()
        self.save_freq, self.save_dir = save_freq, save_dir

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Save."""
        if self.save_dir and (epoch + 1) % self.save_freq == 0:
            self.model.save(os.path.join(self.save_dir, str(epoch)))

    def on_train_end(self, logs: Logs = None) -> None:
        """Save."""
        if self.save_dir:
            self.model.save(os.path.join(self.save_dir, "final"))


class LRScheduler(Callback):
    """Steps the optimizer's scheduler after each batch (by_step) or epoch (by_epoch).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.callbacks.LRScheduler(by_step=False, by_epoch=True).by_epoch
        True
    """

    def __init__(self, by_step: bool = True, by_epoch: bool = False) -> None:
        super().__init__()
        if by_step and by_epoch:
            raise ValueError("LRScheduler: choose one of by_step and by_epoch")
        self.by_step, self.by_epoch = by_step, by_epoch

    def _step(self) -> None:
        rate = getattr(self.model._optimizer, "_learning_rate", None)
        if isinstance(rate, Scheduler):
            rate.step()

    def on_train_batch_end(self, step: int, logs: Logs = None) -> None:
        """Step, if by_step."""
        if self.by_step:
            self._step()

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Step, if by_epoch."""
        if self.by_epoch:
            self._step()


class _Monitor(Callback):
    """Base of those that watch a number of the evaluation."""

    def __init__(self, monitor: str, mode: str, min_delta: float) -> None:
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"{type(self).__name__}: mode is {mode!r}; 'auto' is used", stacklevel=3)
            mode = "auto"
        self.monitor, self.min_delta = monitor, abs(min_delta)
        self._rises = mode == "max" or (mode == "auto" and "acc" in monitor)
        self.best = -np.inf if self._rises else np.inf

    def _better(self, value: float) -> bool:
        return value - self.min_delta > self.best if self._rises else value + self.min_delta < self.best

    def _value(self, logs: Logs) -> float | None:
        if self.monitor not in (logs or {}):
            warnings.warn(f"{type(self).__name__}: '{self.monitor}' is not evaluated; nothing is done", stacklevel=2)
            return None
        return float(np.ravel((logs or {})[self.monitor])[0])


class EarlyStopping(_Monitor):
    """Stops training when a number of the evaluation does not improve any more.

    Arguments:
        monitor: its name: "loss", or that of a metric.
        mode: "min", "max" or "auto": metrics of accuracy should rise.
        patience: evaluations without improvement to wait for.
        min_delta: what counts as improvement.
        baseline: the number to improve on at first.
        save_best_model: save the best state as best_model in fit()'s save_dir.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.callbacks.EarlyStopping("acc", mode="max", patience=2).patience
        2
    """

    def __init__(
        self,
        monitor: str = "loss",
        mode: str = "auto",
        patience: int = 0,
        verbose: int = 1,
        min_delta: float = 0,
        baseline: float | None = None,
        save_best_model: bool = True,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline, self.save_best_model = patience, verbose, baseline, save_best_model
        self.save_dir: str | None = None
        self.wait_epoch = self.stopped_epoch = 0

    def on_train_begin(self, logs: Logs = None) -> None:
        """Start anew."""
        self.wait_epoch = 0
        self.best = self.baseline if self.baseline is not None else -np.inf if self._rises else np.inf

    def on_eval_end(self, logs: Logs = None) -> None:
        """Look at the number."""
        value = self._value(logs)
        if value is None:
            return
        if self._better(value):
            self.best, self.wait_epoch = value, 0
            if self.save_best_model and self.save_dir is not None:
                self.model.save(os.path.join(self.save_dir, "best_model"))
        else:
            self.wait_epoch += 1
        if self.wait_epoch > self.patience:
            self.model.stop_training = True
            if self.verbose:
                print(f"EarlyStopping: '{self.monitor}' has not improved on {self.best:.5f}; training stops")
        self.stopped_epoch += 1


class ReduceLROnPlateau(_Monitor):
    """Lowers the learning rate when a number of the evaluation does not improve any more.

    Arguments:
        monitor, mode, min_delta: as in EarlyStopping.
        factor: what the learning rate is multiplied with.
        patience: evaluations without improvement to wait for.
        cooldown: evaluations to wait after a change.
        min_lr: the lowest learning rate.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.callbacks.ReduceLROnPlateau("loss", factor=0.5).factor
        0.5
    """

    def __init__(
        self,
        monitor: str = "loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 1,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau: factor is {factor}; expected less than 1")
        self.factor, self.patience, self.verbose, self.cooldown, self.min_lr = (
            factor,
            patience,
            verbose,
            cooldown,
            min_lr,
        )
        self.cooldown_counter = self.wait = self.epoch = 0

    def in_cooldown(self) -> bool:
        """True soon after a change."""
        return self.cooldown_counter > 0

    def on_eval_end(self, logs: Logs = None) -> None:
        """Look at the number."""
        value = self._value(logs)
        if value is None:
            return
        self.epoch += 1
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._better(value):
            self.best, self.wait = value, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._lower()

    def _lower(self) -> None:
        optimizer = self.model._optimizer
        if isinstance(optimizer._learning_rate, Scheduler):
            warnings.warn("ReduceLROnPlateau: the optimizer's scheduler sets the rate; nothing is done", stacklevel=2)
            return
        old = optimizer.get_lr()
        new = max(old * self.factor, self.min_lr)
        if new < old:
            optimizer.set_lr(new)
            self.cooldown_counter, self.wait = self.cooldown, 0
            if self.verbose:
                print(f"Epoch {self.epoch}: ReduceLROnPlateau reducing learning rate to {new}.")
