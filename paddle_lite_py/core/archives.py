"""Archives and compressed files of others: their sizes are looked at before they are unpacked, and their names."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

# The largest allowed ratio of unpacked size to file size, and a size that is always allowed. Texts and pictures
# have a tenth of that; zeros have ten times as much.
MOST, LEAST = 100, 64 << 20


def unpacked_limit(packed: int) -> int:
    """Return the bytes that a file of this size may unpack to."""
    return MOST * packed + LEAST


def gunzipped(data: bytes, name: Any) -> bytes:
    """Return the content of a gzipped file.

    Raises:
        ValueError: if it is much larger than the file.
        OSError, EOFError, zlib.error: if it is damaged.
    """
    limit = unpacked_limit(len(data))
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        found = file.read(limit + 1)
    if len(found) > limit:
        raise _too_large(name, limit)
    return found


def members(tar: tarfile.TarFile, path: Any) -> Iterator[tarfile.TarInfo]:
    """Yield the members of a tar file, while their names stay within it and their sizes are in proportion to the file.

    Raises:
        ValueError: if they are not.
    """
    limit, total = unpacked_limit(os.stat(path).st_size), 0
    for member in tar:
        check_name(member.name, path)
        total += member.size
        if total > limit:
            raise _too_large(path, limit)
        yield member


def check_zip(archive: zipfile.ZipFile, path: Any) -> None:
    """Check that the names in a zip file stay inside it, and that unpacked sizes are in proportion to it.

    Raises:
        ValueError: if they are not.
    """
    for name in archive.namelist():
        check_name(name, path)
    limit = unpacked_limit(os.stat(path).st_size)
    if sum(i.file_size for i in archive.infolist()) > limit:
        raise _too_large(path, limit)


def _too_large(path: Any, limit: int) -> ValueError:
    return ValueError(f"{path} unpacks to more than {limit} bytes, which no data do: it is damaged or made to harm")


def check_name(name: str, path: Any) -> None:
    """Check that the name of an archive member does not lead outside the target folder.

    Raises:
        ValueError: if it does.
    """
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts:
        raise ValueError(f"{path} names a file outside of it: {name!r:.80}")


def unpacked(path: Path) -> Path:
    """Unpack an archive next to itself and return the path of its content: its one top folder, or a folder of its name.

    Raises:
        ValueError: if it names files outside, or unpacks to much more than data do.
    """
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as tar:
            target, missing, found = _target(path, [m.name for m in members(tar, path)])
            if missing:
                tar.extractall(target, filter="data")
    else:
        with zipfile.ZipFile(path) as archive:
            check_zip(archive, path)
            target, missing, found = _target(path, archive.namelist())
            if missing:
                archive.extractall(target)
    return found


def _target(path: Path, names: list[str]) -> tuple[Path, bool, Path]:
    """Where to unpack members of these names, whether something of them is not there, and where they lie then."""
    tops = {PurePosixPath(n).parts[0] for n in names if PurePosixPath(n).parts}
    target = path.parent if len(tops) == 1 else path.with_name(path.name.split(".")[0])
    missing = not all((target / top).exists() for top in tops)
    return target, missing, target / tops.pop() if len(tops) == 1 else target
