"""Large programs are compiled by a process of their own (`compiler.py`), and kept on disk.

XLA's compiler takes memory in several threads at once. In the one heap of this process (`memory.py`) they wait for each
other, for a quarter of the time; and they leave that heap in pieces, in which all that runs later has its arrays: a
training step of a MobileNet takes 35 ms then, and 25 in a process that has not compiled it.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import hmac
import os
import tempfile
import time
import weakref
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export, monitoring

from ..core import memory
from ..core.config import kept_in, user_secret
from ..core.jax_compat.calls import inlined
from ..core.jax_compat.executables import load, unchecked_calls
from ..core.jax_compat.jaxprs import body_of, is_jaxpr
from ..core.jax_compat.versions import JAX
from ..core.jax_compat.xla import COMPILED
from ..core.mappings import dropping
from ..core.memo import Memo, once
from ..core.private_files import SIGNATURE_BYTES, signature
from ..core.processes import world
from ..core.switches import compiler_process
from .compiler_process import process
from .fingerprints import fingerprint
from .machine_code import TARGETS

# Equations from which on a program is worth it: some six seconds of compilation, where handing it over and loading it
# takes half of one. Operators from which on it may have as many, and from which on the process is started before that
# is known, unless there are programs on the disk for arguments like these.
LARGE, FEW, MANY = 3800, 100, 200
MAX_KINDS = 64
DIGEST = hashlib.sha256
_ARRAYS = (jax.Array, np.ndarray)
Structures = tuple[Any, Any]  # of arguments and results


def may_be_large(operators: int) -> bool:
    """Whether a program of so many operators may be one that another process compiles."""
    return operators >= FEW


def serves() -> bool:
    """Whether another process may compile programs of this one: those of one CPU, with the heap as it is set here."""
    return (
        compiler_process.on
        and memory.heap.is_one
        and not process.refused
        and jax.default_backend() == "cpu"
        and jax.local_device_count() == 1
        and getattr(jax.config, "jax_default_device", None) is None
        and world().size == 1
    )


class Apart:
    """A function of arrays that is compiled in a process of its own, if it is large.

    Arguments:
        small: the same under jax.jit, if it is not; large: if it is, and no other process serves.
        donated: of its arguments. options: of XLA's, for a large one.
        operators: how many it is made of.
    """

    def __init__(
        self, small: Any, large: Any, donated: Sequence[int], options: dict[str, Any] | None, operators: int
    ) -> None:
        self.small, self.large, self.donated, self.options = small, large, tuple(donated), options
        self.lower, self.trace = small.lower, small.trace
        self._may_be_large = operators >= MANY
        self._last: Any = None
        # Key: shapes, dtypes and structure of the arguments; the function is pure.
        self._known: Memo[Any, Any] = Memo(f"kinds of {small.__name__}", MAX_KINDS)
        _all.add(self)

    def __call__(self, *args: Any) -> Any:
        """The results; arrays of the kind that came last are asked for nothing."""
        if self._last is not None:
            try:
                return self._last(*args)
            except TypeError:  # of another kind, or no arrays at all
                pass
        if not all(isinstance(a, _ARRAYS) and not isinstance(a, jax.core.Tracer) for a in args):
            return self.small(*args)
        key = tuple([(a.shape, a.dtype) for a in args])
        self._last = run = self._known.get(key) or self._known.put(key, self._new(args, key))
        return run(*args)

    def forget(self) -> None:
        """Drop what is compiled."""
        self._last = None
        self._known.clear()

    def _new(self, args: Sequence[Any], kinds: Sequence[Any]) -> Any:
        like = self._digest(kinds)
        if self._may_be_large and serves() and not any(_folder().glob(f"{like}-*.executable")):
            process.start()
        traced = self.small.trace(*args)
        if size(traced.jaxpr.jaxpr) < LARGE:
            return self.small
        path = self._path(like, traced.jaxpr)
        if path is None or traced.jaxpr.effects or not serves():
            return self.large
        since = time.perf_counter()
        structures = jax.tree.structure((tuple(args), {})), jax.tree.structure(traced.out_info)
        executable = loaded(path, structures)
        if executable is None:
            self._compile(traced.jaxpr, args, path)
            executable = loaded(path, structures)
            if executable is None:
                return self.large
        # As JAX tells of what it compiles itself, or finds on the disk.
        seconds = time.perf_counter() - since
        monitoring.record_event_duration_secs(COMPILED, seconds, fun_name=f"jit({self.small.__name__})")
        return executable

    def _path(self, like: str, closed: Any) -> Path | None:
        """The file of an executable, among those for arguments alike; None for what cannot be told from others."""
        program = fingerprint(closed)
        return None if program is None else _folder() / f"{like}-{self._digest(program)}.executable"

    def _digest(self, what: Any) -> str:
        """Of something about this function, and all that XLA depends on."""
        said = [what, self.small.__name__, self.donated, self.options, os.environ.get("XLA_FLAGS"), JAX]
        return DIGEST(repr(said).encode()).hexdigest()[:32]

    def _compile(self, closed: Any, args: Sequence[Any], path: Path) -> None:
        """Have a program compiled into a file, which is not there afterwards if the process cannot do it."""

        def flat(*args: Any) -> Any:
            return inlined(closed.jaxpr, closed.consts, args)

        flat.__name__ = flat.__qualname__ = self.small.__name__
        source = path.with_suffix(f".{os.getpid()}.program")
        job = {"program": str(source), "path": str(path), "name": flat.__name__, "donated": self.donated}
        job |= {"key": user_secret().hex()}
        # The functions that it calls are there when it is loaded.
        ours = unchecked_calls(TARGETS)
        # An error: it calls Python, or what JAX may change and so does not write; or there is no room on the disk.
        with contextlib.suppress(ValueError, NotImplementedError, OSError):
            try:
                exported = export.export(jax.jit(flat, donate_argnums=self.donated), disabled_checks=ours)(*args)
                source.write_bytes(exported.serialize())
                process.do(job | {"options": self.options, "calls": TARGETS})
            finally:
                source.unlink(missing_ok=True)


_all: weakref.WeakSet[Apart] = weakref.WeakSet()


def forget() -> None:
    """Drop all executables that are loaded."""
    for each in list(_all):
        each.forget()


dropping.append(forget)


def size(jaxpr: Any) -> int:
    """How many equations there are, with those of the functions that they call."""
    inner = [body_of(p) for e in jaxpr.eqns for p in e.params.values() if is_jaxpr(p)]
    return len(jaxpr.eqns) + sum(map(size, inner))


def loaded(path: Path, structures: Structures) -> Any:
    """The executable in a file; None where there is none, or none that is whole and was signed by this user."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    signed, content = content[:SIGNATURE_BYTES], content[SIGNATURE_BYTES:]
    if not hmac.compare_digest(signed, signature(user_secret(), path.name, content)):
        return None
    try:
        return load(zlib.decompress(content), structures)
    except Exception:  # jaxlib names no class for what another version has written
        return None


@once
def _folder() -> Path:
    """Where executables are kept; for this process alone if the user wants none kept."""
    folder = kept_in()
    if folder is not None:
        return folder
    temporary = tempfile.TemporaryDirectory(prefix="paddle_lite_py-")
    atexit.register(temporary.cleanup)
    return Path(temporary.name)
