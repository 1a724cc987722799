"""Archives whose pictures are read one by one, from any thread or process."""

from __future__ import annotations

import io
import tarfile
import threading
from typing import Any

import numpy as np

from ...core.archives import members
from ..image import pillow


class Archive:
    """A tar file, open in each process that reads from it.

    Arguments:
        who: the data set, for messages.
        path: of the file.

    Raises:
        ValueError: if it is no whole tar file.
    """

    def __init__(self, who: str, path: str) -> None:
        self.who, self.path = who, path
        self._open()

    def _open(self) -> None:
        self._lock = threading.Lock()  # reading moves the place in the file
        self._tar: tarfile.TarFile | None = None
        try:
            self._tar = tarfile.open(self.path)  # noqa: SIM115  (read picture by picture)
            self.members = {m.name: m for m in members(self._tar, self.path)}
        except (tarfile.TarError, EOFError) as e:
            raise ValueError(f"{self.who}: {self.path} is no whole tar file: {e}") from e

    def __del__(self) -> None:
        if self._tar is not None:
            self._tar.close()

    def read(self, name: str) -> bytes:
        """Return the bytes of a file in it.

        Raises:
            ValueError: if it is not there.
        """
        if name not in self.members:
            raise ValueError(f"{self.who}: {self.path} holds no {name}")
        with self._lock:
            tar: Any = self._tar
            return tar.extractfile(self.members[name]).read()

    def picture(self, name: str) -> np.ndarray:
        """Return a picture in it, as an array; an error names the file."""
        try:
            with pillow().open(io.BytesIO(self.read(name))) as found:
                return np.array(found)
        except Exception as e:
            e.add_note(f"while reading {name} in {self.path}")
            raise

    def __getstate__(self) -> tuple[str, str]:
        return self.who, self.path

    def __setstate__(self, state: tuple[str, str]) -> None:
        self.who, self.path = state
        self._open()
