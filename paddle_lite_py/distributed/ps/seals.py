"""Seals of messages: only who knows the token makes one, for one message, one channel and one life of a server.

The first frame of a message is the number of this form, the nonce of the client's channel, that of the server since it
was started, the seal, and the header. The seal covers all of these, and all arrays, by their digests. What was recorded
is good for neither another channel, nor after a new start, nor the other way.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .digests import array_key, digest
from .wire import WireError

FORM, NONCE, SEAL = b"\2", 16, 32
PREFIX = 1 + 2 * NONCE + SEAL
UNKNOWN = bytes(NONCE)  # of a server that has not been heard yet
ASKS, ANSWERS = b"asks ", b"answers "
# Bytes of a header, and arrays of a message: what is larger is not looked at.
MOST_HEADER, MOST_ARRAYS = 16 << 20, 64


class Key(NamedTuple):
    """What seals are made with: of a message as a whole, and of its arrays."""

    whole: bytes
    arrays: np.ndarray


class Sealed(NamedTuple):
    """A message, who sealed it for whom, and whether they know the token."""

    channel: bytes
    server: bytes
    authentic: bool
    frames: list[Any]


def key_of(token: str) -> Key:
    """Return the key of a token, which itself does not travel."""
    whole = hashlib.sha256(b"parameter servers " + token.encode()).digest()
    return Key(whole, array_key(whole))


def code_of(key: Key, context: bytes, head: Any, arrays: Sequence[Any]) -> bytes:
    """Return the code of a head and of arrays. Digests say how long each array is, so that none can be moved."""
    made = hmac.new(key.whole, b"%b %d " % (context, len(head)), hashlib.sha256)
    made.update(head)
    for array in arrays:
        made.update(digest(array, key.arrays))
    return made.digest()


def seal(key: Key, way: bytes, to: Sealed, frames: Sequence[Any]) -> list[Any]:
    """Return the frames of a message as they travel.

    Args:
        to: the nonces; its frames are not looked at.
    """
    context = FORM + to.channel + to.server
    return [b"".join([context, code_of(key, way + context, frames[0], frames[1:]), frames[0]]), *frames[1:]]


def unseal(key: Key, way: bytes, frames: Sequence[Any]) -> Sealed:
    """Verify a message before anything of it is read.

    Raises:
        WireError: if it is no message.
    """
    first = memoryview(frames[0]) if frames else memoryview(b"")
    if not PREFIX <= len(first) <= PREFIX + MOST_HEADER or len(frames) > 1 + MOST_ARRAYS or first[:1] != FORM:
        raise WireError("it is not of this protocol")
    context, seal, plain = bytes(first[: PREFIX - SEAL]), first[PREFIX - SEAL : PREFIX], [first[PREFIX:], *frames[1:]]
    authentic = hmac.compare_digest(code_of(key, way + context, plain[0], plain[1:]), seal)
    return Sealed(context[1 : 1 + NONCE], context[1 + NONCE :], authentic, plain)
