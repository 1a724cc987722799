"""The versions of JAX that are tested; with others, a program of an unknown form runs as JAX alone would run it."""

from __future__ import annotations

import warnings

import jax
import jaxlib

from .sizes import are_standing

JAX, JAXLIB = jax.__version__, jaxlib.__version__
# From the first one on, before the second one; setup.cfg installs these.
TESTED = ("0.10.2", "0.13")


class JaxVersionWarning(UserWarning):
    """Programs are not optimized, since this version of JAX writes them down in a form that is not known."""


class _Told:
    once = False


def numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version.

    Example:
        >>> numbers("0.12.0.dev1")
        (0, 12, 0)
    """
    parts = version.split(".")
    return tuple([int(p) for p in parts[: next((i for i, p in enumerate(parts) if not p.isdigit()), len(parts))]])


def is_tested(version: str = JAX) -> bool:
    """Whether a version of JAX is one of those that are tested.

    Example:
        >>> is_tested("0.10.2"), is_tested("0.12.9"), is_tested("0.13.0")
        (True, True, False)
    """
    first, end = map(numbers, TESTED)
    return first <= numbers(version) < end


def warn_unknown(what: str, error: Exception) -> None:
    """Warn, once a process, that JAX has made something that could not be read, and that nothing is made of it."""
    if _Told.once or are_standing():  # of symbols there is more that cannot be read
        return
    warnings.warn(
        f"paddle_lite_py cannot read {what} of JAX {JAX}: {type(error).__name__}: {error}. Programs like this one run, "
        f"but slower. JAX from {TESTED[0]} on and below {TESTED[1]} is tested",
        JaxVersionWarning,
        stacklevel=2,
    )
    _Told.once = True  # not where warnings are errors: those come each time
