"""The manifest's description of a method: its program, weights, results and state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.arrays import as_array
from paddle_lite_py.custom.kernel import kernels
from paddle_lite_py.eager.tensor import Tensor, wrap
from paddle_lite_py.ir import serialize
from paddle_lite_py.tracing.effects import Argument
from paddle_lite_py.tracing.trace import Traced
from paddle_lite_py.tracing.traced_scalars import PythonNumber


def describe(traced: Traced, position: Callable[[Tensor], int], name: str) -> dict[str, Any]:
    """Return the manifest's description of a method: program, weights, results and state.

    Arguments:
        position: the place of a tensor in the manifest's list of weights.

    Raises:
        ValueError: if the method changes or returns something that a file cannot keep.
    """
    place = {id(h): i for i, h in enumerate(traced.captures)}
    state: list[Any] = []
    for effect in traced.effects:
        write = effect.write
        if write.key == "_payload" and effect.structure is nested.LEAF and isinstance(write.owner, Argument):
            state.append({"argument": write.owner.position})
            continue
        state.append(place[id(write.owner)])
    if traced.providers or traced.schedules:
        raise ValueError(f"jit.save of `{name}`: it holds an optimizer step; save the layer instead")
    used = kernels(traced.program)
    return ({"kernels": used} if used else {}) | {
        "program": serialize.to_json(traced.program),
        "weights": [position(h) for h in traced.captures],
        "n_args": traced.n_args,
        "result": structure_to_json(traced.structure, name, place, position),
        "n_results": traced.n_results,
        "numbers": [i for i, is_number in enumerate(_numbers(traced.structure)) if is_number],
        "state": state,
        "checks": [] if traced.checks is None else traced.checks.texts(),
        "constraints": list(traced.constraints),
        "room": None if traced.loop_buffer is None else traced.loop_buffer.capacity.size,
    }


def structure_to_json(structure: Any, name: str, place: dict[int, int], position: Callable[[Tensor], int]) -> Any:
    """Return a structure of results as JSON-ready data.

    Arguments:
        place: of a captured tensor among those of the method, by id.
        position: the place of any tensor in the manifest's list of weights.
    """
    if structure is nested.LEAF:
        return "*"
    if isinstance(structure, nested.Static):
        if structure.value is None or isinstance(structure.value, bool | int | float | str):
            return {"py": structure.value}
        if isinstance(structure.value, Argument):
            return {"argument": structure.value.position}
        if id(structure.value) in place:
            return {"weight": place[id(structure.value)]}
        if isinstance(structure.value, Tensor | np.ndarray | jax.Array):
            held = structure.value
            return {"constant": position(held if isinstance(held, Tensor) else wrap(as_array(held)))}
        raise ValueError(
            f"jit.save of `{name}`: it returns a {type(structure.value).__name__}, which a file cannot hold"
        )
    if not issubclass(structure.kind, dict | tuple | list) and structure.kind is not PythonNumber:
        told = getattr(structure.kind, "in_words", f"a {structure.kind.__name__}; return a dict, tuple or list instead")
        raise ValueError(f"jit.save of `{name}`: it returns {told}")
    children = [structure_to_json(c, name, place, position) for c in structure.children]
    if structure.kind is PythonNumber:
        return children[0]
    if issubclass(structure.kind, dict):
        return {"dict": [list(structure.keys), children]}
    return {"list" if issubclass(structure.kind, list) else "tuple": children}


def structure_from_json(data: Any, handles: list[Tensor], weights: list[Tensor]) -> Any:
    """Return the structure again, with the tensors of the method and all that were saved."""
    if data == "*":
        return nested.LEAF
    ((kind, value),) = data.items()
    if kind in ("py", "argument"):
        return nested.Static(value if kind == "py" else Argument(value))
    if kind in ("weight", "constant"):
        return nested.Static((handles if kind == "weight" else weights)[value])
    keys, items = (tuple(value[0]), value[1]) if kind == "dict" else (None, value)
    children = tuple([structure_from_json(v, handles, weights) for v in items])
    return nested.Nest({"list": list, "tuple": tuple, "dict": dict}[kind], keys, children)


def _numbers(structure: Any, is_number: bool = False) -> Iterator[bool]:
    """Of each leaf, whether it is a number of Python."""
    if structure is nested.LEAF:
        yield is_number
    for child in structure.children if isinstance(structure, nested.Nest) else ():
        yield from _numbers(child, structure.kind is PythonNumber)
