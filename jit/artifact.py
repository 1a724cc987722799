"""Files of a saved program: a JSON manifest with the program, weights as safetensors, and StableHLO for other runtimes.

The manifest is the commit point. Data files carry a digest in their names and are written first; the manifest is then
replaced in one step, and only afterwards are files that it no longer names removed. So a save that fails or is killed
half-way leaves the old artefact whole.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from paddle_lite_py.core.arrays import stored_arrays
from paddle_lite_py.framework.io import replace_file

FORMAT = "paddle_lite_py.artifact"
VERSION = 2
MAX_MANIFEST = 1 << 28


class ArtifactError(ValueError):
    """Error: saved files are missing, damaged, from another source or of a newer version.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> try:
        ...     paddle.jit.load("nothing/here")
        ... except (paddle.jit.ArtifactError, OSError) as error:
        ...     print("cannot be loaded")
        cannot be loaded
    """


def write(prefix: str, manifest: dict[str, Any], blobs: dict[str, bytes]) -> None:
    """Write a manifest and its data files; `blobs` maps a suffix to content.

    Raises:
        OSError: if the folder cannot be written, or another program's file has that name; what was there stays whole.
    """
    path = Path(f"{prefix}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    old = _old_data_files(path)
    files = {}
    for suffix, content in blobs.items():
        digest = hashlib.sha256(content).hexdigest()
        name = f"{path.name.removesuffix('.json')}.{digest[:12]}.{suffix}"
        files[suffix] = {"name": name, "size": len(content), "sha256": digest}
        if not (path.parent / name).exists():
            replace_file(path.parent / name, content)
    head = {"format": FORMAT, "version": VERSION, "files": files}
    replace_file(path, json.dumps(head | manifest, indent=1).encode())
    for name in old - {f["name"] for f in files.values()}:
        (path.parent / name).unlink(missing_ok=True)


def _old_data_files(path: Path) -> set[str]:
    """The data files of the artefact that stands where one is to be written: names that only this package gives."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return set()
    if not isinstance(found, dict) or (found.get("format") != FORMAT and "base_code" not in found):
        raise FileExistsError(f"{path} is there, and no saved program: save under another name, or remove it")
    files = found.get("files")
    names = [f.get("name") for f in files.values() if isinstance(f, dict)] if isinstance(files, dict) else []
    own = re.compile(re.escape(path.name.removesuffix(".json")) + r"\.[0-9a-f]{12}\.[\w.]+")
    return {n for n in names if isinstance(n, str) and own.fullmatch(n)}


# Reads the reference's files for whoever loads one: a module of the package.
FOREIGN = "paddle_lite_py.model_files.reading"
# Writers of programs in other formats than an artefact, by format: a module with write(prefix, methods).
FORMS = {"paddle": "paddle_lite_py.model_files.writing.files"}


def foreign_files() -> Any:
    """Return the reader of the reference's files: see model_files.reading."""
    return importlib.import_module(FOREIGN)


def check_format(name: str, samples: Any) -> None:
    """Raise for a name of a format that is not known, or that keeps no samples."""
    known = ("artifact", *FORMS)
    if name not in known:
        raise ValueError(f"jit.save: format is {name!r}; expected one of {', '.join(map(repr, known))}")
    if samples and name != "artifact":
        raise ValueError(f"jit.save: samples are kept in artefacts alone; leave them out with format={name!r}")


def write_as(form: str, prefix: str, methods: dict[str, Any]) -> None:
    """Write traced methods by their names in a form of FORMS, in the place of what has the prefix."""
    path = Path(f"{prefix}.json")
    old = _old_data_files(path)
    importlib.import_module(FORMS[form]).write(prefix, methods)
    for name in old:
        (path.parent / name).unlink(missing_ok=True)


WEIGHTS = "safetensors"  # the data file with the weights


