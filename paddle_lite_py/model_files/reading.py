"""Model files of the reference as what jit.save writes: a manifest and weights."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.arrays import from_host
from ..eager.tensor import Parameter, Tensor, wrap
from ..framework.io import replace_file
from ..framework.unpickle import read as read_data
from ..ir.program import Program
from ..jit.artifact import WEIGHTS, is_foreign, program_file
from ..jit.save_load import PLATFORMS, ArtifactWriter
from ..static.program import Program as StaticProgram
from ..static.saving import bound
from ..tracing.as_traced import as_traced
from .graph import ModelFileError, ModelGraph, ModelWeight, naming, parsed
from .kept import KeptManifest, described
from .pir import parse_pir, read_pir
from .program_desc import parse_program, read_program
from .weights import read_weights, record


def read(program_file: Path, weights_file: str | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the manifest that jit.save would write for a model file, and the weights as arrays.

    Arguments:
        weights_file: that of the program's name by default.

    Raises:
        ModelFileError: a file is missing or damaged, or holds what cannot be run here.
    """
    files, chosen = _methods(program_file), None if weights_file is None else Path(weights_file)
    if len(files) > 1:
        return _made(files, chosen)[:2]
    kept, beside = KeptManifest(program_file), chosen or _beside(program_file)
    if kept.weights is not None:
        arrays = _arrays(names := [n for n, _, _ in kept.weights], beside)
        if len(arrays) == len(names) and described(dict(zip(names, arrays, strict=True))) == kept.weights:
            manifest, weights = kept.made(list(map(from_host, arrays)))
            return manifest, {WEIGHTS: weights}
    manifest, blobs, stored = _made(files, chosen)
    kept.write(manifest, blobs[WEIGHTS], stored)
    return manifest, blobs


