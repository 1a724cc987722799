"""The process that compiles large programs: a script that knows JAX only, so that it starts at once.

Each line that it reads is a job; each that it writes says "" when the executable is there, or what went wrong.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import hmac
import json
import os
import select
import signal
import zlib
from pathlib import Path
from typing import Any

import jax
from jax import export
from jax.experimental import serialize_executable

IDLE_SECONDS = 20  # after which it ends: a compiler holds hundreds of megabytes


# Key: the name. Not once(): the compiler process runs this file without the package.
@functools.cache
def stand_in(name: str) -> Any:
    """Register a placeholder for an FFI function that programs call at run time; here only its version is queried."""

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    def answer(frame: int) -> None:
        # As in XLA's c_api.h: a frame says its size and its extension, that of a question says at last where the
        # answer goes, and there the two numbers of the version stand behind three words.
        extension = ctypes.c_int64.from_address(frame + 8).value
        metadata = ctypes.c_int64.from_address(extension + 24).value
        version = (ctypes.c_int32 * 2).from_address(metadata + 24)
        version[0], version[1] = 0, 3

    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(ctypes.cast(answer, ctypes.c_void_p)), platform="cpu")
    return answer  # and so it is kept, as long as XLA may ask


def compiled(job: dict[str, Any]) -> Any:
    """Return the program of a job as an executable: a jax.stages.Compiled."""
    program = export.deserialize(bytearray(Path(job["program"]).read_bytes()))
    for name in job["calls"]:
        stand_in(name)

    def call(*args: Any) -> Any:
        return program.call(*args)

    call.__name__ = call.__qualname__ = job["name"]
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in program.in_avals]
    return jax.jit(call, donate_argnums=tuple(job["donated"])).lower(*specs).compile(job["options"])


def keep(executable: Any, path: Path, key: bytes) -> None:
    """Write an executable into its file, at once or not at all; what only this user can say of it stands before it."""
    content = zlib.compress(serialize_executable.serialize(executable)[0], 1)
    new = path.with_suffix(f".{os.getpid()}")
    # As private_files.signature, in a script that knows JAX only.
    new.write_bytes(hmac.digest(key, path.name.encode() + b"\0" + content, hashlib.sha256) + content)
    new.replace(path)


def warm_up() -> None:
    """Have JAX import and set up what jobs need, while nobody waits yet."""
    exported = export.export(jax.jit(lambda x: x))(1.0)
    jax.jit(export.deserialize(exported.serialize()).call).lower(1.0).compile()


def main() -> None:
    """Do the jobs one after the other, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who waits for the job is interrupted, and ends this process
    jax.config.update("jax_enable_x64", True)
    warm_up()
    jobs = open(0, "rb", buffering=0)  # noqa: SIM115  (a buffer would hold back what select() does not see any more)
    while select.select([jobs], [], [], IDLE_SECONDS)[0] and (line := jobs.readline()):
        try:
            job = json.loads(line)
            keep(compiled(job), Path(job["path"]), bytes.fromhex(job["key"]))
            answer = ""
        except Exception as e:  # the caller compiles by itself then
            answer = f"{type(e).__name__}: {e}"
        Path(job["program"]).unlink(missing_ok=True)  # while it is there, other processes wait for the executable
        with contextlib.suppress(OSError):  # who asked is gone; the jobs after this one are for other processes too
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
