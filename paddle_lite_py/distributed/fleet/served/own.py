"""State that a worker alone has, such as the histograms of a metric, as it was after a step; in files."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..peers import packed, unpacked
from ..said import write_whole

Arrays = Mapping[str, np.ndarray]


class Own:
    """The state after the last step that is done.

    Two files take turns: a step counts as done once its state is written, and a kill may come between the two.

    Arguments:
        folder: of the worker; None: nothing is kept.
        done: how many things the worker has done.

    Examples:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> kept = Own(folder)
        >>> for step in range(3):
        ...     kept.keep(step, {"seen": np.int64(10 * step)})
        >>> Own(folder, done=2).after(1)  # the third was not noted any more
        {'seen': array(10)}
    """

    def __init__(self, folder: Path | None = None, done: int = 0) -> None:
        self._files = [] if folder is None else [folder / f"own-{i}.npz" for i in range(2)]
        self._number, self._arrays, self._turn = -1, dict[str, np.ndarray](), 0
        for turn, file in enumerate(self._files):
            with contextlib.suppress(FileNotFoundError):
                found = unpacked(file.read_bytes())
                number = int(found.pop("number"))
                if self._number < number < done:
                    self._number, self._turn = number, 1 - turn
                    self._arrays = {name.removeprefix("own/"): a for name, a in found.items()}

    def keep(self, number: int, arrays: Arrays) -> None:
        """Keep the state after a step."""
        if arrays:
            named = {f"own/{name}": a for name, a in arrays.items()}
            write_whole(self._files[self._turn], packed({"number": np.int64(number), **named}))
            self._turn = 1 - self._turn

    def after(self, number: int) -> Arrays:
        """Return the state that was read, if it is that after a step; nothing for any other."""
        return self._arrays if number == self._number else {}
