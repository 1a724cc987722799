"""Whether requests may be joined into one batch: every input and output has rows, and no row sees another one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .errors import ServingError
from .models import ServedModel
from .tensors import DTYPES, Arrays, TensorSpec


class Rows(NamedTuple):
    """The batch sizes of a model that are compiled, or why requests are not joined."""

    sizes: tuple[int, ...]
    objection: str


def sizes_up_to(most: int) -> list[int]:
    """Sizes that batches are padded to: powers of two, from 4 on what is half way to the next, and the largest.

    Examples:
        >>> sizes_up_to(16)
        [1, 2, 4, 6, 8, 12, 16]
    """
    powers = [2**k for k in range(most.bit_length())]
    halfway = [n + n // 2 for n in powers if n >= 4]
    return [*sorted(n for n in (*powers, *halfway) if n < most), most]


def rows_dimension(specs: Sequence[TensorSpec]) -> int | str | None:
    """Return the first dimension that all have in common, if it is free; None if there is none."""
    first = {s.dims[0] if s.dims else 0 for s in specs}
    if len(first) != 1:
        return None
    (dim,) = first
    return dim if isinstance(dim, str) or dim == -1 else None


def count(arrays: Arrays) -> int:
    """Rows of a request; 0 where its inputs have different numbers of them."""
    found = {a.shape[0] if a.ndim else 0 for a in arrays.values()}
    return found.pop() if len(found) == 1 else 0


def sample(model: ServedModel, rows: int, sizes: dict[str, int], seed: int = 0) -> Arrays:
    """Inputs of a number of rows; other unknown dimensions have the sizes that are given, 8 else."""
    if model.example is not None:
        return {k: np.take(a, np.arange(rows) + seed, axis=0, mode="wrap") for k, a in model.example.items()}
    rng, dim = np.random.default_rng(seed), rows_dimension(model.inputs)
    made = {}
    for s in model.inputs:
        shape = [_size(n, i, rows if n == dim else 0, sizes) for i, n in enumerate(s.dims)]
        dtype = DTYPES[s.datatype]
        made[s.name] = np.full(shape, b"", object) if dtype.hasobject else (rng.random(shape) * 2).astype(dtype)
    return made


def _size(dim: int | str, axis: int, rows: int, sizes: dict[str, int]) -> int:
    if isinstance(dim, int) and dim >= 0:
        return dim
    return rows if rows and (axis == 0 or dim != -1) else sizes.get(str(dim), 8)


def warm_up(model: ServedModel, most: int, sizes: dict[str, int]) -> Rows:
    """Run the model on each size of batch, so that it is compiled; whether it may be given rows of several requests.

    Arguments:
        most: rows of the largest batch; 1: requests are not joined.
        sizes: of unknown dimensions that are no rows.
    """
    if rows_dimension(model.inputs) is None:
        reason = _tried(model, sample(model, 1, sizes))
        return Rows((), reason or "its inputs have no first dimension in common that is free")
    ran = list(itertools.takewhile(lambda n: not _tried(model, sample(model, n, sizes)), sizes_up_to(most)))
    if not ran:
        return Rows((), _tried(model, sample(model, 1, sizes)))
    if rows_dimension([*model.inputs, *model.outputs]) is None:
        return Rows((), "its outputs do not have the rows of its inputs")
    objection = mixing(model, ran[-1], sizes) if most > 1 else ""
    return Rows(() if objection else tuple(ran), objection)


def _tried(model: ServedModel, arrays: Arrays) -> str:
    try:
        model.run(arrays)
    except Exception as e:
        shapes = ", ".join(f"{k}{list(a.shape)}" for k, a in arrays.items())
        return f"a trial with {shapes} failed: {e}"
    return ""


def mixing(model: ServedModel, rows: int, sizes: dict[str, int]) -> str:
    """Why a row's result depends on the others; empty if it does not."""
    whole = sample(model, rows, sizes, seed=1)
    other = sample(model, rows, sizes, seed=2)
    mixed = {k: np.concatenate([a[:1], other[k][1:]]) for k, a in whole.items()}
    try:
        one, two = model.run(whole), model.run(mixed)
    except ServingError as e:
        return str(e)
    for name, array in one.items():
        a, b = array[:1], two[name][:1]
        same = np.array_equal(a, b) if a.dtype == object else np.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True)
        if len(array) != rows or not same:
            return f"its output `{name}` for one row depends on the other rows of the batch"
    return ""
