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


class SavedObject:
    """What is read of an object of a class: the attributes, or what the class was called with; the class is a name.

    Example:
        >>> SavedObject.named("settings", "Arguments")()
        <saved settings.Arguments: >
    """

    _type = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__dict__.update(kwargs, **({"args": args} if args else {}))

    def __new__(cls, *args: Any, **kwargs: Any) -> SavedObject:
        """One of the class; `copyreg` makes those without arguments."""
        made = super().__new__(cls)
        made.__init__(*args, **kwargs)  # type: ignore[misc]  # pickle does not call it
        return made

    def __setstate__(self, state: Any) -> None:
        parts = state if isinstance(state, tuple) else (state,)  # slots have a dict of their own
        for part in filter(None, parts):
            if not isinstance(part, dict) or not all(isinstance(k, str) for k in part):
                raise RefusedError(f"an object of the type '{self._type}' in a form that is no attributes")
            self.__dict__.update(part)

    # Elements of what was a container of a class of its own.
    def append(self, value: Any) -> None:
        """One more element."""
        self.__dict__.setdefault("items", []).append(value)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.__dict__.setdefault("items", {})[key] = value

    def __repr__(self) -> str:
        return f"<saved {self._type}: {', '.join(f'{k}={v!r}' for k, v in vars(self).items())}>"

    @staticmethod
    def named(module: str, name: str) -> type[SavedObject]:
        """What stands for a class."""
        return type(name.rpartition(".")[2], (SavedObject,), {"_type": f"{module}.{name}"})


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


class _RecordUnpickler(_Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _KNOWN:
            return super().find_class(module, name)
        if (module, name) == ("copyreg", "_reconstructor"):  # protocols 0 and 1
            return lambda cls, base, state: cls()
        return SavedObject.named(module, name)


def read_records(file: Any) -> Any:
    """As read(), and objects of classes as SavedObject; nothing is imported, and no code of theirs is run."""
    return _finished(_RecordUnpickler(file).load())


def _is_record(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, SavedObject)


def _finished(value: Any, seen: set[int] | None = None) -> Any:
    seen = set() if seen is None else seen  # records that were met
    if isinstance(value, _Array):
        return value.value
    if isinstance(value, dict):
        return {k: _finished(v, seen) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_finished(v, seen) for v in value])
    if isinstance(value, SavedObject):
        if id(value) not in seen:
            seen.add(id(value))
            value.__dict__.update(_finished(dict(vars(value)), seen))
        return value
    if isinstance(value, _Dtype) or (callable(value) and not _is_record(value)):
        raise RefusedError("a type where data are expected")
    return value
