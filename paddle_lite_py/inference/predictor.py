"""A saved program at work: inputs and outputs by name, one predictor a thread."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ..core.arrays import from_host
from ..core.interpreter import no_grad, use
from ..core.no_effect import no_effect
from ..core.place import as_place
from ..device.stream import IN_ORDER
from ..eager.execute import EAGER
from ..eager.tensor import Tensor, wrap
from ..jit import TranslatedLayer
from ..jit.method import Method
from ..jit.save_load import with_passes
from ..jit.translated import load_with
from ..passes.manager import PassManager
from ..passes.precision import AutoCast
from .config import Config
from .kinds import DataType, PrecisionType


class Handle:
    """Input or output of a predictor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> spec = [paddle.static.InputSpec([None, 2], "float32", name="x")]
        >>> paddle.jit.save(paddle.nn.Linear(2, 1), folder + "/m", input_spec=spec)
        >>> predictor = paddle.inference.create_predictor(paddle.inference.Config(folder + "/m"))
        >>> handle = predictor.get_input_handle(predictor.get_input_names()[0])
        >>> handle.copy_from_cpu(np.ones([3, 2], "float32")); handle.shape()
        [3, 2]
    """

    def __init__(self, name: str, dtype: Any) -> None:
        self._name, self._dtype = name, dtype
        self._data: Any = None
        self._is_shared = False  # with the caller, who may refill it
        self._shape: tuple[int, ...] | None = None

    def name(self) -> str:
        """Return the name."""
        return self._name

    def reshape(self, shape: Sequence[int]) -> None:
        """Declare the shape of the data for copy_from_cpu(); optional."""
        self._shape = tuple(int(n) for n in shape)

    def copy_from_cpu(self, data: Any) -> None:
        """Set the input from a NumPy array.

        Raises:
            ValueError: if the array has another shape than reshape() declared.
        """
        array = np.array(data)
        if self._shape is not None and array.size != np.prod(self._shape, dtype=int):
            raise ValueError(
                f"input `{self._name}` was reshaped to {list(self._shape)}, and is given data of shape "
                f"{list(array.shape)}; leave reshape() out, or give it that shape"
            )
        self._data, self._shape = array if self._shape is None else array.reshape(self._shape), None
        self._is_shared = False

    def share_external_data(self, data: Any) -> None:
        """Set the input to a tensor or array. Each run reads an array again, so it may be refilled between runs."""
        self._data, self._shape = data._payload if isinstance(data, Tensor) else np.asarray(data), None
        self._is_shared = not isinstance(data, Tensor)

    def copy_to_cpu(self) -> np.ndarray:
        """Return the output as a NumPy array.

        Raises:
            RuntimeError: if there is no output yet.
        """
        if self._data is None:
            raise RuntimeError(f"`{self._name}` has no data yet: set the inputs and call run()")
        return np.array(self._data)

    def shape(self) -> list[int]:
        """Return the shape."""
        return list(np.shape(self._data)) if self._data is not None else list(self._shape or ())

    def type(self) -> DataType:
        """Return the DataType of the elements."""
        return DataType[str(self._dtype.name).upper()]

    def lod(self) -> list[Any]:
        """Return an empty list: sequences are padded."""
        return []


class Predictor:
    """Saved program with input and output handles; clone() creates one for another thread.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> spec = [paddle.static.InputSpec([None, 2], "float32", name="x")]
        >>> paddle.jit.save(paddle.nn.Linear(2, 1), folder + "/m", input_spec=spec)
        >>> predictor = paddle.inference.create_predictor(paddle.inference.Config(folder + "/m"))
        >>> len(predictor.get_input_names())
        1
        >>> predictor.run([np.ones([3, 2], "float32")])[0].shape
        paddle.Size([3, 1])
    """

    def __init__(self, layer: TranslatedLayer, config: Config) -> None:
        self._layer, self._config = layer, config
        self._method: Method = layer._methods["forward"]["eval"]
        self._device = as_place("{}:{}".format(*config.device()) if config.device()[0] != "cpu" else "cpu").device
        self._devices = {self._device}
        self._is_plain = self._device == jax.local_devices()[0] and self._device.platform == "cpu"
        self._inputs = {str(s.name): Handle(str(s.name), s.dtype) for s in self._method.inputs}
        self._outputs = {str(s.name): Handle(str(s.name), s.dtype) for s in self._method.results}
        self._hooks: list[Callable[..., Any]] = []
        self._kinds: list[Any] | None = None  # shapes and dtypes that were checked

    # Key: the object itself, whose program and weights stay. Made at the first run: a server has one of its own.
    @functools.cached_property
    def _bare(self) -> Callable[..., tuple[Any, ...]] | None:
        """The function of arrays; None where a run does more than compute."""
        return self._method.bare() if self._is_plain and self._method.gives_what_it_computes else None

    def get_input_names(self) -> list[str]:
        """Return the names of the inputs."""
        return list(self._inputs)

    def get_output_names(self) -> list[str]:
        """Return the names of the outputs."""
        return list(self._outputs)

    def get_input_handle(self, name: str) -> Handle:
        """Return the handle of an input."""
        return self._named(self._inputs, name, "input")

    def get_output_handle(self, name: str) -> Handle:
        """Return the handle of an output."""
        return self._named(self._outputs, name, "output")

    def _named(self, handles: dict[str, Handle], name: str, what: str) -> Handle:
        if name not in handles:
            raise ValueError(f"the program has no {what} `{name}`; it has {', '.join(handles)}")
        return handles[name]

    def run(self, inputs: Sequence[Any] | None = None) -> Any:
        """Run the program.

        Arguments:
            inputs: tensors or arrays in the order of the input names; None: the data of the input handles.

        Returns:
            A list of tensors if inputs are given; else True, with the results in the output handles.

        Raises:
            RuntimeError: if an input handle has no data.
            ValueError: if an input has a wrong shape or dtype.
        """
        given = list(map(_own, inputs)) if inputs is not None else [self._held(h) for h in self._inputs.values()]
        found = self._computed(given)
        names = [str(s.name) for s in self._method.results]  # one may come several times
        for name, data in zip(names, found, strict=True):
            self._outputs[name]._data = data
        if inputs is None and not self._hooks:
            return True
        tensors = [wrap(from_host(np.asarray(a)) if self._bare else a) for a in found]
        for name, tensor in zip(names, tensors, strict=True):
            for hook in self._hooks:
                hook(name, tensor)
        return True if inputs is None else tensors

    def _computed(self, given: list[Any]) -> Sequence[Any]:
        """Return the arrays of the results."""
        if self._bare is not None:
            arrays = [np.asarray(a) for a in given]
            if (kinds := [(a.shape, a.dtype) for a in arrays]) != self._kinds:
                self._method.check(list(map(wrap, arrays)))
                self._kinds = kinds
            return self._bare(*arrays)
        with use(EAGER), no_grad():  # in static mode too, where it was saved perhaps
            return [t._payload for t in self._method.flat([self._placed(a) for a in given])]

    def _placed(self, given: Any) -> Tensor:
        """Return an input as a tensor on the predictor's device."""
        # Not by device_put() if the device is the default one: XLA compiles again for placed arrays.
        if self._is_plain or (isinstance(given, jax.Array) and given.devices() == self._devices):
            return wrap(given)
        return wrap(jax.device_put(given, self._device))

    def _held(self, handle: Handle) -> Any:
        if handle._data is None:
            raise RuntimeError(f"input `{handle.name()}` has no data: call copy_from_cpu() on its handle before run()")
        return np.array(handle._data) if handle._is_shared else handle._data

    @no_effect(stream=IN_ORDER)
    def clone(self, stream: Any = None) -> Predictor:
        """Return a predictor that shares the weights, with handles of its own, for another thread."""
        return Predictor(self._layer, self._config)

    def register_output_hook(self, hook: Callable[[str, Tensor], Any]) -> None:
        """Register a hook that is called as `hook(name, tensor)` with each output."""
        self._hooks.append(hook)

    def clear_intermediate_tensor(self) -> None:
        """Do nothing; XLA frees intermediate tensors."""

    def try_shrink_memory(self) -> int:
        """Do nothing; there is no memory to release."""
        return 0


