"""Model files of the reference as what jit.save writes: a manifest and weights."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import flax as safetensors

from ..core.arrays import as_array
from ..eager.tensor import Parameter, Tensor, wrap
from ..ir.program import Program
from ..jit.artifact import is_foreign
from ..jit.save_load import PLATFORMS, ArtifactWriter
from ..passes.running import as_traced
from ..static.saving import bound
from .building import build
from .graph import ModelFileError, ModelGraph
from .pir import read_pir
from .program_desc import read_program
from .weights import read_weights


def read(program_file: Path, weights_file: str | None = None) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest and the data files that jit.save would write for a model file.

    Arguments:
        weights_file: that of the program's name by default.

    Raises:
        ModelFileError: a file is missing or damaged, or holds what cannot be run here.
    """
    writer, known = ArtifactWriter(None, (), PLATFORMS), dict[str, Tensor]()
    for name, file in _methods(program_file).items():
        beside = _beside(file) if weights_file is None else Path(weights_file)
        writer.methods[name] = {"eval": writer.variant(as_traced(_program(file, beside, known)), name)}
        writer.methods[name]["eval"].data["for_each_size"] = True
    arrays = {n: h._data for n, h in writer.weights.values() if isinstance(h, Tensor)}
    head = {"name": program_file.stem, "saved_in": "eval"}
    return head | writer.manifest(), {"safetensors": safetensors.save(arrays)}


def _methods(file: Path) -> dict[str, Path]:
    """The files of a layer with several methods, `name.json` and `name.method.json`, by method."""
    if file.suffix != ".json":
        return {"forward": file}
    found = {p.name[len(file.stem) + 1 : -5]: p for p in sorted(file.parent.glob(f"{glob.escape(file.stem)}.*.json"))}
    return {"forward": file} | {n: p for n, p in found.items() if n.isidentifier() and is_foreign(str(p)[:-5])}


def _program(file: Path, weights_file: Path, known: dict[str, Tensor]) -> Program:
    """The program of a file; weights of a name that is known are those."""
    graph = read_pir(file) if file.suffix == ".json" else read_program(file)
    for name, weight in _weights(graph, weights_file).items():
        known.setdefault(name, weight)
    found = bound(*build(graph, known))
    if len(set(graph.fetch_names)) == len(found.output_names):
        found.output_names = graph.fetch_names
    return found


def _beside(program: Path) -> Path:
    """The file of weights that belongs to a program."""
    return program.with_name("__params__") if program.name == "__model__" else program.with_suffix(".pdiparams")


def _arrays(names: list[str], path: Path) -> list[np.ndarray]:
    """What a file holds; where there is none, what a file for each name holds, as earlier generations wrote them."""
    files = [path] if path.is_file() else [path.parent / Path(name).name for name in names]
    if missing := [str(f) for f in files if not f.is_file()]:
        one = f", and so is {missing[0]}" if len(missing) < len(names) else ""
        raise ModelFileError(f"{path} is missing{one}: the program has {len(names)} weights")
    return [array for file in (files if names else []) for array in read_weights(file)]


def _weights(graph: ModelGraph, path: Path) -> dict[str, Tensor]:
    """Parameters and buffers by name: in the file they stand in the order of their names' bytes."""
    stored = sorted([w for w in graph.weights if w.is_stored], key=lambda w: w.name.encode())
    arrays = _arrays([w.name for w in stored], path)
    if len(arrays) != len(stored):
        raise ModelFileError(f"{path} has {len(arrays)} tensors, and the program {len(stored)} weights")
    out: dict[str, Tensor] = {}
    for weight, array in zip(stored, arrays, strict=True):
        if tuple(array.shape) != weight.shape and array.size != 1:
            raise ModelFileError(
                f"{path}: weight '{weight.name}' is {list(array.shape)}, and {list(weight.shape)} in the program"
            )
        payload = as_array(array.copy())
        made: Tensor = (
            Parameter(wrap(payload), name=weight.name, trainable=True) if weight.is_trainable else wrap(payload)
        )
        made.name = weight.name
        out[weight.name] = made
    for weight in graph.weights:
        if weight.name not in out:  # such as the state of a dropout that never runs
            out[weight.name] = Tensor(0, dtype=weight.dtype)
    return out
