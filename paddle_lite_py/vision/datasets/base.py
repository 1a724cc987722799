"""The base classes of data sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...io import Dataset
from ...utils.download import get_path_from_url
from ..image import BACKENDS, get_image_backend, pillow

Transform = Callable[[Any], Any] | None


def one_of(who: str, what: str, value: Any, known: Any) -> Any:
    """Return the value, or an error that names the known ones."""
    if value not in known:
        raise ValueError(f"{who}: {what} is {value!r}; expected one of {', '.join(map(repr, known))}")
    return value


def find(who: str, given: Any, url: str, md5: str, download: bool, folder: str) -> str:
    """Return the file that the user gave, or the published one, fetched when it is not there yet."""
    if given is not None:
        return str(given)
    if not download:
        raise ValueError(f"{who}: give the files of the data set, or download=True")
    from pathlib import Path

    from ...utils.download import home

    return get_path_from_url(url, str(Path(home()).parent / "dataset" / folder), md5, decompress=False)


class PictureDataset(Dataset):
    """Base of the data sets whose pictures are arrays [h, w] or [h, w, c]."""

    def __init__(self, mode: str, modes: tuple[str, ...], transform: Transform, backend: str | None) -> None:
        who = type(self).__name__
        self.mode = one_of(who, "mode", mode.lower(), modes)
        self.transform = transform
        self.backend = one_of(who, "backend", backend or get_image_backend(), BACKENDS)

    def _shown(self, picture: np.ndarray) -> Any:
        """Return a picture in the form of the backend, transformed."""
        image = pillow().fromarray(picture) if self.backend == "pil" else picture
        return image if self.transform is None else self.transform(image)
