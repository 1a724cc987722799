"""What a compilation leaves behind is given back."""

from __future__ import annotations

import sys

import pytest

from paddle_lite_py import memory


def test_memory_is_given_back_after_a_block_that_grew_the_process(monkeypatch):
    calls: list[int] = []
    monkeypatch.setattr(memory, "_trim", lambda: calls.append)
    with memory.returned():
        held = bytearray(2 * memory.MIN_GROWTH)
    assert len(held) and calls == ([0] if sys.platform == "linux" else [])


def test_a_block_that_needs_little_is_not_held_up(monkeypatch):
    calls: list[int] = []
    monkeypatch.setattr(memory, "_trim", lambda: calls.append)
    with memory.returned():
        pass
    assert not calls


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_trimming_works():
    assert memory.resident() > 0
    memory._trim()(0)
