"""Folders and secrets of the user alone. Compiled code lies there, and who can write code decides what runs next."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from pathlib import Path
from typing import Any

SECRET_BYTES = 32
SIGNATURE_BYTES = hashlib.sha256().digest_size


class NotPrivateError(OSError):
    """A folder or file that others own or can write to."""


def private_folder(folder: Path, closed: bool = True) -> Path:
    """Return the folder, made where it is not there.

    Arguments:
        closed: others are not to read there either.

    Raises:
        NotPrivateError: if another user owns it, or others could write to it until now.
        OSError: if it cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not hasattr(os, "geteuid"):  # a system without such rights
        return folder
    found = folder.stat()
    check_owner(found, folder)
    if closed and found.st_mode & 0o077:
        folder.chmod(0o700)
    return folder


def check_owner(found: os.stat_result, path: Path) -> None:
    """Check that a file or folder belongs to the user, and that nobody else can write to it.

    Raises:
        NotPrivateError: saying what is not so, and what to do.
    """
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        raise NotPrivateError(f"{path} belongs to another user, who could have code run by this process")
    if hasattr(os, "geteuid") and found.st_mode & 0o022:
        raise NotPrivateError(
            f"others can write to {path} (mode {stat.S_IMODE(found.st_mode):o}), and could have code run by this "
            "process; remove what is in it, and make it yours alone with chmod 700"
        )


def secret(path: Path) -> bytes:
    """Return a secret that only this user has, made where it is not there.

    Raises:
        NotPrivateError: if others can read the file.
        OSError: if it can be neither read nor made.
    """
    try:
        return _read(path)
    except FileNotFoundError:
        beside = path.with_name(f"{path.name}.{os.getpid()}")
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(os.urandom(SECRET_BYTES))
        try:
            os.link(beside, path)  # the first of several processes makes it
        except FileExistsError:
            pass
        finally:
            beside.unlink()
        return _read(path)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        found, content = os.fstat(file.fileno()), file.read(SECRET_BYTES)
    check_owner(found, path)
    if len(content) < SECRET_BYTES or (found.st_mode & 0o077 and hasattr(os, "geteuid")):
        raise NotPrivateError(f"{path} is no secret: remove it, and a new one is made")
    return content


def signature(key: bytes, name: str, content: bytes | memoryview) -> bytes:
    """Return the signature of a name and a content, which only the owner of the key can compute."""
    return hmac.digest(key, name.encode() + b"\0" + content, hashlib.sha256)


def newest(known: dict[str, Any], most: int) -> dict[str, Any]:
    """Return the entries that were added last, at most so many: a file that is full takes new ones all the same."""
    return dict(list(known.items())[-most:]) if len(known) > most else known


def write_signed(path: Path, key: bytes, content: bytes) -> None:
    """Write a file that read_signed() reads, at once or not at all.

    Raises:
        OSError: if it cannot be written.
    """
    new = path.with_suffix(f".{os.getpid()}")
    new.write_bytes(signature(key, path.name, content) + content)
    new.replace(path)


def read_signed(path: Path, key: bytes) -> bytes | None:
    """Return the content of a file; None where there is none, or none that is whole and was signed with the key."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    signed, content = content[:SIGNATURE_BYTES], content[SIGNATURE_BYTES:]
    return content if hmac.compare_digest(signed, signature(key, path.name, content)) else None
