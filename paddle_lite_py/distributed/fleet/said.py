"""The messages that a worker has sent to the others, in a folder that outlives it, to be repeated after a restart."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

from .line import KEPT

_HEAD, _LENGTH = struct.Struct("<qI"), struct.Struct("<Q")


class Said:
    """The last messages of a worker, as many as others may lack.

    Arguments:
        folder: of this worker, in this job.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> Said(folder).again(7, [b"to the first", b"to the second"])
        [b'to the first', b'to the second']
        >>> Said(folder).again(7, [b"something", b"else"]), Said(folder).before(8)
        ([b'to the first', b'to the second'], [(7, [b'to the first', b'to the second'])])
    """

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._found = {number: messages for file in self._files() for number, messages in _read(file)}

    def _files(self) -> list[Path]:
        return [self._folder / f"said-{i}" for i in range(KEPT)]

    def before(self, number: int) -> list[tuple[int, list[bytes]]]:
        """Return the messages of the exchanges before one, with their numbers, in their order."""
        return sorted((n, messages) for n, messages in self._found.items() if n < number)

    def again(self, number: int, messages: list[bytes]) -> list[bytes]:
        """Return the worker's message in an exchange, logged before it is sent; after a restart, the logged one.

        Arguments:
            number: of the exchange.
            messages: what it would say, to each worker.
        """
        if number in self._found:
            return self._found[number]
        parts = [_HEAD.pack(number, len(messages)), *[_LENGTH.pack(len(m)) for m in messages], *messages]
        write_whole(self._folder / f"said-{number % KEPT}", b"".join(parts))
        return messages


def _read(file: Path) -> list[tuple[int, list[bytes]]]:
    """Return the messages in a file, and their number; nothing where there is none."""
    with contextlib.suppress(FileNotFoundError):
        data = file.read_bytes()
        number, count = _HEAD.unpack_from(data)
        at, messages = _HEAD.size + count * _LENGTH.size, []
        for i in range(count):
            (length,) = _LENGTH.unpack_from(data, _HEAD.size + i * _LENGTH.size)
            messages.append(data[at : at + length])
            at += length
        return [(number, messages)]
    return []


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that is whole, or not there."""
    part = path.with_suffix(".part")
    part.write_bytes(data)
    part.replace(path)
