"""A cache on disk for programs made of model files: manifest and constants, under a hash of the file."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.config import kept_in, user_secret
from ..core.dtypes import default_dtype, numpy_name
from ..core.errors import user_frame
from ..core.jax_compat.versions import JAX
from ..core.package_stamp import package_stamp
from ..core.private_files import read_signed, write_signed
from .weights import read_one, record

Described = list[Any]  # name, shape, dtype


class KeptManifest:
    """The manifest of a program file, for weights of some shapes and dtypes.

    Arguments:
        file: of the program.

    Attributes:
        weights: what the file of the weights holds; None where no manifest is kept.
    """

    def __init__(self, file: Path) -> None:
        said = [file.stem, hashlib.sha256(file.read_bytes()).hexdigest(), package_stamp(), JAX, default_dtype().name]
        folder, name = kept_in(), hashlib.sha256(repr(said).encode()).hexdigest()[:32]
        self.path = None if folder is None else folder / f"{name}.manifest"
        content = None if self.path is None else read_signed(self.path, user_secret())
        self._kept: dict[str, Any] = {} if content is None else json.loads(zlib.decompress(content))
        self.weights: list[Described] | None = self._kept.get("weights")

    def made(self, arrays: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the manifest, with the line that has the model loaded now in its operators, and all weights by name.

        Arguments:
            arrays: the content of the file of the weights.
        """
        manifest = json.loads(self._kept["manifest"].replace(_at(self._kept["at"]), _at(str(user_frame()))))
        read = [(n, base64.b64decode(text)) for n, text in self._kept["constants"].items()]
        constants = {n: read_one(io.BytesIO(data), len(data)) for n, data in read}
        return manifest, dict(zip([n for n, _, _ in self.weights or ()], arrays, strict=True)) | constants

    def write(self, manifest: dict[str, Any], arrays: dict[str, Any], stored: dict[str, Any]) -> None:
        """Keep what was made: a manifest, and those arrays that no file of weights has.

        Arguments:
            stored: what the file of weights has, in its order.
        """
        constants = {n: np.asarray(a) for n, a in arrays.items() if n not in stored}
        if self.path is None or any(w["kind"] != "tensor" for w in manifest["weights"]):
            return
        kept: dict[str, Any] = {"manifest": json.dumps(manifest), "at": str(user_frame()), "weights": described(stored)}
        kept |= {"constants": {n: base64.b64encode(record(a)).decode() for n, a in constants.items()}}
        with contextlib.suppress(OSError):  # the disk is full
            write_signed(self.path, user_secret(), zlib.compress(json.dumps(kept).encode(), 1))


def described(arrays: dict[str, Any]) -> list[Described]:
    """Names, shapes and dtypes of weights."""
    return [[n, list(a.shape), numpy_name(a.dtype)] for n, a in arrays.items()]


def _at(line: str) -> str:
    """Return a line of the user's as operators have it in a manifest."""
    return f'"at": {json.dumps(line)}'
