"""Freed memory is kept for the next step, what a compilation leaves behind is given back."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest

from paddle_lite_py.core import memory

glibc = pytest.mark.skipif(not hasattr(os, "confstr") or "CS_GNU_LIBC_VERSION" not in os.confstr_names, reason="glibc")

# Fills 64 MB in a thread, frees them and does it again; prints the page faults of the second time.
_TWICE = """
import paddle_lite_py, resource, threading
import numpy as np
def fill(faults):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(8 << 20)
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
faults = []
for _ in range(2):
    thread = threading.Thread(target=fill, args=(faults,))
    thread.start()
    thread.join()
print(faults[1])
"""


# Page faults of a run of a program with 96 MB of temporary buffers.
_TEMPORARY = """
import paddle_lite_py as paddle, resource
@paddle.jit.to_static
def products(x):
    return sum((x * i @ x).sum() * (x @ x * i).max() for i in range(1, 7))
x = paddle.ones([2048, 1024]) @ paddle.ones([1024, 2048])
faults = []
for _ in range(6):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    float(products(x))
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(min(faults))
"""


def _output(program: str, **variables: str) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in memory.CHOICES} | variables
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def faults_of_the_second_time(**variables: str) -> int:
    return int(_output(_TWICE, **variables))


@glibc
def test_what_a_thread_frees_serves_the_next_one():
    assert faults_of_the_second_time() < 100


@glibc
@pytest.mark.parametrize("choice", ["FLAGS_use_system_allocator", "MALLOC_ARENA_MAX"])
def test_a_choice_of_the_user_is_left_alone(choice: str):
    huge_pages = 8 << 20 >> 18  # of 2 MB each, where the system uses them
    assert faults_of_the_second_time(**{choice: "1"}) >= huge_pages


def test_the_collector_waits_during_a_block():
    with memory.paused_collection():
        assert not gc.isenabled()
        with memory.paused_collection():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


@glibc
@pytest.mark.repeat
def test_a_program_with_much_temporary_memory_faults_no_pages():
    """Nor does one whose temporary buffers are more than glibc's heap of a thread holds."""
    assert int(_output(_TEMPORARY)) < 1000


def test_memory_is_given_back_after_a_block_that_grew_the_process(monkeypatch):
    calls: list[int] = []
    monkeypatch.setattr(memory, "give_back", lambda: calls.append(0))
    with memory.trim_afterwards():
        held = bytearray(2 * memory.MIN_GROWTH)
    assert len(held) and len(calls) == (sys.platform == "linux")


def test_a_block_that_needs_little_is_not_held_up(monkeypatch):
    calls: list[int] = []
    monkeypatch.setattr(memory, "give_back", lambda: calls.append(0))
    with memory.trim_afterwards():
        pass
    assert not calls


@glibc
def test_memory_is_given_back_on_demand():
    held = bytearray(256 << 20)
    held[::4096] = bytes([1]) * (len(held) // 4096)
    full = memory.resident()
    del held
    memory.give_back()
    assert memory.resident() < full - (200 << 20)
