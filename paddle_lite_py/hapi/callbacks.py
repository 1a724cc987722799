"""Callbacks of Model: called at each point of training, evaluation and prediction."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..optimizer.lr import LRScheduler as Scheduler

__all__ = [
    *("Callback", "EarlyStopping", "LRScheduler", "ModelCheckpoint", "ReduceLROnPlateau"),
]

Logs = dict[str, Any] | None


class Callback:
    """Base class of callbacks: override the methods of the events of interest; `self.model` is the Model.

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
        """Receive the settings of fit(), evaluate() or predict(), a dict."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Receive the Model."""
        self.model = model

    def state_dict(self) -> dict[str, Any]:
        """Return the state to store in checkpoints, a dict of plain values."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Load a state_dict()."""

    def reads_logs(self, step: int) -> bool:
        """Return whether the callback reads the losses and metrics of batch `step`.

        They are copied from the device only then; return False where they are not needed, so that training does not
        wait for the device after each batch.
        """
        return True

    def on_train_begin(self, logs: Logs = None) -> None:
        """Called before the first epoch."""

    def on_train_end(self, logs: Logs = None) -> None:
        """Called after the last epoch."""

    def on_eval_begin(self, logs: Logs = None) -> None:
        """Called before an evaluation."""

    def on_eval_end(self, logs: Logs = None) -> None:
        """Called after an evaluation; `logs` has the losses and metrics."""

    def on_predict_begin(self, logs: Logs = None) -> None:
        """Called before a prediction."""

    def on_predict_end(self, logs: Logs = None) -> None:
        """Called after a prediction."""

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Called before each epoch."""

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Called after each epoch; `logs` has the losses and metrics."""

    def on_train_batch_begin(self, step: int, logs: Logs = None) -> None:
        """Called before each training batch."""

    def on_train_batch_end(self, step: int, logs: Logs = None) -> None:
        """Called after each training batch; `logs` has the losses and metrics."""

    def on_eval_batch_begin(self, step: int, logs: Logs = None) -> None:
        """Called before each evaluation batch."""

    def on_eval_batch_end(self, step: int, logs: Logs = None) -> None:
        """Called after each evaluation batch."""

    def on_predict_batch_begin(self, step: int, logs: Logs = None) -> None:
        """Called before each prediction batch."""

    def on_predict_batch_end(self, step: int, logs: Logs = None) -> None:
        """Called after each prediction batch."""


