"""Files of weights: records of a tensor each, without names, in the order of the names."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

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
    """Yield the tensors of a file, one after the other, each with memory of its own.

    Raises:
        ModelFileError: the file is damaged.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        while (at := file.tell()) < size:
            try:
                array = read_one(file, size)
            except DAMAGED as e:
                raise ModelFileError(f"{path} is damaged at byte {at}: {type(e).__name__}: {e}") from None
            yield array


def read_one(file: BinaryIO, end: int) -> np.ndarray:
    """Return the tensor at the position of a file.

    Arguments:
        end: the size of the file.
    """
    version, levels = struct.unpack("<IQ", file.read(12))
    for _ in range(levels):
        (size,) = struct.unpack("<Q", file.read(8))
        file.seek(min(size, end), os.SEEK_CUR)
    tensor_version, size = struct.unpack("<Ii", file.read(8))
    if version or tensor_version or not 0 <= size <= end - file.tell():
        raise ValueError(f"no record of version 0 (versions {version} and {tensor_version}, {size} bytes)")
    dtype, shape = tensor_description(memoryview(file.read(size)))
    if math.prod(shape) * dtype.itemsize > end - file.tell():
        raise ValueError(f"{dtype}{list(shape)} is larger than what is left of the file")
    out = np.empty(shape, dtype)
    # Read into the array as bytes: a copy of them would take as long again.
    if file.readinto(out.reshape(-1).view(np.uint8)) != out.nbytes:  # type: ignore[attr-defined]
        raise ValueError("the file has become shorter")
    return out


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
    """Return a tensor as read_one() reads it."""
    described = b"\x08" + varint_bytes(NUMBERS[array.dtype]) + b"".join(b"\x10" + varint_bytes(n) for n in array.shape)
    return struct.pack("<IQIi", 0, 0, 0, len(described)) + described + np.ascontiguousarray(array).tobytes()
