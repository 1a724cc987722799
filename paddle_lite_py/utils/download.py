"""Files from the network: fetched once, checked, unpacked."""

from __future__ import annotations

import hashlib
import os
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlparse

from ..core.no_effect import Immaterial, no_effect

__all__ = ["get_path_from_url", "get_weights_path_from_url"]

_CHUNK = 1 << 20


def home() -> Path:
    """The folder of what was fetched."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(root) / "paddle" / "hapi"


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The local file of published weights, fetched when it is not there yet.

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
    """The local path of a file, fetched into `root_dir` when it is not there yet; of what an archive holds.

    Arguments:
        md5sum: checksum of the file.
        check_exist: False: fetch it anew.
        decompress: unpack tar and zip archives beside the file.

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
    """One address of each host, of the processes there that has to fetch."""
    return list({address.split(":")[0]: address for address in reversed(trainer_endpoints)}.values())


def _decompress(fname: str) -> str:
    """Unpack an archive beside itself; the path of what it holds."""
    return str(_unpacked(Path(fname)))


def _matches(path: Path, md5sum: str | None) -> bool:
    if md5sum is None:
        return True
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as f:
        while chunk := f.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest() == md5sum


def file_name(url: str) -> str:
    """The last part of an address.

    Raises:
        ValueError: if there is none.
    """
    name = PurePosixPath(unquote(urlparse(url).path)).name
    if not name:
        raise ValueError(f"the url {url!r} names no file")
    return name


def fetched(url: str, path: Path, is_whole: Callable[[Path], bool], check_exist: bool = True) -> Path:
    """The path of a file, fetched when it is not there yet.

    Raises:
        RuntimeError: if it cannot be fetched, or is not whole then.
    """
    if not (check_exist and path.exists() and is_whole(path)):
        _fetch(url, path, is_whole)
    return path


def _fetch(url: str, path: Path, is_whole: Callable[[Path], bool]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as out, urllib.request.urlopen(url) as answer:
            while chunk := answer.read(_CHUNK):
                out.write(chunk)
        if not is_whole(Path(part)):
            raise RuntimeError(f"{url}: the checksum is not the expected one; the file is damaged or another one")
        os.replace(part, path)
    except OSError as e:
        raise RuntimeError(f"{url} cannot be fetched ({e}); put the file at {path} yourself") from e
    finally:
        Path(part).unlink(missing_ok=True)


def opened(path: Path) -> Path:
    """What an archive holds, unpacked beside it; another file itself."""
    return _unpacked(path) if tarfile.is_tarfile(path) or zipfile.is_zipfile(path) else path


def _unpacked(path: Path) -> Path:
    """Where the content of an archive lies: its one top folder, or a folder named after it."""
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as tar:
            tops = {PurePosixPath(m.name).parts[0] for m in tar.getmembers() if PurePosixPath(m.name).parts}
            target = path.parent if len(tops) == 1 else path.with_name(path.name.split(".")[0])
            if ".." in tops or not all((target / top).exists() for top in tops):
                tar.extractall(target, filter="data")
    else:
        with zipfile.ZipFile(path) as archive:
            tops = {PurePosixPath(n).parts[0] for n in archive.namelist() if PurePosixPath(n).parts}
            target = path.parent if len(tops) == 1 else path.with_name(path.name.split(".")[0])
            if not all((target / top).exists() for top in tops):
                archive.extractall(target)
    return target / tops.pop() if len(tops) == 1 else target
