"""The function that XLA calls for what oneDNN computes, in machine code: nothing of Python is in its way.

XLA hands it a frame: extensions, arguments, results and attributes. The only attribute is the key of a plan. Plans are
lists of 64-bit words that stand in memory for good, in a table of chains:

    plan: key, the next plan of its chain, how many steps, the steps
    step: a primitive of oneDNN, how many arguments, the arguments
    argument: oneDNN's name of it, a description of its memory, which buffer of the call it is in, at which byte

Memory objects of oneDNN are made for each call: calls in several threads share none. A call waits for those under way
in other threads, since each of them takes all cores.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

CHAINS = 4096
MOST_ARGUMENTS = 4

_NAMES = ("dnnl_memory_create", "dnnl_memory_destroy", "dnnl_primitive_execute", "dnnl_stream_wait")


class PlanTable:
    """The plans of this process, by key; they stay."""

    def __init__(self) -> None:
        self.heads = (ctypes.c_int64 * CHAINS)()
        self.kept: list[Any] = []

    def add(self, key: int, steps: list[list[int]]) -> None:
        """Keep a plan; calls that look for others may be under way."""
        place = key & (CHAINS - 1)
        words = [key, self.heads[place], len(steps), *(word for step in steps for word in step)]
        plan = (ctypes.c_int64 * len(words))(*words)
        self.kept.append(plan)
        self.heads[place] = ctypes.addressof(plan)


class NativeCall:
    """The function for plans that stand in a table, compiled; it needs the package llvmlite."""

    def __init__(self, library: Any, engine: int, stream: int, table: PlanTable) -> None:
        from llvmlite import binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        machine = binding.Target.from_default_triple().create_target_machine(opt=2)
        self._mutex = ctypes.create_string_buffer(64)  # of zeros: nobody holds it
        module = binding.parse_assembly(self._code(library, engine, stream, table))
        module.data_layout = str(machine.target_data)
        self._compiler = binding.create_mcjit_compiler(module, machine)
        self._compiler.finalize_object()
        self.address = self._compiler.get_function_address("call")

    def _code(self, library: Any, engine: int, stream: int, table: PlanTable) -> str:
        threads = ctypes.CDLL(None)
        functions = {name: getattr(library, name) for name in _NAMES}
        functions |= {name: getattr(threads, name) for name in ("pthread_mutex_lock", "pthread_mutex_unlock")}
        text = Path(__file__).with_suffix(".ll").read_text(encoding="utf-8")
        for name, function in functions.items():
            address = ctypes.cast(function, ctypes.c_void_p).value
            text = text.replace(f"{name}(", f"inttoptr (i64 {address} to ptr)(")
        numbers = {"ENGINE": engine, "STREAM": stream, "TABLE": ctypes.addressof(table.heads)}
        numbers |= {"MUTEX": ctypes.addressof(self._mutex), "CHAIN_MASK": CHAINS - 1, "MOST_ARGUMENTS": MOST_ARGUMENTS}
        for name, number in numbers.items():
            text = text.replace(name, str(number))
        return text
