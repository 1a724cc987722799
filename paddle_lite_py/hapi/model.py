"""Model: a network with what it takes to train, evaluate, predict, save and load it."""

from __future__ import annotations

import os
import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from .. import amp, nn
from ..distributed import elastic
from ..eager.tensor import Tensor
from ..framework import load as load_file
from ..framework import save as save_file
from ..metric import Metric
from ..ops.convert import to_tensor
from ..tracing.input_spec import InputSpec
from . import passes
from .callbacks import Callback, CallbackList, LRScheduler, ModelCheckpoint
from .checkpoints import Checkpoints, unlike
from .eager_engine import as_list
from .engine import engine_of
from .interrupt import heeded
from .passes import Epochs, Trainer, length, loader_of
from .progress import ProgBarLogger
from .results import array, updated
from .summary import summary

__all__ = ["Model"]


class Model:
    """A network with what it takes to train, evaluate, predict, save and load it.

    A step of training, evaluation or prediction is one compiled program for each size of batch. What cannot be compiled
    runs eagerly, with a warning that names the line.

    Arguments:
        network: a Layer.
        inputs, labels: InputSpecs of what it takes: how many of the items of a batch are inputs, and for save().
        eager: compile nothing.

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

    def __init__(self, network: nn.Layer, inputs: Any = None, labels: Any = None, eager: bool = False) -> None:
        if not isinstance(network, nn.Layer):
            raise TypeError(f"Model: network is a {type(network).__name__}; expected a Layer")
        self.network, self.mode, self.stop_training, self.eager = network, "train", False, eager
        self._inputs, self._labels = as_list(inputs), as_list(labels)
        self._optimizer: Any = None
        self._loss: Any = None
        self._metrics: list[Metric] = []
        self._scaler: Any = None
        self._amp: dict[str, Any] = {}
        self._scaling: dict[str, Any] = {}
        self._seen: list[Any] = []  # what the network was called with last
        self._engine = engine_of(self)  # runs the batches

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
        for metric in as_list(metrics):
            if not isinstance(metric, Metric):
                kind = type(metric).__name__
                raise TypeError(f"Model.prepare: a metric is a {kind}; expected a paddle.metric.Metric")
        self._optimizer, self._loss, self._metrics = optimizer, loss, as_list(metrics)
        self._engine = engine_of(self)
        if amp_configs:
            self._prepare_amp({"level": amp_configs} if isinstance(amp_configs, str) else dict(amp_configs))

    def _prepare_amp(self, given: dict[str, Any]) -> None:
        cast = ("level", "dtype", "custom_white_list", "custom_black_list", "use_promote")
        self._amp = {k: given.pop(k) for k in cast if k in given}
        given.pop("use_fp16_guard", None)
        self._scaling = given
        level, eager = self._amp.get("level", "O1"), not self._is_static
        if eager and level == "O2":
            amp.decorate(self.network, self._optimizer, level="O2", dtype=self._amp.get("dtype", "float16"))
        if eager and level != "O0":
            self._scaler = amp.GradScaler(**given)

    @property
    def _is_static(self) -> bool:
        return self._engine.static

    def _casting(self) -> AbstractContextManager[Any]:
        return amp.auto_cast(**self._amp) if self._amp else nullcontext()

    # -- one batch -------------------------------------------------------------------------------------------------
    def _losses(self, outputs: list[Tensor], labels: Any) -> list[Tensor]:
        return [] if self._loss is None else as_list(self._loss(*outputs, *labels))

    def _backward(self, total: Tensor) -> None:
        (total if self._scaler is None else self._scaler.scale(total)).backward()

    def _update(self) -> None:
        if self._scaler is None:
            self._optimizer.step()
        else:
            self._scaler.step(self._optimizer)
            self._scaler.update()
        self._optimizer.clear_grad()

    def _train(self, inputs: list[Any], labels: list[Any], update: bool) -> tuple[list[Any], list[list[Any]]]:
        """Losses of a batch, which is trained on, and what the metrics take in: not fetched from the device."""
        if self._optimizer is None or self._loss is None:
            missing = "a loss" if self._optimizer else "an optimizer"
            raise RuntimeError(f"Model.train_batch needs {missing}: call prepare() before")
        self._seen = inputs
        return self._engine.train_batch(inputs, labels, update)

    def _result(self, found: tuple[list[Any], list[list[Any]]]) -> Any:
        values, metrics = [array(v) for v in found[0]], updated(self._metrics, found[1])
        return (values, metrics) if metrics and values else metrics or values

    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """Train on a batch.

        Arguments:
            update: False: only add to the gradients.

        Returns:
            The losses, and the metrics if there are any.
        """
        return self._result(self._train(as_list(inputs), as_list(labels), update))

    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """Losses, and metrics if there are any, of a batch."""
        self._seen = as_list(inputs)
        return self._result(self._engine.eval_batch(self._seen, as_list(labels)))

    def predict_batch(self, inputs: Any) -> list[np.ndarray]:
        """Outputs for a batch, as arrays."""
        self._seen = as_list(inputs)
        return [array(o) for o in self._engine.predict_batch(self._seen)]

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
        resume: Any = None,
    ) -> None:
        """Train. Ctrl-C ends training after the batch under way, as if it were the last.

        Each size of batch is a program of its own, compiled when it comes first: a smaller last batch costs a
        compilation, or none with drop_last. Nothing is padded unasked, since losses, normalizations and metrics would
        see it. For sequences and images of many sizes paddle.io.PadCollate pads to a few, and
        paddle.io.BucketBatchSampler puts those of one size into batches: a program for each.

        Arguments:
            train_data, eval_data: data sets or DataLoaders; a batch holds the inputs and then the labels.
            eval_freq: epochs between two evaluations.
            log_freq: batches between two looks at losses and metrics; the device waits for nobody between them.
            save_dir, save_freq: where, and after how many epochs each, to save.
            verbose: 0, 1 or 2: what to print.
            accumulate_grad_batches: batches whose gradients are added up for one update.
            num_iters: batches to train on in all, instead of epochs.
            resume: a folder of checkpoints, or Checkpoints: begin with the newest one, if there is any, and save there
                after each epoch. Training that was killed goes on to the same weights, bit by bit. SIGTERM saves after
                the batch under way, and ends with the exit code 101, "begin me again".

        Raises:
            ValueError: if there is nothing to train on, or the checkpoint is of another model.
        """
        if train_data is None:
            raise ValueError("Model.fit: train_data is missing")
        loader = loader_of(train_data, batch_size, shuffle, drop_last, num_workers)
        judge = None if eval_data is None else loader_of(eval_data, batch_size, False, False, num_workers)
        steps = length(loader)
        if num_iters is not None:
            epochs = -(-num_iters // steps) if steps else epochs
        wanted = Epochs(epochs, max(1, accumulate_grad_batches), num_iters)
        heard = self._callbacks(callbacks, verbose, log_freq, save_dir, save_freq, steps=steps, epochs=epochs)
        kept = None if resume is None else self._kept(resume, loader, heard)
        with heeded() as pressed, elastic.heeded():
            Trainer(self, loader, judge, heard, wanted, eval_freq, pressed, kept).run()

    def _kept(self, resume: Any, loader: Any, heard: CallbackList) -> Checkpoints:
        """The checkpoints of a training: of all that it depends on."""
        kept = resume if isinstance(resume, Checkpoints) else Checkpoints(resume)
        parts = {"network": self.network, "optimizer": self._optimizer, "scaler": self._scaler, "callbacks": heard}
        if hasattr(loader, "load_state_dict"):
            parts["data"] = loader
        kept.parts.update({name: part for name, part in parts.items() if part is not None})
        return kept

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
        loader = loader_of(eval_data, batch_size, False, False, num_workers)
        heard = self._callbacks(callbacks, verbose, log_freq, None, 1, steps=num_iters or length(loader))
        logs = passes.evaluate(self, loader, heard, num_iters)
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
        loader = loader_of(test_data, batch_size, False, False, num_workers)
        heard = self._callbacks(callbacks, verbose, 1, None, 1, steps=length(loader))
        outputs = passes.predict(self, loader, heard)
        return [np.concatenate(parts) for parts in outputs] if stack_outputs else outputs

    def _callbacks(
        self, given: Any, verbose: int, log_freq: int, save_dir: str | None, save_freq: int, **params: Any
    ) -> CallbackList:
        chosen: list[Callback] = as_list(given)
        if not any(isinstance(c, ProgBarLogger) for c in chosen):
            chosen = [ProgBarLogger(log_freq, verbose), *chosen]
        if not any(isinstance(c, LRScheduler) for c in chosen):
            chosen.append(LRScheduler())
        if not any(isinstance(c, ModelCheckpoint) for c in chosen):
            chosen.append(ModelCheckpoint(save_freq, save_dir))
        for callback in chosen:
            if getattr(callback, "save_dir", save_dir) is None:
                callback.save_dir = save_dir  # type: ignore[attr-defined]
        names = ["loss", *[n for m in self._metrics for n in as_list(m.name())]]
        return CallbackList(chosen, self, params | {"verbose": verbose, "metrics": names})

    # -- saving ----------------------------------------------------------------------------------------------------
    def save(self, path: str, training: bool = True) -> None:
        """Save the network and the optimizer's state as path.pdparams and path.pdopt; for inference if not training."""
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        if not training:
            from ..jit import save as save_program

            if not (specs := self._inputs or [_spec_of(x) for x in self._seen]):
                raise RuntimeError(
                    "Model.save(training=False): give Model the InputSpecs of its inputs, or run a batch"
                )
            if self._is_static:
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
            ValueError: if names are missing, unknown or of another shape, and not skip_mismatch: all are named, and
                nothing is changed.
        """
        stem = path.removesuffix(".pdparams")
        found = load_file(stem + ".pdparams")
        own = self.network.state_dict()
        if (wrong := unlike(own, found)) and not skip_mismatch:
            raise ValueError(f"Model.load: {path} does not fit: {'; '.join(wrong)}")
        if wrong:
            warnings.warn(f"Model.load: {'; '.join(wrong)}; these are left as they are", stacklevel=2)
        for name, tensor in own.items():
            if name in found and list(found[name].shape) == list(tensor.shape):
                tensor.set_value(found[name])
        if self._optimizer is not None and not reset_optimizer and os.path.exists(stem + ".pdopt"):
            self._optimizer.set_state_dict(load_file(stem + ".pdopt"))

    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Parameters of the network."""
        return self.network.parameters(*args, **kwargs)

    def summary(self, input_size: Any = None, dtype: Any = None) -> dict[str, int]:
        """Print the layers, and return the numbers of parameters; see paddle.summary."""
        size = input_size if input_size is not None else [tuple(s.shape) for s in self._inputs]
        return summary(self.network, size, dtype)


def _spec_of(given: Any) -> InputSpec:
    """The spec of an input like one that was given, for any size of batch."""
    tensor = given if isinstance(given, Tensor) else to_tensor(given)
    return InputSpec([None, *tensor.shape[1:]], tensor.dtype)
