"""Where the threads run that compute convolutions: on two CPUs each has its own.

There are two kinds: XLA's, and beside each of them one of OpenMP's, which wait for each other in turn. Linux looks for
an idle CPU no more where most are busy, and may leave two of a kind on one CPU for seconds: a training step of a ResNet
then takes 50 ms instead of 41.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any

from .machine_code import Compiler

_BYTES = 128  # of a set of CPUs, as the C library has it
_FEW = 16  # calls
# Who has set one of these has chosen.
CHOICES = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "OMP_NUM_THREADS")


@functools.cache
def cpus() -> tuple[int, ...]:
    """The CPUs that this process may use."""
    if sys.platform == "linux":
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


class ThreadPlaces:
    """A function that a thread calls before it calls OpenMP: it has a place from then on, and its team as well.

    Arguments:
        library: one that has loaded OpenMP's.

    Attributes:
        settle: the address of the function; 0 where threads are left as they are.
    """

    settle = 0

    def __init__(self, library: ctypes.CDLL, llvm: Compiler) -> None:
        if len(cpus()) != 2 or any(name in os.environ for name in CHOICES):
            return
        self._sets = ctypes.create_string_buffer(b"".join(_set(cpu) for cpu in cpus()))
        c, key = ctypes.CDLL(None), ctypes.c_uint()
        if c.pthread_key_create(ctypes.byref(key), None):
            return
        called: dict[str, Any] = {name: getattr(library, name) for name in ("GOMP_parallel", "omp_get_thread_num")}
        called |= {n: getattr(c, n) for n in ("pthread_getspecific", "pthread_setspecific", "sched_setaffinity")}
        called["PyGILState_GetThisThreadState"] = ctypes.pythonapi.PyGILState_GetThisThreadState
        numbers = {"KNOWN": key.value, "FEW_CALLS": _FEW, "CPUS_BYTES": _BYTES, "CPUS": ctypes.addressof(self._sets)}
        self.settle = llvm.address(llvm.text(["thread_places.ll"], called, numbers), "settle", goes_far=False)


def _set(cpu: int) -> bytes:
    return (1 << cpu).to_bytes(_BYTES, "little")
