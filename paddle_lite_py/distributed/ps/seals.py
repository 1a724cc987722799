"""Seals of messages: only those who know the token can make one, for one message, channel and run of a server.

The first frame of a message is the number of this format, the nonce of the client's channel, that of the server's run,
the seal, and the header. The seal covers all of these, and all arrays. So a recorded message is valid neither on any
other channel, nor after a restart, nor in the other direction.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Any, NamedTuple

from blake3 import blake3

from .wire import WireError

FORM, NONCE, SEAL = b"\2", 16, 32
PREFIX = 1 + 2 * NONCE + SEAL
UNKNOWN = bytes(NONCE)  # of a server that has not been heard yet
ASKS, ANSWERS = b"asks ", b"answers "
# Limits of a header in bytes, and of the arrays of a message: larger ones are refused unread.
MOST_HEADER, MOST_ARRAYS = 16 << 20, 64


class Sealed(NamedTuple):
    """A message, who sealed it for whom, and whether they know the token."""

    channel: bytes
    server: bytes
    authentic: bool
    frames: list[Any]


def key_of(token: str) -> bytes:
    """Return the key of a token, which itself does not travel."""
    return hashlib.sha256(b"parameter servers " + token.encode()).digest()


def code_of(key: bytes, context: bytes, head: Any, arrays: Sequence[Any]) -> bytes:
    """Return the code of a head and of arrays: keyed BLAKE3, which reads them four times as fast as SHA-256.

    The length of each part is included, so that bytes cannot be moved from one to another.
    """
    made = blake3(context, key=key)
    for part in (head, *arrays):
        data = memoryview(part).toreadonly().cast("B")
        made.update(len(data).to_bytes(8, "little"))
        made.update(data)
    return made.digest()


def seal(key: bytes, way: bytes, to: Sealed, frames: Sequence[Any]) -> list[Any]:
    """Return the frames of a message as they travel.

    Args:
        to: the nonces; its frames are not looked at.
    """
    context = FORM + to.channel + to.server
    return [b"".join([context, code_of(key, way + context, frames[0], frames[1:]), frames[0]]), *frames[1:]]


def unseal(key: bytes, way: bytes, frames: Sequence[Any]) -> Sealed:
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
