"""Where OpenMP's threads run that help to compute convolutions: on two CPUs each on the other one than its caller.

Each thread of XLA's that calls has one of OpenMP's beside it, and the pairs wait for each other in turn. Linux looks
for an idle CPU no more where most are busy, and may leave both of XLA's threads on one CPU for seconds, and both of
OpenMP's on the other: a training step of a ResNet then takes 50 ms instead of 42.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from .machine_code import Compiler, cpus

_BYTES = 128  # of a set of CPUs, as the C library has it
_CALLED = ("pthread_getspecific", "pthread_setspecific", "sched_setaffinity", "sched_getcpu", "gettid", "malloc")
# Who has set one of these has chosen.
CHOICES = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "OMP_NUM_THREADS")


class ThreadPlaces:
    """A function that a thread calls before it calls OpenMP: the thread that helps it goes to the other CPU.

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
        if not hasattr(c, "gettid") or c.pthread_key_create(ctypes.byref(key), None):  # before glibc 2.30
            return
        called: dict[str, Any] = {name: getattr(library, name) for name in ("GOMP_parallel", "omp_get_thread_num")}
        called |= {name: getattr(c, name) for name in _CALLED}
        numbers = {"KNOWN": key.value, "CPUS_BYTES": _BYTES, "CPUS": ctypes.addressof(self._sets), "FIRST": cpus()[0]}
        self.settle = llvm.function("settle", ["thread_places.ll"], called, numbers)


def _set(cpu: int) -> bytes:
    return (1 << cpu).to_bytes(_BYTES, "little")
