"""Event files as TensorBoard reads them: records with a checksum, each a message of protocol buffers."""

from __future__ import annotations

import itertools
import os
import socket
import struct
import time
from typing import BinaryIO

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


class EventFile:
    """A file of scalars.

    Arguments:
        folder: where it lies; TensorBoard shows what is in it.
    """

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(_counter)}"
        self.path = os.path.join(folder, name)
        self._file: BinaryIO = open(self.path, "ab")  # noqa: SIM115  (closed by close)
        self._write(_field(3, b"brain.Event:2"))

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        """Note a number."""
        scalar = _field(1, tag.encode()) + _varint(2 << 3 | 5) + struct.pack("<f", value)
        self._write(_varint(2 << 3) + _varint(step) + _field(5, _field(1, scalar)))

    def _write(self, event: bytes) -> None:
        data = b"\x09" + struct.pack("<d", time.time()) + event
        length = struct.pack("<Q", len(data))
        self._file.write(length + _checksum(length) + data + _checksum(data))

    def flush(self) -> None:
        """Let readers see what there is."""
        self._file.flush()

    def close(self) -> None:
        """Write what is left."""
        self._file.close()
