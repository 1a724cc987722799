"""Process-wide settings: 64-bit types, the persistent compilation cache, and the heap."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax

from . import forks, mappings, memory, progress
from .context import lowered_for
from .jax_compat import xla
from .jax_compat.versions import JAXLIB
from .memo import once
from .private_files import SECRET_BYTES, NotPrivateError, private_folder, secret
from .switches import is_on

CACHE_VARIABLE = "PADDLE_LITE_CACHE_DIR"
# "0": who calls a program on the CPU computes it as well. A thread that waits for it costs a server, which needs the
# result at once, 30 to 50 us a call.
DISPATCH_VARIABLE = "FLAGS_async_dispatch"
MAX_CACHE_BYTES = 2 << 30
SECONDS_A_DAY = 86_400
STAMP = "pruned"  # an empty file, as old as the last look at the size of the folder
SECRET = "secret"  # next to the cache folders: signs executables, and is the source of job secrets
_OFF = ("", "0", "off", "none")


def cpu_features() -> str:
    """Return a line that differs between CPUs whose machine code is not interchangeable."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() + platform.machine()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "") + platform.machine()


def cache_dir() -> Path | None:
    """Folder of compiled programs; None when the user switched it off.

    One folder for each jaxlib version and CPU feature set: a home folder may be shared by unlike machines.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen is not None and chosen.lower() in _OFF:
        return None
    features = hashlib.sha256(cpu_features().encode()).hexdigest()[:8]
    return _root(chosen) / f"jaxlib-{JAXLIB}-{features}"


def _root(chosen: str | None) -> Path:
    """Return the folder of all that is kept for this user."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(chosen or os.path.join(home, "paddle_lite_py"))


def configure() -> None:
    """Set JAX up as Paddle programs expect it: 64-bit integers, programs kept on disk, memory kept for reuse."""
    memory.keep_freed()
    progress.listen()
    mappings.listen()
    forks.watch_children(for_others)
    jax.config.update("jax_enable_x64", True)
    if not is_on(DISPATCH_VARIABLE):
        jax.config.update("jax_cpu_enable_async_dispatch", False)
    folder = None if getattr(jax.config, "jax_compilation_cache_dir", None) else kept_in()
    if folder is None:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    # JAX's own limit reads the whole folder at each new entry (0.2 s with 4,600 of them); once a day will do.
    stamp = folder / STAMP
    if time.time() - stamp.stat().st_mtime > SECONDS_A_DAY:
        stamp.touch()
        atexit.register(prune, folder)


@once
def kept_in() -> Path | None:
    """The folder of compiled programs, made where it is not there; None, with a warning, if it is not the user's alone.

    Whoever can write to it decides which machine code the next process runs.
    """
    folder = cache_dir()
    if folder is None:
        return None
    try:
        private_folder(folder)
        if not (folder / STAMP).exists():
            (folder / STAMP).touch()
        if os.access(folder, os.W_OK):
            return folder
        reason = "permission denied"
    except NotPrivateError as e:
        reason = str(e)
    except OSError as e:
        reason = e.strerror or str(e)
    warnings.warn(
        f"compiled programs are not kept for the next process: {folder} cannot be used ({reason}); name another "
        f"folder in {CACHE_VARIABLE}, or switch the cache off with {CACHE_VARIABLE}=off",
        stacklevel=4,
    )
    return None


@once
def user_secret() -> bytes:
    """Return the user's secret, shared by all processes of that user; if no file can keep it, it is per process."""
    chosen = os.environ.get(CACHE_VARIABLE, "")
    root = _root("" if chosen.lower() in _OFF else chosen)
    with contextlib.suppress(OSError):
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        return secret(root / SECRET)
    return os.urandom(SECRET_BYTES)


def prune(folder: Path, limit: int = MAX_CACHE_BYTES) -> None:
    """Remove the entries used longest ago until the folder is within the limit."""
    found = []
    for path in folder.iterdir():
        try:
            status = path.stat()
        except OSError:  # another process has just removed it
            continue
        found.append((max(status.st_atime, status.st_mtime), status.st_size, path))
    excess = sum(size for _, size, _ in found) - limit
    for _, size, path in sorted(found):
        if excess <= 0:
            break
        path.unlink(missing_ok=True)
        excess -= size


# XLA's CPU backend hands some fusions to a library, by kind. Its single convolutions have gradients slower than XLA's
# own kernels (a training step of a small ResNet: 123 ms without, 151 ms with); elementwise fusions gain nothing. Its
# reductions take a third of the time (cross entropy, normalization), in whole programs as well (BERT by 2 %, ResNet and
# a language model by 6 %); but reductions over windows, which it takes for the same kind, twice the time, so an op for
# those and a gradient with one do without (LeNet op by op: 4 ms, else 6). Products go there alone: what it takes with
# them it broadcasts and steps through slowly (inference of a ResNet50 18 ms, 34 with it; a step with momentum 73 and
# 113).
_WINDOWS, _LIBRARY = ("INDIVIDUAL_DOT",), ("INDIVIDUAL_DOT", "REDUCE")


# Its newer emitters of kernels take twice the time of the plain ones to compile, and leave the heap in so many pieces
# that what goes over windows loses (training steps of a MobileNet: 103 ms, 74 with the plain ones), but not if another
# process compiles (out_of_process.py). Updates of parameters need half the time with them, large transposes a third,
# other large arrays some percent less; loops over small arrays gain nothing.


# Key: the kind of program; the backend stays for a process.
@once
def compiler_options(windows: bool = False, plain: bool = False) -> dict[str, Any] | None:
    """XLA's options; None where this jaxlib or device knows none.

    Arguments:
        windows: reductions are not left to its library.
        plain: kernels come from its plain emitters.
    """
    if jax.default_backend() != "cpu":
        return None
    return xla.known_options(xla.options(_WINDOWS if windows else _LIBRARY, plain)) or None


@contextmanager
def exporting(platforms: Sequence[str]) -> Iterator[None]:
    """While a program is lowered for these platforms, of which this machine may have none."""
    token = lowered_for.set(tuple(platforms))
    try:
        yield
    finally:
        lowered_for.reset(token)


@contextmanager
def portable(runtime: str = "other") -> Iterator[None]:
    """While a program is lowered for other runtimes ("onnx", "other"): without the forms that pay with XLA on CPUs."""
    token = lowered_for.set((runtime,))
    try:
        yield
    finally:
        lowered_for.reset(token)


def for_others() -> bool:
    """True while a program is lowered for other platforms or runtimes than this process computes on."""
    return bool(lowered_for.get())


def by_platform(default: Callable[..., Any], *args: Any, **forms: Callable[..., Any]) -> Any:
    """Apply `default` to the arguments, or the form given for the platform ("cpu", "tpu", "onnx") being lowered for.

    A program that is exported for several platforms holds all forms that these need.
    """
    platforms = lowered_for.get() or (jax.default_backend(),)
    found = {forms.get(p, default) for p in platforms}
    if len(found) == 1:
        return found.pop()(*args)
    return jax.lax.platform_dependent(*args, default=default, **{p: f for p, f in forms.items() if p in platforms})
