"""The wire format of protocol buffers, as far as model files need it.

Source: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any


def varint(data: memoryview, at: int) -> tuple[int, int]:
    """Return a number of variable length, and where it ends.

    Raises:
        ValueError: if it is longer than any.

    Examples:
        >>> varint(memoryview(bytes([0x96, 0x01])), 0)
        (150, 2)
    """
    out = shift = 0
    while True:
        byte = data[at]
        at += 1
        out |= (byte & 0x7F) << shift
        if byte < 0x80:
            return out, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def varint_bytes(number: int) -> bytes:
    """Return a number that is not negative as varint() reads it.

    Examples:
        >>> varint_bytes(150).hex()
        '9601'
    """
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def signed(number: int) -> int:
    """Return a number of 64 bits as one with a sign."""
    return number - (1 << 64) if number >> 63 else number


def fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """Number and value of each field: an int, or the bytes of a number of fixed size, a text or a message.

    Raises:
        ValueError, IndexError: the bytes are no message.
    """
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind, size = key & 7, 0
        if kind == 0:
            value, at = varint(data, at)
            yield key >> 3, value
            continue
        if kind == 2:
            size, at = varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if size > len(data) - at:
            raise ValueError("a field that is longer than its message")
        yield key >> 3, data[at : at + size]
        at += size


def varints(value: Any) -> list[int]:
    """Return one number, or several in a row, with signs."""
    if isinstance(value, int):
        return [signed(value)]
    out, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        out.append(signed(number))
    return out


def floats(value: memoryview) -> list[float]:
    """Numbers of 32 bits."""
    return [x for (x,) in struct.iter_unpack("<f", value)]


def doubles(value: memoryview) -> list[float]:
    """Numbers of 64 bits."""
    return [x for (x,) in struct.iter_unpack("<d", value)]
