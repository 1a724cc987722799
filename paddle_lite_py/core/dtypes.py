"""Data types: Paddle's names over NumPy and JAX dtypes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, IntEnum
from typing import Any

import ml_dtypes
import numpy as np

from .interpreter import layer_version

__all__ = ["DType", "as_dtype", "dtype", "finfo", "get_default_dtype", "iinfo", "set_default_dtype"]


class DType:
    """One element type; prints as ``paddle.float32`` and equals its own name.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.float32 == "float32", isinstance(paddle.int64, paddle.dtype)
        (True, True)
    """

    __slots__ = ("name", "np")

    def __init__(self, name: str, np_dtype: Any) -> None:
        self.name = name
        self.np = np.dtype(np_dtype)

    def __repr__(self) -> str:
        return f"paddle.{self.name}"

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        if isinstance(other, str):
            return other in (self.name, f"paddle.{self.name}")
        return isinstance(other, np.dtype | type) and _by_numpy(other) is self

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.np.itemsize

    @property
    def is_floating(self) -> bool:
        """True for float16, bfloat16, float32, float64 and the 8-bit floats."""
        return "float" in self.name

    @property
    def is_complex(self) -> bool:
        """True for complex64 and complex128."""
        return self.np.kind == "c"

    @property
    def is_differentiable(self) -> bool:
        """True where a gradient may flow."""
        return self.is_floating or self.is_complex

    @property
    def is_integer(self) -> bool:
        """True for the signed and unsigned integers."""
        return self.np.kind in "iu"


bool_ = DType("bool", np.bool_)
uint8 = DType("uint8", np.uint8)
int8 = DType("int8", np.int8)
int16 = DType("int16", np.int16)
int32 = DType("int32", np.int32)
int64 = DType("int64", np.int64)
float16 = DType("float16", np.float16)
bfloat16 = DType("bfloat16", ml_dtypes.bfloat16)
float32 = DType("float32", np.float32)
float64 = DType("float64", np.float64)
complex64 = DType("complex64", np.complex64)
complex128 = DType("complex128", np.complex128)
float8_e4m3fn = DType("float8_e4m3fn", ml_dtypes.float8_e4m3fn)
float8_e5m2 = DType("float8_e5m2", ml_dtypes.float8_e5m2)
# JAX state (random counters) needs unsigned words; Paddle has no name for them.
uint32 = DType("uint32", np.uint32)
uint16 = DType("uint16", np.uint16)

ALL = (
    *(bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64),
    *(complex64, complex128, float8_e4m3fn, float8_e5m2, uint16, uint32),
)
for _dtype in ALL:  # as paddle.base.core.DataType names them
    setattr(DType, _dtype.name.upper(), _dtype)

# NumPy's other names ("int", "half", "byte") are known besides; its "long" has 32 bits on Windows.
_NAMES = {d.name: d for d in ALL} | {"long": int64}
_NUMPY = {d.np: d for d in ALL}
# NumPy's dtypes that a gradient may flow in.
INEXACT = frozenset(d.np for d in ALL if d.is_differentiable)


class _Default:
    """The dtype of new floating tensors, and its name, which keys of caches hold: a dtype is slow to hash."""

    __slots__ = ("dtype", "name")

    def __init__(self, kind: DType) -> None:
        self.dtype, self.name = kind, kind.name


default = _Default(float32)


class _Bound(threading.local):
    dtype: DType | None = None  # the default dtype of the op whose function runs


_bound = _Bound()

dtype = DType
for _each in ALL:
    setattr(DType, _each.name.upper(), _each)  # DType.FLOAT32


def _by_numpy(value: Any) -> DType | None:
    try:
        return _NUMPY.get(np.dtype(value))
    except (TypeError, ValueError):
        return None


def as_dtype(value: Any) -> DType:
    """Return the DType named by a DType, a string, a NumPy dtype or a Python type: what NumPy names so.

    Raises:
        TypeError: if `value` names no dtype.

    Examples:
        >>> as_dtype("float32"), as_dtype(np.int64), as_dtype(bool)
        (paddle.float32, paddle.int64, paddle.bool)
        >>> as_dtype("byte"), as_dtype("int"), as_dtype(float)
        (paddle.int8, paddle.int64, paddle.float64)
    """
    if value.__class__ is DType:
        return value
    named = _NAMES.get(value.removeprefix("paddle.")) if isinstance(value, str) else None
    found = named or _by_numpy(value)
    if found is None:
        raise TypeError(f"dtype is {value!r}; expected one of {', '.join(d.name for d in ALL[:12])}")
    return found


def numpy_name(np_dtype: np.dtype) -> str:
    """Return the name of a NumPy dtype, also where a program has set `np.bool = bool`, by which NumPy decides it."""
    return "bool" if np_dtype.kind == "b" else np_dtype.name


def from_numpy(np_dtype: np.dtype) -> DType:
    """Return the DType of an array's `.dtype` (the hot path of `Tensor.dtype`)."""
    found = _NUMPY.get(np_dtype)
    if found is None:
        raise TypeError(f"an array of dtype {np_dtype} has no Paddle dtype; expected one of {', '.join(_NAMES)}")
    return found


