"""Digests of arrays: the same compiled and by NumPy, and others for whatever else the bytes are."""

from __future__ import annotations

import random

import numpy as np
import pytest

from paddle_lite_py.distributed.ps import digests

KEY = digests.array_key(b"a secret")


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 4095, 4096, 4097, 8192, 12_345])
def test_compiled_and_plain_give_the_same(size, monkeypatch):
    data = random.Random(size).randbytes(size + 1)
    for view in (memoryview(data)[:size], memoryview(data)[1:], np.frombuffer(data, np.uint8, size).copy().data):
        compiled = digests.digest(view, KEY)
        monkeypatch.setattr(digests, "HAS_NUMBA", False)
        assert digests.digest(view, KEY) == compiled
        monkeypatch.undo()


def test_it_is_the_hash_of_its_definition():
    words = np.arange(1, 4, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    halves = [int(h) for h in words.view(np.uint32)]
    expected = []
    for shift in range(digests.PASSES):
        key = [int(k) for k in KEY[shift : shift + 3].view(np.uint32)]
        added = [(h + k) % 2**32 for h, k in zip(halves, key, strict=True)]
        expected.append(sum(a * b for a, b in zip(added[::2], added[1::2], strict=True)) % 2**64)
    assert digests.digest(words.data, KEY)[8:] == np.array(expected, np.uint64).tobytes()


def test_each_bit_and_the_length_and_the_key_count():
    data = bytearray(random.Random(0).randbytes(5003))
    seen = {digests.digest(data, KEY), digests.digest(data, digests.array_key(b"another"))}
    seen |= {digests.digest(bytes(data) + bytes(n), KEY) for n in (1, 5, 4096)}
    for at in range(0, len(data), 7):
        data[at] ^= 1 << at % 8
        seen.add(digests.digest(data, KEY))
        data[at] ^= 1 << at % 8
    assert len(seen) == 5 + len(range(0, len(data), 7))
