"""What PaddlePaddle makes of arguments that are out of the ordinary, for each op of the tables: NaN and infinities, a
dimension of size 0, no dimension. Run in the same way here and in PaddlePaddle; see tests/golden/make.py.
"""

from __future__ import annotations

import functools
import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gradient_cases import _function, _leaves, cases
from library_cases import rounded

KEPT = 12  # elements of a result
RAISES = "raises"


def _with_nan(value: np.ndarray) -> np.ndarray:
    """NaN and both infinities in the place of the first elements, as far as there are that many."""
    if value.dtype.kind not in "fc":
        return value
    flat = value.copy().reshape(-1)
    flat[: min(3, flat.size)] = [np.nan, np.inf, -np.inf][: min(3, flat.size)]
    return flat.reshape(value.shape)


KINDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "special": _with_nan,
    "empty": lambda value: value[:0] if value.ndim else value,
    "hollow": lambda value: value[..., :0] if value.ndim else value,
    "scalar": lambda value: value.reshape(-1)[0] if value.size else value,
}


# Here PaddlePaddle shows memory that nobody wrote.
GARBAGE = {
    **dict.fromkeys(("amax", "amin", "argmax", "argmin"), ("empty", "hollow")),
    **dict.fromkeys(("normalize", "label_smooth"), ("scalar",)),
}


@functools.cache
def keys() -> list[str]:
    """One row for each op, the first, and each kind of argument."""
    first: dict[str, str] = {}
    for key, row in cases().items():
        first.setdefault(row.name, key)
    return [f"{key} {kind}" for name, key in first.items() for kind in KINDS if kind not in GARBAGE.get(name, ())]


def _map(change: Callable[[np.ndarray], np.ndarray], value: Any) -> Any:
    return [_map(change, v) for v in value] if isinstance(value, list) else np.asarray(change(value))


def _tensors(paddle: Any, value: Any) -> Any:
    return [_tensors(paddle, v) for v in value] if isinstance(value, list) else paddle.to_tensor(value)


def outcome(paddle: Any, case: str) -> Any:
    """The results of a case as dtype, shape and elements, or that it raises an error."""
    key, _, kind = case.rpartition(" ")
    row = cases()[key]
    try:
        args = _tensors(paddle, [_map(KINDS[kind], v) for v in row.sample()])
        call = _function(paddle, key, row.name)
        made = call(**dict(zip(row.names, args, strict=True)), **row.attrs) if row.names else call(*args, **row.attrs)
        return [_figures(o) for o in _leaves(made) if isinstance(o, paddle.Tensor)]
    except Exception as e:
        return RAISES if str(e).strip() else type(e).__name__


def _figures(tensor: Any) -> list[Any]:
    array = np.asarray(tensor.numpy())
    return [str(array.dtype), list(array.shape), [rounded(v) for v in array.reshape(-1)[:KEPT].tolist()]]


def record(paddle: Any) -> dict[str, Any]:
    """All outcomes, each found in a process of its own, since some end it."""
    context = multiprocessing.get_context("fork")
    found = {}
    for case in keys():
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=lambda c=case, t=there: t.send(outcome(paddle, c)))
        child.start()
        there.close()
        child.join(30)
        child.kill()
        try:
            found[case] = here.recv() if here.poll() else "crashes"
        except EOFError:
            found[case] = "crashes"
    return found


@functools.cache
def golden() -> dict[str, Any]:
    """What PaddlePaddle does."""
    return json.loads((Path(__file__).parents[1] / "golden" / "special.json").read_text())
