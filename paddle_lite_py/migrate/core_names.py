"""Names of PaddlePaddle's compiled core besides places and tensors: kinds, generators, modes."""

from __future__ import annotations

from enum import IntEnum, IntFlag
from types import SimpleNamespace
from typing import Any

from ..amp.auto_cast import amp_state
from ..autograd import is_grad_enabled, saved_tensors_hooks, set_grad_enabled
from ..core import dtypes
from ..core.dtypes import VarType
from ..core.no_effect import ONE_STREAM, Immaterial, no_effect
from ..device import memory
from ..eager.random import Generator, default_generator  # noqa: F401
from ..eager.tensor import Tensor
from ..nn import unique_name
from ..registry.op import REGISTRY

_DTYPES = {
    **{"BOOL": dtypes.bool_, "UINT8": dtypes.uint8, "INT8": dtypes.int8, "INT16": dtypes.int16},
    **{"INT32": dtypes.int32, "INT64": dtypes.int64, "FP16": dtypes.float16, "BF16": dtypes.bfloat16},
    **{"FP32": dtypes.float32, "FP64": dtypes.float64, "COMPLEX64": dtypes.complex64, "COMPLEX128": dtypes.complex128},
    **{"FP8_E4M3FN": dtypes.float8_e4m3fn, "FP8_E5M2": dtypes.float8_e5m2},
}
AmpLevel = IntEnum("AmpLevel", "O0 OD O1 O2", start=0)  # amp.auto_cast.LEVELS
AttrType = IntEnum(
    "AttrType",
    "INT FLOAT STRING INTS FLOATS STRINGS BOOL BOOLS BLOCK LONG BLOCKS LONGS FLOAT64S VAR VARS FLOAT64 SCALAR SCALARS",
    start=0,
)


class VarDesc:
    """Kinds of variables; those of tensors' elements are dtypes."""

    VarType = SimpleNamespace(**_DTYPES, **VarType.__members__, LOD_TENSOR=VarType.DENSE_TENSOR)


DataType = dtypes.DType


class OpRole(IntFlag):
    """The role of an operator in a program."""

    Forward = 0x0
    Backward = 0x1
    Optimize = 0x2
    RPC = 0x4
    Dist = 0x8
    LRSched = 0x10
    Loss = 0x100


op_proto_and_checker_maker = SimpleNamespace(OpRole=OpRole)


@no_effect(index=ONE_STREAM)
def default_cuda_generator(index: int = 0) -> Any:
    """Return the generator of random numbers: there is one for all devices."""
    return default_generator


@no_effect(place=ONE_STREAM)
def default_custom_device_generator(place: Any = None) -> Any:
    """Return the generator of random numbers: there is one for all devices."""
    return default_generator


@no_effect(kind=Immaterial("there are none of any"))
def get_custom_device_count(kind: str) -> int:
    """Return the number of devices of an unknown kind: 0."""
    return 0


def device_memory_stat_current_value(stat: str, index: int = 0) -> int:
    """Bytes that are held now on a GPU.

    Args:
        stat: "Allocated" or "Reserved".
        index: of the GPU.
    """
    return (memory.memory_allocated if stat == "Allocated" else memory.memory_reserved)(index)


def device_memory_stat_peak_value(stat: str, index: int = 0) -> int:
    """Bytes that were held at most on a GPU.

    Args:
        stat: "Allocated" or "Reserved".
        index: of the GPU.
    """
    return (memory.max_memory_allocated if stat == "Allocated" else memory.max_memory_reserved)(index)


def size_of_dtype(dtype: Any) -> int:
    """Bytes of an element."""
    return dtypes.as_dtype(dtype).np.itemsize


class Tracer:
    """The settings in force while ops run, like PaddlePaddle's tracer."""

    @property
    def _amp_level(self) -> Any:
        return AmpLevel[amp_state().level] if amp_state() else AmpLevel["O0"]

    @property
    def _amp_dtype(self) -> str:
        return dtypes.as_dtype(amp_state().dtype).name if amp_state() else "float32"

    @property
    def _has_grad(self) -> bool:
        return is_grad_enabled()

    @_has_grad.setter
    def _has_grad(self, value: bool) -> None:
        set_grad_enabled(value)

    def _generate_unique_name(self, key: str = "eager_tmp") -> str:
        return unique_name.generate(key)


_TRACER = Tracer()
_has_grad = is_grad_enabled


def _set_has_grad(value: bool) -> None:
    set_grad_enabled(value)


def _dygraph_tracer() -> Tracer:
    return _TRACER


def generate_with_ignorable_key(key: str) -> str:
    """Return a name that nothing else has; that it begins with `key` is not promised.

    Examples:
        >>> generate_with_ignorable_key("x") != generate_with_ignorable_key("x")
        True
    """
    return unique_name.generate(key)


def _run_custom_op(name: str, *given: Any) -> Any:
    """Call an operator of the user's by its name: tensors, then attributes in order."""
    op = REGISTRY.get(name)
    if op is None or not op.custom:
        raise ValueError(f"_run_custom_op: there is no operator {name!r}; define it with paddle.utils.custom_op")
    tensors = [a for a in given if isinstance(a, Tensor | list) or a is None]
    attributes = [*given[len(tensors) :], *(p.default for p in op.attr_params[len(given) - len(tensors) :])]
    return op.apply(tuple(tensors), tuple(attributes))


_HOOKS: list[saved_tensors_hooks] = []


def register_saved_tensors_hooks(pack: Any, unpack: Any) -> None:
    """Let saved tensors pass through hooks from now on; see paddle.autograd.saved_tensors_hooks."""
    _HOOKS.append(saved_tensors_hooks(pack, unpack))
    _HOOKS[-1].__enter__()


def reset_saved_tensors_hooks() -> None:
    """End what register_saved_tensors_hooks() began last."""
    if _HOOKS:
        _HOOKS.pop().__exit__()
