"""A pickle reader for data: it knows containers and NumPy arrays, and refuses everything else by name."""

from __future__ import annotations

import io
import math
import pickle
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, ClassVar

import ml_dtypes
import numpy as np


class RefusedError(pickle.UnpicklingError):
    """The file asks for something that is not data."""


_LOW_PRECISION = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
_PLAIN_DTYPE = re.compile(r"[<>=|]?[A-Za-z]{1,12}\d{0,9}")


class _Dtype:
    """A dtype under construction: only kinds of numbers and text, in either byte order."""

    def __init__(self, name: Any, _align: Any = False, _copy: Any = True) -> None:
        if name in _LOW_PRECISION:
            self.dtype = np.dtype(getattr(ml_dtypes, name))
            return
        name = name.decode("latin1") if isinstance(name, bytes) else name
        plain = isinstance(name, str) and _PLAIN_DTYPE.fullmatch(name)
        self.dtype = np.dtype(name) if plain else np.dtype(object)
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
        self.value = _reshape(data, dtype.dtype, shape, "F" if fortran else "C")


def _reshape(data: Any, dtype: np.dtype, shape: Any, order: str) -> np.ndarray:
    sizes = tuple(shape)
    if any(not isinstance(n, int) or n < 0 for n in sizes) or math.prod(sizes) * dtype.itemsize != len(data):
        raise RefusedError(f"an array of the shape {sizes} with {len(data)} bytes")
    native = np.frombuffer(data, dtype).reshape(sizes, order=order)  # type: ignore[call-overload]
    return native.astype(dtype.newbyteorder("="))


def _reconstruct(kind: Any, shape: Any, dtype: Any) -> _Array:
    return _Array()


def _from_buffer(data: Any, dtype: Any, shape: Any, order: Any) -> _Array:
    out = _Array()
    out.value = _reshape(bytes(data), dtype.dtype, shape, "F" if order == "F" else "C")
    return out


def _scalar(dtype: Any, data: Any = b"") -> Any:
    if isinstance(data, str):
        data = data.encode("latin1")
    return _reshape(data, dtype.dtype, (), "C")[()]


def _latin1(text: Any, encoding: Any) -> bytes:
    if not isinstance(text, str) or encoding != "latin1":
        raise RefusedError("text in an unknown encoding")
    return text.encode("latin1")


_NONE: dict[tuple[str, str], Any] = {}
# Dataclasses of this package that files of any kind may hold, by module and name in the reference.
RECORDS: dict[tuple[str, str], Any] = {}
_CONTAINERS = {"tuple": tuple, "list": list, "dict": dict, "set": set, "frozenset": frozenset, "complex": complex}
KNOWN: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("collections", "OrderedDict"): OrderedDict,
    ("_codecs", "encode"): _latin1,
    **{("ml_dtypes", name): name for name in _LOW_PRECISION},  # by name: a file could change a dtype
    **{(m, k): v for m in ("builtins", "__builtin__") for k, v in _CONTAINERS.items()},
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _reconstruct for core in ("core", "_core")},
    **{(f"numpy.{core}.multiarray", "scalar"): _scalar for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): _from_buffer for core in ("core", "_core")},
}


# Opcodes that data files do not use: copies of the stack's top, numbered types, out-of-band buffers.
_REFUSED = b"".join(
    [pickle.DUP, pickle.EXT1, pickle.EXT2, pickle.EXT4, pickle.NEXT_BUFFER, pickle.READONLY_BUFFER, pickle.NEWOBJ_EX]
)
MAX_DEPTH = 200  # of tuples in tuples, whose hashes are computed by as many calls of C
WORK, LEAST_WORK = 16, 1 << 20  # of a byte of the file, and of any file


class Bounded:
    """A file whose reads are limited to what is left of it."""

    def __init__(self, file: Any) -> None:
        if not file.seekable():
            file = io.BytesIO(file.read())
        at = file.tell()
        self.left = self.size = file.seek(0, io.SEEK_END) - at
        file.seek(at)
        self.file = file

    def read(self, count: int) -> bytes:
        """So many bytes."""
        if count > self.left:
            raise EOFError(f"{count} bytes where {self.left} are left")
        self.left -= count
        return self.file.read(count)

    def readline(self) -> bytes:
        """Return the rest of a line."""
        found = self.file.readline()
        self.left -= len(found)
        return found


