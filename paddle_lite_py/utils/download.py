"""Files from the network: fetched once, checked, unpacked."""

from __future__ import annotations

import hashlib
import http.client
import os
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlparse

from ..core.archives import unpacked
from ..core.no_effect import Immaterial, no_effect

__all__ = ["get_path_from_url", "get_weights_path_from_url"]

_CHUNK = 1 << 20
TRIES, PAUSE, TIMEOUT = 4, 0.5, 30.0  # tries of a download, seconds before another one (growing), and without an answer


def home() -> Path:
    """Return the folder of what was fetched."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(root) / "paddle" / "hapi"


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """Return the local file of published weights, fetched when it is not there yet.

    Raises:
        RuntimeError: if it cannot be fetched, or its checksum differs.
    """
    return get_path_from_url(url, str(home() / "weights"), md5sum)


@no_effect(method=Immaterial("each method fetches the same file"))
def get_path_from_url(
    url: str,
    root_dir: str,
    md5sum: str | None = None,
    check_exist: bool = True,
    decompress: bool = True,
    method: str = "get",
) -> str:
    """Return the local path of a file, fetched into `root_dir` when it is not there yet; of what an archive holds.

    Arguments:
        md5sum: checksum of the file.
        check_exist: False: fetch it anew.
        decompress: unpack tar and zip archives next to the file.

    Raises:
        RuntimeError: if it cannot be fetched, or its checksum differs.
    """
    path = fetched(url, Path(root_dir) / file_name(url), lambda path: _matches(path, md5sum), check_exist)
    return str(opened(path) if decompress else path)


def is_url(path: str) -> bool:
    """Whether a path is an address in the network.

    Examples:
        >>> is_url("https://example.org/a.zip"), is_url("a.zip")
        (True, False)
    """
    return path.startswith(("http://", "https://"))


def _get_unique_endpoints(trainer_endpoints: list[str]) -> list[str]:
    """Return one address of each host, of the processes there that has to fetch."""
    return list({address.split(":")[0]: address for address in reversed(trainer_endpoints)}.values())


def _decompress(fname: str) -> str:
    """Unpack an archive next to itself; returns the path of its content."""
    return str(unpacked(Path(fname)))


def _matches(path: Path, md5sum: str | None) -> bool:
    if md5sum is None:
        return True
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as f:
        while chunk := f.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest() == md5sum


def file_name(url: str) -> str:
    """Return the last part of an address.

    Raises:
        ValueError: if there is none.
    """
    name = PurePosixPath(unquote(urlparse(url).path)).name
    if not name:
        raise ValueError(f"the url {url!r} names no file")
    return name


def fetched(url: str, path: Path, is_whole: Callable[[Path], bool], check_exist: bool = True) -> Path:
    """Return the path of a file, fetched when it is not there yet.

    Raises:
        RuntimeError: if it cannot be fetched, or is not whole then.
    """
    if not (check_exist and path.exists() and is_whole(path)):
        _fetch(url, path, is_whole)
    return path


def _fetch(url: str, path: Path, is_whole: Callable[[Path], bool]) -> None:
    """Fetch a file, in several tries; each goes on where the one before was interrupted, in this process or another."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with part.open("ab") as mine:
        if _waited(mine) and path.exists() and is_whole(path):
            return  # another process has fetched it in the meantime
        _fetch_in_tries(url, path, part, is_whole)


def _waited(file: Any) -> bool:
    """Keep other processes from a file until it is closed; whether one of them had it."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        fcntl.flock(file, fcntl.LOCK_EX)
        return True


def _fetch_in_tries(url: str, path: Path, part: Path, is_whole: Callable[[Path], bool]) -> None:
    error: Exception | None = None
    for tries in range(TRIES):
        time.sleep(PAUSE * (2**tries - 1))
        try:
            _fetch_rest(url, part)
            if is_whole(part):
                os.replace(part, path)
                return
            part.unlink()
            error = RuntimeError(f"{url}: the checksum is not the expected one; the file is damaged or another one")
        except urllib.error.HTTPError as e:
            e.close()
            error = e
            if e.code < 500 and e.code not in (408, 416, 429):
                break
            if e.code == 416:  # there is more than the file has
                part.unlink(missing_ok=True)
        except (OSError, http.client.HTTPException) as e:
            error = e
    if isinstance(error, RuntimeError):
        raise error
    there = "the file there has another checksum" if path.exists() else "put the file there yourself"
    raise RuntimeError(f"{url} cannot be fetched to {path} ({error}); {there}") from error


def _fetch_rest(url: str, part: Path) -> None:
    """Fetch what is missing of a file.

    Raises:
        OSError: if it does not come to its end; what has come stays.
    """
    there = part.stat().st_size if part.exists() else 0
    asked = urllib.request.Request(url, headers={"Range": f"bytes={there}-"} if there else {})
    with urllib.request.urlopen(asked, timeout=TIMEOUT) as answer:
        going_on = there and getattr(answer, "status", None) == http.HTTPStatus.PARTIAL_CONTENT
        left = answer.headers.get("Content-Length")
        came = 0
        with part.open("ab" if going_on else "wb") as out:
            while chunk := answer.read(_CHUNK):
                out.write(chunk)
                came += len(chunk)
    if left is not None and came < int(left):
        raise OSError(f"the connection ended after {came} of {left} bytes")


def opened(path: Path) -> Path:
    """Return the path of an archive's content, unpacked next to it; another file itself."""
    return unpacked(path) if tarfile.is_tarfile(path) or zipfile.is_zipfile(path) else path
