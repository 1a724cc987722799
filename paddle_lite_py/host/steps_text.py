"""Steps as JSON, and back: what rules read of them, and nothing that rules know nothing of."""

from __future__ import annotations

import base64
import enum
import json
from collections.abc import Container
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np

from ..core.dtypes import numpy_name
from ..core.jax_compat.jaxprs import Primitive, is_jaxpr
from ..core.small import DTYPES
from .steps import HostStep, Steps

# Parameters that no rule reads: where results lie, and what the name of a step says already, or the dtype of its keys.
_UNREAD = frozenset(("sharding", "out_sharding", "update_jaxpr", "impl"))
# The classes that parameters may have, besides those of Python.
_TUPLES: dict[str, Any] = {
    c.__name__: c
    for c in (jax.lax.GatherDimensionNumbers, jax.lax.ScatterDimensionNumbers, jax.lax.ConvDimensionNumbers)
}
_CHOICES = {
    c.__name__: c for c in (jax.lax.FftType, jax.lax.GatherScatterMode, jax.lax.RoundingMethod, jax.lax.Precision)
}
MAX_CONSTANTS = 1 << 16  # bytes


class UntoldError(TypeError):
    """Steps have a parameter of an unknown class, or large constants."""


def has_large_constants(steps: Steps) -> bool:
    """True for steps that hold more than a file is worth, or than is held until it is written."""
    return sum(c.nbytes for c in steps.constants.values()) > MAX_CONSTANTS


def told(steps: Steps, dtypes: Container[np.dtype] = DTYPES) -> dict[str, Any]:
    """Return steps as JSON takes them.

    Arguments:
        dtypes: that those of loops within may have.

    Raises:
        UntoldError: they have something that is not written.
    """
    kinds: dict[tuple[Any, Any], int] = {}

    def kind(aval: Any) -> int:
        return kinds.setdefault((aval.shape, aval.dtype), len(kinds))

    forms: dict[str, int] = {}  # names with parameters: most steps share theirs with others
    each = []
    for s in steps.list:
        params = {k: _told(v, dtypes) for k, v in s.params.items() if k not in _UNREAD}
        form = forms.setdefault(json.dumps([s.name, params]), len(forms))
        each.append([form, s.reads, s.makes, [*map(kind, s.given)], [*map(kind, s.made)]])
    used = {*steps.inputs, *steps.outputs, *[n for s in steps.list for n in (*s.reads, *s.makes)]}
    constants = {n: steps.constants[n] for n in sorted(used) if n in steps.constants}
    if has_large_constants(steps):
        raise UntoldError("large constants")
    return {
        "types": {n: kind(steps.types[n]) for n in sorted(used)},
        "constants": {n: _told(c, dtypes) for n, c in constants.items()},
        "forms": [*map(json.loads, forms)], "steps": each, "inputs": steps.inputs, "outputs": steps.outputs,
        "size": len(steps.eqns), "kinds": [([*map(int, shape)], numpy_name(dtype)) for shape, dtype in kinds],
    }  # fmt: skip


def _told(value: Any, dtypes: Container[np.dtype]) -> Any:
    name = value.__class__.__name__
    if value is None or value.__class__ in (bool, int, float, str):
        return value
    if isinstance(value, np.integer):
        return int(value)
    if value.__class__ is tuple:
        return [_told(v, dtypes) for v in value]
    if _TUPLES.get(name) is value.__class__:
        return {"tuple": name, "of": [_told(v, dtypes) for v in value]}
    if _CHOICES.get(name) is value.__class__ and isinstance(value, enum.Enum):
        return {"choice": name, "of": value.name}
    if isinstance(value, np.dtype):
        return {"dtype": numpy_name(value)}
    if isinstance(value, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": numpy_name(value.dtype), "shape": value.shape, "of": data}
    if isinstance(value, Primitive):
        return {"primitive": value.name}
    if is_jaxpr(value):
        return {"steps": told(Steps(value, dtypes), dtypes)}
    raise UntoldError(f"{value!r:.60}")


def from_told(content: dict[str, Any]) -> Steps:
    """Return the steps that told() has written."""
    kinds = [jax.ShapeDtypeStruct(shape, np.dtype(dtype)) for shape, dtype in content["kinds"]]
    forms = [(name, {k: _from_told(v) for k, v in params.items()}) for name, params in content["forms"]]
    each = []
    for form, reads, makes, given, made in content["steps"]:
        of = tuple([kinds[i] for i in given]), tuple([kinds[i] for i in made])
        name, params = forms[form]
        each.append(HostStep(name, params, tuple(reads), tuple(makes), *of))
    out: Steps = object.__new__(Steps)
    out.list, out.eqns = each, range(content["size"])
    out.types = {int(n): kinds[i] for n, i in content["types"].items()}
    out.constants = {int(n): _from_told(c) for n, c in content["constants"].items()}
    out.inputs, out.outputs = tuple(content["inputs"]), tuple(content["outputs"])
    return out


def _from_told(value: Any) -> Any:
    if isinstance(value, list):
        return tuple([_from_told(v) for v in value])
    if not isinstance(value, dict):
        return value
    if "dtype" in value:
        return np.dtype(value["dtype"])
    if "tuple" in value:
        return _TUPLES[value["tuple"]](*map(_from_told, value["of"]))
    if "choice" in value:
        return _CHOICES[value["choice"]][value["of"]]
    if "array" in value:
        array = np.frombuffer(base64.b64decode(value["of"]), np.dtype(value["array"]))
        return array.reshape(value["shape"]).copy()
    if "primitive" in value:
        return SimpleNamespace(name=value["primitive"])
    return from_told(value["steps"])
