"""Model: a network with what it takes to train, evaluate, predict, save and load it."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from .. import amp, nn
from ..core.interpreter import no_grad
from ..eager.tensor import Tensor
from ..framework import load as load_file
from ..framework import save as save_file
from ..io import DataLoader
from ..metric import Metric
from ..ops.convert import to_tensor
from ..tracing.input_spec import InputSpec
from .callbacks import Callback, CallbackList, LRScheduler, ModelCheckpoint, ProgBarLogger
from .engine import engine_of
from .summary import summary

__all__ = ["Model"]


def _list(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]


def _tensors(values: Any) -> list[Tensor]:
    return [v if isinstance(v, Tensor) else to_tensor(v) for v in _list(values)]


class Model:
    """A network with what it takes to train, evaluate, predict, save and load it.

    Arguments:
        network: a Layer.
        inputs, labels: InputSpecs of what it takes: how many of the items of a batch are inputs, and for save().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.Linear(2, 2)
        >>> model = paddle.Model(net)
        >>> model.prepare(paddle.optimizer.SGD(0.1, parameters=net.parameters()), paddle.nn.CrossEntropyLoss())
        >>> data = [(np.ones(2, "float32"), np.array([1])) for _ in range(4)]
        >>> model.fit(data, batch_size=2, verbose=0)
        >>> sorted(model.evaluate(data, batch_size=2, verbose=0))
        ['loss']
    """

    def __init__(self, network: nn.Layer, inputs: Any = None, labels: Any = None) -> None:
        if not isinstance(network, nn.Layer):
            raise TypeError(f"Model: network is a {type(network).__name__}; expected a Layer")
        self.network, self.mode, self.stop_training = network, "train", False
        self._inputs, self._labels = _list(inputs), _list(labels)
        self._optimizer: Any = None
        self._loss: Any = None
        self._metrics: list[Metric] = []
        self._scaler: Any = None
        self._amp: dict[str, Any] = {}
        self._scaling: dict[str, Any] = {}
        self._seen: list[tuple[Any, Any]] = []  # shapes and dtypes that the network was called with last
        self._engine = engine_of(self)  # runs the batches in static mode

    def prepare(self, optimizer: Any = None, loss: Any = None, metrics: Any = None, amp_configs: Any = None) -> None:
        """Say how to train and judge.

        Arguments:
            loss: a function of outputs and labels.
            metrics: a Metric or a list of them.
            amp_configs: "O1", "O2", or a dict with "level" and arguments of auto_cast and GradScaler.

        Raises:
            TypeError: if one of them is of the wrong kind.
        """
        if loss is not None and not callable(loss):
            raise TypeError(f"Model.prepare: loss is a {type(loss).__name__}; expected a function or a loss layer")
        for metric in _list(metrics):
            if not isinstance(metric, Metric):
                kind = type(metric).__name__
                raise TypeError(f"Model.prepare: a metric is a {kind}; expected a paddle.metric.Metric")
        self._optimizer, self._loss, self._metrics = optimizer, loss, _list(metrics)
        self._engine = engine_of(self)
        if amp_configs:
            self._prepare_amp({"level": amp_configs} if isinstance(amp_configs, str) else dict(amp_configs))

    def _prepare_amp(self, given: dict[str, Any]) -> None:
        cast = ("level", "dtype", "custom_white_list", "custom_black_list", "use_promote")
        self._amp = {k: given.pop(k) for k in cast if k in given}
        given.pop("use_fp16_guard", None)
        self._scaling = given
        level, eager = self._amp.get("level", "O1"), self._engine is None
        if eager and level == "O2":
            amp.decorate(self.network, self._optimizer, level="O2", dtype=self._amp.get("dtype", "float16"))
        if eager and level != "O0":
            self._scaler = amp.GradScaler(**given)

    def _casting(self) -> AbstractContextManager[Any]:
        return amp.auto_cast(**self._amp) if self._amp else nullcontext()

    # -- one batch -------------------------------------------------------------------------------------------------
    def _forward(self, inputs: Any) -> list[Tensor]:
        given = _tensors(inputs)
        self._seen = [(x.shape, x.dtype) for x in given]
        return _list(self.network(*given))

    def _losses(self, outputs: list[Tensor], labels: list[Tensor]) -> list[Tensor]:
        return [] if self._loss is None else _list(self._loss(*outputs, *labels))

    def _measure(self, outputs: list[Tensor], labels: list[Tensor]) -> list[Any]:
        return [m.update(*_list(m.compute(*outputs, *labels))) for m in self._metrics]

    def _result(self, losses: list[np.ndarray], metrics: list[Any]) -> Any:
        values = [np.atleast_1d(v) for v in losses]
        return (values, metrics) if metrics and values else metrics or values

    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """Train on a batch.

        Arguments:
            update: False: only add to the gradients.

        Returns:
            The losses, and the metrics if there are any.
        """
        self._need("train_batch", self._optimizer, "an optimizer")
        self._need("train_batch", self._loss, "a loss")
        if self._engine is not None:
            return self._result(*self._engine.train_batch(_list(inputs), _list(labels), update))
        self.network.train()
        targets = _tensors(labels)
        with self._casting():
            outputs = self._forward(inputs)
            losses = self._losses(outputs, targets)
        total = losses[0] if len(losses) == 1 else sum(losses[1:], losses[0])
        (total if self._scaler is None else self._scaler.scale(total)).backward()
        if update:
            self._update()
        with no_grad():
            metrics = self._measure([o.detach() for o in outputs], targets)
        return self._result([v.numpy() for v in losses], metrics)

    def _update(self) -> None:
        if self._scaler is None:
            self._optimizer.step()
        else:
            self._scaler.step(self._optimizer)
            self._scaler.update()
        self._optimizer.clear_grad()

    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """Losses, and metrics if there are any, of a batch."""
        if self._engine is not None:
            return self._result(*self._engine.eval_batch(_list(inputs), _list(labels)))
        self.network.eval()
        targets = _tensors(labels)
        with no_grad(), self._casting():
            outputs = self._forward(inputs)
            losses = [v.numpy() for v in self._losses(outputs, targets)]
            return self._result(losses, self._measure(outputs, targets))

    def predict_batch(self, inputs: Any) -> list[np.ndarray]:
        """Outputs for a batch, as arrays."""
        if self._engine is not None:
            return self._engine.predict_batch(_list(inputs))
        self.network.eval()
        with no_grad(), self._casting():
            return [o.numpy() for o in self._forward(inputs)]

    def _need(self, who: str, what: Any, name: str) -> None:
        if what is None:
            raise RuntimeError(f"Model.{who} needs {name}: call prepare() before")

    # -- whole runs ------------------------------------------------------------------------------------------------
    def fit(
        self,
        train_data: Any = None,
        eval_data: Any = None,
        batch_size: int = 1,
        epochs: int = 1,
        eval_freq: int = 1,
        log_freq: int = 10,
        save_dir: str | None = None,
        save_freq: int = 1,
        verbose: int = 2,
        drop_last: bool = False,
        shuffle: bool = True,
        num_workers: int = 0,
        callbacks: Any = None,
        accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> None:
        """Train.

        Arguments:
            train_data, eval_data: data sets or DataLoaders; a batch holds the inputs and then the labels.
            eval_freq: epochs between two evaluations.
            log_freq: batches between two printed lines.
            save_dir, save_freq: where, and after how many epochs each, to save.
            verbose: 0, 1 or 2: what to print.
            accumulate_grad_batches: batches whose gradients are added up for one update.
            num_iters: batches to train on in all, instead of epochs.
        """
        if train_data is None:
            raise ValueError("Model.fit: train_data is missing")
        loader = _loader(train_data, batch_size, shuffle, drop_last, num_workers)
        judge = None if eval_data is None else _loader(eval_data, batch_size, False, False, num_workers)
        steps = _length(loader)
        if num_iters is not None:
            epochs = -(-num_iters // steps) if steps else epochs
        heard = self._callbacks(callbacks, verbose, log_freq, save_dir, save_freq, steps=steps, epochs=epochs)
        self.stop_training = False
        left = [num_iters]
        heard.call("train_begin")
        for epoch in range(epochs):
            heard.call("epoch_begin", epoch)
            logs = self._epoch(loader, heard, max(1, accumulate_grad_batches), left)
            heard.call("epoch_end", epoch, logs)
            if judge is not None and epoch % eval_freq == 0:
                self._evaluate(judge, heard)
            if self.stop_training or left[0] == 0:
                break
        heard.call("train_end", logs if epochs else {})

    def _epoch(self, loader: Iterable[Any], heard: CallbackList, every: int, left: list[Any]) -> dict[str, Any]:
        logs: dict[str, Any] = {}
        for m in self._metrics:
            m.reset()
        last = _length(loader)
        for step, batch in enumerate(loader):
            heard.call("train_batch_begin", step, logs)
            inputs, labels = self._split(batch)
            update = (step + 1) % every == 0 or step + 1 == last
            logs = self._logs(step, batch, self.train_batch(inputs, labels, update))
            heard.call("train_batch_end", step, logs)
            if left[0] is not None:
                left[0] -= 1
                if left[0] == 0:
                    break
        return logs

    def evaluate(
        self,
        eval_data: Any,
        batch_size: int = 1,
        log_freq: int = 10,
        verbose: int = 2,
        num_workers: int = 0,
        callbacks: Any = None,
        num_iters: int | None = None,
    ) -> dict[str, Any]:
        """Losses and metrics over a data set or DataLoader."""
        loader = _loader(eval_data, batch_size, False, False, num_workers)
        heard = self._callbacks(callbacks, verbose, log_freq, None, 1, steps=num_iters or _length(loader))
        logs = self._evaluate(loader, heard, num_iters)
        return {k: v for k, v in logs.items() if k not in ("step", "batch_size")}

    def predict(
        self,
        test_data: Any,
        batch_size: int = 1,
        num_workers: int = 0,
        stack_outputs: bool = False,
        verbose: int = 1,
        callbacks: Any = None,
    ) -> list[Any]:
        """Outputs over a data set or DataLoader: for each output of the network a list of batches, or one array.

        Arguments:
            stack_outputs: join the batches.
        """
        loader = _loader(test_data, batch_size, False, False, num_workers)
        heard = self._callbacks(callbacks, verbose, 1, None, 1, steps=_length(loader))
        heard.call("predict_begin")
        found: list[list[np.ndarray]] = []
        step = 0
        for step, batch in enumerate(loader):
            heard.call("predict_batch_begin", step)
            found.append(self.predict_batch(self._split(batch)[0]))
            heard.call("predict_batch_end", step, {"step": step})
        heard.call("predict_end", {"step": step})
        outputs = [list(parts) for parts in zip(*found, strict=True)]
        return [np.concatenate(parts) for parts in outputs] if stack_outputs else outputs

    def _evaluate(self, loader: Iterable[Any], heard: CallbackList, num_iters: int | None = None) -> dict[str, Any]:
        logs: dict[str, Any] = {}
        for m in self._metrics:
            m.reset()
        heard.call("eval_begin", {"steps": _length(loader)})
        for step, batch in enumerate(loader):
            if step == num_iters:
                break
            heard.call("eval_batch_begin", step, logs)
            logs = self._logs(step, batch, self.eval_batch(*self._split(batch)))
            heard.call("eval_batch_end", step, logs)
        heard.call("eval_end", logs)
        return logs

    def _callbacks(
        self, given: Any, verbose: int, log_freq: int, save_dir: str | None, save_freq: int, **params: Any
    ) -> CallbackList:
        chosen: list[Callback] = _list(given)
        if not any(isinstance(c, ProgBarLogger) for c in chosen):
            chosen = [ProgBarLogger(log_freq, verbose), *chosen]
        if not any(isinstance(c, LRScheduler) for c in chosen):
            chosen.append(LRScheduler())
        if not any(isinstance(c, ModelCheckpoint) for c in chosen):
            chosen.append(ModelCheckpoint(save_freq, save_dir))
        for callback in chosen:
            if getattr(callback, "save_dir", save_dir) is None:
                callback.save_dir = save_dir  # type: ignore[attr-defined]
        return CallbackList(chosen, self, params | {"verbose": verbose, "metrics": self._names()})

    def _names(self) -> list[str]:
        return ["loss", *[n for m in self._metrics for n in _list(m.name())]]

    def _logs(self, step: int, batch: Any, result: Any) -> dict[str, Any]:
        first = _list(batch)[0]
        losses = result[0] if self._metrics and self._loss is not None else [] if self._metrics else result
        logs: dict[str, Any] = {"loss": [float(v[0]) for v in losses]} if losses else {}
        for m in self._metrics:
            logs.update(zip(_list(m.name()), _list(m.accumulate()), strict=True))
        return logs | {"step": step, "batch_size": len(first) if hasattr(first, "__len__") else 1}

    def _split(self, batch: Any) -> tuple[list[Any], list[Any]]:
        """The inputs and the labels of a batch: as many inputs as were declared, or as forward() needs."""
        items = _list(batch)
        n = len(self._inputs) or _needed(self.network.forward) or max(1, len(items) - 1)
        return items[:n], items[n:]

    # -- saving ----------------------------------------------------------------------------------------------------
    def save(self, path: str, training: bool = True) -> None:
        """Save the network and the optimizer's state as path.pdparams and path.pdopt; for inference if not training."""
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        if not training:
            from ..jit import save as save_program

            if not (specs := self._inputs or [InputSpec([None, *s[1:]], d) for s, d in self._seen]):
                raise RuntimeError(
                    "Model.save(training=False): give Model the InputSpecs of its inputs, or run a batch"
                )
            if self._engine is not None:
                return self._engine.save(path)
            return save_program(self.network, path, input_spec=specs)
        save_file(self.network.state_dict(), path + ".pdparams")
        if self._optimizer is not None:
            save_file(self._optimizer.state_dict(), path + ".pdopt")

    def load(self, path: str, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Load what save() wrote.

        Arguments:
            skip_mismatch: leave parameters of another shape as they are, with a warning.
            reset_optimizer: do not load the optimizer's state.

        Raises:
            ValueError: if a parameter is missing or of another shape, and not skip_mismatch.
        """
        stem = path.removesuffix(".pdparams")
        found = load_file(stem + ".pdparams")
        own = self.network.state_dict()
        wrong = [k for k, v in own.items() if k not in found or list(found[k].shape) != v.shape]
        if wrong and not skip_mismatch:
            raise ValueError(f"Model.load: {path} does not fit: {', '.join(wrong[:5])} missing or of another shape")
        if wrong:
            warnings.warn(f"Model.load: {', '.join(wrong)} missing or of another shape; left as they are", stacklevel=2)
        for name in own.keys() - set(wrong):
            own[name].set_value(found[name])
        if self._optimizer is not None and not reset_optimizer and os.path.exists(stem + ".pdopt"):
            self._optimizer.set_state_dict(load_file(stem + ".pdopt"))

    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Parameters of the network."""
        return self.network.parameters(*args, **kwargs)

    def summary(self, input_size: Any = None, dtype: Any = None) -> dict[str, int]:
        """Print the layers, and return the numbers of parameters; see paddle.summary."""
        size = input_size if input_size is not None else [tuple(s.shape) for s in self._inputs]
        return summary(self.network, size, dtype)


def _needed(forward: Any) -> int:
    """How many arguments a function needs; 0 if it takes any number."""
    params = inspect.signature(forward).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in params):
        return 0
    return sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in params)


def _loader(data: Any, batch_size: int, shuffle: bool, drop_last: bool, num_workers: int) -> Any:
    if isinstance(data, DataLoader) or (isinstance(data, Iterator) or not hasattr(data, "__getitem__")):
        return data
    return DataLoader(data, batch_size=batch_size, shuffle=shuffle, drop_last=drop_last, num_workers=num_workers)


def _length(loader: Any) -> int | None:
    try:
        return len(loader)
    except TypeError:
        return None
