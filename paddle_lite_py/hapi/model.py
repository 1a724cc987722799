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
from .interrupt import delayed_interrupt
from .passes import Epochs, Trainer, length, loader_of
from .progress import ProgBarLogger
from .results import array, updated
from .summary import summary

__all__ = ["Model"]


class Model:
    """Network with methods to train, evaluate, predict, save and load it.

    Each step of training, evaluation or prediction is one compiled program for each batch size. Code that cannot be
    compiled runs eagerly, with a warning that names its line.

    Arguments:
        network: the network, a Layer.
        inputs: InputSpec, or list of them, of the inputs; it also decides how many items of a batch are inputs. Needed
            by save(training=False) if the model has not run.
        labels: InputSpec, or list of them, of the labels.
        eager: run everything eagerly. Default: False.

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
        """Set the optimizer, loss and metrics.

        Arguments:
            optimizer: the optimizer; needed for training.
            loss: a function or Layer of outputs and labels that returns the loss; needed for training.
            metrics: a Metric or a list of them.
            amp_configs: "O1", "O2", or a dict with "level" and arguments of auto_cast and GradScaler; None: no mixed
                precision.

        Raises:
            TypeError: if an argument has the wrong type.
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
        """Train on one batch.

        Arguments:
            inputs: a tensor or array, or a list of them.
            labels: a tensor or array, or a list of them.
            update: False: accumulate gradients without an update. Default: True.

        Returns:
            The list of losses; with metrics the pair of losses and metrics.
        """
        return self._result(self._train(as_list(inputs), as_list(labels), update))

    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """Evaluate one batch.

        Arguments:
            inputs: a tensor or array, or a list of them.
            labels: a tensor or array, or a list of them.

        Returns:
            The list of losses; with metrics the pair of losses and metrics.
        """
        self._seen = as_list(inputs)
        return self._result(self._engine.eval_batch(self._seen, as_list(labels)))

    def predict_batch(self, inputs: Any) -> list[np.ndarray]:
        """Compute the outputs for one batch.

        Arguments:
            inputs: a tensor or array, or a list of them.

        Returns:
            A list of NumPy arrays, one for each output.
        """
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
        """Train the network. Ctrl-C ends training after the current batch, as if it were the last.

        Each batch size is compiled separately when it first occurs, so a smaller last batch costs another compilation
        (avoid it with drop_last). Nothing is padded automatically, since losses, normalization and metrics would depend
        on it. For sequences and images of many sizes, paddle.io.PadCollate pads to a few sizes and
        paddle.io.BucketBatchSampler groups samples of the same size.

        Arguments:
            train_data: a data set or DataLoader; a batch holds the inputs and then the labels.
            eval_data: a data set or DataLoader for evaluation; None: no evaluation.
            batch_size: number of samples in a batch, for data sets. Default: 1.
            epochs: number of epochs. Default: 1.
            eval_freq: number of epochs between two evaluations. Default: 1.
            log_freq: number of batches between two reads of losses and metrics; in between the host does not wait for
                the device. Default: 10.
            save_dir: folder for checkpoints; None: do not save.
            save_freq: number of epochs between two checkpoints. Default: 1.
            verbose: 0: silent, 1: one line for each epoch, 2: also one line every log_freq batches. Default: 2.
            drop_last: drop the last batch if it is smaller than batch_size. Default: False.
            shuffle: shuffle the training data. Default: True.
            num_workers: number of workers that load data; see DataLoader. Default: 0.
            callbacks: a Callback or a list of them.
            accumulate_grad_batches: number of batches whose gradients are accumulated for one update. Default: 1.
            num_iters: total number of batches to train on; None: all of the epochs.
            resume: folder of checkpoints, or a Checkpoints object. Training starts from the newest checkpoint, if there
                is one, and saves one after each epoch. A killed run resumes to bitwise identical weights. On SIGTERM it
                saves after the current batch and exits with code 101, which requests a restart.

        Raises:
            ValueError: if there is no training data, or the checkpoint belongs to another model.
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
        with delayed_interrupt() as pressed, elastic.catch_sigterm():
            Trainer(self, loader, judge, heard, wanted, eval_freq, pressed, kept).run()

    def _kept(self, resume: Any, loader: Any, heard: CallbackList) -> Checkpoints:
        """Return the checkpoints of a training: of all that it depends on."""
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
        """Compute losses and metrics over a data set.

        Arguments:
            eval_data: a data set or DataLoader.
            batch_size: number of samples in a batch, for data sets. Default: 1.
            log_freq: number of batches between two reads of losses and metrics. Default: 10.
            verbose: 0: silent, 1: one line at the end, 2: also one line every log_freq batches. Default: 2.
            num_workers: number of workers that load data. Default: 0.
            callbacks: a Callback or a list of them.
            num_iters: number of batches to evaluate; None: all.

        Returns:
            A dict from "loss" and the names of the metrics to their values.
        """
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
        """Compute the outputs over a data set.

        Arguments:
            test_data: a data set or DataLoader.
            batch_size: number of samples in a batch, for data sets. Default: 1.
            num_workers: number of workers that load data. Default: 0.
            stack_outputs: concatenate the batches of each output into one array. Default: False.
            verbose: 0: silent; above 0: print progress. Default: 1.
            callbacks: a Callback or a list of them.

        Returns:
            A list with an entry for each output: a list of arrays, one for each batch, or with stack_outputs one array.
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
        """Save the network and optimizer as path.pdparams and path.pdopt, or with training=False for inference.

        Arguments:
            path: path without extension.
            training: True: parameters and optimizer state, to resume training; False: a program for inference. Default:
                True.
        """
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
        """Load the files that save() wrote.

        Arguments:
            path: path without extension.
            skip_mismatch: skip parameters of another shape, with a warning. Default: False.
            reset_optimizer: do not load the optimizer state. Default: False.

        Raises:
            ValueError: if names are missing, unknown or of another shape, and not skip_mismatch; all are listed, and
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
        """Return the parameters of the network."""
        return self.network.parameters(*args, **kwargs)

    def summary(self, input_size: Any = None, dtype: Any = None) -> dict[str, int]:
        """Print a table of the layers and return the numbers of parameters; see paddle.summary().

        Arguments:
            input_size: shape of the input, or a list of shapes; None: from `inputs` of the model.
            dtype: dtype of the input; None: float32.

        Returns:
            A dict with "total_params" and "trainable_params".
        """
        size = input_size if input_size is not None else [tuple(s.shape) for s in self._inputs]
        return summary(self.network, size, dtype)


def _spec_of(given: Any) -> InputSpec:
    """Return the spec of an input like one that was given, for any size of batch."""
    tensor = given if isinstance(given, Tensor) else to_tensor(given)
    return InputSpec([None, *tensor.shape[1:]], tensor.dtype)
