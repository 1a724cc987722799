"""Numbers in text, read by NumPy, whose loops let other threads run: many tokens at a time, one character of each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

# Bytes read at a time: their results stay in the processor's cache.
PIECE = 1 << 18
# Integers below it, over powers of ten up to 22, are divided exactly as the decimal number is rounded.
EXACT, POWERS = 1 << 53, 10.0 ** np.arange(23)
MOST_DIGITS = 18
_DOT = ord(".") - ord("0") & 0xFF


class Numbers(NamedTuple):
    """The numbers of a text, as floats and (rounded towards zero) as integers, and how many each line has."""

    floats: np.ndarray
    integers: np.ndarray
    per_line: np.ndarray


def in_pieces(text: bytes, read: Callable[[bytes, int], Any], threads: int = 0) -> list[Any]:
    """Apply read(piece, lines before it) to pieces of whole lines, in several threads.

    Arguments:
        threads: how many; 0: one for each processor.
    """
    pieces = list(_pieces(text))
    workers = min(threads or os.cpu_count() or 1, len(pieces))
    if workers <= 1:
        return [read(*p) for p in pieces]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda p: read(*p), pieces))


def _pieces(text: bytes) -> Iterator[tuple[bytes, int]]:
    at, lines = 0, 0
    while at < len(text):
        end = text.find(b"\n", at + PIECE) + 1 or len(text)
        piece = text[at:end]
        yield piece, lines
        lines += piece.count(b"\n")
        at = end


def numbers(text: bytes) -> Numbers:
    """Return the numbers of a text, which spaces and lines separate.

    Raises:
        ValueError: naming what is no number.

    Examples:
        >>> found = numbers(b"1 -2.5\\n1e3\\n")
        >>> found.floats.tolist(), found.integers.tolist(), found.per_line.tolist()
        ([1.0, -2.5, 1000.0], [1, -2, 1000], [2, 1])
    """
    raw = np.frombuffer(text if text.endswith(b"\n") else text + b"\n", np.uint8)
    space = raw <= ord(" ")
    edges = np.flatnonzero(space[1:] != space[:-1]) + 1
    edges = edges if space[0] else np.concatenate([[0], edges])
    begins, ends = edges[0::2], edges[1::2]
    per_line = np.diff(np.searchsorted(begins, np.flatnonzero(raw == ord("\n"))), prepend=0)
    if not len(begins):
        return Numbers(np.zeros(0), np.zeros(0, np.int64), per_line)
    digits, after, odd = _digits(raw, begins, ends)
    negative = raw[begins] == ord("-")
    integers = np.where(negative, -digits, digits)
    floats = integers / POWERS[np.minimum(after, 22)]
    fraction = after > 0
    odd |= fraction & ((digits >= EXACT) | (after > 22))
    np.copyto(integers, floats.astype(np.int64), where=fraction)
    for i in np.flatnonzero(odd):
        floats[i], integers[i] = _alone(text[begins[i] : ends[i]])
    return Numbers(floats, integers, per_line)


def _digits(raw: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the digits of tokens as integers, how many stand after a dot, and whether a token has something else."""
    first = raw[begins]
    start = begins + ((first == ord("-")) | (first == ord("+")))
    length = ends - start
    order = np.argsort(-np.minimum(length, 127).astype(np.int8), kind="stable")  # the longest first
    at, found = start[order], np.zeros(len(order), np.int64)
    dots, odd = np.full(len(order), -1, np.int8), (length[order] > MOST_DIGITS) | (length[order] == 0)
    many = len(order) - np.searchsorted(length[order][::-1], np.arange(MOST_DIGITS), side="right")
    for j, n in enumerate(many[: min(int(length.max()), MOST_DIGITS)]):
        code = raw[at[:n] + j] - np.uint8(ord("0"))
        if code.max(initial=0) < 10:
            found[:n] = found[:n] * 10 + code
            continue
        digit, dot = code < 10, code == _DOT
        found[:n] = np.where(digit, found[:n] * 10 + code, found[:n])
        odd[:n] |= ~(digit | dot) | (dot & (dots[:n] >= 0))
        dots[:n][dot] = j
    after = np.where(dots >= 0, length[order] - 1 - dots, 0)
    odd |= (dots >= 0) & (length[order] == 1)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return found[back], after[back], odd[back]


def _alone(token: bytes) -> tuple[float, int]:
    """Return one token that is more than digits and a dot."""
    try:
        value = float(token.replace(b"_", b"?"))  # which Python takes, and files do not mean
    except ValueError:
        raise ValueError(f"{token.decode(errors='replace')!r:.60} is no number") from None
    try:
        whole = int(token)
    except ValueError:
        return value, int(value) if abs(value) < 2.0**63 else 0
    if not -(1 << 63) <= whole < 1 << 64:
        raise ValueError(f"{token.decode()!r:.60} is no number of 64 bits")
    return value, whole - (1 << 64) * (whole >= 1 << 63)  # hashes of features are unsigned: the same bits
