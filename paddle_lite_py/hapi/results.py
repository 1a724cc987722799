"""The results of batches: losses and metrics, fetched from the device on first read."""

from __future__ import annotations

from typing import Any

import numpy as np

from .eager_engine import as_list

# Batches whose metrics may wait. Reading waits for the device, which in the meantime has nothing to do.
LIMIT = 32


class Results:
    """The losses and metrics of the batches of a pass over the data.

    Arguments:
        metrics: of the model; they begin anew.
    """

    def __init__(self, metrics: list[Any]) -> None:
        self._metrics = metrics
        self._losses: list[Any] = []
        self._waiting: list[list[list[Any]]] = []  # what the metrics take in, for each batch not yet read
        self._logs: dict[str, Any] = {}
        for m in metrics:
            m.reset()

    def add(self, losses: list[Any], measures: list[list[Any]]) -> None:
        """Note what a batch gave."""
        self._losses = losses
        self._waiting.append(measures)
        if len(self._waiting) >= LIMIT:
            self.read()

    def read(self) -> dict[str, Any]:
        """Return the losses of the last batch, and the metrics of all."""
        if self._waiting:
            for measures in self._waiting:
                updated(self._metrics, measures)
            self._waiting = []
            self._logs = {"loss": [float(array(v).ravel()[0]) for v in self._losses]} if self._losses else {}
            for m in self._metrics:
                self._logs.update(zip(as_list(m.name()), as_list(m.accumulate()), strict=True))
        return self._logs


def updated(metrics: list[Any], measures: list[list[Any]]) -> list[Any]:
    """Update the metrics with a batch and return their values."""
    return [_updated(m, taken) for m, taken in zip(metrics, measures, strict=True)]


def _updated(metric: Any, taken: list[Any]) -> Any:
    try:
        return metric.update(*taken)
    except Exception as e:
        e.add_note(f"in update() of the metric {type(metric).__name__}, for {_shown(taken)}")
        raise


def _shown(taken: list[Any]) -> str:
    return ", ".join(f"{type(t).__name__}{list(getattr(t, 'shape', []))}" for t in taken)


def array(value: Any) -> np.ndarray:
    """Return a tensor or number on the host."""
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)
