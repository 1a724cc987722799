"""Machine code for this machine, compiled by llvmlite, and the interface by which XLA calls it.

XLA hands a function a frame: extensions, arguments, results and attributes. The only attribute is the key of a plan,
which is found in a table of chains (`xla_call.ll`): 64-bit words that stand in memory for good, the key, the next plan
of its chain, and what the function needs to know. So nothing of Python is in the way of a call.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

from ..core.memo import once

CHAINS = 4096
# The names of the FFI targets that XLA's programs call.
CONVOLUTION, KERNEL = TARGETS = ("paddle_lite_py.onednn", "paddle_lite_py.kernel")


class PlanTable:
    """The plans of this process, by key; they stay."""

    def __init__(self) -> None:
        self.heads = (ctypes.c_int64 * CHAINS)()
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

    def address(self, code: str, name: str, goes_far: bool = True) -> int:
        """Where a function stands that LLVM's code says; one that does not go far is not worth its optimizer's time."""
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
        return engine.get_function_address(name)

    def target(
        self, name: str, file: str, table: PlanTable, called: Mapping[str, Any], numbers: Mapping[str, int]
    ) -> None:
        """Let XLA call the function of a file under a name.

        Arguments:
            table: of its plans. called: C functions that it calls, by name. numbers: what else it knows, by name.
        """
        numbers = {**numbers, "TABLE": ctypes.addressof(table.heads), "CHAIN_MASK": CHAINS - 1}
        address = self.function("call", ["xla_call.ll", file], called, numbers)
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(ctypes.c_void_p(address)), platform="cpu")

    def function(self, name: str, files: Sequence[str], called: Mapping[str, Any], numbers: Mapping[str, int]) -> int:
        """Return the address of a function in files next to this one; C functions and numbers replace their names."""
        text = "".join([Path(__file__).with_name(file).read_text(encoding="utf-8") for file in files])
        for c_name, function in called.items():
            address = ctypes.cast(function, ctypes.c_void_p).value
            text = re.sub(rf"\b{c_name}\(", f"inttoptr (i64 {address} to ptr)(", text)
        for word, number in numbers.items():
            text = re.sub(rf"\b{word}\b", str(number), text)
        return self.address(text, name, goes_far=False)
