"""Files with the weights of a model: safetensors, one or several with an index."""

from __future__ import annotations

import json
from pathlib import Path, PureWindowsPath
from typing import Any

import ml_dtypes  # noqa: F401  (safetensors finds bfloat16 there)
import numpy as np
from safetensors import SafetensorError, safe_open

INDEX, SINGLE = "model.safetensors.index.json", "model.safetensors"


class WeightFiles:
    """The weights in the safetensors files of a folder, by name.

    Raises:
        ValueError: An index is invalid or names a file outside the folder, or a file is invalid.
        OSError: A file is missing.
    """

    def __init__(self, folder: Path) -> None:
        if (folder / INDEX).is_file():
            places = _read_index(folder / INDEX)
            opened = {f: _opened(folder / f) for f in sorted(set(places.values()))}
            _check_names(folder / INDEX, places, opened)
            self._places = {name: opened[f] for name, f in places.items()}
        else:
            single = _opened(folder / SINGLE)
            self._places = dict.fromkeys(single.keys(), single)
        self.names = list(self._places)

    def shape(self, name: str) -> list[int]:
        """Return the shape of a weight, without reading it."""
        return list(self._places[name].get_slice(name).get_shape())

    def read(self, name: str) -> np.ndarray:
        """Return a weight."""
        return self._places[name].get_tensor(name)


def _read_index(path: Path) -> dict[str, str]:
    """Return the file of each weight; files are in the folder of the index."""
    try:
        places = json.loads(path.read_text())["weight_map"]
        items = places.items()
    except (ValueError, LookupError, TypeError, AttributeError) as e:
        raise ValueError(f"{path} is not an index of safetensors files: {type(e).__name__}: {e}") from None
    if wrong := [f"{name}: {file!r}" for name, file in items if not _is_file_name(file)]:
        raise ValueError(f"{path} names files that are not in its folder:\n  " + "\n  ".join(wrong))
    return places


def _is_file_name(x: Any) -> bool:
    # The rules of Windows find more separators than those of other systems.
    return isinstance(x, str) and x not in ("", "..") and PureWindowsPath(x).name == x


def _opened(path: Path) -> Any:
    try:
        return safe_open(path, "numpy")
    except SafetensorError as e:
        raise ValueError(f"{path} is not a safetensors file: {e}") from None


def _check_names(index: Path, places: dict[str, str], opened: dict[str, Any]) -> None:
    there = {name: set(file.keys()) for name, file in opened.items()}
    if missing := [f"{n}: {f}" for n, f in places.items() if n not in there[f]]:
        raise ValueError(f"{index} names weights that are not in their files:\n  " + "\n  ".join(missing))
