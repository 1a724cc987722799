"""Progress of training: a bar on a terminal and in a notebook, lines elsewhere."""

from __future__ import annotations

import numbers
import os
import sys
import time
from typing import Any

import numpy as np
from tqdm import tqdm

from ..core.no_effect import no_effect
from .callbacks import Callback, Logs

__all__ = ["ProgBarLogger", "ProgressBar"]


def text(logs: dict[str, Any]) -> str:
    """Losses and metrics in words."""
    parts = []
    for key, value in logs.items():
        if key in ("step", "batch_size"):
            continue
        numeric = isinstance(value, list | np.ndarray | numbers.Number)
        values = [float(v) for v in np.asarray(value).ravel()] if numeric else []
        parts.append(f"{key}: {' '.join(f'{v:.4f}' for v in values)}" if values else f"{key}: {value}")
    return " - ".join(parts)


def bar_of() -> Any:
    """Return the kind of bar that can be shown here: a widget, a line of a terminal, or none."""
    if "ipykernel" in sys.modules:
        try:
            import ipywidgets  # noqa: F401  (the widget is made of these)
            from tqdm.notebook import tqdm as widget

            return widget
        except ImportError:
            return None
    if not (sys.stderr.isatty() and sys.stdout.isatty()):
        return None
    return tqdm if os.get_terminal_size(sys.stderr.fileno()).columns else None


class ProgressBar:
    """Shows how far a loop is, with losses and metrics: for callbacks of your own.

    Arguments:
        num: number of steps; None: unknown.
        width: characters of the bar. Default: 30.
        verbose: 0: nothing, 1: a bar, above: a line for each update. Default: 1.
        start: no effect: the clock starts with the bar.
        file: where it is written; None: standard output.
        name: what a step is called. Default: "step".

    Examples:
        >>> from paddle_lite_py.hapi.progressbar import ProgressBar
        >>> bar = ProgressBar(num=8, verbose=0)
        >>> bar.update(1, [("loss", 0.5)])
    """

    @no_effect(start="it starts when it is made")
    def __init__(
        self, num: int | None = None, width: int = 30, verbose: int = 1, start: bool = True, file: Any = None,
        name: str = "step",
    ) -> None:  # fmt: skip
        self.num, self.verbose, self.name, self.file = num, verbose, name, file
        self._bar_format = f"{{desc}} {{n_fmt}}/{{total_fmt}} [{{bar:{width}}}]{{postfix}}"
        self.start()

    def start(self) -> None:
        """Start the clock."""
        self._since = time.perf_counter()
        self._bar: Any = None

    def update(self, current_num: int, values: Any = ()) -> None:
        """Show the numbers of a step.

        Arguments:
            current_num: the step, from 1 on.
            values: pairs of a name and a number, an array or a text.
        """
        if not self.verbose:
            return
        speed = f"{(time.perf_counter() - self._since) / max(current_num, 1) * 1000:.1f}ms/{self.name}"
        said = " - ".join(filter(None, (text(dict(values)), speed)))
        file = self.file or sys.stdout
        if self.verbose > 1 or self.num is None:
            print(f"{self.name} {current_num}{f'/{self.num}' if self.num else ''} - {said}", file=file)
            return
        if self._bar is None:
            self._bar = tqdm(total=self.num, desc=self.name, file=file, bar_format=self._bar_format, ascii=".=")
        self._bar.set_postfix_str(f"- {said}", refresh=False)
        self._bar.update(current_num - self._bar.n)
        if current_num >= self.num:
            self._bar.close()
            self._bar = None


