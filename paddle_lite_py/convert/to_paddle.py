"""Model files of PaddlePaddle, compared with the program by reading them back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import jax
import numpy as np

from ..jit import load, save
from .source import SavedProgram, compare


def to_paddle(source: SavedProgram, output: str, sizes: Mapping[str, int] | None = None) -> str:
    """Write a program as output.json and output.pdiparams, and see that what is read back gives what the program gives.

    Arguments:
        sizes: of unknown dimensions, for the comparison.

    Returns:
        A line that says what was written.

    Raises:
        ArtifactError: naming the operators and their lines that have no form there.
        ConvertError: if what is read back gives something else.
    """
    prefix = output.removesuffix(".json")
    save(source.layer, prefix, format="paddle")
    samples = source.samples(sizes or {})
    found = [np.asarray(t) for t in jax.tree.leaves(load(prefix)._forward[0]._run(samples))]
    worst = compare(found, source.results(samples), f"what is read back of {prefix}.json")
    count = sum(p.stat().st_size for p in (Path(f"{prefix}.json"), Path(f"{prefix}.pdiparams")) if p.exists())
    return f"{prefix}.json: {count:,} bytes with its weights, off by {worst:.1e} when read back"
