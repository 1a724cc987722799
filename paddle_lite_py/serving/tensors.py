"""Tensors of the Open Inference Protocol: datatypes, and JSON or bytes as arrays, checked before memory is taken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from .errors import ServingError

DTYPES: dict[str, np.dtype] = {
    "BOOL": np.dtype(bool),
    **{f"{sign}INT{bits}": np.dtype(f"{sign.lower()}int{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64)},
    **{f"FP{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "BYTES": np.dtype(object),
}
DATATYPES = {dtype: name for name, dtype in DTYPES.items()}
MAX_RANK, MAX_DIM = 32, 2**48

Arrays = dict[str, np.ndarray]


class TensorSpec(NamedTuple):
    """An input or output of a model: a dimension is a number, or a name or -1 where any number will do.

    Examples:
        >>> TensorSpec("x", "FP32", ("batch", 3)).metadata()
        {'name': 'x', 'datatype': 'FP32', 'shape': [-1, 3]}
    """

    name: str
    datatype: str
    dims: tuple[int | str, ...]
    limits: tuple[int, int] | None = None  # the least and the largest index, where these are known

    def metadata(self) -> dict[str, Any]:
        """As the protocol shows it."""
        shape = [n if isinstance(n, int) else -1 for n in self.dims]
        return {"name": self.name, "datatype": self.datatype, "shape": shape}


def as_shape(shape: Any, name: str) -> tuple[int, ...]:
    """Return the shape that a request states.

    Raises:
        ServingError: if it is none.
    """
    given = list(shape) if isinstance(shape, Sequence) and not isinstance(shape, str | bytes) else None
    if given is None or len(given) > MAX_RANK or not all(type(n) is int and 0 <= n <= MAX_DIM for n in given):
        raise ServingError(
            "invalid", f"input `{name}`: shape is {_short(shape)}; expected a list of sizes, such as [1, 3]"
        )
    return tuple(given)


def as_datatype(datatype: Any, name: str) -> np.dtype:
    """Return the dtype that a request states.

    Raises:
        ServingError: if there is none of that name.
    """
    found = DTYPES.get(datatype) if isinstance(datatype, str) else None
    if found is None:
        raise ServingError(
            "invalid", f"input `{name}`: datatype is {_short(datatype)}; expected one of {', '.join(DTYPES)}"
        )
    return found


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


# -- bytes ---------------------------------------------------------------------------------------------------------
def from_bytes(data: memoryview | bytes, dtype: np.dtype, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Return an array on bytes of a request, without a copy.

    Raises:
        ServingError: if the bytes are too few or too many.
    """
    if dtype.hasobject:
        return _split(bytes(data), shape, name)
    expected = math.prod(shape) * dtype.itemsize
    if len(data) != expected:
        said = f"input `{name}`: {len(data)} bytes for shape {list(shape)} of {DATATYPES[dtype]}"
        raise ServingError("invalid", f"{said}, which takes {expected}")
    array = np.frombuffer(data, np.uint8).view(dtype) if expected else np.empty(0, dtype)
    if dtype.kind == "b" and array.size and int(array.view(np.uint8).max()) > 1:
        raise ServingError("invalid", f"input `{name}`: a byte of a BOOL is neither 0 nor 1")
    return array.reshape(shape)


def to_bytes(array: np.ndarray) -> bytes:
    """Elements in order; each element of BYTES after its length, as the protocol has it."""
    if array.dtype == object:
        items = [v if isinstance(v, bytes) else str(v).encode() for v in array.reshape(-1)]
        return b"".join([len(v).to_bytes(4, "little") + v for v in items])
    return np.ascontiguousarray(array).tobytes()


def _split(data: bytes, shape: tuple[int, ...], name: str) -> np.ndarray:
    items, at = [], 0
    while at + 4 <= len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        items.append(data[at + 4 : end])
        at = end
    if at != len(data) or len(items) != math.prod(shape):
        said = f"input `{name}`: {len(data)} bytes hold {len(items)} elements of BYTES"
        raise ServingError("invalid", f"{said}; shape {list(shape)} takes {math.prod(shape)}, each after its length")
    return _objects(items, shape)


