"""Messages between a server and its workers: JSON, then the bytes of tensors; nothing in them is code."""

from __future__ import annotations

import json
import struct
from typing import Any, NamedTuple

from .tensors import DATATYPES, DTYPES, Arrays, from_bytes, to_bytes

LENGTHS = struct.Struct("<IQ")  # of the JSON, and of all that follows it


class Message(NamedTuple):
    """A message between processes: plain data, and tensors."""

    head: dict[str, Any]
    arrays: Arrays


def encode(message: Message) -> list[bytes]:
    """Return a message as pieces to send."""
    blobs = [to_bytes(a) for a in message.arrays.values()]
    tensors = [
        [name, DATATYPES[a.dtype], list(a.shape), len(b)]
        for (name, a), b in zip(message.arrays.items(), blobs, strict=True)
    ]
    head = json.dumps([message.head, tensors]).encode()
    return [LENGTHS.pack(len(head), sum(map(len, blobs))), head, *blobs]


def decode(head: bytes, body: bytes) -> Message:
    """Return the message again; its arrays lie on the bytes."""
    said, tensors = json.loads(head)
    view, at, arrays = memoryview(body), 0, {}
    for name, datatype, shape, length in tensors:
        arrays[name] = from_bytes(view[at : at + length], DTYPES[datatype], tuple(shape), name)
        at += length
    return Message(said, arrays)
