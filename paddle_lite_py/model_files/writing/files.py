"""The files of a model of the reference: `name.json` and `name.pdiparams`, for each method."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...eager.random import default_generator
from ...eager.tensor import Tensor
from ...framework.io import replace_file
from ...tracing.trace import Traced
from ..graph import ModelFileError
from ..weights import record
from .pir_text import to_text
from .programs import to_graph


def write(prefix: str, methods: Mapping[str, Traced]) -> None:
    """Write traced methods; all are made before the first file is replaced, which the weights are.

    Raises:
        ModelFileError: naming the operators that have no form there.
        OSError: if the files cannot be written; those that were there stay whole.
    """
    made = {name: _contents(name, traced) for name, traced in methods.items()}
    Path(prefix).parent.mkdir(parents=True, exist_ok=True)
    for name, (text, weights) in made.items():
        base = prefix if name == "forward" else f"{prefix}.{name}"
        if weights:
            replace_file(Path(f"{base}.pdiparams"), weights)
        else:
            Path(f"{base}.pdiparams").unlink(missing_ok=True)
        replace_file(Path(f"{base}.json"), text)


def _contents(name: str, traced: Traced) -> tuple[bytes, bytes]:
    if traced.effects or traced.checks is not None:
        draws = any(e.write.owner is default_generator.state for e in traced.effects)
        changes = "draws random numbers" if draws else "changes state"
        what = changes if traced.effects else "holds asserts or raises on tensors"
        raise ModelFileError(f"method {name} {what}, which a model file of PaddlePaddle has no form of")
    graph, weights = to_graph(traced)
    return to_text(graph), b"".join(_bytes(weights[n]) for n in sorted(weights, key=str.encode))


def _bytes(weight: Tensor) -> bytes:
    return record(np.asarray(weight._payload))
