"""Callbacks that write losses and metrics for other programs to show."""

from __future__ import annotations

import importlib
import json
import os
from typing import Any

import numpy as np

from .callbacks import Callback, Logs

__all__ = ["VisualDL", "WandbCallback"]


class VisualDL(Callback):
    """Writes the losses and metrics to files: with the package visualdl if it is installed, else as lines of JSON.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.callbacks.VisualDL("logs"), paddle.callbacks.Callback)
        True
    """

    def __init__(self, log_dir: str) -> None:
        super().__init__()
        self.log_dir = log_dir
        self._writer: Any = None
        self._step, self._epoch, self._fitting = 0, 0, False

    def _write(self, kind: str, step: int, logs: Logs) -> None:
        values = {
            f"{kind}/{k}": float(np.ravel(v)[0]) for k, v in (logs or {}).items() if k not in ("step", "batch_size")
        }
        if self._writer is None:
            os.makedirs(self.log_dir, exist_ok=True)
            try:
                self._writer = importlib.import_module("visualdl").LogWriter(self.log_dir)
            except ImportError:
                self._writer = os.path.join(self.log_dir, "scalars.jsonl")
        if isinstance(self._writer, str):
            with open(self._writer, "a", encoding="utf8") as f:
                f.write(json.dumps({"step": step, **values}) + "\n")
            return
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def _close(self) -> None:
        """Let go of the file, whose last lines are written then."""
        if hasattr(self._writer, "close"):
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


class WandbCallback(Callback):
    """Sends the losses and metrics to Weights & Biases.

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
