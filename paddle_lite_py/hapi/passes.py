"""Passes of a Model over data: to train, to evaluate, to predict; callbacks hear of each batch."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterable, Iterator, Sized
from typing import Any, NamedTuple

import numpy as np

from ..distributed import elastic
from ..io import DataLoader
from .callbacks import CallbackList
from .checkpoints import Checkpoints
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
        kept: where to begin, and to save on the way.
    """

    def __init__(
        self,
        model: Any,
        loader: Any,
        judge: Any,
        heard: CallbackList,
        wanted: Epochs,
        eval_freq: int,
        pressed: Pressed,
        kept: Checkpoints | None = None,
    ) -> None:
        self.model, self.loader, self.judge, self.heard, self.wanted = model, loader, judge, heard, wanted
        self.eval_freq, self.pressed, self.kept = eval_freq, pressed, kept
        self.leaving = False  # since this process received SIGTERM, and saves before
        self.epoch, self.begun, self.iterations = 0, 0, 0  # begun: batches of the epoch that were trained on before

    def run(self) -> None:
        """All epochs."""
        model, logs = self.model, {}  # type: Any, dict[str, Any]
        model.stop_training = False
        self.heard.call("train_begin")
        self._resume()
        for epoch in range(self.epoch, 0 if model.stop_training else self.wanted.epochs):
            self.epoch = epoch
            self.heard.call("epoch_begin", epoch)
            logs = self._epoch()
            self.heard.call("epoch_end", epoch, logs)
            if self.judge is not None and epoch % self.eval_freq == 0 and not self._broken():
                logs = {**logs, **{f"eval_{k}": v for k, v in evaluate(model, self.judge, self.heard).items()}}
            if not self._broken():
                self._save(epoch + 1, 0, logs)
            if self._broken() or model.stop_training:
                break
        self.heard.call("train_end", logs)
        if self.kept is not None:
            self.kept.wait()
        if self.leaving:
            elastic.leave()

    def _broken(self) -> bool:
        """Whether an epoch ends before its last batch."""
        return self.pressed.on or self.leaving or self.iterations == self.wanted.num_iters

    def _resume(self) -> None:
        if self.kept is not None:
            self.kept.check()
        found = self.kept.restore() if self.kept is not None else {}
        if found:
            self.epoch, self.begun, self.iterations = found["epoch"], found["batches"], found["iterations"]
            self.model.stop_training = found["stop_training"] or self.iterations == self.wanted.num_iters

    def _save(self, epoch: int, batches: int, logs: dict[str, Any]) -> None:
        if self.kept is None:
            return
        name = self.kept.best
        score = logs.get(f"eval_{name}", logs.get(name)) if name else None
        stopped = self.model.stop_training
        progress = {"epoch": epoch, "batches": batches, "iterations": self.iterations, "stop_training": stopped}
        self.kept.save(progress, None if score is None or batches else float(np.ravel(score)[0]))

    def _epoch(self) -> dict[str, Any]:
        model, heard, every = self.model, self.heard, self.wanted.accumulate
        results, split, last = Results(model._metrics), splitter(model), length(self.loader)
        begins, begun = heard.listens("train_batch_begin"), self.begun
        step = begun - 1
        logs: dict[str, Any] = {}
        for step, batch in enumerate(self._batches(), begun):
            if begins:
                heard.call("train_batch_begin", step, logs)
            inputs, labels = split(batch)
            update = (step + 1) % every == 0 or step + 1 == last
            results.add(*model._train(inputs, labels, update))
            logs = _logs(heard, "train_batch_end", step, inputs, results)
            heard.call("train_batch_end", step, logs)
            self.iterations += 1
            self.leaving = self.kept is not None and update and elastic.should_stop()
            broken = self._broken()
            if self.kept is not None and update and (broken or self._due(step + 1)):
                self._save(self.epoch, step + 1, {})
            if broken:
                break
        if step < 0:
            raise ValueError(f"Model.fit: train_data gave no batch in epoch {self.epoch + 1}{_why_none(self.loader)}")
        return {**results.read(), "step": step, "batch_size": logs.get("batch_size", 0)} if logs else {"step": step}

    def _due(self, batches: int) -> bool:
        return bool(self.kept and self.kept.every and batches % self.kept.every == 0)

    def _batches(self) -> Iterable[Any]:
        """Return the batches of an epoch; of a resumed one those that are left."""
        begun, self.begun = self.begun, 0
        if not begun or hasattr(self.loader, "load_state_dict"):
            return self.loader
        return itertools.islice(self.loader, begun, None)


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
    """Return the log of a batch: its numbers are fetched only if they are read."""
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
    """Return the number of arguments that a function needs; 0 if it takes any number."""
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
    """Return the number of batches, if that is known."""
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
