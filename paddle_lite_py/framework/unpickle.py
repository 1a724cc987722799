"""A pickle reader for data: it knows containers and NumPy arrays, and refuses everything else by name."""

from __future__ import annotations

import math
import pickle
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np


class RefusedError(pickle.UnpicklingError):
    """The file asks for something that is not data."""


class _Dtype:
    """A dtype under construction: only kinds of numbers and text, in either byte order."""

    def __init__(self, name: Any, _align: Any = False, _copy: Any = True) -> None:
        name = name.decode("latin1") if isinstance(name, bytes) else name
        self.dtype = np.dtype(name) if isinstance(name, str) else np.dtype(object)
        if self.dtype.kind not in "biufcSU":
            raise RefusedError(f"an array of the dtype {name!r}")

    def __setstate__(self, state: Any) -> None:
        _, given, sub, names, fields, *_ = state
        order: Any = given.decode("latin1") if isinstance(given, bytes) else given
        if (sub, names, fields) != (None, None, None) or order not in ("<", ">", "=", "|"):
            raise RefusedError("an array of records")
        if order in "<>":
            self.dtype = self.dtype.newbyteorder(order)


class _Array:
    """An array under construction: checked by size, and never built by NumPy's own unpickling."""

    value: np.ndarray

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, fortran, data = state
        if not isinstance(dtype, _Dtype) or not isinstance(data, bytes):
            raise RefusedError("an array in an unknown form")
        self.value = _shaped(data, dtype.dtype, shape, "F" if fortran else "C")


def _shaped(data: Any, dtype: np.dtype, shape: Any, order: str) -> np.ndarray:
    sizes = tuple(shape)
    if any(not isinstance(n, int) or n < 0 for n in sizes) or math.prod(sizes) * dtype.itemsize != len(data):
        raise RefusedError(f"an array of the shape {sizes} with {len(data)} bytes")
    native = np.frombuffer(data, dtype).reshape(sizes, order=order)  # type: ignore[call-overload]
    return native.astype(dtype.newbyteorder("="))


def _reconstruct(kind: Any, shape: Any, dtype: Any) -> _Array:
    return _Array()


def _from_buffer(data: Any, dtype: Any, shape: Any, order: Any) -> _Array:
    out = _Array()
    out.value = _shaped(bytes(data), dtype.dtype, shape, "F" if order == "F" else "C")
    return out


def _scalar(dtype: Any, data: Any = b"") -> Any:
    if isinstance(data, str):
        data = data.encode("latin1")
    return _shaped(data, dtype.dtype, (), "C")[()]


def _latin1(text: Any, encoding: Any) -> bytes:
    if not isinstance(text, str) or encoding != "latin1":
        raise RefusedError("text in an unknown encoding")
    return text.encode("latin1")


_NONE: dict[tuple[str, str], Any] = {}
_CONTAINERS = {"tuple": tuple, "list": list, "dict": dict, "set": set, "frozenset": frozenset, "complex": complex}
_KNOWN: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("collections", "OrderedDict"): OrderedDict,
    ("_codecs", "encode"): _latin1,
    **{(m, k): v for m in ("builtins", "__builtin__") for k, v in _CONTAINERS.items()},
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _reconstruct for core in ("core", "_core")},
    **{(f"numpy.{core}.multiarray", "scalar"): _scalar for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): _from_buffer for core in ("core", "_core")},
}


class _Unpickler(pickle.Unpickler):
    more: Mapping[tuple[str, str], Any] = _NONE

    def find_class(self, module: str, name: str) -> Any:
        found = _KNOWN.get((module, name)) or self.more.get((module, name))
        if found is None:
            raise RefusedError(f"an object of the type '{module}.{name}'")
        return found

    def persistent_load(self, pid: Any) -> Any:
        raise RefusedError("a reference to something outside of the file")


def read(file: Any, encoding: str = "ASCII", more: Mapping[tuple[str, str], Any] = _NONE) -> Any:
    """The containers, plain values and arrays of numbers or text in a pickle.

    Arguments:
        encoding: of the text that Python 2 wrote; "bytes" leaves it as bytes.
        more: records that it may hold too, by module and name.

    Raises:
        RefusedError: if it holds anything else.
        Exception: of many kinds, if the file is damaged.
    """
    reader = _Unpickler(file, encoding=encoding)
    reader.more = more
    return _finished(reader.load())


def _finished(value: Any) -> Any:
    if isinstance(value, _Array):
        return value.value
    if isinstance(value, dict):
        return {k: _finished(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_finished(v) for v in value])
    if isinstance(value, _Dtype) or callable(value):
        raise RefusedError("a type where data are expected")
    return value
