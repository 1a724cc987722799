"""Event files as TensorBoard reads them: records with a checksum, each a message of protocol buffers."""

from __future__ import annotations

import itertools
import os
import socket
import struct
import time
from typing import BinaryIO

import numpy as np

_POLYNOMIAL = 0x82F63B78  # of CRC-32C, bits reversed
_counter = itertools.count()  # files of one process that are opened within one second


def _row(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = [_row(b) for b in range(256)]


def crc32c(data: bytes) -> int:
    """Return the Castagnoli checksum.

    Examples:
        >>> hex(crc32c(b"123456789"))
        '0xe3069283'
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _checksum(data: bytes) -> bytes:
    """Return the checksum of a record, turned so that one of data that hold a checksum is another."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _field(number: int, data: bytes) -> bytes:
    """Return a field of bytes."""
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    """Return a field of an integer."""
    return _varint(number << 3) + _varint(value)


class EventFile:
    """A file of scalars, texts, pictures and histograms.

    Arguments:
        folder: where it lies; TensorBoard shows what is in it.
    """

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(_counter)}"
        self.path = os.path.join(folder, name)
        self._file: BinaryIO = open(self.path, "ab")  # noqa: SIM115  (closed by close)
        self._write(_field(3, b"brain.Event:2"))

    def add_scalar(self, tag: str, value: float, step: int, walltime: float | None = None) -> None:
        """Note a number."""
        self._add(tag, _varint(2 << 3 | 5) + struct.pack("<f", value), step, walltime)

    def add_text(self, tag: str, text: str, step: int, walltime: float | None = None) -> None:
        """Note a text."""
        kind = _field(9, _field(1, _field(1, b"text")))  # of the plugin that shows it
        tensor = _number(1, 7) + _field(2, _field(2, _number(1, 1))) + _field(8, text.encode())
        self._add(tag, kind + _field(8, tensor), step, walltime)

    def add_image(self, tag: str, png: bytes, shape: tuple[int, ...], step: int, walltime: float | None = None) -> None:
        """Note a picture of the shape [height, width, channels]."""
        sizes = b"".join(_number(i, n) for i, n in enumerate(shape, 1))
        self._add(tag, _field(4, sizes + _field(4, png)), step, walltime)

    def add_histogram(
        self, tag: str, values: np.ndarray, counts: np.ndarray, limits: np.ndarray, step: int,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Note how values are distributed: how many lie between each two limits."""
        totals = values.min(), values.max(), len(values), values.sum(), (values * values).sum()
        parts = [_varint(i << 3 | 1) + struct.pack("<d", n) for i, n in enumerate(totals, 1)]
        columns = [limits, np.array([0, *counts])]
        parts += [_field(i, struct.pack(f"<{len(c)}d", *c)) for i, c in enumerate(columns, 6)]
        self._add(tag, _field(5, b"".join(parts)), step, walltime)

    def _add(self, tag: str, value: bytes, step: int, walltime: float | None) -> None:
        self._write(_number(2, step) + _field(5, _field(1, _field(1, tag.encode()) + value)), walltime)

    def _write(self, event: bytes, walltime: float | None = None) -> None:
        data = b"\x09" + struct.pack("<d", time.time() if walltime is None else walltime) + event
        length = struct.pack("<Q", len(data))
        self._file.write(length + _checksum(length) + data + _checksum(data))

    def flush(self) -> None:
        """Let readers see what there is."""
        self._file.flush()

    def close(self) -> None:
        """Write what is left."""
        self._file.close()