def _objects(items: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


# -- JSON ----------------------------------------------------------------------------------------------------------
# Which kinds of Python's numbers an element may be written as; 1.5 is no INT32, and true no FP32.
_ACCEPTED = {"b": "b", "i": "iu", "u": "iu", "f": "iuf", "V": "iuf"}


def from_list(data: Any, dtype: np.dtype, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Return an array of a list in JSON, flat or nested.

    Raises:
        ServingError: if the list has another size or shape, or elements that the dtype does not hold.
    """
    if not isinstance(data, list):
        raise ServingError("invalid", f"input `{name}`: data is {_short(data)}; expected a list")
    if dtype.hasobject:
        return _texts(data, shape, name)
    try:
        array = np.array(data) if data else np.empty(0, dtype)
    except (ValueError, OverflowError, RecursionError):
        raise ServingError(
            "invalid", f"input `{name}`: data is a ragged list, or too deep; expected shape {list(shape)}"
        ) from None
    if array.size != math.prod(shape) or (array.ndim > 1 and array.shape != shape):
        raise ServingError(
            "invalid", f"input `{name}`: data has shape {list(array.shape)}, but its declared shape is {list(shape)}"
        )
    if array.dtype.kind in "iuf" and _has_bool(data, array):
        raise ServingError("invalid", f"input `{name}`: data holds true or false, which is no {DATATYPES[dtype]}")
    return _converted(_whole(data, array, dtype), dtype, name).reshape(shape)


def _has_bool(data: list[Any], array: np.ndarray) -> bool:
    """Return whether there is a bool among numbers, which NumPy takes for 0 or 1."""
    return bool(((array == 0) | (array == 1)).any()) and bool in set(map(type, _flat(data, array.ndim)))


def _whole(data: list[Any], array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Convert numbers that are written as 3.0 to integers, which they are in JSON; return others as they are."""
    if array.dtype.kind != "f" or dtype.kind not in "iu":
        return array
    items, limits = _flat(data, array.ndim), np.iinfo(dtype)
    if all(v == v // 1 and limits.min <= v <= limits.max for v in items):
        return np.array([int(v) for v in items], dtype)
    return array


def _flat(data: list[Any], ndim: int) -> list[Any]:
    for _ in range(ndim - 1):
        data = [v for inner in data for v in inner]
    return data


def _converted(array: np.ndarray, dtype: np.dtype, name: str) -> np.ndarray:
    if array.dtype.kind not in _ACCEPTED[dtype.kind]:
        raise ServingError("invalid", f"input `{name}`: data holds {array.dtype}, which is no {DATATYPES[dtype]}")
    if dtype.kind in "iu" and array.size:
        limits, low, high = np.iinfo(dtype), int(array.min()), int(array.max())
        if low < limits.min or high > limits.max:
            raise ServingError("invalid", f"input `{name}`: {low} to {high} is out of the range of {DATATYPES[dtype]}")
    with np.errstate(over="ignore"):
        made = array.astype(dtype)
    if dtype.kind in "fV" and not np.isfinite(made.astype(np.float64)).all():
        raise ServingError("invalid", f"input `{name}`: data holds numbers out of the range of {DATATYPES[dtype]}")
    return made


def _texts(data: list[Any], shape: tuple[int, ...], name: str) -> np.ndarray:
    items = data
    while items and all(isinstance(v, list) for v in items):
        items = [w for v in items for w in v]
    if len(items) != math.prod(shape) or not all(isinstance(v, str) for v in items):
        raise ServingError("invalid", f"input `{name}`: BYTES of shape {list(shape)} takes {math.prod(shape)} strings")
    return _objects([v.encode() for v in items], shape)


def to_list(array: np.ndarray, name: str) -> Any:
    """Elements in order, for JSON.

    Raises:
        ServingError: if JSON has no form of one.
    """
    flat = array.reshape(-1)
    if array.dtype == object:
        return [_text(v, name) for v in flat]
    if array.dtype.kind in "fV":
        flat = flat.astype(np.float32) if array.dtype.itemsize < 4 else flat
        if not np.isfinite(flat).all():
            text = f"output `{name}` holds NaN or infinity, which JSON has no form of; ask for binary data of it"
            raise ServingError("invalid", text)
    return np.ascontiguousarray(flat)


def _text(value: Any, name: str) -> str:
    try:
        return value.decode() if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError:
        raise ServingError("invalid", f"output `{name}` is no text; ask for binary data of it") from None


# -- against what a model takes ------------------------------------------------------------------------------------
def check(specs: Sequence[TensorSpec], given: Mapping[str, np.ndarray], model: str) -> None:
    """Compare what a request brings with what the model takes.

    Raises:
        ServingError: naming the input that does not fit.
    """
    names = [s.name for s in specs]
    if set(given) != set(names):
        text = f"model `{model}` takes the inputs {', '.join(names)}; the request has {', '.join(given) or 'none'}"
        raise ServingError("invalid", text)
    sizes: dict[str, tuple[int, str]] = {}
    for spec in specs:
        _check_one(spec, given[spec.name], sizes)


def _check_one(spec: TensorSpec, array: np.ndarray, sizes: dict[str, tuple[int, str]]) -> None:
    if array.dtype != DTYPES[spec.datatype]:
        found = DATATYPES.get(array.dtype, str(array.dtype))
        raise ServingError("invalid", f"input `{spec.name}` is {found}; the model takes {spec.datatype}")
    fits = len(spec.dims) == array.ndim and all(
        d == n for d, n in zip(spec.dims, array.shape, strict=True) if isinstance(d, int) and d >= 0
    )
    if not fits:
        text = f"input `{spec.name}` has shape {list(array.shape)}; the model takes {list(spec.dims)}"
        raise ServingError("invalid", text)
    for dim, n in zip(spec.dims, array.shape, strict=True):
        if isinstance(dim, str) and dim.isidentifier() and sizes.setdefault(dim, (n, spec.name))[0] != n:
            size, other = sizes[dim]
            text = f"dimension {dim} is {n} in input `{spec.name}` and {size} in input `{other}`; they must be equal"
            raise ServingError("invalid", text)
