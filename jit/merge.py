"""Joining the values that a variable has on two paths: both branches, or before and after one iteration."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from dy2static import Undefined
from paddle_lite_py.core import dtypes
from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.dtypes import numpy_name
from paddle_lite_py.core.traced_number import TracedNumber
from paddle_lite_py.core.unknown_size import UnknownSize
from paddle_lite_py.eager.tensor import ZEROS, Tensor, wrap
from paddle_lite_py.ops.promote import common, scalar_dtype
from paddle_lite_py.registry.op import REGISTRY
from paddle_lite_py.tracing.builder import Builder
from paddle_lite_py.tracing.checks import DefinedFlag
from paddle_lite_py.tracing.frame import TracedValue
from paddle_lite_py.tracing.places import MISSING
from paddle_lite_py.tracing.traced_scalars import is_number

Number = bool | int | float | complex


class Mismatch(Exception):
    """Two values cannot be one; the message says what each is."""


def is_value(x: Any) -> bool:
    """True for what can be the same variable of a program with different contents: tensors and numbers."""
    return isinstance(x, Tensor | UnknownSize) or type(x) in (bool, int, float, complex, TracedNumber)


def is_number_like(x: Any) -> bool:
    """True for a Python number, and for what stands for one."""
    return isinstance(x, Number | UnknownSize) or is_number(x)


def parts(x: Any) -> tuple[Any, list[Any]]:
    """Structure and leaves of a value; payloads count as tensors."""
    leaves: list[Any] = []
    return nested.flatten(Builder.handle(x) if isinstance(x, TracedValue) else x, is_value, leaves), leaves


def alike(a: Any, b: Any) -> bool:
    """Whether two structures are the same."""
    if isinstance(a, nested.Nest) and isinstance(b, nested.Nest):
        same = a.kind is b.kind and a.keys == b.keys and len(a.children) == len(b.children)
        return same and all(alike(x, y) for x, y in zip(a.children, b.children, strict=True))
    return bool(a == b)


def is_absent(x: Any) -> bool:
    """True for a variable, attribute or gradient that is not there."""
    return isinstance(x, Undefined) or x is MISSING


def is_blank(x: Any) -> bool:
    """True for a gradient that stands for zeros."""
    return x is None or x is ZEROS


def is_same_number(a: Any, b: Any) -> bool:
    """True for one number, known while tracing; of numbers of each run, for the same one."""
    if type(a) is TracedNumber or isinstance(a, Tensor):
        return a is b
    if isinstance(a, UnknownSize):
        return isinstance(b, UnknownSize) and str(a) == str(b)
    return type(a) is type(b) and bool(a == b)


def describe(x: Any) -> str:
    """Return a value in an error message: `float32[3]`, `int 4`, `a list of 2`."""
    if isinstance(x, Tensor):
        return f"{x.dtype.name}{[*x.shape]}"
    if isinstance(x, list | tuple | dict):
        return f"a {type(x).__name__} of {len(x)}"
    return f"{type(x).__name__} {x!r}" if isinstance(x, Number | str) else repr(x)[:60]


def join(a: Any, b: Any, strict: bool = True, any_size: bool = False) -> tuple[tuple[Any, ...], Any]:
    """Shape and dtype that two tensors or numbers have in common; a number follows a tensor's dtype.

    Arguments:
        strict: two tensors must have the same dtype; otherwise they meet in a common one.
        any_size: sizes may differ, and are None then.

    Raises:
        Mismatch: if the shapes differ, or the dtypes of two tensors.
    """
    shape_a, shape_b = shape_of(a), shape_of(b)
    if shape_a != shape_b:
        if not any_size or len(shape_a) != len(shape_b):
            raise Mismatch(f"{describe(a)} and {describe(b)}")
        shape_a = tuple([m if m == n else None for m, n in zip(shape_a, shape_b, strict=True)])
    is_a, is_b = (isinstance(x, Tensor) and not is_number(x) for x in (a, b))
    if is_a and is_b:
        if strict and a._payload.dtype != b._payload.dtype:
            raise Mismatch(f"{describe(a)} and {describe(b)}")
        kind = a._payload.dtype if a._payload.dtype == b._payload.dtype else common(a._payload.dtype, b._payload.dtype)
    elif is_a:
        kind = scalar_dtype(_example(b), a._payload.dtype)
    elif is_b:
        kind = scalar_dtype(_example(a), b._payload.dtype)
    else:
        kind = common(natural_dtype(a), natural_dtype(b))
    return shape_a, jnp.dtype(kind)


def is_of_kind(a: Any, b: Any, joined: Any) -> bool:
    """Whether the dtype that two have in common says of each what it is: no bool becomes a number, no integer a float
    for a number next to it.
    """
    tensors = [x for x in (a, b) if isinstance(x, Tensor) and not is_number(x)]
    if tensors:
        return all(x._payload.dtype == joined for x in tensors) or len(tensors) == 2
    return (natural_dtype(a).kind == "b") == (natural_dtype(b).kind == "b")


def shape_of(x: Any) -> tuple[Any, ...]:
    """Return the shape of a tensor; of a number, that of one."""
    return tuple(x._payload.shape) if isinstance(x, Tensor) else ()


def natural_dtype(x: Any) -> Any:
    """Return the dtype of a tensor, or that a Python number has as one."""
    if type(x) is TracedNumber:
        return jnp.dtype("int64" if isinstance(x, int) else "float64")
    if isinstance(x, UnknownSize):
        return jnp.dtype("int64")
    return x._payload.dtype if isinstance(x, Tensor) else jnp.dtype(type(x))


def _example(number: Any) -> Any:
    """Return a number of Python of the kind that a traced one stands for."""
    if isinstance(number, UnknownSize):
        return 0
    return number._payload.dtype.type(0).item() if isinstance(number, Tensor) else number


def as_value(builder: Builder, x: Any, dtype: Any) -> TracedValue:
    """Return a tensor or number as a TracedValue of the current frame, in a dtype."""
    if type(x) is TracedNumber:
        value = builder._input(x)
        return value if value.dtype == dtype else as_value(builder, builder.handle(value), dtype)
    x = x.number() if isinstance(x, UnknownSize) else x
    if not isinstance(x, Tensor):
        constant = REGISTRY["constant"].bind((x, numpy_name(jnp.dtype(dtype)), None))
        return builder.emit(constant, (), False)[0]
    builder.peeking = True
    try:
        value = builder.value_of(x)
    finally:
        builder.peeking = False
    if value.dtype == dtype:
        return value
    cast = REGISTRY["cast"].bind((dtypes.from_numpy(jnp.dtype(dtype)),))
    return builder.emit(cast, (value,), value.requires_grad)[0]


def zeros(builder: Builder, shape: tuple[Any, ...], dtype: Any) -> TracedValue:
    """Zeros in the current frame: what an absent value holds where nothing may read it."""
    return builder.emit(REGISTRY["constant"].bind((0, numpy_name(jnp.dtype(dtype)), shape)), (), False)[0]


def presence_flag(x: Any) -> Any:
    """Return the presence of a variable that some path may have left undefined; None for one that is surely there."""
    found = [t._payload.defined for t in parts(x)[1] if isinstance(t, Tensor) and isinstance(t._payload, TracedValue)]
    return next((p for p in found if p is not None), None)


def is_there(x: Any) -> Any:
    """Whether a variable is there: True, False, or a tensor."""
    if is_absent(x):
        return False
    found = presence_flag(x)
    return True if found is None else wrap(found.flag)


def with_presence(value: Any, flag: TracedValue, name: str, where: Any) -> Any:
    """Mark a joined variable as there only where `flag` is true."""
    mark = DefinedFlag(flag, lambda: Undefined(name, where).error(), where)
    for t in parts(value)[1]:
        if isinstance(t, Tensor) and isinstance(t._payload, TracedValue):
            t._payload.defined = mark
    return value


def zero_index(builder: Builder) -> Tensor:
    """Return an int64 zero in the current frame."""
    return builder.handle(zeros(builder, (), "int64"))
