"""Machine code for this machine, compiled by llvmlite, and the interface by which XLA calls it.

XLA hands a function a frame: extensions, arguments, results and attributes. The only attribute is the key of a plan,
which is found in a table of chains (`native/xla_call.h`): 64-bit words that stand in memory for good, the key, the next
plan of its chain, and what the function needs to know. So nothing of Python is in the way of a call. The functions are
written in C, and kept as what Clang makes of it (`native/generate.py`), so that users need no C compiler.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax

from ..core.memo import once

# As in native/*.c: chains of plans, arguments of a oneDNN primitive, and buffers of a kernel.
CHAINS, MOST_ARGUMENTS, MOST_BUFFERS = 4096, 4, 64
# The names of the FFI targets that XLA's programs call.
CONVOLUTION, KERNEL = TARGETS = ("paddle_lite_py.onednn", "paddle_lite_py.kernel")


class PlanTable:
    """The plans of this process, by key; they stay.

    Arguments:
        address: of the first plan of each chain.
    """

    def __init__(self, address: int) -> None:
        self.heads = (ctypes.c_int64 * CHAINS).from_address(address)
        self.kept: list[Any] = []

    def add(self, key: int, words: Sequence[int]) -> None:
        """Keep a plan; calls that look for others may be under way."""
        place = key & (CHAINS - 1)
        plan = (ctypes.c_int64 * (len(words) + 2))(key, self.heads[place], *words)
        self.kept.append(plan)
        self.heads[place] = ctypes.addressof(plan)


def key_of(said: str) -> int:
    """Return the key of what is said so."""
    return int.from_bytes(hashlib.sha256(said.encode()).digest()[:7], "little")


@once
def cpus() -> tuple[int, ...]:
    """The CPUs that this process may use."""
    if sys.platform == "linux":
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


@once
def compiler() -> Compiler | None:
    """Return the machine-code compiler of the process; None without llvmlite, or on unsupported platforms."""
    try:
        return Compiler() if sys.platform == "linux" and platform.machine() == "x86_64" else None
    except (ImportError, OSError):  # it is not installed, or does not find its library
        return None


class Compiler:
    """LLVM, for the CPU of this machine."""

    def __init__(self) -> None:
        from llvmlite import binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        self._llvm = binding
        cpu, features = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
        self._machine = binding.Target.from_default_triple().create_target_machine(cpu=cpu, features=features, opt=3)
        self._kept: list[Any] = []

    def compiled(self, code: str, goes_far: bool = True) -> Any:
        """Compile LLVM's code, for good; what does not go far is not worth its optimizer's time."""
        module = self._llvm.parse_assembly(code)
        module.data_layout = str(self._machine.target_data)
        if goes_far:
            options = self._llvm.create_pipeline_tuning_options(speed_level=3)
            options.loop_vectorization = True
            builder = self._llvm.create_pass_builder(self._machine, options)
            builder.getModulePassManager().run(module, builder)
        engine = self._llvm.create_mcjit_compiler(module, self._machine)
        engine.finalize_object()
        self._kept.append(engine)
        return engine

    def target(self, name: str, file: str, **filled: Sequence[Any]) -> PlanTable:
        """Let XLA call the function `call` of a file in `native/` under a name, and return the table of its plans.

        Arguments:
            filled: C functions and objects by the name of the structure that they are written to.
        """
        text = Path(__file__).with_name("native").joinpath(file).read_text(encoding="utf-8")
        engine = self.compiled(text, goes_far=False)
        for structure, values in filled.items():
            words = (ctypes.c_void_p * len(values))(*[ctypes.cast(v, ctypes.c_void_p) for v in values])
            ctypes.memmove(engine.get_global_value_address(structure), words, ctypes.sizeof(words))
        called = ctypes.c_void_p(engine.get_function_address("call"))
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(called), platform="cpu")
        return PlanTable(engine.get_global_value_address("plans"))
