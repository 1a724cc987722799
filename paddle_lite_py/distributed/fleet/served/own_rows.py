"""Rows that a worker has trained by itself, with what its optimizer keeps of them, in files that outlive it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ..peers import packed, unpacked
from ..said import write_whole

# Of each table, by its name: ids, and all numbers of their rows.
Rows = dict[str, tuple[np.ndarray, np.ndarray]]
_ALL = "-all"


class OwnRows:
    """The rows of a worker's tables after its last exchange.

    A file has the rows that one exchange has sent. When these are as many as there are rows, the next file has all, and
    those before it are deleted once it counts. So a row is written twice at most for each time that it is sent.

    Arguments:
        folder: of the worker.
        done: how many things the worker has done; files of later ones do not count.

    Examples:
        >>> import tempfile
        >>> folder, row = Path(tempfile.mkdtemp()), lambda *n: (np.array([n[0]]), np.array([n[1:]]))
        >>> kept = OwnRows(folder)
        >>> for step in range(3):
        ...     kept.keep(step, {"t": row(step % 2, step)}, 2, lambda: {})
        >>> [{n: (i.tolist(), v.tolist()) for n, (i, v) in rows.items()} for rows in OwnRows(folder, done=2).read()]
        [{'t': ([0], [[0]])}, {'t': ([1], [[1]])}]
    """

    def __init__(self, folder: Path, done: int = 0) -> None:
        self._folder, self._done, self._written = folder, done, 0
        self._whole = max([n for n, file in self._files() if n < done and file.stem.endswith(_ALL)], default=-1)

    def _files(self) -> list[tuple[int, Path]]:
        return sorted((int(file.stem.split("-")[1]), file) for file in self._folder.glob("rows-*.npz"))

    def read(self) -> Iterator[Rows]:
        """Return what was kept, in the order in which it is to be put."""
        for number, file in self._files():
            if self._whole <= number < self._done:
                found = unpacked(file.read_bytes())
                names = [name.removeprefix("ids/") for name in found if name.startswith("ids/")]
                rows = {name: (found[f"ids/{name}"], found[f"values/{name}"]) for name in names}
                self._written += sum(len(ids) for ids, _ in rows.values())
                yield rows

    def keep(self, number: int, sent: Rows, total: int, whole: Callable[[], Rows]) -> None:
        """Keep the rows that an exchange has sent; all, when it is time.

        Arguments:
            number: of the thing that the worker does.
            total: how many rows its tables have.
            whole: gives all of them.
        """
        for older, file in self._files():
            if older < self._whole:  # which counts by now: the worker does another thing
                file.unlink()
        everything = self._written > total
        rows = whole() if everything else sent
        self._whole = number if everything else self._whole
        self._written = (0 if everything else self._written) + sum(len(ids) for ids, _ in sent.values())
        named = {f"ids/{name}": ids for name, (ids, _) in rows.items()}
        named |= {f"values/{name}": values for name, (_, values) in rows.items()}
        write_whole(self._folder / f"rows-{number}{_ALL if everything else ''}.npz", packed(named))
