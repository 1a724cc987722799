"""Which source of this package a process runs."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from .memo import once

ROOT = Path(__file__).parents[1]


@once
def package_stamp() -> str:
    """A text that differs between sources of this package, by the sizes and times of their files.

    What is kept on disk under the name of a program, and not of what that is lowered to, is of one source only.
    """
    found = []
    for folder, _, names in sorted(os.walk(ROOT)):
        status = [(n, os.stat(os.path.join(folder, n))) for n in sorted(names) if not n.endswith(".pyc")]
        found += [(os.path.relpath(folder, ROOT), n, s.st_size, s.st_mtime_ns) for n, s in status]
    return hashlib.sha256(repr(found).encode()).hexdigest()