def _own(given: Any) -> Any:
    """Return an array that the caller does not fill anew while XLA still reads it."""
    data = given._payload if isinstance(given, Tensor) else given
    return data if isinstance(given, Tensor) or isinstance(data, jax.Array) else np.array(data)


class PredictorPool:
    """Pool of predictors that share one program.

    Arguments:
        config: the Config.
        size: number of predictors. Default: 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> spec = [paddle.static.InputSpec([None, 2], "float32", name="x")]
        >>> paddle.jit.save(paddle.nn.Linear(2, 1), folder + "/m", input_spec=spec)
        >>> pool = paddle.inference.PredictorPool(paddle.inference.Config(folder + "/m"), 2)
        >>> pool.retrieve(1).run([np.ones([3, 2], "float32")])[0].shape
        paddle.Size([3, 1])
    """

    def __init__(self, config: Config, size: int = 1) -> None:
        first = create_predictor(config)
        self._predictors = [first, *[first.clone() for _ in range(size - 1)]]

    def retrieve(self, index: int) -> Predictor:
        """Return the predictor with an index."""
        return self._predictors[index]


def create_predictor(config: Config) -> Predictor:
    """Create a predictor for a saved program.

    Arguments:
        config: the Config.

    Returns:
        A Predictor.

    Raises:
        ArtifactError: if the files are missing or damaged.
        ValueError: if there is no such device.

    Examples:
        >>> import tempfile, numpy as np, paddle_lite_py as paddle
        >>> prefix = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(paddle.nn.Linear(3, 2), prefix, input_spec=[paddle.static.InputSpec([None, 3], name="x")])
        >>> predictor = create_predictor(Config(prefix))
        >>> predictor.get_input_handle("x").copy_from_cpu(np.ones((4, 3), "float32"))
        >>> predictor.run(), predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu().shape
        (True, (4, 2))
    """
    with use(EAGER):
        return Predictor(_loaded(config), config)


# The values of weights that allow rewriting; XLA does the rest.
_FOLDING = ("fold_added_bias", "fold_batch_norm", "freeze_weights", "dead_code")
_LOW = {PrecisionType.Half: "float16", PrecisionType.Bfloat16: "bfloat16"}


def _loaded(config: Config) -> TranslatedLayer:
    """Load the program in the requested precision, with normalization folded into the preceding weights."""
    layer = load_with(config.prefix(), config.params_file() or None)
    if config.precision() in _LOW:
        return with_passes(layer, AutoCast(_LOW[config.precision()], level="O2", keep_results=True))
    ops = (op.name for m in layer._methods.values() for op in m["eval"].program.ops())
    if config.ir_optim() and "batch_norm" in ops:
        return with_passes(layer, PassManager(_FOLDING, check=False).apply)
    return layer
