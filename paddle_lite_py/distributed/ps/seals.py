"""Seals of messages: only who knows the token makes one, for one message, one channel and one life of a server.

The first frame of a message is what its seal covers, the nonce of the client's channel, that of the server since it was
started, the seal, and the header. What was recorded is good for neither another channel, nor after a new start, nor the
other way. A seal covers the arrays too. Only within one machine, where nobody but root is on the way, does it cover the
header alone: pulls and pushes would take a quarter longer. PADDLE_PS_SEAL=whole covers all there too, where a tunnel or
a proxy stands behind the address.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from .wire import WireError

NONCE, SEAL = 16, 32
PREFIX = 1 + 2 * NONCE + SEAL
HEADER, WHOLE = b"\0", b"\1"  # what a seal covers
VARIABLE = "PADDLE_PS_SEAL"
UNKNOWN = bytes(NONCE)  # of a server that has not been heard yet
ASKS, ANSWERS = b"asks", b"answers"
# Bytes of a header, and arrays of a message: what is larger is not looked at.
MOST_HEADER, MOST_ARRAYS = 16 << 20, 64


class Sealed(NamedTuple):
    """A message, who sealed it for whom, and whether they know the token."""

    channel: bytes
    server: bytes
    covers: bytes
    authentic: bool
    frames: list[Any]


def key_of(token: str) -> bytes:
    """Return the key of a token, which itself does not travel."""
    return hashlib.sha256(b"parameter servers " + token.encode()).digest()


def coverage(host: str) -> bytes:
    """Return what the seals of messages to or from an address must cover."""
    here = host == "localhost" or host.startswith("127.")
    return HEADER if here and os.environ.get(VARIABLE) != "whole" else WHOLE


def seal(key: bytes, way: bytes, to: Sealed, frames: Sequence[Any]) -> list[Any]:
    """Return the frames of a message as they travel.

    Args:
        to: the nonces, and what the seal covers; its frames are not looked at.
    """
    context = to.covers + to.channel + to.server
    return [b"".join([context, _seal(key, way, context, frames), frames[0]]), *frames[1:]]


def unseal(key: bytes, way: bytes, frames: Sequence[Any], least: bytes = HEADER) -> Sealed:
    """Verify a message before anything of it is read.

    Args:
        least: what its seal must cover.

    Raises:
        WireError: if it is no message.
    """
    first = memoryview(frames[0]) if frames else memoryview(b"")
    if not PREFIX <= len(first) <= PREFIX + MOST_HEADER or len(frames) > 1 + MOST_ARRAYS:
        raise WireError("it is not of this protocol")
    context, seal, plain = bytes(first[: PREFIX - SEAL]), first[PREFIX - SEAL : PREFIX], [first[PREFIX:], *frames[1:]]
    covers = context[:1]
    authentic = least <= covers <= WHOLE and hmac.compare_digest(_seal(key, way, context, plain), seal)
    return Sealed(context[1 : 1 + NONCE], context[1 + NONCE :], covers, authentic, plain)


def _seal(key: bytes, way: bytes, context: bytes, frames: Sequence[Any]) -> bytes:
    """Return the code of a message. The header says how long each array is, so that frames are not to be moved."""
    made = hmac.new(key, b"%s %b %d " % (way, context, len(frames[0])), hashlib.sha256)
    for frame in frames if context[:1] == WHOLE else frames[:1]:
        made.update(frame)
    return made.digest()
