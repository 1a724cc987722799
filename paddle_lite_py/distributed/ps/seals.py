"""Seals of messages: only who knows the token makes one, for a whole message, one channel and one life of a server.

The first frame of a message is the nonce of the client's channel, that of the server since it was started, the seal, and
the header. What was recorded is good for neither another channel, nor after a new start, nor the other way.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Any, NamedTuple

from .wire import WireError

NONCE, SEAL = 16, 32
PREFIX = 2 * NONCE + SEAL
UNKNOWN = bytes(NONCE)  # of a server that has not been heard yet
ASKS, ANSWERS = b"asks", b"answers"
# Bytes of a header, and arrays of a message: what is larger is not looked at.
MOST_HEADER, MOST_ARRAYS = 16 << 20, 64


class Sealed(NamedTuple):
    """A message, who sealed it for whom, and whether they know the token."""

    channel: bytes
    server: bytes
    authentic: bool
    frames: list[Any]


def key_of(token: str) -> bytes:
    """The key of a token, which itself does not travel."""
    return hashlib.sha256(b"parameter servers " + token.encode()).digest()


def sealed(key: bytes, way: bytes, channel: bytes, server: bytes, frames: Sequence[Any]) -> list[Any]:
    """The frames of a message as they travel."""
    nonces = channel + server
    return [b"".join([nonces, _seal(key, way, nonces, frames), frames[0]]), *frames[1:]]


def unsealed(key: bytes, way: bytes, frames: Sequence[Any]) -> Sealed:
    """What has come; nothing of it is read yet.

    Raises:
        WireError: if it is no message.
    """
    first = memoryview(frames[0]) if frames else memoryview(b"")
    if not PREFIX <= len(first) <= PREFIX + MOST_HEADER or len(frames) > 1 + MOST_ARRAYS:
        raise WireError("it is not of this protocol")
    nonces, seal, plain = bytes(first[: 2 * NONCE]), first[2 * NONCE : PREFIX], [first[PREFIX:], *frames[1:]]
    authentic = hmac.compare_digest(_seal(key, way, nonces, plain), seal)
    return Sealed(nonces[:NONCE], nonces[NONCE:], authentic, plain)


def _seal(key: bytes, way: bytes, nonces: bytes, frames: Sequence[Any]) -> bytes:
    """The code of a message. The header says how long each array is, so that frames are not to be moved."""
    made = hmac.new(key, b"%s %b %d " % (way, nonces, len(frames[0])), hashlib.sha256)
    for frame in frames:
        made.update(frame)
    return made.digest()
