"""A fingerprint of a traced program: the same in every process, regardless of where its source is.

A program that is lowered has such a name too, but lowering a large one takes as long as loading what it compiles to.
"""

from __future__ import annotations

import enum
import hashlib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..core.dtypes import numpy_name
from ..core.jax_compat import jaxprs, threefry
from ..core.jax_compat.equations import settings
from ..core.jax_compat.versions import warn_unknown
from ..core.memo import once

_ARRAYS = (np.ndarray, np.generic, jax.Array)
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.dtype, enum.Enum)


def fingerprint(closed: Any) -> str | None:
    """The name of a closed jaxpr; None if it holds what has no name of its own, such as Python to be called back."""
    try:
        return _Named()(closed)
    except _Nameless:
        return None
    except Exception as e:
        warn_unknown("the name of a program", e)
        return None


class _Nameless(Exception):
    pass


class _Named:
    """Names of jaxprs, each of which is looked at once."""

    def __init__(self) -> None:
        self.known: dict[int, str] = {}

    def __call__(self, jaxpr: Any) -> str:
        found = self.known.get(id(jaxpr))
        if found is None:
            lines = [*self._lines(jaxprs.body_of(jaxpr)), *map(self._value, jaxprs.constants_of(jaxpr))]
            text = "\n".join(lines)
            found = self.known[id(jaxpr)] = hashlib.sha256(text.encode()).hexdigest()
        return found

    def _lines(self, jaxpr: Any) -> Iterator[str]:
        places: dict[Any, int] = {}

        def new(variables: Any) -> str:
            for v in variables:
                places[v] = len(places)
            return " ".join(_kind(v.aval) for v in variables)

        def atom(a: Any) -> str:
            return f"{_kind(a.aval)}={self._value(a.val)}" if isinstance(a, jaxprs.Literal) else str(places[a])

        yield new(jaxpr.constvars)
        yield new(jaxpr.invars)
        for eqn in jaxpr.eqns:
            name, inputs = eqn.primitive.name, [atom(a) for a in eqn.invars]
            said = [f"{k}={self._value(v)}" for k, v in sorted(settings(eqn).items())]
            yield f"{new(eqn.outvars)} {name} {said} {inputs}"
        yield str([atom(a) for a in jaxpr.outvars])

    def _value(self, value: Any) -> str:
        """Return a parameter of an equation as text that differs wherever the parameter differs."""
        match value:
            case _ if isinstance(value, _PLAIN):
                return f"{type(value).__name__}:{value!r}"
            case _ if jaxprs.is_jaxpr(value):
                return self(value)
            case tuple() | list():
                return f"{type(value).__name__}({','.join(map(self._value, value))})"
            case dict():
                return self._value(tuple(value.items()))
            case jaxprs.ShapedArray():
                return _kind(value)
            case jaxprs.Primitive():
                return value.name
            case types.FunctionType() if _is_jaxs(value):
                ours = _source_digest() if value.__module__ == threefry.__name__ else ""  # JAX's are of its version
                return f"{value.__module__}.{value.__qualname__}{ours}"
            case _ if jaxprs.is_empty_mesh(value):
                return "no mesh"
            case jax.sharding.NamedSharding() if value.mesh.empty:
                return f"no mesh for {value.spec}"
            case _ if isinstance(value, _ARRAYS) or hasattr(value, "__array__"):
                return f"{_kind(value)}:{hashlib.sha256(_bytes(value)).hexdigest()}"
            case _ if jaxprs.is_unspecified(value):
                return "unspecified"
        raise _Nameless


@once
def _source_digest() -> str:
    return hashlib.sha256(Path(threefry.__file__).read_bytes()).hexdigest()


def _kind(a: Any) -> str:
    """Shape and type of an array."""
    if not all(type(n) is int for n in a.shape):
        raise _Nameless
    return f"{dtype_name(a.dtype)}{list(a.shape)}{'w' * getattr(a, 'weak_type', False)}"


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype of arrays, those of JAX's keys included."""
    return numpy_name(dtype) if isinstance(dtype, np.dtype) else str(dtype)


def _is_jaxs(function: Any) -> bool:
    """Whether a function is defined in a module of JAX, or of what extends it, like those of a generator."""
    is_known = function.__module__.startswith(("jax.", threefry.__name__))
    return is_known and function.__qualname__.isidentifier() and function.__closure__ is None


def _bytes(array: Any) -> bytes:
    try:
        return np.asarray(array).tobytes()
    except TypeError as e:  # JAX's random keys are not numbers
        raise _Nameless from e
