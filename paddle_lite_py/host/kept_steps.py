"""The steps of functions, kept on disk: to trace one anew takes longer than to write it down for NumPy.

A function has a file, with the steps for each kind of arguments that it was called with.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core import small
from ..core.config import kept_in, user_secret
from ..core.context import context
from ..core.dtypes import numpy_name
from ..core.private_files import newest, read_signed, write_signed
from ..core.small import DTYPES
from ..cpu_compiler import described, file_of_traced, nested
from .steps import Steps
from .steps_text import UntoldError, from_told, has_large_constants, told

# Kinds of arguments in a file, where the newest take the place of the oldest, and functions of a process that are
# written down when it ends.
MAX_KINDS, MAX_FUNCTIONS = 64, 1000


def plainly_described(results: Any) -> Any:
    """Return the structure of results as a file has it.

    Raises:
        UntoldError: containers are others than lists and tuples.
    """
    found = described(results)
    tree: Any = jax.tree.structure(results)
    if jax.tree.structure(nested(found)) != tree:
        raise UntoldError("a structure of others than lists and tuples")
    return found


class WrittenResults(NamedTuple):
    """How results stand in a file: from something nested as these to what JSON takes, and back."""

    describe: Callable[[Any], Any] = plainly_described
    restore: Callable[[Any], Any] = nested


class FoundSteps(NamedTuple):
    """What a function does for a kind of arguments: its steps (none: it is XLA's), whether its results are the host's,
    and something nested as these are."""

    steps: Steps | None
    hosted: bool
    results: Any
    size: int = 0  # equations of the traced function


class KeptSteps:
    """The steps of a function, as earlier processes found them.

    Arguments:
        text: gives what the function computes; None, or what gives None, where it has no text.
        written: how its results stand in a file. dtypes: that its values may have.
    """

    def __init__(
        self,
        text: Callable[[], str | None] | None,
        written: WrittenResults | None = None,
        dtypes: Collection[np.dtype] = DTYPES,
    ) -> None:
        self._text, self._written, self._dtypes = text, written or WrittenResults(), dtypes
        self._new: dict[str, FoundSteps] = {}

    def find(self, args: Sequence[Any], *said: Any) -> FoundSteps | None:
        """Return what is known for arguments like these; None where nothing is.

        Arguments:
            said: what the choice depends on, besides the arguments.
        """
        found = self._known.get(_kinds(args, said)) if self._path is not None else None
        if found is None:
            return None
        steps = None if found["steps"] is None else from_told(found["steps"])
        return FoundSteps(steps, found["hosted"], self._written.restore(found["results"]), found["size"])

    def keep(self, found: FoundSteps, args: Sequence[Any], *said: Any) -> None:
        """Let later processes know what was found."""
        if self._path is None:
            return
        if found.steps is not None and has_large_constants(found.steps):
            return
        if not self._new:
            if len(_changed) >= MAX_FUNCTIONS:
                return
            _changed.append(self)
        self._new[_kinds(args, said)] = found
        self._new = newest(self._new, MAX_KINDS)

    def drop(self, args: Sequence[Any], *said: Any) -> None:
        """Forget what was found for arguments like these: later processes need it no more."""
        self._new.pop(_kinds(args, said), None)

    # Key: the object itself; settings that its function depends on are those under which it was made.
    @functools.cached_property
    def _path(self) -> Path | None:
        settings = context()
        text = None
        if self._text is not None and kept_in() is not None and not settings.platforms:
            text = self._text()
        if text is None:
            return None
        tier = sorted(numpy_name(d) for d in self._dtypes)  # a function of two tiers has a file in each
        said = [text, settings.default_dtype.name, settings.casting, jax.default_backend(), tier]
        return file_of_traced(said, "steps")

    @functools.cached_property
    def _known(self) -> dict[str, Any]:
        assert self._path is not None
        content = read_signed(self._path, user_secret())
        return {} if content is None else json.loads(content)

    def write(self) -> None:
        """Write down what is new."""
        if not self._new:
            return
        known = dict(self._known)
        for kinds, (steps, hosted, results, size) in self._new.items():
            with contextlib.suppress(UntoldError):
                found = None if steps is None else told(steps, self._dtypes)
                known[kinds] = {
                    "steps": found,
                    "hosted": hosted,
                    "results": self._written.describe(results),
                    "size": size,
                }
        assert self._path is not None
        self._known, self._new = newest(known, MAX_KINDS), {}
        with contextlib.suppress(OSError):  # of a full disk
            write_signed(self._path, user_secret(), json.dumps(self._known).encode())


def _kinds(args: Sequence[Any], said: Sequence[Any]) -> str:
    each = [
        f"{numpy_name(a.dtype)}{[*a.shape]}{_is_weak(a) or ''}" if hasattr(a, "dtype") else type(a).__name__
        for a in args
    ]
    return f"{small.most()} {[*said]} {' '.join(each)}"


def _is_weak(array: Any) -> bool:
    return not array.shape and getattr(array, "weak_type", False)


_changed: list[KeptSteps] = []


@atexit.register
def write_all() -> None:
    """Write down what this process has found."""
    for each in _changed:
        each.write()
    _changed.clear()
