"""Files that are there whole or not at all: arrays (.npz, which NumPy reads without unpickling) and JSON."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np


class StateError(ValueError):
    """A file of a server's state that cannot be read."""


def write_arrays(path: Path, arrays: Iterable[tuple[str, np.ndarray]]) -> None:
    """Write arrays by name, one at a time, so that no more than one need be in memory.

    Raises:
        OSError: it cannot be written; what was there before stays.
    """

    def write(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w") as made:
            for name, array in arrays:
                with made.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)

    _replace(path, write)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read what `write_arrays` wrote.

    Raises:
        StateError: it is damaged, or not there.
    """
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as made:
            return dict(made)
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as e:
        raise StateError(f"{path} cannot be read: {e}") from None


def write_json(path: Path, made: dict[str, Any]) -> None:
    """Write a description; once it is there it stays, also if the machine loses power.

    Raises:
        OSError: it cannot be written; what was there before stays.
    """
    _replace(path, lambda file: file.write(json.dumps(made).encode()))
    sync_folder(path.parent)


def read_json(path: Path, form: str, version: int) -> dict[str, Any]:
    """Read what `write_json` wrote, of a form and version.

    Raises:
        StateError: it is damaged or of another form.
    """
    try:
        made = json.loads(path.read_bytes())
        found = (made["form"], made["version"])
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise StateError(f"{path} cannot be read: {type(e).__name__}: {e}") from None
    if found != (form, version):
        raise StateError(f"{path} is {found[0]!r} of version {found[1]}; expected {form!r} of version {version}")
    return made


def sync_folder(folder: Path) -> None:
    """Bring the names of a folder to the disk."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _replace(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    part = path.with_name(path.name + ".part")
    try:
        with open(part, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