def default_complex() -> DType:
    """Return the dtype of new complex tensors: complex128 where the default dtype is float64."""
    return complex128 if default_dtype() is float64 else complex64


KINDS = "biufc"  # of dtypes, as NumPy has them


def is_inexact(np_dtype: Any) -> bool:
    """True for a NumPy dtype that a gradient may flow in, bfloat16 and the 8-bit floats included."""
    return np.dtype(np_dtype) in INEXACT


def rank(np_dtype: Any) -> int:
    """The place of a NumPy dtype among booleans, integers, floats and complex ones: of two, the higher decides."""
    found = _NUMPY.get(np.dtype(np_dtype))
    return KINDS.index("f" if found is not None and found.is_floating else np.dtype(np_dtype).kind)


def get_default_dtype() -> str:
    """Name of the dtype of new floating tensors.

    Examples:
        >>> get_default_dtype()
        'float32'
    """
    return default_dtype().name


def set_default_dtype(d: Any) -> None:
    """Set the dtype of new floating tensors (float16, bfloat16, float32 or float64).

    Raises:
        TypeError: if `d` is not a floating dtype.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.set_default_dtype("float64")
        >>> paddle.ones([1]).dtype
        paddle.float64
        >>> paddle.set_default_dtype("float32")
    """
    chosen = as_dtype(d)
    if chosen not in (float16, bfloat16, float32, float64):
        raise TypeError(f"the default dtype must be float16, bfloat16, float32 or float64, got {chosen.name}")
    default.dtype, default.name = chosen, chosen.name
    layer_version.number += 1


def default_dtype() -> DType:
    """Return the DType of new floating tensors."""
    return _bound.dtype or default.dtype


@contextmanager
def bound_default(dtype: DType) -> Iterator[None]:
    """While the function of an op runs that was bound under this default dtype, whatever is the default by then."""
    before, _bound.dtype = _bound.dtype, dtype
    try:
        yield
    finally:
        _bound.dtype = before


class VarType(IntEnum):
    """How a variable is stored; its elements have a dtype."""

    DENSE_TENSOR = 7
    SELECTED_ROWS = 8
    FEED_MINIBATCH = 9
    FETCH_LIST = 10
    STEP_SCOPES = 11
    DENSE_TENSOR_ARRAY = 13
    PLACE_LIST = 14
    READER = 15
    RAW = 17
    STRING = 25
    STRINGS = 26
    VOCAB = 27
    SPARSE_COO = 30

    __str__ = Enum.__str__


class FloatLimits:
    """The values of numpy.finfo for a floating dtype, as Python numbers."""

    def __init__(self, dtype: Any) -> None:
        limits = ml_dtypes.finfo(dtype)
        self.min, self.max, self.eps = float(limits.min), float(limits.max), float(limits.eps)
        self.resolution = float(f"1e-{limits.precision}")  # which bfloat16 itself does not hold
        self.smallest_normal, self.tiny = float(limits.smallest_normal), float(limits.tiny)
        self.bits, self.dtype = int(limits.bits), str(limits.dtype)

    def __repr__(self) -> str:
        shown = [f"{n}={v:g}" if isinstance(v, float) else f"{n}={v}" for n, v in vars(self).items()]
        return f"paddle.finfo({', '.join(shown)})"


class IntegerLimits:
    """The values of numpy.iinfo for an integer dtype."""

    def __init__(self, dtype: Any) -> None:
        limits = ml_dtypes.iinfo(dtype)
        self.min, self.max = int(limits.min), int(limits.max)
        self.bits, self.dtype = int(limits.bits), str(limits.dtype)

    def __repr__(self) -> str:
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"


def finfo(dtype: Any = None, *, type: Any = None) -> FloatLimits:
    """Limits of a floating dtype, by default of the default one; `type` is another name of `dtype`.

    Examples:
        >>> finfo("float32").eps < 2e-7
        True
    """
    named = type if dtype is None else dtype
    return FloatLimits((default_dtype() if named is None else as_dtype(named)).np)


def iinfo(dtype: Any) -> IntegerLimits:
    """Limits of an integer dtype.

    Examples:
        >>> iinfo("int8")
        paddle.iinfo(min=-128, max=127, bits=8, dtype=int8)
    """
    return IntegerLimits(as_dtype(dtype).np)