def weights_of(blobs: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the weights by name among what read() gives."""
    found = blobs[WEIGHTS]
    return found if isinstance(found, dict) else stored_arrays(found)


def read(prefix: str, weights: str | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Manifest and data files of an artefact, checked; of a model file of the reference, the weights are arrays.

    Arguments:
        weights: the file of the weights of a model file, where that has another name.

    Raises:
        ArtifactError: saying which file is missing, damaged, foreign or too new.
    """
    path = Path(f"{prefix}.json")
    if (foreign := program_file(prefix)) is not None:
        return foreign_files().read(foreign, weights)
    if not path.is_file():
        raise ArtifactError(f"no saved program at '{prefix}': {path} is not there")
    try:
        if path.stat().st_size > MAX_MANIFEST:
            raise ArtifactError(f"{path} is larger than any manifest ({path.stat().st_size} bytes)")
        manifest = json.loads(path.read_bytes())
    except OSError as e:
        raise ArtifactError(f"{path} cannot be read: {e.strerror}") from None
    except (ValueError, RecursionError) as e:
        raise e if isinstance(e, ArtifactError) else ArtifactError(f"{path} is damaged: {e}") from None
    if isinstance(manifest, dict) and "base_code" in manifest:
        return foreign_files().read(path, weights)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ArtifactError(f"{path} is not a program saved by paddle.jit.save")
    version = manifest.get("version")
    if not isinstance(version, int) or (version not in UPGRADES and version != VERSION):
        raise ArtifactError(
            f"{path} has format version {version!r}; this package reads {min(UPGRADES)} to {VERSION}: update it"
        )
    try:
        blobs = {suffix: _blob(path, f) for suffix, f in manifest["files"].items()}
    except OSError as e:
        raise ArtifactError(f"{e.filename} cannot be read: {e.strerror}") from None
    except (KeyError, TypeError, AttributeError) as e:
        raise ArtifactError(f"{path} is damaged: {type(e).__name__}: {e}") from None
    return UPGRADES.get(version, lambda *found: found)(manifest, blobs)


def is_foreign(prefix: str) -> bool:
    """Whether a model file of the reference is there, and no program of jit.save."""
    return program_file(prefix) is not None


def program_file(prefix: str) -> Path | None:
    """Return the model file of the reference that is there; the beginning of one of JSON tells it."""
    path = Path(f"{prefix}.json")
    if not path.is_file():
        return next((p for p in _older(prefix) if p.is_file()), None)
    with path.open("rb") as file:
        return path if is_foreign_program(file.read(200)) else None


def is_foreign_program(start: bytes) -> bool:
    """Whether a file that begins so is a program of the reference: JSON of its kind, or a message with a block."""
    return b'"base_code"' in start if start[:1] == b"{" else start[:1] == b"\n"


def _older(prefix: str) -> list[Path]:
    """Where a program of the reference's earlier generations may be."""
    return [Path(f"{prefix}.pdmodel"), Path(prefix) / "__model__", Path(prefix)]


def _from_1(manifest: dict[str, Any], blobs: dict[str, bytes]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Version 1 held one method, in eval mode."""
    try:
        method = manifest["method"]
        weights = [w | {"kind": "tensor"} for w in method["weights"]]
        data = method | {"weights": list(range(len(weights)))}
        blobs = {("forward.eval.stablehlo" if k == "stablehlo" else k): v for k, v in blobs.items()}
    except (KeyError, TypeError) as e:
        raise ArtifactError(f"the manifest of version 1 is damaged: {type(e).__name__}: {e}") from None
    head = {"name": manifest.get("name", ""), "saved_in": "eval", "weights": weights, "constraints": []}
    return head | {"methods": {"forward": {"eval": data}}}, blobs


UPGRADES = {1: _from_1}


def _blob(manifest: Path, entry: dict[str, Any]) -> bytes:
    name = entry["name"]
    if not isinstance(name, str) or os.path.basename(name) != name or not name or "\0" in name:
        raise ArtifactError(f"the manifest names a file outside of its folder: {name!r}")
    path = manifest.with_name(name)
    if not path.is_file():
        raise ArtifactError(f"{path} is missing; copy it together with the manifest")
    if path.is_symlink() and path.resolve().parent not in (manifest.resolve().parent, manifest.parent.resolve()):
        raise ArtifactError(f"{path} is a link to a file outside of the manifest's folder")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size != entry["size"]:
            raise ArtifactError(
                f"{path} has {size} bytes, the manifest says {entry['size']}: it is truncated or foreign"
            )
        content = file.read(size)
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise ArtifactError(f"{path} is damaged: its content does not match the manifest")
    return content
