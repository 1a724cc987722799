"""Which models there are: named on the command line or found in a folder, with their versions and files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .errors import ServingError
from .models import ServedModel, main_file

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,127}")


class ModelSource(NamedTuple):
    """One version of a model: its path, or the model itself."""

    name: str
    version: str
    path: str | ServedModel

    def stamp(self) -> tuple[int, int]:
        """Changes when the model is written anew: a manifest is moved into its place last."""
        if isinstance(self.path, ServedModel):
            return 0, 0
        found = main_file(self.path).stat()
        return found.st_mtime_ns, found.st_ino


class Repository:
    """Names of models, and where they lie. A name is looked up among those that were found, never made into a path.

    Arguments:
        models: paths, as PATH or NAME=PATH, or models by name.
        folder: its subfolders and files are models, which may come and go.

    Examples:
        >>> sorted(Repository(["a=models/net", "models/other.onnx"]).named())
        ['a', 'other']
    """

    def __init__(self, models: Iterable[str] | dict[str, str | ServedModel] = (), folder: str | None = None) -> None:
        given = models.items() if isinstance(models, dict) else [split_name(m) for m in models]
        self._named: dict[str, str | ServedModel] = {}
        for name, path in given:
            if not NAME.fullmatch(name):
                raise ServingError(
                    "invalid", f"model name {name!r}: letters, digits, '_', '-' and '.' only; name it: NAME=PATH"
                )
            if name in self._named:
                raise ServingError("invalid", f"two models are called {name}; name one of them otherwise: NAME={path}")
            self._named[name] = path
        self._folder = Path(folder) if folder else None
        if self._folder is not None and not self._folder.is_dir():
            raise ServingError("invalid", f"the repository {folder} is no folder")

    def named(self) -> dict[str, str | ServedModel]:
        """Path of each model by name, as it is now."""
        return {**self._found(), **self._named}

    def is_given(self, name: str) -> bool:
        """Whether a model was named, and not found in the folder."""
        return name in self._named

    def _found(self) -> dict[str, str | ServedModel]:
        if self._folder is None:
            return {}
        entries = sorted(e for e in self._folder.iterdir() if not e.name.startswith("."))
        files = {e.stem: str(e) for e in entries if e.suffix in (".json", ".onnx") and e.is_file()}
        named = files | {e.name: str(e) for e in entries if e.is_dir()}
        return {name: path for name, path in named.items() if NAME.fullmatch(name)}

    def versions(self, name: str) -> list[ModelSource]:
        """Return the versions of a model, the newest last.

        Raises:
            ServingError: if there is no such model.
        """
        path = self.named().get(name)
        if path is None:
            raise ServingError(
                "unknown", f"there is no model `{name}`; there are {', '.join(sorted(self.named())) or 'none'}"
            )
        if isinstance(path, str) and Path(path).is_dir():
            numbered = [d for d in Path(path).iterdir() if d.name.isdecimal() and d.is_dir()]
            if numbered:
                return [ModelSource(name, d.name, str(d)) for d in sorted(numbered, key=lambda d: int(d.name))]
        return [ModelSource(name, "1", path)]


def split_name(text: str) -> tuple[str, str]:
    """Split NAME=PATH; without a name, it is that of the file."""
    name, equals, path = text.partition("=")
    if equals and NAME.fullmatch(name):
        return name, path
    return Path(text).name.removesuffix(".json").removesuffix(".onnx").removesuffix(".py"), text