# The reader in Python, whose steps can be replaced; that in C has no limits.
_READER: Any = pickle._Unpickler


class Unpickler(_READER):
    """Takes work and memory in proportion to the file: a few bytes can say "the pair of this pair" many times."""

    dispatch: ClassVar[dict[int, Any]] = {k: step for k, step in _READER.dispatch.items() if k not in _REFUSED}

    def __init__(self, file: Bounded, encoding: str, more: Mapping[tuple[str, str], Any]) -> None:
        super().__init__(file, encoding=encoding)
        self.more, self.records = more, tuple({r for r in more.values() if isinstance(r, type)})
        self.work = WORK * file.size + LEAST_WORK
        self.sizes: dict[
            int, tuple[int, int]
        ] = {}  # by id, of tuples: all that is in them, as often as it is, and depth
        self.tuples: list[Any] = []  # keeps these ids

    def find_class(self, module: str, name: str) -> Any:
        found = KNOWN.get((module, name)) or self.more.get((module, name))
        if found is None:
            raise RefusedError(f"an object of the type '{module}.{name}'")
        return found

    def persistent_load(self, pid: Any) -> Any:
        raise RefusedError("a reference to something outside of the file")

    def spend(self, work: int) -> None:
        """Account for work that the file asks for."""
        self.work -= work
        if self.work < 0:
            raise RefusedError("more than its size can hold")

    def measured(self, value: Any) -> Any:
        """Return a new tuple or frozenset, whose size and depth are noted."""
        inner = [self.sizes.get(id(item), (1, 0)) for item in value]
        size, depth = 1 + sum(n for n, _ in inner), 1 + max((d for _, d in inner), default=0)
        if depth > MAX_DEPTH:
            raise RefusedError("tuples that lie too deep in each other")
        if size > self.work:
            raise RefusedError("more than its size can hold")
        self.sizes[id(value)] = size, depth
        self.tuples.append(value)
        return value

    def hashed(self, keys: Iterable[Any]) -> None:
        """Account for keys, whose hashes are computed from all that is in them."""
        for key in keys:
            held = tuple(vars(key).values()) if isinstance(key, self.records) else (key,)
            self.spend(sum(self.sizes.get(id(part), (1, 0))[0] for part in held))

    def called(self, function: Any, args: Any) -> Any:
        """Return the result of one of the known functions for its arguments."""
        args = tuple(args)
        self.spend(sum(len(a) for a in args if isinstance(a, str | bytes | bytearray | list | tuple | dict | set)))
        if function in (set, frozenset, dict, OrderedDict):
            given = list(args[0]) if args else []
            pairs = function in (dict, OrderedDict) and not (args and isinstance(args[0], dict))
            self.hashed([k for pair in given for k in pair] if pairs else given)
        made = function(*args)
        return self.measured(made) if isinstance(made, tuple | frozenset) else made

    # -- steps that are bounded ------------------------------------------------------------------------------------
    def step_tuple(self, count: int | None = None) -> None:
        items = self.pop_mark() if count is None else [self.stack.pop() for _ in range(count)][::-1]
        self.append(self.measured(tuple(items)))

    def step_frozenset(self) -> None:
        items = self.pop_mark()
        self.hashed(items)
        self.append(self.measured(frozenset(items)))

    def step_additems(self) -> None:
        items = self.pop_mark()
        self.hashed(items)
        self.of_type(set).update(items)

    def step_dict(self) -> None:
        items = self.pop_mark()
        self.hashed(items[::2])
        self.append(dict(zip(items[::2], items[1::2], strict=True)))

    def step_setitem(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.hashed((key,))
        self.of_type(dict)[key] = value

    def step_setitems(self) -> None:
        items = self.pop_mark()
        self.hashed(items[::2])
        self.of_type(dict).update(zip(items[::2], items[1::2], strict=True))

    def step_append(self) -> None:
        item = self.stack.pop()
        self.of_type(list).append(item)

    def step_appends(self) -> None:
        items = self.pop_mark()
        self.of_type(list).extend(items)

    def step_reduce(self) -> None:
        args = self.stack.pop()
        self.stack[-1] = self.called(self.stack[-1], args)

    def step_bytearray(self) -> None:
        self.append(bytearray(self.read(int.from_bytes(self.read(8), "little"))))

    def step_newobj(self) -> None:
        args = self.stack.pop()
        kind = self.stack.pop()
        if kind not in (_Array, *self.records) or args:
            raise RefusedError("an object that is made in an unknown way")
        self.append(kind.__new__(kind))

    def step_build(self) -> None:
        state, made = self.stack.pop(), self.stack[-1]
        if isinstance(made, _Array | _Dtype):
            if isinstance(made, _Array) and isinstance(state, tuple) and isinstance(state[-1], bytes):
                self.spend(len(state[-1]))
            made.__setstate__(state)
        elif isinstance(made, self.records) and isinstance(state, dict) and state.keys() <= _fields(made):
            vars(made).update(state)
        else:
            raise RefusedError(f"state of a {type(made).__name__}")

    def of_type(self, kind: type) -> Any:
        """Return the top of the stack, which is to be changed."""
        if not isinstance(self.stack[-1], kind):
            raise RefusedError(f"a change of a {type(self.stack[-1]).__name__}")
        return self.stack[-1]

    def _instantiate(self, klass: Any, args: Any) -> None:
        self.append(self.called(klass, args))


def _fields(record: Any) -> set[str]:
    return {f.name for f in fields(record)}


_STEPS: dict[bytes, Any] = {
    pickle.TUPLE: Unpickler.step_tuple,
    pickle.EMPTY_TUPLE: lambda self: self.step_tuple(0),
    pickle.TUPLE1: lambda self: self.step_tuple(1),
    pickle.TUPLE2: lambda self: self.step_tuple(2),
    pickle.TUPLE3: lambda self: self.step_tuple(3),
    pickle.FROZENSET: Unpickler.step_frozenset,
    pickle.ADDITEMS: Unpickler.step_additems,
    pickle.DICT: Unpickler.step_dict,
    pickle.SETITEM: Unpickler.step_setitem,
    pickle.SETITEMS: Unpickler.step_setitems,
    pickle.APPEND: Unpickler.step_append,
    pickle.APPENDS: Unpickler.step_appends,
    pickle.REDUCE: Unpickler.step_reduce,
    pickle.NEWOBJ: Unpickler.step_newobj,
    pickle.BYTEARRAY8: Unpickler.step_bytearray,
    pickle.BUILD: Unpickler.step_build,
}
Unpickler.dispatch.update({opcode[0]: step for opcode, step in _STEPS.items()})


def read(file: Any, encoding: str = "ASCII", more: Mapping[tuple[str, str], Any] = _NONE) -> Any:
    """Return the containers, plain values and arrays of numbers or text in a pickle.

    Arguments:
        encoding: of the text that Python 2 wrote; "bytes" leaves it as bytes.
        more: records that it may hold too, which are dataclasses, by module and name.

    Raises:
        RefusedError: if it holds anything else, or asks for more work or memory than fits its size.
        Exception: of many kinds, if the file is damaged.
    """
    return Finished()(Unpickler(Bounded(file), encoding, more).load())


_PLAIN = (int, float, str, bytes, bool, type(None))


class Finished:
    """The result with arrays in place of their descriptions; shared objects stay shared."""

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}

    def __call__(self, value: Any) -> Any:
        if isinstance(value, _Array):
            return value.value
        if isinstance(value, _Dtype) or callable(value):
            raise RefusedError("a type where data are expected")
        if not isinstance(value, dict | list | tuple | set | frozenset):
            return value
        if id(value) not in self.made:
            self.made[id(value)] = self  # which is no data, so that a container within itself is refused
            self.made[id(value)] = self._container(value)
        elif self.made[id(value)] is self:
            raise RefusedError("a container that holds itself")
        return self.made[id(value)]

    def _container(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self._key(k): self(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return type(value)([v if type(v) in _PLAIN else self(v) for v in value])
        return type(value)(map(self._key, value))

    def _key(self, key: Any) -> Any:
        if isinstance(key, _Array | _Dtype) or callable(key):
            raise RefusedError("a key that is none")
        return key
