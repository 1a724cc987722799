"""How far a worker has come, in a folder that outlives it.

A worker that is started again runs its program from the beginning. What a program does with others is a row of
things, in an order that is the same each time: steps, meetings, exchanges, saves. What is done is not done again.
"""

from __future__ import annotations

import os
import struct
import uuid
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..peers import packed, unpacked
from ..said import write_whole
from .own import Arrays, Own

_NUMBERS = struct.Struct("<qq")


class Progress:
    """The progress of a worker.

    Arguments:
        folder: of this worker, in this job; None: nothing outlives it.

    Attributes:
        session: a name of the worker, for as long as the job lasts.
        exchanges: how many exchanges with other workers are over.
        over: the number of the last meeting, once the worker has nothing more to do but that.
        folder: its own; None: nothing outlives it.
        restarts: whether a worker that is killed is started again, and goes on where it was.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> worker = Progress(folder)
        >>> for _ in range(2):
        ...     worker.done(worker.begin())
        >>> again = Progress(folder)
        >>> [again.skips() for _ in range(3)], again.begin()
        ([True, True, False], 2)
    """

    def __init__(self, folder: str | None = None) -> None:
        self.session, self.exchanges, self.restarts = uuid.uuid4().hex, 0, folder is not None
        self._begun = self._done = 0
        self.over: int | None = None
        self.folder: Path | None
        self.folder, self._own = None, Own()
        if folder is None:
            return
        self.folder = self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self._folder / "progress", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        name = self._folder / "session"
        if not name.exists():
            write_whole(name, self.session.encode())
        self.session = name.read_text()
        if len(found := os.pread(self._file, _NUMBERS.size, 0)) == _NUMBERS.size:
            self._done, self.exchanges = _NUMBERS.unpack(found)
        if (over := self._folder / "over").exists():
            self.over = int(over.read_text())
        self._own = Own(self._folder, self._done)

    @property
    def noted(self) -> int:
        """The number of things that are done."""
        return self._done

    def skips(self) -> bool:
        """Whether the next thing is done; then it is the one after it that comes next."""
        if self._begun >= self._done:
            return False
        self._begun += 1
        return True

    def begin(self) -> int:
        """Return the number of the thing that is done now."""
        self._begun += 1
        return self._begun - 1

    def done(self, number: int, exchanges: int | None = None, own: Callable[[], Arrays] | None = None) -> None:
        """Note that a thing is done, and all before it.

        Arguments:
            exchanges: how many exchanges are over with it.
            own: gives the state that this worker alone has after it.
        """
        if own is not None and self.restarts:
            self._own.keep(number, own())
        self._note(number + 1, self.exchanges if exchanges is None else exchanges)

    def exchanged(self, exchanges: int) -> None:
        """Note how many exchanges are over, in the midst of a thing."""
        self._note(self._done, exchanges)

    def _note(self, done: int, exchanges: int) -> None:
        self._done, self.exchanges = done, exchanges
        if self.restarts:  # one write, which a kill does not cut in two
            os.pwrite(self._file, _NUMBERS.pack(done, exchanges), 0)

    def own(self) -> Arrays:
        """The state that this worker alone had after the thing that was skipped last; nothing where it is not known."""
        return self._own.after(self._begun - 1)

    def end(self) -> None:
        """Note that nothing but a last meeting is left."""
        if self.restarts:
            write_whole(self._folder / "over", str(self._begun).encode())

    def keep(self, found: list[dict[str, np.ndarray]]) -> list[dict[str, np.ndarray]]:
        """Keep what an exchange gives, which is the thing that is done now."""
        if self.restarts:
            named = {f"{rank}/{name}": a for rank, arrays in enumerate(found) for name, a in arrays.items()}
            write_whole(self._exchange(), packed({"size": np.int64(len(found)), **named}))
        return found

    def recall(self) -> list[dict[str, np.ndarray]] | None:
        """Return the result of the next exchange if it was already done."""
        if not self.skips():
            return None
        named = unpacked(self._exchange().read_bytes())
        return [_of(named, rank) for rank in range(int(named["size"]))]

    def _exchange(self) -> Path:
        return self._folder / f"exchange-{self._begun - 1}.npz"


def _of(named: Arrays, rank: int) -> dict[str, np.ndarray]:
    return {name.partition("/")[2]: a for name, a in named.items() if name.partition("/")[0] == str(rank)}
