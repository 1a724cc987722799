"""Compiled programs in files: those that the process of the compiler writes, and this one loads."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import tempfile
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
from jax import export

from ..core.config import kept_in, user_secret
from ..core.jax_compat.executables import load, unchecked_calls
from ..core.jax_compat.versions import JAX
from ..core.jax_compat.xla import traced_by
from ..core.memo import once
from ..core.private_files import read_signed
from .fingerprints import dtype_name, fingerprint
from .machine_code import TARGETS
from .traced import TracedFunction

Structures = tuple[Any, Any]  # of arguments and results
LONGEST = 120  # seconds that others wait for a compiler, which may have been killed
FORMAT = 2  # of the files: some of the first lack their kernels


@once
def folder() -> Path:
    """Where executables are kept; for this process alone if the user wants none kept."""
    kept = kept_in()
    if kept is not None:
        return kept
    temporary = tempfile.TemporaryDirectory(prefix="paddle_lite_py-")
    atexit.register(temporary.cleanup)
    return Path(temporary.name)


class ExecutableFile:
    """The executable of a traced function, which may stand in a file.

    Arguments:
        name: of the function. donated: of its arguments. options: XLA's.
    """

    def __init__(
        self, traced: TracedFunction, name: str, donated: Sequence[int], options: dict[str, Any] | None
    ) -> None:
        self.traced, self.name, self.donated, self.options = traced, name, donated, options
        self.path = self._path()
        # The program that the process compiles, which is there until the executable is.
        self.source = None if self.path is None else self.path.with_suffix(f".{os.getpid()}.program")
        self.structures = jax.tree.structure((tuple(traced.specs), {})), jax.tree.structure(traced.shapes)

    def _path(self) -> Path | None:
        """Return its file, among those for similar arguments; None if it cannot be told apart from others."""
        program = fingerprint(self.traced.rewritten())
        if program is None or self.traced.closed.effects:
            return None
        said = [FORMAT, program, self.name, self.donated, self.options, os.environ.get("XLA_FLAGS"), JAX, traced_by()]
        return folder() / f"{alike(self.name, self.traced.specs)}-{digest(said)}.executable"

    def loaded(self, device: Any = None) -> Any:
        """It, if it is in its file; for a device, or the default one."""
        return None if self.path is None else loaded(self.path, self.structures, device)

    def job(self) -> dict[str, Any] | None:
        """Return what the compiler process needs, which also identifies the program's file; None for what cannot
        be written: it calls Python, or what JAX may change; or there is no room on the disk."""
        if self.path is None or self.source is None:
            return None

        def flat(*args: Any) -> Any:
            return jax.tree.leaves(self.traced.inlined(args))

        flat.__name__ = flat.__qualname__ = self.name
        # The functions that it calls are there when it is loaded.
        ours = unchecked_calls(TARGETS)
        try:
            jitted = jax.jit(flat, donate_argnums=tuple(self.donated))
            self.source.write_bytes(export.export(jitted, disabled_checks=ours)(*self.traced.specs).serialize())
        except (ValueError, NotImplementedError, OSError):
            self.drop_source()
            return None
        _beginnings(folder()).add(self.path.name.partition("-")[0])
        job = {"program": str(self.source), "path": str(self.path), "name": self.name, "donated": tuple(self.donated)}
        return job | {"key": user_secret().hex(), "options": self.options, "calls": TARGETS}

    def drop_source(self) -> None:
        """Remove the file with the program, which nobody needs once its job is done or has failed."""
        if self.source is not None:
            self.source.unlink(missing_ok=True)


def is_being_compiled(source: str) -> bool:
    """Whether a compiler is at work on the program of that file, or will be: that of this process, or of another."""
    with contextlib.suppress(OSError):
        return time.time() - (folder() / source).stat().st_mtime < LONGEST
    return False


def is_any_alike(name: str, args: Sequence[Any]) -> bool:
    """Whether there is an executable of any function of this name, for arguments like these."""
    return alike(name, args) in _beginnings(folder())


# Key: the folder, as this process finds it first; what it adds is put in. To look through thousands of files for each
# program takes 20 ms.
@once
def _beginnings(folder: Path) -> set[str]:
    """Return what the files of all executables begin with."""
    names = os.listdir(folder) if folder.is_dir() else []
    return {name.partition("-")[0] for name in names if name.endswith(".executable")}


def alike(name: str, specs: Sequence[Any]) -> str:
    """Return the common prefix of the files of all executables of a function for such arguments."""
    return digest([name, [(s.shape, dtype_name(s.dtype)) for s in specs]])


def digest(said: Any) -> str:
    """Return a name for what has this text."""
    return hashlib.sha256(repr(said).encode()).hexdigest()[:32]


def loaded(path: Path, structures: Structures, device: Any = None) -> Any:
    """Return the executable in a file; None where there is none, or none that is whole and was signed by this user."""
    content = read_signed(path, user_secret())
    if content is None:
        return None
    try:
        return load(zlib.decompress(content), structures, device)
    except Exception:  # jaxlib names no class for what another version has written
        return None