def _made(files: dict[str, Path], weights_file: Path | None) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the same from the programs of methods, and the weights as they stand in the files."""
    writer, known, stored = ArtifactWriter(None, (), PLATFORMS), dict[str, Tensor](), list[str]()
    for name, file in files.items():
        graph = _graph(file)
        stored += [w.name for w in _stored(graph)]
        program, assumed = _program(graph, file, weights_file or _beside(file), known)
        writer.methods[name] = {"eval": writer.variant(as_traced(program), name)}
        writer.methods[name]["eval"].data.update(for_each_size=True, assumed=assumed)
    arrays = {n: h._payload for n, h in writer.weights.values() if isinstance(h, Tensor)}
    head = {"name": files["forward"].stem, "saved_in": "eval"}
    return head | writer.manifest(), {WEIGHTS: arrays}, {n: known[n]._payload for n in stored}


def read_training(program: StaticProgram, data: bytes) -> StaticProgram:
    """Let an empty static program be the one that bytes are, of either generation: static.load() gives it its state.

    Raises:
        ModelFileError: they are damaged, or hold what cannot be run here.
    """
    from .building import build_training

    build_training(parsed(data, "the program", parse_pir if data[:1] == b"{" else parse_program), program)
    return program


def read_state(path: str) -> dict[str, np.ndarray] | np.ndarray:
    """Return the weights of a model file by name, by that of the layer's state_dict() where the files say it.

    Arguments:
        path: of the weights, or the prefix of the files; one tensor alone needs no program for its name.

    Raises:
        ModelFileError: a file is missing or damaged.
    """
    given = Path(path)
    prefix = given.with_suffix("") if given.suffix == ".pdiparams" else given
    program = program_file(str(prefix))
    if program is None:
        (only, *others) = list(read_weights(given))
        if others:
            raise ModelFileError(
                f"{path} holds {1 + len(others)} tensors without names: these are in the program, {prefix}.json or "
                f"{prefix}.pdmodel, which is not there"
            )
        return only
    beside = given if given.suffix == ".pdiparams" else _beside(program)
    names, stored = _structured(beside), _stored(_graph(program))
    arrays = _arrays([w.name for w in stored], beside)
    return {names.get(w.name, w.name): a for w, a in zip(stored, arrays, strict=True)}


def read_variables(folder: str, names: Sequence[str], file: str | None) -> dict[str, np.ndarray]:
    """Variables from a file each, or all from one, where they stand in the order of their names.

    Raises:
        FileNotFoundError: a file is not there.
        ModelFileError: a file is damaged, or holds another number of variables.
    """
    in_order = sorted(names)
    if file is not None:
        arrays = list(read_weights(Path(folder, file)))
    else:
        arrays = [a for n in in_order for a in read_weights(within(folder, n))]
    if len(arrays) != len(in_order):
        raise ModelFileError(f"{Path(folder, file or '')} has {len(arrays)} variables; {len(in_order)} are expected")
    return dict(zip(in_order, arrays, strict=True))


def write_variables(folder: str, values: dict[str, np.ndarray], file: str | None) -> None:
    """Write variables as read_variables() reads them."""
    if file is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        return replace_file(Path(folder, file), b"".join(record(values[n]) for n in sorted(values)))
    for name, array in values.items():
        path = within(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, record(array))
    return None


def within(folder: str, name: str) -> Path:
    """Return the file of a name in a folder.

    Raises:
        ModelFileError: the name leads out of it.
    """
    path = Path(folder, name)
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise ModelFileError(f"variable '{name}' would be a file outside of the folder {folder}")
    return path


def _structured(weights_file: Path) -> dict[str, str]:
    """Return the names of the weights in the layer, which older versions of jit.save wrote next to them."""
    info = weights_file.with_name(f"{weights_file.name}.info")
    if not info.is_file():
        return {}
    with info.open("rb") as file:
        found = read_data(file)
    return {n: str(d["structured_name"]) for n, d in found.items() if "structured_name" in d}


def _methods(file: Path) -> dict[str, Path]:
    """Return the files of a layer with several methods, `name.json` and `name.method.json`, by method."""
    if file.suffix != ".json":
        return {"forward": file}
    found = {p.name[len(file.stem) + 1 : -5]: p for p in sorted(file.parent.glob(f"{glob.escape(file.stem)}.*.json"))}
    return {"forward": file} | {n: p for n, p in found.items() if n.isidentifier() and is_foreign(str(p)[:-5])}


def _program(graph: ModelGraph, file: Path, weights_file: Path, known: dict[str, Tensor]) -> tuple[Program, list[str]]:
    """Return the program of a file, and what its shapes assume of sizes; weights of a name that is known are those."""
    from .building import build  # the operators, which a program that is kept does without

    for name, weight in _weights(graph, weights_file).items():
        known.setdefault(name, weight)
    with naming(str(file)):
        made, *ends = build(graph, known)
        found = bound(made, *ends)
    if len(set(graph.fetch_names)) == len(found.output_names):
        found.output_names = graph.fetch_names
    return found, made.builder.unknown.constraints


def _graph(file: Path) -> ModelGraph:
    return read_pir(file) if file.suffix == ".json" else read_program(file)


def _stored(graph: ModelGraph) -> list[ModelWeight]:
    """Read the file of weights, ordered by the bytes of their names."""
    return sorted([w for w in graph.weights if w.is_stored], key=lambda w: w.name.encode())


def _beside(program: Path) -> Path:
    """Return the file of weights that belongs to a program."""
    return program.with_name("__params__") if program.name == "__model__" else program.with_suffix(".pdiparams")


def _arrays(names: list[str], path: Path) -> list[np.ndarray]:
    """Read the arrays of one file, or of one file for each name, as older versions wrote them."""
    files = [path] if path.is_file() else [path.parent / Path(name).name for name in names]
    if missing := [str(f) for f in files if not f.is_file()]:
        one = f", and so is {missing[0]}" if len(missing) < len(names) else ""
        raise ModelFileError(f"{path} is missing{one}: the program has {len(names)} weights")
    return [array for file in (files if names else []) for array in read_weights(file)]


def _weights(graph: ModelGraph, path: Path) -> dict[str, Tensor]:
    """Parameters and buffers by name."""
    stored = _stored(graph)
    arrays = _arrays([w.name for w in stored], path)
    if len(arrays) != len(stored):
        raise ModelFileError(f"{path} has {len(arrays)} tensors, and the program {len(stored)} weights")
    out: dict[str, Tensor] = {}
    for weight, array in zip(stored, arrays, strict=True):
        if tuple(array.shape) != weight.shape and array.size != 1:
            raise ModelFileError(
                f"{path}: weight '{weight.name}' is {list(array.shape)}, and {list(weight.shape)} in the program"
            )
        payload = from_host(array)
        made: Tensor = (
            Parameter(wrap(payload), name=weight.name, trainable=True) if weight.is_trainable else wrap(payload)
        )
        made.name = weight.name
        out[weight.name] = made
    for weight in graph.weights:
        if weight.name not in out:  # such as the state of a dropout that never runs
            out[weight.name] = Tensor(0, dtype=weight.dtype)
    return out
