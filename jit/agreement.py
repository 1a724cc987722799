"""Checks of a method's manifest against its program before anything is built from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.ir.block import Value
from paddle_lite_py.ir.program import Program

from .artifact import ArtifactError


def digest_of(program: Any) -> str:
    """Return the program's digest in the manifest, which its StableHLO was made of: SHA-256 of its JSON."""
    return hashlib.sha256(json.dumps(program, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def check_agreement(name: str, data: dict[str, Any], n_weights: int) -> None:
    """Check that the numbers in a method's description match its lists, and that positions are within these.

    Raises:
        ArtifactError: saying what does not fit.
    """
    if "digest" in data and data["digest"] != digest_of(data["program"]):
        raise ArtifactError(f"the program of method `{name}` is not the one that its StableHLO was made of")
    n_inputs, n_outputs = (len(data["program"]["block"][kind]) for kind in ("inputs", "outputs"))
    held, state, n_args, n_results = data["weights"], data["state"], data["n_args"], data["n_results"]
    changed = [i["argument"] if isinstance(i, dict) else i for i in state]
    limits = [n_args if isinstance(i, dict) else len(held) for i in state]
    told = bool(data["checks"]) + (data["room"] is not None)
    sound = (
        all(_within(i, n_weights) for i in held)
        and all(map(_within, changed, limits))
        and (_within(n_args, n_inputs + 1) and n_args + len(held) == n_inputs)
        and (
            _within(n_results, n_outputs + 1) and n_results + len(state) + told <= n_outputs
        )  # values of errors besides
        and _leaves(data["result"], n_args, len(held), n_weights) == n_results
    )
    if not sound:
        raise ArtifactError(f"method `{name}` and its program have different numbers of inputs or results")


def check_weights(name: str, program: Program, weights: Sequence[Tensor]) -> None:
    """Check that the weights have the shapes and dtypes that the program takes.

    Raises:
        ArtifactError: naming the weight that is not.
    """
    values: list[Value] = program.block.inputs[len(program.block.inputs) - len(weights) :]
    for value, weight in zip(values, weights, strict=True):
        found = weight._payload
        sizes = zip(value.shape, found.shape, strict=False)
        fits = len(value.shape) == len(found.shape) and all(n == m or not isinstance(n, int) for n, m in sizes)
        if not fits or value.dtype != found.dtype:
            raise ArtifactError(
                f"weight '{weight.name}' is {found.dtype}{list(found.shape)}, and method `{name}` takes "
                f"{value.dtype}{list(value.shape)}"
            )


def _within(position: Any, limit: int) -> bool:
    return type(position) is int and 0 <= position < limit


def _leaves(result: Any, n_args: int, n_held: int, n_weights: int) -> int:
    """Return the number of outputs that a structure of results holds; -1 where a position in it is none."""
    if result == "*":
        return 1
    ((kind, value),) = result.items()
    if kind == "py":
        return 0
    if kind in ("argument", "weight", "constant"):
        return 0 if _within(value, {"argument": n_args, "weight": n_held, "constant": n_weights}[kind]) else -1
    found = [_leaves(v, n_args, n_held, n_weights) for v in (value[1] if kind == "dict" else value)]
    return -1 if -1 in found else sum(found)
