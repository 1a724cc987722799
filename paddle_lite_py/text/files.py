"""The files of data sets of text: those that the user gives, or the published ones."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..core.archives import members
from ..utils.download import get_path_from_url

_HOME = Path("~/.cache/paddle/dataset").expanduser()


def find(who: str, given: Any, url: str, md5: str, download: bool, what: str = "data_file") -> str:
    """Return the file that the user gave, or the published one, fetched when it is not there yet."""
    if given is not None:
        return str(given)
    if not download:
        raise ValueError(f"{who}: give {what}, or download=True")
    return get_path_from_url(url, str(_HOME), md5, decompress=False)


def one_of(who: str, what: str, value: str, known: tuple[str, ...]) -> str:
    """Return the value, in the case of the known ones, or an error that names them."""
    for name in known:
        if value.lower() == name.lower():
            return name
    raise ValueError(f"{who}: {what} is {value!r}; expected one of {', '.join(map(repr, known))}")


def lines_of(who: str, archive: str, name: str) -> Iterator[bytes]:
    """Yield the lines of a file in a tar archive, whose name ends like that.

    Raises:
        ValueError: if there is none, or the archive is damaged.
    """
    try:
        with tarfile.open(archive) as tar:
            found = [m for m in members(tar, archive) if m.name.removeprefix("./").endswith(name)]
            for member in found:
                yield from tar.extractfile(member)  # type: ignore[misc]
    except (tarfile.TarError, EOFError, OSError) as e:
        raise ValueError(f"{who}: {archive} is no whole archive: {e}") from e
    if not found:
        raise ValueError(f"{who}: {archive} holds no {name}")


def by_line(path: Any) -> dict[str, int]:
    """Return the lines of a file, with their numbers."""
    try:
        lines = Path(path).read_text(encoding="utf8").splitlines()
    except UnicodeDecodeError as e:
        raise ValueError(f"{path} is no text: {e}") from e
    return {line.strip(): i for i, line in enumerate(lines)}
