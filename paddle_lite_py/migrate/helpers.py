"""Helpers within PaddlePaddle that published programs import, though they are not public."""

from __future__ import annotations

import logging
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.dtypes import as_dtype
from ..core.no_effect import Immaterial, no_effect
from ..core.place import Place, as_place
from ..device import get_device_properties, is_compiled_with_cuda
from ..distributed import InMemoryDataset, QueueDataset, all_gather
from ..eager.random import default_generator
from ..eager.tensor import Tensor, wrap
from ..jit import enable_to_static as enable_to_static_of_jit
from ..jit.options import settings as settings_of_jit
from ..ops.convert import to_tensor
from ..ops.dynamic import is_eager
from ..ops.joining import concat
from ..ops.random import uniform

logger = logging.getLogger("paddle")
# The last message of a program, by which a scheduler knows why it ended.
AADIFF_ERROR = "PaddleRecall error(101): AAdiff"
LOSS_NAN_ERROR = "PaddleRecall error(102): LossNan"
SHARDING_PAD_NON_ZERO_ERROR = "PaddleRecall error(103): ShardingPadNonZero"
LOSS_INF_ERROR = "PaddleRecall error(104): LossInf"


def check_naninf(tensor: Tensor) -> Any:
    """Return the text of LOSS_NAN_ERROR or LOSS_INF_ERROR if the tensor holds such a value; None otherwise.

    Args:
        tensor: a tensor of floats.
    """
    values = tensor.numpy()
    if np.isnan(values).any():
        return LOSS_NAN_ERROR
    return LOSS_INF_ERROR if np.isinf(values).any() else None


def use_pir_api() -> bool:
    """True: programs have values and blocks, not variables by name.

    Examples:
        >>> use_pir_api()
        True
    """
    return True


def in_pir_mode() -> bool:
    """True in static mode.

    Examples:
        >>> in_pir_mode()
        False
    """
    return not is_eager()


_NOT_HERE = Immaterial("they are about a part of PaddlePaddle that XLA does not have")


@contextmanager
@no_effect(args=_NOT_HERE, kwargs=_NOT_HERE)
def unchanged(*args: Any, **kwargs: Any) -> Iterator[None]:
    """The block as it is, where PaddlePaddle switches a part of its core that XLA does not have."""
    yield


@no_effect(settings=_NOT_HERE)
def no_op_decorator(function: Any = None, **settings: Any) -> Any:
    """Return the function as it is; with settings alone, a decorator that leaves functions as they are."""
    return (lambda f: f) if function is None else function


def same(x: Any, name: str | None = None) -> Any:
    """Return the tensor: gradients of rows are dense here."""
    return x


def squared_norm(x: Any) -> Tensor:
    """Return the sum of squares, as a tensor of one element."""
    return (x.astype("float32") ** 2).sum().reshape([1])


def clip_by_norm(x: Tensor, max_norm: float, name: Any = None) -> Tensor:
    """Return a tensor, made shorter where its norm is above a number.

    Examples:
        >>> clip_by_norm(to_tensor([3.0, 4.0]), 1.0).tolist()
        [0.6000000238418579, 0.800000011920929]
    """
    norm: Any = (x * x).sum().sqrt()
    return x * (max_norm / norm.clip(min=max_norm))


def uniform_like_batch(
    input: Tensor, shape: Any, dtype: Any = "float32", input_dim_idx: int = 0, output_dim_idx: int = 0,
    min: float = -1.0, max: float = 1.0, seed: int = 0,
) -> Tensor:  # fmt: skip
    """Random numbers of a shape, one dimension of which is that of another tensor.

    Examples:
        >>> uniform_like_batch(to_tensor([[1.0, 2.0, 3.0]]), [5, 4]).shape
        paddle.Size([1, 4])
    """
    sizes = list(shape)
    sizes[output_dim_idx] = input.shape[input_dim_idx]
    return uniform(sizes, dtype, min, max, seed)


class MmapStorage:
    """A memory-mapped file of numbers.

    Args:
        filename: the file.
        nbytes: how many bytes of it belong to the storage.

    Raises:
        ValueError: if the file is shorter.

    Examples:
        >>> import numpy as np, os, paddle_lite_py as paddle, tempfile
        >>> file = os.path.join(tempfile.mkdtemp(), "numbers")
        >>> np.arange(4, dtype="float32").tofile(file)
        >>> paddle.MmapStorage(file, 16).get_slice("float32", 1, 3).tolist()
        [1.0, 2.0]
    """

    def __init__(self, filename: str, nbytes: int) -> None:
        if nbytes > (found := os.path.getsize(filename)):
            raise ValueError(f"MmapStorage: nbytes is {nbytes}, and '{filename}' has {found} bytes")
        self._bytes = np.memmap(filename, np.uint8, "r", shape=(nbytes,))

    def get_slice(self, dtype: Any = "uint8", start: int = 0, stop: int = -1, step: int = 1) -> Tensor:
        """Elements of a type from one place to another, both counted in elements."""
        return to_tensor(np.array(self._bytes.view(as_dtype(dtype).np)[start:stop:step]))


