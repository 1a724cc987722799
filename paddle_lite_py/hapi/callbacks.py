"""What Model calls at each point of training, evaluation and prediction."""

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

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint holds of it: plain values."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what state_dict() gave."""

    def reads_logs(self, step: int) -> bool:
        """Whether it looks at the losses and metrics of a batch, which are fetched from the device only then.

        A subclass may say no, so that training need not wait for the numbers of each batch.
        """
        return True

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
        self._listeners: dict[str, list[Callback]] = {}
        for callback in self.callbacks:
            callback.set_model(model)
            callback.set_params(params)

    def state_dict(self) -> dict[str, Any]:
        """The states of all, by their places."""
        return {str(i): c.state_dict() for i, c in enumerate(self.callbacks)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Put the states back."""
        for i, c in enumerate(self.callbacks):
            c.load_state_dict(state.get(str(i), {}))

    def call(self, point: str, *args: Any) -> None:
        """Tell each of them: call("epoch_end", epoch, logs)."""
        for callback in self.listens(point):
            try:
                getattr(callback, f"on_{point}")(*args)
            except Exception as e:
                at = f"({args[0]})" if args and isinstance(args[0], int) else "()"
                e.add_note(f"in on_{point}{at} of the callback {type(callback).__name__}")
                raise

    def listens(self, point: str) -> list[Callback]:
        """Those that have something to do at a point."""
        if point not in self._listeners:
            plain = getattr(Callback, f"on_{point}")
            self._listeners[point] = [
                c for c in self.callbacks if getattr(getattr(c, f"on_{point}"), "__func__", None) is not plain
            ]
        return self._listeners[point]

    def reads(self, point: str, step: int) -> bool:
        """Whether one of them looks at the losses and metrics of a batch."""
        return any(not _answers_for(c, point) or c.reads_logs(step) for c in self.listens(point))


def _answers_for(callback: Callback, point: str) -> bool:
    """Whether reads_logs() of a callback speaks of what it does at a point: no subclass does more there."""
    if f"on_{point}" in vars(callback):
        return False
    kinds = type(callback).__mro__
    first = [next(i for i, k in enumerate(kinds) if name in vars(k)) for name in (f"on_{point}", "reads_logs")]
    return first[0] >= first[1]


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
        self.monitor, self.min_delta = monitor, abs(min_delta)
        self._rises = mode == "max" or (mode == "auto" and "acc" in monitor)
        self.best = -np.inf if self._rises else np.inf

    # What it has seen so far: numbers.
    seen: tuple[str, ...] = ()

    def state_dict(self) -> dict[str, Any]:
        """The best number, and how long it has waited."""
        return {name: float(getattr(self, name)) for name in self.seen}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        for name, value in state.items():
            setattr(self, name, value if name == "best" else int(value))

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
        patience: evaluations without improvement after which training stops; 0 stops at the first one, as 1 does.
        min_delta: what counts as improvement.
        baseline: the number to improve on at first.
        save_best_model: save the best state as best_model in fit()'s save_dir.

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
