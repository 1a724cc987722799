"""What ops return for shapes and dtypes, kept on disk: to trace them anew takes longer than to load their program.

Records that begin with the same op share a file.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core.config import user_secret
from ..core.dtypes import numpy_name
from ..core.private_files import newest, read_signed, write_signed
from ..cpu_compiler import file_of_traced

MAX_KEPT = 10_000  # results in a file, where the newest take the place of the oldest


class AbstractResult(NamedTuple):
    """The results of an op: shapes and dtypes, whether they are a tuple, which of them carry gradients (none: out
    of no one), whether XLA makes them of small arrays too, and the array if shapes alone tell it."""

    specs: list[Any]
    several: bool
    flows: tuple[bool, ...]
    on_xla: bool
    known: np.ndarray | None


class EarlierResults:
    """The abstract results of the ops of some records, as earlier processes found them.

    Arguments:
        first: the text of the op, with its arguments, that the records begin with; None if it has none.
    """

    def __init__(self, first: str | None) -> None:
        self._path = None if first is None else file_of_traced([first], "ops")
        content = None if self._path is None else read_signed(self._path, user_secret())
        self._known: dict[str, Any] = {} if content is None else json.loads(content)
        self._is_new = False

    def get(self, text: str | None) -> AbstractResult | None:
        """Return the results of an op by its text with its arguments; None where they are not known."""
        found = None if text is None else self._known.get(text)
        if found is None:
            return None
        specs, several, flows, on_xla = found
        made = [jax.ShapeDtypeStruct(shape, np.dtype(dtype)) for shape, dtype in specs]
        return AbstractResult(made, several, tuple(flows), on_xla, None)

    def put(self, text: str | None, found: AbstractResult) -> AbstractResult:
        """Keep what was found; returns it."""
        specs, several, flows, on_xla, array = found
        if text is not None and array is None and all(isinstance(s.dtype, np.dtype) for s in specs):
            self._known[text] = [[(s.shape, numpy_name(s.dtype)) for s in specs], several, flows, on_xla]
            self._is_new = True
        return found

    def write(self) -> None:
        """Let later processes know what is new."""
        if self._path is None or not self._is_new:
            return
        self._known, self._is_new = newest(self._known, MAX_KEPT), False
        with contextlib.suppress(OSError):  # of a full disk
            write_signed(self._path, user_secret(), json.dumps(self._known).encode())