def to_place(device: Any) -> Place:
    """Return the place that a name such as "gpu:0" stands for."""
    return as_place(device)


def every(obj: Any, condition: Callable[[Any], bool], convert: Callable[[Any], Any]) -> Any:
    """Nested containers, in which what fulfils a condition is converted; lists and dicts are changed in place.

    Examples:
        >>> every({"a": [1, "b"]}, lambda x: isinstance(x, int), str)
        {'a': ['1', 'b']}
    """
    if condition(obj):
        return convert(obj)
    if isinstance(obj, dict | list):
        for key in range(len(obj)) if isinstance(obj, list) else list(obj):
            obj[key] = every(obj[key], condition, convert)
        return obj
    if isinstance(obj, tuple | set):
        return type(obj)(every(list(obj), condition, convert))
    return obj


def is_array(obj: Any) -> bool:
    """True for a NumPy array: what files hold for a tensor."""
    return isinstance(obj, np.ndarray)


def as_tensor(array: np.ndarray) -> Tensor:
    """Return the tensor of a NumPy array.

    Raises:
        TypeError: if it is none.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected a numpy.ndarray, got a {type(array).__name__}")
    return to_tensor(array)


def architecture() -> int:
    """Return the compute capability of the GPU as one number, such as 80; 0 without one."""
    if not is_compiled_with_cuda():
        return 0
    found = get_device_properties()
    return int(found.major) * 10 + int(found.minor)


def all_gathered(x: Tensor) -> Tensor:
    """Return the tensors of all processes, one after another."""
    gathered: list[Tensor] = []
    all_gather(gathered, x)
    return concat(gathered, 0)


def first_true(condition: Tensor, total_true_num: int) -> Tensor:
    """Return the indices of the first elements that are not zero; -1 where there are fewer.

    Examples:
        >>> first_true(to_tensor([0, 1, 0, 1]), 2).tolist()
        [[1], [3]]
    """
    found = jnp.nonzero(condition._payload, size=total_true_num, fill_value=-1)
    return wrap(jnp.stack(found, axis=-1))


_PINNED = [False]


def use_pinned_memory(*given: bool) -> bool | None:
    """Whether batches are to lie in pinned memory, which XLA decides; with an argument: remember that."""
    if not given:
        return _PINNED[0]
    _PINNED[0] = bool(given[0])
    return None


class LazyInitHelper:
    """Whether parameters are drawn later: they never are."""

    @property
    def state(self) -> bool:
        """False."""
        return False


_LAZY = LazyInitHelper()


def lazy_init_helper() -> LazyInitHelper:
    """Tells whether parameters are drawn later."""
    return _LAZY


@no_effect(head_dim=Immaterial("every size is computed in one way"))
def attention_kind(head_dim: int) -> str:
    """How attention over heads of a size is computed: "flash_attn", which XLA or a kernel of its own does."""
    return "flash_attn"


@no_effect(args=_NOT_HERE, kwargs=_NOT_HERE)
def false(*args: Any, **kwargs: Any) -> bool:
    """Return False: the feature is never active here."""
    return False


def is_picture(img: Any) -> bool:
    """True for a Pillow image."""
    from PIL import Image

    return isinstance(img, Image.Image)


def is_image_array(img: Any) -> bool:
    """Whether an image is a NumPy array of two or three dimensions."""
    return isinstance(img, np.ndarray) and img.ndim in (2, 3)


def convert_uint16_to_float(data: np.ndarray) -> np.ndarray:
    """Return the float32 values of bfloat16 numbers that are stored as uint16.

    Examples:
        >>> convert_uint16_to_float(np.array([0x3F80, 0xC000], "uint16")).tolist()
        [1.0, -2.0]
    """
    return (np.asarray(data).astype("uint32") << 16).view("float32")


@contextmanager
def job_schedule_profiler_range(iter_id: int, start: int, end: int, exit_after_prof: bool = True) -> Iterator[bool]:
    """Give whether an iteration is in [start, end), and end the program after the last one of them."""
    try:
        yield start <= iter_id < end
    finally:
        if start < end and iter_id == end - 1 and exit_after_prof:
            sys.exit()


_WIDE = [False]


def clip_in_wide_type(*given: bool) -> bool:
    """Whether the global norm is computed in float32; with an argument, set it and give what it was."""
    before = _WIDE[0]
    _WIDE[:] = given or _WIDE
    return before


def is_tensor(img: Any) -> bool:
    """True for a tensor."""
    return isinstance(img, Tensor)


NO = False


@no_effect(args=_NOT_HERE, kwargs=_NOT_HERE)
def none(*args: Any, **kwargs: Any) -> int:
    """0: there are none."""
    return 0


def set_dynamic_shape(variable: Tensor, shape_list: Sequence[int]) -> None:
    """Check the sizes that a static function is told to leave open; those that change are found without it."""
    if not isinstance(variable, Tensor):
        raise TypeError(f"set_dynamic_shape: variable is {type(variable).__name__}, a tensor is expected")
    if len(shape_list) != variable.ndim:
        raise ValueError(
            f"set_dynamic_shape: shape_list has {len(shape_list)} sizes, variable has {variable.ndim} dimensions"
        )


class ProgramTranslator:
    """The switch of `to_static` as older programs write it."""

    @classmethod
    def get_instance(cls) -> ProgramTranslator:
        """Return the switch."""
        return cls()

    @property
    def enable_to_static(self) -> bool:
        """Whether static functions run as programs."""
        return settings_of_jit.enabled

    def enable(self, enable_to_static: bool) -> None:
        """Run static functions as they are (False), or as programs."""
        enable_to_static_of_jit(enable_to_static)


def spread(
    value: Any, name: str, center: float = 1, bound: tuple[float, float] = (0, float("inf")),
    clip_first_on_zero: bool = True,
) -> list[float] | None:  # fmt: skip
    """Return the range that a number around a centre, or a pair, stands for; None if it holds the centre alone.

    Raises:
        ValueError: if a number is negative, or a pair is not within the bounds.
        TypeError: if it is neither.

    Examples:
        >>> spread(0.5, "brightness")
        [0.5, 1.5]
    """
    if isinstance(value, int | float):
        if value < 0:
            raise ValueError(f"{name} is {value}; expected a number that is not negative")
        low = center - value
        value = [max(low, 0) if clip_first_on_zero else low, center + value]
    elif not isinstance(value, list | tuple) or len(value) != 2:
        raise TypeError(f"{name} is {value!r}; expected a number or a pair of numbers")
    if not bound[0] <= value[0] <= value[1] <= bound[1]:
        raise ValueError(f"{name} is {value}; expected a pair between {bound[0]} and {bound[1]}")
    return None if value[0] == value[1] == center else list(value)


def initial_seed() -> int:
    """Return the seed that random numbers began with.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> _ = paddle.seed(5); initial_seed()
        5
    """
    return default_generator.initial_seed()


def fans(var: Any) -> tuple[int, int]:
    """Return the inputs and the outputs of one unit of a weight [out, in, ...], as torch counts them.

    Raises:
        ValueError: the weight has less than two dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> fans(paddle.ones([4, 3, 2]))
        (6, 8)
    """
    if var.ndim < 2:
        raise ValueError(f"a weight of two or more dimensions is expected, got the shape {[*var.shape]}")
    field = math.prod(var.shape[2:])
    return var.shape[1] * field, var.shape[0] * field


class DatasetFactory:
    """Makes data sets of slots by the names of their classes.

    Examples:
        >>> type(DatasetFactory().create_dataset("QueueDataset")).__name__
        'QueueDataset'
    """

    def create_dataset(self, datafeed_class: str = "QueueDataset") -> Any:
        """Return a data set of the class of that name.

        Raises:
            ValueError: there is no such class.
        """
        kinds = {"QueueDataset": QueueDataset, "InMemoryDataset": InMemoryDataset}
        if datafeed_class not in kinds:
            raise ValueError(f"DatasetFactory: the class is {datafeed_class!r}; expected one of {', '.join(kinds)}")
        return kinds[datafeed_class]()


def check_shape(shape: Any) -> None:
    """Raise an error unless a shape is a list, tuple or tensor of integers that are not negative.

    Args:
        shape: list, tuple or tensor of ints, the shape.

    Raises:
        TypeError: it is none of these, or has something else in it.
        ValueError: a size is negative.

    Examples:
        >>> check_shape([1, 3])
    """
    if isinstance(shape, Tensor):
        return
    if not isinstance(shape, list | tuple):
        raise TypeError(f"shape is a {type(shape).__name__}; expected a list, a tuple or a tensor of integers")
    for size in shape:
        if isinstance(size, Tensor):
            continue
        if not isinstance(size, int | np.integer) or isinstance(size, bool):
            raise TypeError(f"shape has {size!r}; expected an integer")
        if size < 0:
            raise ValueError(f"shape has {size}; expected sizes that are not negative")