class CallbackList:
    """List of callbacks that are called together."""

    def __init__(self, callbacks: Iterable[Callback], model: Any, params: dict[str, Any]) -> None:
        self.callbacks = list(callbacks)
        self._listeners: dict[str, list[Callback]] = {}
        for callback in self.callbacks:
            callback.set_model(model)
            callback.set_params(params)

    def state_dict(self) -> dict[str, Any]:
        """Return the states of all callbacks, by position."""
        return {str(i): c.state_dict() for i, c in enumerate(self.callbacks)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Load a state_dict()."""
        for i, c in enumerate(self.callbacks):
            c.load_state_dict(state.get(str(i), {}))

    def call(self, point: str, *args: Any) -> None:
        """Call an event of all callbacks, such as `call("epoch_end", epoch, logs)`."""
        for callback in self.listens(point):
            try:
                getattr(callback, f"on_{point}")(*args)
            except Exception as e:
                at = f"({args[0]})" if args and isinstance(args[0], int) else "()"
                e.add_note(f"in on_{point}{at} of the callback {type(callback).__name__}")
                raise

    def listens(self, point: str) -> list[Callback]:
        """Return the callbacks that define an event."""
        if point not in self._listeners:
            plain = getattr(Callback, f"on_{point}")
            self._listeners[point] = [
                c for c in self.callbacks if getattr(getattr(c, f"on_{point}"), "__func__", None) is not plain
            ]
        return self._listeners[point]

    def reads(self, point: str, step: int) -> bool:
        """Return whether a callback reads the losses and metrics of a batch."""
        return any(not _answers_for(c, point) or c.reads_logs(step) for c in self.listens(point))


def _answers_for(callback: Callback, point: str) -> bool:
    """Whether reads_logs() of a callback speaks of what it does at a point: no subclass does more there."""
    if f"on_{point}" in vars(callback):
        return False
    kinds = type(callback).__mro__
    first = [next(i for i, k in enumerate(kinds) if name in vars(k)) for name in (f"on_{point}", "reads_logs")]
    return first[0] >= first[1]


class ModelCheckpoint(Callback):
    """Save the model every save_freq epochs as save_dir/epoch, and at the end as save_dir/final.

    Arguments:
        save_freq: number of epochs between two checkpoints. Default: 1.
        save_dir: the folder; None: do not save.

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
    """Call step() of the optimizer's learning rate schedule after each batch or each epoch.

    Arguments:
        by_step: step after each batch. Default: True.
        by_epoch: step after each epoch. Default: False.

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

    def reads_logs(self, _step: int) -> bool:
        """No."""
        return False

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
        self._rises = mode == "max" or (mode == "auto" and "acc" in monitor)
        # A value is better where monitor_op(value - min_delta, best).
        self.monitor, self.min_delta = monitor, abs(min_delta) if self._rises else -abs(min_delta)
        self.monitor_op = np.greater if self._rises else np.less
        self.best = -np.inf if self._rises else np.inf

    # The values seen so far: numbers.
    seen: tuple[str, ...] = ()

    def state_dict(self) -> dict[str, Any]:
        """Return the best number, and how long it has waited."""
        return {name: float(getattr(self, name)) for name in self.seen}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        for name, value in state.items():
            setattr(self, name, value if name == "best" else int(value))

    def _better(self, value: float) -> bool:
        return bool(self.monitor_op(value - self.min_delta, self.best))

    def _value(self, logs: Logs) -> float | None:
        if self.monitor not in (logs or {}):
            warnings.warn(f"{type(self).__name__}: '{self.monitor}' is not evaluated; nothing is done", stacklevel=2)
            return None
        return float(np.ravel((logs or {})[self.monitor])[0])


class EarlyStopping(_Monitor):
    """Stop training when a monitored value of the evaluation no longer improves.

    Arguments:
        monitor: name of the value: "loss" or the name of a metric. Default: 'loss'.
        mode: "min", "max" or "auto" ("max" for names that contain "acc"). Default: 'auto'.
        patience: number of evaluations without improvement after which training stops; 0 acts as 1. Default: 0.
        verbose: 0: silent, 1: print when training stops. Default: 1.
        min_delta: smallest change that counts as an improvement. Default: 0.
        baseline: value to improve on at first; None: none.
        save_best_model: save the best state as best_model in the save_dir of fit(). Default: True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.callbacks.EarlyStopping("acc", mode="max", patience=2).patience
        2
    """

    seen = ("best", "wait_epoch", "stopped_epoch")

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
            self._wait()
        self.stopped_epoch += 1

    def _wait(self) -> None:
        self.wait_epoch += 1
        if self.wait_epoch >= self.patience:
            self.model.stop_training = True
            if self.verbose:
                print(f"EarlyStopping: '{self.monitor}' has not improved on {self.best:.5f}; training stops")


class ReduceLROnPlateau(_Monitor):
    """Reduce the learning rate when a monitored value of the evaluation no longer improves.

    Arguments:
        monitor: name of the value: "loss" or the name of a metric. Default: 'loss'.
        factor: factor of each reduction, below 1. Default: 0.1.
        patience: number of evaluations without improvement after which the rate is reduced. Default: 10.
        verbose: 0: silent, 1: print each reduction. Default: 1.
        mode: "min", "max" or "auto" ("max" for names that contain "acc"). Default: 'auto'.
        min_delta: smallest change that counts as an improvement. Default: 0.0001.
        cooldown: number of evaluations after a reduction that are ignored. Default: 0.
        min_lr: smallest learning rate. Default: 0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.callbacks.ReduceLROnPlateau("loss", factor=0.5).factor
        0.5
    """

    seen = ("best", "wait", "epoch", "cooldown_counter")

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
        """Return whether the cooldown after a reduction lasts."""
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
