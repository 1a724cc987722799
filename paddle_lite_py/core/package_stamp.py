"""Which source of this package a process runs."""

from __future__ import annotations

import hashlib
import os
from importlib.util import find_spec

from .memo import once

PACKAGE = __name__.split(".")[0]


@once
def package_stamp() -> str:
    """A text that differs between sources of this package, by the sizes and times of their files.

    What is kept on disk under the name of a program, and not of what that is lowered to, is of one source only. In a
    checkout, jit stands beside the package.
    """
    specs = [find_spec(name) for name in (PACKAGE, f"{PACKAGE}.jit")]
    roots = [root for spec in specs if spec is not None for root in spec.submodule_search_locations or ()]
    return hashlib.sha256(repr([_files(root) for root in roots]).encode()).hexdigest()


def _files(root: str) -> list[tuple[str, str, int, int]]:
    """Name, size and time of each file of source below a folder."""
    found = []
    for folder, _, names in sorted(os.walk(root)):
        status = [(n, os.stat(os.path.join(folder, n))) for n in sorted(names) if not n.endswith(".pyc")]
        found += [(os.path.relpath(folder, root), n, s.st_size, s.st_mtime_ns) for n, s in status]
    return found
