"""Callbacks that log losses and metrics for other programs to show."""

from __future__ import annotations

import importlib
import json
import os
from typing import Any

import numpy as np

from ..utils.event_file import EventFile
from .callbacks import Callback, Logs

__all__ = ["TensorBoard", "VisualDL", "WandbCallback"]


class ScalarWriter(Callback):
    """Base class of callbacks that write losses and metrics of each training batch and each evaluation."""

    def __init__(self, log_dir: str) -> None:
        super().__init__()
        self.log_dir = log_dir
        self._writer: Any = None
        self._step, self._epoch, self._fitting = 0, 0, False

    def _open(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _open()")

    def _write(self, kind: str, step: int, logs: Logs) -> None:
        if self._writer is None:
            self._writer = self._open()
        for name, value in (logs or {}).items():
            if name not in ("step", "batch_size"):
                self._writer.add_scalar(f"{kind}/{name}", float(np.ravel(value)[0]), step)

    def _close(self) -> None:
        """Let go of the file, whose last lines are written then."""
        if self._writer is not None:
            self._writer.close()
        self._writer = None

    def on_train_begin(self, logs: Logs = None) -> None:
        """The file stays open between evaluations."""
        self._fitting = True

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Evaluations are of this epoch."""
        self._epoch = epoch

    def on_train_batch_end(self, step: int, logs: Logs = None) -> None:
        """Write."""
        self._step += 1
        self._write("train", self._step, logs)

    def on_eval_end(self, logs: Logs = None) -> None:
        """Write."""
        self._write("eval", self._epoch, logs)
        if not self._fitting:
            self._close()

    def on_train_end(self, logs: Logs = None) -> None:
        """Close the file."""
        self._fitting = False
        self._close()


class TensorBoard(ScalarWriter):
    """Write losses and metrics for TensorBoard: `tensorboard --logdir logs`.

    Arguments:
        log_dir: folder of the event files; use one for each run.
        flush_every: number of batches between two flushes of the file. Default: 50.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.callbacks.TensorBoard("logs"), paddle.callbacks.Callback)
        True
    """

    def __init__(self, log_dir: str, flush_every: int = 50) -> None:
        super().__init__(log_dir)
        self.flush_every = flush_every

    def _open(self) -> EventFile:
        return EventFile(self.log_dir)

    def _write(self, kind: str, step: int, logs: Logs) -> None:
        super()._write(kind, step, logs)
        if kind == "eval" or step % self.flush_every == 0:
            self._writer.flush()


class _Lines:
    """Scalars as lines of JSON, one for each step."""

    def __init__(self, folder: str) -> None:
        self.path, self._values = os.path.join(folder, "scalars.jsonl"), {}  # type: str, dict[str, Any]
        self._what: Any = None

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        """Add to the line of a step."""
        what = tag.partition("/")[0], step
        if self._what != what or tag in self._values:
            self.close()
        self._what = what
        self._values.update({"step": step, tag: value})

    def close(self) -> None:
        """Write the line."""
        if self._values:
            with open(self.path, "a", encoding="utf8") as f:
                f.write(json.dumps(self._values) + "\n")
        self._values = {}


class VisualDL(ScalarWriter):
    """Write losses and metrics for VisualDL if it is installed, else as lines of JSON.

    Arguments:
        log_dir: folder of the files; use one for each run.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.callbacks.VisualDL("logs"), paddle.callbacks.Callback)
        True
    """

    def _open(self) -> Any:
        os.makedirs(self.log_dir, exist_ok=True)
        try:
            return importlib.import_module("visualdl").LogWriter(self.log_dir)
        except ImportError:
            return _Lines(self.log_dir)


class WandbCallback(Callback):
    """Log losses and metrics to Weights & Biases.

    Arguments:
        project: name of the project.
        entity: user or team of the run.
        name: name of the run.
        dir: folder of local files.
        mode: "online", "offline" or "disabled".
        job_type: type of the run.
        kwargs: further arguments of wandb.init().

    Raises:
        ImportError: if the package wandb is not installed.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.callbacks.WandbCallback, paddle.callbacks.Callback)
        True
    """

    def __init__(
        self,
        project: str | None = None,
        entity: str | None = None,
        name: str | None = None,
        dir: str | None = None,
        mode: str | None = None,
        job_type: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        try:
            wandb = importlib.import_module("wandb")
        except ImportError as e:
            raise ImportError("WandbCallback needs the package wandb; try `pip install wandb`") from e
        settings = {"project": project, "entity": entity, "name": name, "dir": dir, "mode": mode, "job_type": job_type}
        self.run = wandb.init(**settings, **kwargs)

    def on_train_batch_end(self, step: int, logs: Logs = None) -> None:
        """Send."""
        self.run.log({f"train/{k}": v for k, v in (logs or {}).items() if k not in ("step", "batch_size")})

    def on_eval_end(self, logs: Logs = None) -> None:
        """Send."""
        self.run.log({f"eval/{k}": v for k, v in (logs or {}).items() if k not in ("step", "batch_size")})
