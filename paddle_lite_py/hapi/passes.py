"""Passes of a Model over data: to train, to evaluate, to predict; callbacks hear of each batch."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sized
from typing import Any, NamedTuple

import numpy as np

from ..io import DataLoader
from .callbacks import CallbackList
from .eager_engine import as_list
from .interrupt import Pressed
from .results import Results


class Epochs(NamedTuple):
    """How long training goes on."""

    epochs: int
    accumulate: int  # batches for one update
    num_iters: int | None  # batches in all


class Trainer:
    """Training of a model.

    Arguments:
        loader, judge: batches to train on, and to evaluate on.
        heard: what hears of it.
        wanted: how long.
        eval_freq: epochs between two evaluations.
        pressed: whether Ctrl-C was pressed.
    """

    def __init__(
        self, model: Any, loader: Any, judge: Any, heard: CallbackList, wanted: Epochs, eval_freq: int, pressed: Pressed
    ) -> None:
        self.model, self.loader, self.judge, self.heard, self.wanted = model, loader, judge, heard, wanted
        self.eval_freq, self.pressed = eval_freq, pressed
        self.left, self.epoch, self.done = wanted.num_iters, 0, 0

    def run(self) -> None:
        """All epochs."""
        model, logs = self.model, {}  # type: Any, dict[str, Any]
        model.stop_training = False
        self.heard.call("train_begin")
        for epoch in range(self.epoch, self.wanted.epochs):
            self.epoch = epoch
            self.heard.call("epoch_begin", self.epoch)
            logs = self._epoch()
            self.heard.call("epoch_end", self.epoch, logs)
            if self._over():
                break
            if self.judge is not None and self.epoch % self.eval_freq == 0:
                evaluate(model, self.judge, self.heard)
                if self._over():
                    break
        self.heard.call("train_end", logs)

    def _over(self) -> bool:
        return self.model.stop_training or self.pressed.on or self.left == 0

    def _epoch(self) -> dict[str, Any]:
        model, heard, every = self.model, self.heard, self.wanted.accumulate
        results, split, last = Results(model._metrics), splitter(model), length(self.loader)
        begins, logs, step = heard.listens("train_batch_begin"), {}, -1  # type: Any, dict[str, Any], int
        for step, batch in enumerate(self.loader):
            if begins:
                heard.call("train_batch_begin", step, logs)
            inputs, labels = split(batch)
            update = (step + 1) % every == 0 or step + 1 == last
            results.add(*model._train(inputs, labels, update))
            logs = _logs(heard, "train_batch_end", step, inputs, results)
            heard.call("train_batch_end", step, logs)
            if self.left is not None:
                self.left -= 1
            if self.left == 0 or self.pressed.on:
                break
        if step < 0:
            raise ValueError(f"Model.fit: train_data gave no batch in epoch {self.epoch + 1}{_why_none(self.loader)}")
        return {**results.read(), "step": step, "batch_size": size(inputs)}


def evaluate(model: Any, loader: Iterable[Any], heard: CallbackList, num_iters: int | None = None) -> dict[str, Any]:
    """Losses and metrics over data."""
    results, split = Results(model._metrics), splitter(model)
    logs: dict[str, Any] = {}
    heard.call("eval_begin", {"steps": length(loader)})
    for step, batch in enumerate(loader):
        if step == num_iters:
            break
        heard.call("eval_batch_begin", step, logs)
        inputs, labels = split(batch)
        results.add(*model._engine.eval_batch(inputs, labels))
        logs = _logs(heard, "eval_batch_end", step, inputs, results)
        heard.call("eval_batch_end", step, logs)
    if logs:
        logs = {**results.read(), "step": logs["step"], "batch_size": logs["batch_size"]}
    heard.call("eval_end", logs)
    return logs


def predict(model: Any, loader: Iterable[Any], heard: CallbackList) -> list[list[np.ndarray]]:
    """For each output of the network, the batches."""
    split, step = splitter(model), 0
    found: list[list[np.ndarray]] = []
    heard.call("predict_begin")
    for step, batch in enumerate(loader):
        heard.call("predict_batch_begin", step)
        found.append(model.predict_batch(split(batch)[0]))
        heard.call("predict_batch_end", step, {"step": step})
    heard.call("predict_end", {"step": step})
    return [list(parts) for parts in zip(*found, strict=True)]


def _logs(heard: CallbackList, point: str, step: int, inputs: list[Any], results: Results) -> dict[str, Any]:
    """What is said of a batch: its numbers only if somebody looks at them."""
    known = results.read() if heard.reads(point, step) else {}
    return {**known, "step": step, "batch_size": size(inputs)}


def size(inputs: list[Any]) -> int:
    """Samples in a batch."""
    first: Any = inputs[0] if inputs else None
    if hasattr(first, "shape"):
        return first.shape[0] if first.shape else 1
    return len(first) if isinstance(first, Sized) else 1


def splitter(model: Any) -> Any:
    """Parts a batch into inputs and labels: as many inputs as were declared, or as forward() needs."""
    declared = len(model._inputs) or _needed(model.network.forward)

    def split(batch: Any) -> tuple[list[Any], list[Any]]:
        items = as_list(batch)
        n = declared or max(1, len(items) - 1)
        return items[:n], items[n:]

    return split


def _needed(forward: Any) -> int:
    """How many arguments a function needs; 0 if it takes any number."""
    params = inspect.signature(forward).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in params):
        return 0
    return sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in params)


def loader_of(data: Any, batch_size: int, shuffle: bool, drop_last: bool, num_workers: int) -> Any:
    """Batches of a data set; what gives batches by itself is taken as it is."""
    if isinstance(data, DataLoader) or (isinstance(data, Iterator) or not hasattr(data, "__getitem__")):
        return data
    return DataLoader(data, batch_size=batch_size, shuffle=shuffle, drop_last=drop_last, num_workers=num_workers)


def length(loader: Any) -> int | None:
    """How many batches there are, if that is known."""
    try:
        return len(loader)
    except TypeError:
        return None


def _why_none(loader: Any) -> str:
    if isinstance(loader, Iterator):
        return ": an iterator is used up by one epoch; give a data set, a DataLoader, or an object with __iter__"
    dataset = getattr(loader, "dataset", None)
    if isinstance(dataset, Sized):
        try:
            n = len(dataset)
        except TypeError:
            return ""
        fewer = f" of {n} samples, fewer than a batch, and drop_last leaves them out" if n else " without samples"
        return f": it is a {type(dataset).__name__}{fewer}"
    return ""
