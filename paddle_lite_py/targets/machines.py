"""The machines that programs are compiled for: TPUs by their topology, GPUs by their target configuration, this CPU."""

from __future__ import annotations

import importlib.util
import math
import os
import re
from pathlib import Path
from typing import NamedTuple

from ..core.jax_compat.xla import on_devices
from ..core.memory import physical

GIB = 1 << 30
# GiB of a chip, the smallest topology, the most operations a second in bfloat16, in 1e12, and the gigabits a second to
# other chips, as Google's documentation has them.
_TPUS = {
    "v4": (32, "v4:2x2x1", 275, 2400),
    "v5e": (16, "v5e:2x2", 197, 1600),
    "v5p": (95, "v5p:2x2x1", 459, 4800),
    "v6e": (32, "v6e:2x2", 918, 3200),
    "tpu7x": (192, "tpu7x:2x2x1", 2307, 9600),
}
# Dense operations a second in bfloat16, and bytes a second to other GPUs of a host, as NVIDIA's data sheet has them.
_H200 = 989e12, 450e9
_GPUS = re.compile(r"h200(?::(?:(\d+)x)?(\d+))?")
_CPUS = re.compile(r"cpu(?::([1-9]\d*))?")
_TOPOLOGY = re.compile(r"(\w+):(\d+(?:x\d+){1,2})")
_MEMORY = re.compile(r"device_memory_size\s*:\s*(\d+)")
# Compilers by platform: the modules that may have each, and the package and the extra of JAX to install it by.
_COMPILERS = {"tpu": ("libtpu",), "cuda": ("jax_plugins.xla_cuda12", "jax_plugins.xla_cuda13")}
_NAMES = {"tpu": ("libtpu", "tpu"), "cuda": ("jax-cuda12-plugin", "cuda12")}


class TargetError(ValueError):
    """A target that nobody knows, that does not fit the program, or whose compiler is not installed.

    Examples:
        >>> from paddle_lite_py.targets import TargetError, target_of
        >>> try:
        ...     target_of("v5e:two")
        ... except TargetError as error:
        ...     print(str(error).partition(";")[0])
        'v5e:two' is no target
    """


class Target(NamedTuple):
    """A machine that is not here.

    Examples:
        >>> from paddle_lite_py.targets import target_of
        >>> target_of("v5e:2x2").platform, target_of("v5e:2x2").devices
        ('tpu', 4)
    """

    name: str
    platform: str  # "tpu", "cuda" or "cpu"
    topology: str = ""  # of TPUs by axes, of GPUs as partitions x hosts x GPUs
    config: str = ""  # a GPU's target configuration, as text
    memory: int = 0  # bytes of each device; 0 if unknown
    devices: int | None = 1  # None for as many as requested
    flops: float = 0.0  # peak operations a second of each device, in bfloat16; 0 if unknown
    link: float = 0.0  # bytes a second between a device and others

    def environment(self, devices: int) -> dict[str, str]:
        """Return the environment variables needed before JAX starts, to compile for that many devices."""
        found = {"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
        if self.platform == "cpu":
            return found | {"XLA_FLAGS": on_devices(devices)}
        if self.platform == "cuda":
            return found | {"JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1", "XLA_FLAGS": ""}
        hosts = {"TPU_SKIP_MDS_QUERY": "1", "TPU_ACCELERATOR_TYPE": "v5litepod-4", "TPU_WORKER_HOSTNAMES": "localhost"}
        # This process may have loaded the compiler, too, which then is locked.
        return found | hosts | {"XLA_FLAGS": "", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1"}

    def require_compiler(self) -> None:
        """Look for the target's compiler.

        Raises:
            TargetError: if it is not installed.
        """
        if self.platform in _COMPILERS and not has_compiler(self.platform):
            package, extra = _NAMES[self.platform]
            raise TargetError(
                f"compiling for {self.name} takes XLA's compiler for it, the package {package}, which is not "
                f'installed: pip install "jax[{extra}]" (the machine itself is not needed)'
            )


def has_compiler(platform: str) -> bool:
    """Whether programs can be compiled for a platform here.

    Examples:
        >>> has_compiler("cpu")
        True
    """
    return platform == "cpu" or any(map(_is_installed, _COMPILERS[platform]))


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # its parent is not there
        return False


def target_of(given: str | os.PathLike[str] | Target) -> Target:
    """Return the target that is meant.

    Arguments:
        given: "cpu", or "cpu:8" for eight simulated devices that share its memory; a TPU's kind ("v5e") or topology
            ("v5e:2x2", "v5p:8x8x8"); "h200", "h200:8" for eight of one host, "h200:4x8" for those of four hosts; or a
            file that holds the configuration of a GPU (a GpuTargetConfigProto as text).

    Raises:
        TargetError: if it is none of these.

    Examples:
        >>> target_of("v5p:2x2x4").devices, target_of("h200").platform, target_of("h200:4x8").devices
        (16, 'cuda', 32)
        >>> target_of("cpu:8").devices
        8
    """
    if isinstance(given, Target):
        return given
    name = os.fspath(given)
    if found := _CPUS.fullmatch(name):
        devices = int(found[1]) if found[1] else None
        return Target(name, "cpu", memory=physical() // (devices or 1), devices=devices)
    if found := _GPUS.fullmatch(name):
        hosts, gpus = int(found[1] or 1), int(found[2] or 1)
        one = _gpu(name, Path(__file__).with_name("h200.txt"))
        return one._replace(topology=f"1x{hosts}x{gpus}", devices=hosts * gpus, flops=_H200[0], link=_H200[1])
    found = _TOPOLOGY.fullmatch(_TPUS[name][1] if name in _TPUS else name)
    if found and found[1] in _TPUS:
        chips = math.prod(map(int, found[2].split("x")))
        memory, _, flops, link = _TPUS[found[1]]
        return Target(name, "tpu", found[0], "", memory * GIB, chips, flops * 1e12, link / 8 * 1e9)
    if Path(name).is_file():
        return _gpu(Path(name).stem, Path(name))
    raise TargetError(
        f"{name!r} is no target; expected 'cpu', 'cpu:8', 'h200', 'h200:8', a TPU ({', '.join(_TPUS)}) with or "
        "without its topology, as in 'v5e:2x2' or 'v5p:8x8x8', or a file with the target configuration of a GPU"
    )


def _gpu(name: str, file: Path) -> Target:
    text = file.read_text()
    memory = _MEMORY.search(text)
    if memory is None:
        raise TargetError(f"{file} is no target configuration of a GPU: it has no device_memory_size")
    return Target(name, "cuda", "1x1x1", text, int(memory[1]))
