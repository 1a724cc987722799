"""Files of weights: records of a tensor each, without names, in the order of the names."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from pathlib import Path

import ml_dtypes
import numpy as np

from .graph import DAMAGED, ModelFileError
from .wire import fields, varint_bytes, varints

# The numbers of dtypes in files.
DTYPES: dict[int, np.dtype] = {
    number: np.dtype(dtype)
    for number, dtype in {
        0: "bool", 1: "int16", 2: "int32", 3: "int64", 4: "float16", 5: "float32", 6: "float64", 20: "uint8",
        21: "int8", 22: ml_dtypes.bfloat16, 23: "complex64", 24: "complex128", 32: ml_dtypes.float8_e4m3fn,
        33: ml_dtypes.float8_e5m2,
    }.items()
}  # fmt: skip
NUMBERS = {dtype: number for number, dtype in DTYPES.items()}
MAX_DIMENSIONS = 32


def read_weights(path: Path) -> Iterator[np.ndarray]:
    """The tensors of a file, one after the other, each with memory of its own.

    Raises:
        ModelFileError: the file is damaged.
    """
    data = memoryview(path.read_bytes())
    at = 0
    while at < len(data):
        try:
            array, at = read_one(data, at)
        except DAMAGED as e:
            raise ModelFileError(f"{path} is damaged at byte {at}: {type(e).__name__}: {e}") from None
        yield array


def read_one(data: memoryview, at: int) -> tuple[np.ndarray, int]:
    """The tensor at a byte, and where the next one begins."""
    version, levels = struct.unpack_from("<IQ", data, at)
    at += 12
    for _ in range(levels):
        (size,) = struct.unpack_from("<Q", data, at)
        at += 8 + size
    tensor_version, size = struct.unpack_from("<Ii", data, at)
    at += 8
    if version or tensor_version or not 0 <= size <= len(data) - at:
        raise ValueError(f"no record of version 0 (versions {version} and {tensor_version}, {size} bytes)")
    dtype, shape = tensor_description(data[at : at + size])
    at += size
    count = math.prod(shape)
    if at + count * dtype.itemsize > len(data):
        raise ValueError(f"{dtype}{list(shape)} is larger than what is left of the file")
    end = at + count * dtype.itemsize
    # Copied as bytes: NumPy copies what lies at any address element by element.
    return np.frombuffer(data[at:end], np.uint8).copy().view(dtype).reshape(shape), end


def tensor_description(data: memoryview) -> tuple[np.dtype, tuple[int, ...]]:
    """Dtype and shape."""
    dtype, shape = None, list[int]()
    for number, value in fields(data):
        if number == 1:
            dtype = DTYPES[int(value)]
        elif number == 2:
            shape += varints(value)
    if dtype is None or len(shape) > MAX_DIMENSIONS:
        raise ValueError("no dtype" if dtype is None else f"{len(shape)} dimensions")
    return dtype, tuple(shape)


def record(array: np.ndarray) -> bytes:
    """A tensor as read_one() reads it."""
    described = b"\x08" + varint_bytes(NUMBERS[array.dtype]) + b"".join(b"\x10" + varint_bytes(n) for n in array.shape)
    return struct.pack("<IQIi", 0, 0, 0, len(described)) + described + np.ascontiguousarray(array).tobytes()
