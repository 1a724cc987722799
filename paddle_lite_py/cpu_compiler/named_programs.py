"""Executables of programs that have a text before they are traced, such as those of files: found by it at once.

To trace a net, and to rewrite what was traced, takes longer than to load its executable.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core.config import user_secret
from ..core.context import context
from ..core.jax_compat.compiler import keep
from ..core.jax_compat.versions import JAX
from ..core.jax_compat.xla import traced_by
from ..core.package_stamp import package_stamp
from ..core.private_files import read_signed, write_signed
from . import executables, kernels, onednn
from .executables import ExecutableFile
from .machine_code import CONVOLUTION, KERNEL
from .passes import CHOSEN


class _Plans(NamedTuple):
    """The plans of a function that XLA calls: what one is made of by its key, and the same plan in this process."""

    planned: Callable[[int], Any]
    plan_again: Callable[[Any], Any]


_PLANS = {
    CONVOLUTION: _Plans(onednn.planned, lambda plan: onednn.plan(onednn.convolution_from(plan))),
    KERNEL: _Plans(kernels.planned, lambda plan: kernels.plan(*plan)),
}


def file_of_traced(said: Sequence[Any], ending: str, like: str = "") -> Path:
    """Return the file of what was found by tracing; its name has all that this depends on.

    Arguments:
        said: the function, its arguments and the context. like: how the name begins.
    """
    flags = sorted((n, v) for n, v in os.environ.items() if n.startswith(("FLAGS_", "XLA_FLAGS")))
    passes, calls_onednn = [p.name for p in CHOSEN], find_spec("llvmlite") is not None
    name = executables.digest([*said, package_stamp(), JAX, traced_by(), flags, passes, calls_onednn])
    return executables.folder() / f"{like}{name}.{ending}"


class NamedPrograms:
    """The executables of a function by its text; a file says which one is that of a text and arguments.

    Arguments:
        text: gives what the function computes; None, or what gives None, where it has no text.
        name: of the function. donated: of its arguments.
        results: gives something nested as its results for arguments, where these are more than lists and tuples.
    """

    def __init__(
        self,
        text: Callable[[], str | None] | None,
        name: str,
        donated: Sequence[int],
        results: Callable[[Sequence[Any]], Any] | None = None,
    ) -> None:
        self.text, self.name, self.donated, self.results = text, name, donated, results

    @functools.cached_property
    def _written(self) -> str | None:
        """The text, which takes its time to write."""
        return None if self.text is None else self.text()

    def has_text(self) -> bool:
        """Whether the function has a text."""
        return self._written is not None

    def of(self, args: Sequence[Any]) -> NamedExecutable:
        """That for arguments like these."""
        return NamedExecutable(self.name, self._path(args), args, self.results)

    def note(self, executable: ExecutableFile, compiled: Any = None) -> None:
        """Let the text lead to an executable, which may be written later, or is what was compiled here."""
        traced = executable.traced
        results = described(traced.shapes)
        path, plans = self._path(traced.specs), {}
        for name, key in traced.foreign_calls():
            plans[name, key] = _PLANS[name].planned(key) if name in _PLANS else None
        if path is None or executable.path is None or executable.source is None or None in plans.values():
            return
        planned = [[name, plan] for (name, _), plan in plans.items()]
        files = {"file": executable.path.name, "source": executable.source.name}
        known = files | {"results": results, "planned": planned}
        with contextlib.suppress(OSError, ValueError):  # of a full disk, and of what cannot be written
            if compiled is not None:
                keep(compiled, executable.path, user_secret())
            write_signed(path, user_secret(), json.dumps(known).encode())

    def _path(self, args: Sequence[Any]) -> Path | None:
        """Return the file for arguments like these; its name has all that the executable depends on."""
        settings = context()
        if settings.platforms or not self.has_text():
            return None
        weak = [not a.shape and getattr(a, "weak_type", False) for a in args]
        said = [self._written, settings.default_dtype.name, settings.casting, self.name, self.donated, weak]
        return file_of_traced(said, "known", f"{executables.alike(self.name, args)}-")


class NamedExecutable:
    """The executable for a text and arguments, if a file says which one that is."""

    def __init__(
        self, name: str, path: Path | None, args: Sequence[Any], results: Callable[[Sequence[Any]], Any] | None
    ) -> None:
        self.name, self.path, self.args, self.results = name, path, args, results

    def _known(self) -> dict[str, Any] | None:
        content = None if self.path is None else read_signed(self.path, user_secret())
        return None if content is None else json.loads(content)

    def is_being_compiled(self) -> bool:
        """Whether a compiler is at work on it."""
        known = self._known()
        return known is not None and executables.is_being_compiled(known["source"])

    def loaded(self, device: Any = None) -> Any:
        """It, or None; for a device, or the default one."""
        if (known := self._known()) is None:
            return None
        # XLA calls our functions by the keys of plans, which each process makes.
        if None in [_PLANS[name].plan_again(plan) for name, plan in known["planned"]]:
            return None
        results = known["results"]
        tree: Any = jax.tree.structure(self.results(self.args) if self.results else nested(results))
        if described(tree.unflatten([np.float32(0)] * tree.num_leaves)) != results:
            return None
        structures = jax.tree.structure((tuple(self.args), {})), tree
        return executables.loaded(executables.folder() / known["file"], structures, device)


_CONTAINERS = {"list": list, "tuple": tuple}
LEAF = "*"


def described(results: Any) -> Any:
    """Return the structure of results as a file has it: a text where containers are others than lists and tuples."""
    if results is None:
        return None
    if results.__class__ in _CONTAINERS.values():
        return [results.__class__.__name__, *map(described, results)]
    tree = jax.tree.structure(results)
    return LEAF if jax.tree_util.treedef_is_leaf(tree) else str(tree)


def nested(described: Any) -> Any:
    """Return something of a structure; what is no list or tuple is a leaf."""
    if not isinstance(described, list):
        return None if described is None else np.float32(0)
    kind, *parts = described
    return _CONTAINERS[kind](map(nested, parts))