class ProgBarLogger(Callback):
    """Shows the losses and metrics, how many samples a second there are, and how long it takes still.

    On a terminal that is a bar for each epoch, in a notebook a widget (with the package ipywidgets), elsewhere lines.

    Arguments:
        log_freq: batches between two looks at the numbers.
        verbose: 0: nothing, 1: a line for each epoch, 2: and for each log_freq batches.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.callbacks.ProgBarLogger(log_freq=10).log_freq
        10
    """

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        super().__init__()
        self.log_freq, self.verbose = log_freq, verbose
        self._since, self._samples, self._shown = 0.0, 0, -1
        self._steps: int | None = None
        self._bar: Any = None

    def reads_logs(self, step: int) -> bool:
        """For each log_freq batches."""
        return self.verbose > 1 and ((step + 1) % self.log_freq == 0 or step + 1 == self.params.get("steps"))

    # -- display ---------------------------------------------------------------------------------------------------
    def _begin(self, what: str, steps: Any) -> None:
        self._since, self._samples, self._steps, kind = time.perf_counter(), 0, steps, bar_of()
        self._shown = -1
        if self.verbose > 1 and kind is not None:
            self._bar = kind(total=steps, desc=what, unit="batch", leave=True, dynamic_ncols=True)
        elif self.verbose:
            print(what)

    def _batch(self, step: int, logs: Logs) -> None:
        self._samples += (logs or {}).get("batch_size", 0)
        if not self.reads_logs(step):
            return
        self._shown = step
        if self._bar is None:
            print(f"step {self._so_far(step)} - {text(logs or {})} - {self._speed(step)}")
        else:
            self._bar.set_postfix_str(f"{text(logs or {})}, {self._rate()}", refresh=False)
            self._bar.update(step + 1 - self._bar.n)

    def _end(self, what: str, logs: Logs) -> None:
        if not self.verbose:
            return
        step = (logs or {}).get("step", -1)
        told = [t for t in (text(logs or {}), self._speed(step) if self._samples else "") if t]
        if self._bar is not None:
            self._bar.set_postfix_str(f"{text(logs or {})}, {self._rate()}", refresh=False)
            self._bar.update(step + 1 - self._bar.n)
            self._bar.close()
            self._bar = None
        elif step != self._shown:
            print(f"{what} {self._so_far(step)} - {' - '.join(told)}")

    def _so_far(self, step: int) -> str:
        return f"{step + 1}/{self._steps}" if self._steps else str(step + 1)

    def _rate(self) -> str:
        rate = self._samples / max(time.perf_counter() - self._since, 1e-9)
        return f"{rate:,.0f} samples/s" if rate >= 100 else f"{rate:.3g} samples/s"

    def _speed(self, step: int) -> str:
        return f"{(time.perf_counter() - self._since) / (step + 1) * 1000:.3g}ms/step - {self._rate()}"

    # -- when ------------------------------------------------------------------------------------------------------
    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Name the epoch."""
        self._begin(f"Epoch {epoch + 1}/{self.params.get('epochs')}", self.params.get("steps"))

    def on_train_batch_end(self, step: int, logs: Logs = None) -> None:
        """Show the numbers now and then."""
        if self.verbose:
            self._batch(step, logs)

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Show the numbers of the epoch."""
        self._end("step", logs)

    def on_eval_begin(self, logs: Logs = None) -> None:
        """Say that evaluation begins."""
        self._begin("Eval", (logs or {}).get("steps"))

    def on_eval_batch_end(self, step: int, logs: Logs = None) -> None:
        """Count."""
        self._samples += (logs or {}).get("batch_size", 0)
        if self._bar is not None:
            self._bar.update()

    def on_eval_end(self, logs: Logs = None) -> None:
        """Show the result."""
        self._end("Eval", logs)

    def on_predict_begin(self, logs: Logs = None) -> None:
        """Say that prediction begins."""
        self._begin("Predict", self.params.get("steps"))

    def on_predict_batch_end(self, step: int, logs: Logs = None) -> None:
        """Count."""
        if self._bar is not None:
            self._bar.update()

    def on_predict_end(self, logs: Logs = None) -> None:
        """Say how many batches there were."""
        self._end("Predict", logs)
