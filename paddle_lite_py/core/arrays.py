"""Arrays in and out: what users pass as data, and how a tensor's data are printed."""

from __future__ import annotations

from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from safetensors import deserialize

from . import dtypes, small
from . import place as places
from .memo import Memo, once


def is_array(x: Any) -> bool:
    """Whether `x` can be the payload of an eager tensor: a NumPy array if it is small, or a JAX array."""
    return isinstance(x, np.ndarray) or isinstance(x, jax.Array)


@once
def array_class() -> type:
    """The class of JAX arrays, which is known only once a device exists."""
    return type(jax.device_put(0))


def is_outside(x: Any) -> bool:
    """True for what a tensor outside of any program may hold: an array, or a shape without data (targets.abstract)."""
    return is_array(x) or isinstance(x, jax.ShapeDtypeStruct)


def spec_of(array: Any) -> jax.ShapeDtypeStruct:
    """Shape and dtype of an array, and how it lies over several devices."""
    held = getattr(array, "sharding", None)
    laid = held if isinstance(held, jax.sharding.NamedSharding) else None
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=laid)


# A Tensor, which is defined above this module.
Handle: TypeAlias = Any


def is_handle(x: Any) -> bool:
    """True for a Tensor, which is defined above this module."""
    return hasattr(x, "_static_value")


def as_array(data: Any, dtype: Any = None, place: Any = None) -> Any:
    """Return a JAX array from anything array-like: Python floats become the default dtype, other dtypes stay.

    Raises:
        TypeError: if the data are not numbers.
        ValueError: if nested lists are ragged.
    """
    if is_handle(data):
        data = data._payload
    kind = None if dtype is None else dtypes.as_dtype(dtype).np
    if not isinstance(data, jax.Array | np.ndarray | np.generic):
        if hasattr(data, "to_dense"):
            raise TypeError("a sparse tensor is given; call its to_dense(), or the function of paddle.sparse")
        data = _from_python(data)
        if kind is None and data.dtype == np.float64:
            kind = dtypes.default_dtype().np
        elif kind is None and data.dtype == np.complex128:
            kind = dtypes.default_complex().np
    if data.dtype.kind not in "biufcV":
        raise TypeError(f"to_tensor: the data are {data.dtype} ({str(data)[:60]}); expected numbers or booleans")
    device = None if place is None else places.as_place(place).device
    if isinstance(data, jax.Array):
        out = data if kind is None or data.dtype == kind else data.astype(kind)
        return out if device is None else put(out, device)
    # A copy: the caller may change the data later.
    copied = np.array(data, dtype=kind or np.dtype(data.dtype.type), order="C")
    return from_host(copied) if device is None or places.is_host(device) else jax.device_put(copied, device)


def put(data: Any, where: Any) -> Any:
    """Return a payload on a device, or laid by a sharding: itself if it lies there.

    JAX makes another array of the same memory then, as it does of the part on a device that both lie on; an update that
    gives one of them away takes both.
    """
    if not isinstance(data, jax.Array):
        return data if isinstance(where, jax.Device) and places.is_host(where) else jax.device_put(data, where)
    if data.sharding == where or data.devices() == {where}:
        return data
    is_sharding = isinstance(where, jax.sharding.Sharding) and data.is_fully_addressable
    overlaps = is_sharding and not where.device_set.isdisjoint(data.devices())
    return jax.device_put(jnp.copy(data) if overlaps else data, where)


# Key: shape and dtype; which of two ways to the same array is taken.
_met: Memo[Any, int] = Memo("shapes that came from the host", 1024)
_OFTEN = 256


def from_host(data: np.ndarray) -> Any:
    """Return an array as a payload, of data that nobody will change: small ones stay as they are.

    jnp.asarray() takes half the time of device_put(), but compiles for each shape (10 ms, 1 MB): for those that come
    again.
    """
    if small.is_small(data.shape, data.dtype):
        return data
    key = data.shape, data.dtype
    times = _met.get(key, 0)
    if times >= _OFTEN:
        return jnp.asarray(data)
    _met.put(key, times + 1)
    return jax.device_put(data)


def laid_over(data: Any, where: jax.sharding.NamedSharding) -> jax.Array:
    """Values that every process has, or an array over the same devices, laid in another way."""
    if isinstance(data, jax.Array) and (data.is_fully_addressable and where.is_fully_addressable or is_spread(data)):
        return put(data, where)
    values = np.asarray(data)
    return jax.make_array_from_callback(values.shape, where, lambda i: values[i].copy(), dtype=values.dtype)


# The meshes that arrays may span; empty if there is one device.
meshes: list[Any] = []


def is_spread(data: Any) -> bool:
    """Whether a payload lies over a mesh of devices."""
    return isinstance(getattr(data, "sharding", None), jax.sharding.NamedSharding)


def full_on_host(value: float, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array of one value, made on the host: JAX would compile it for each shape."""
    return from_host(np.full(shape, value, dtype))


def _from_python(data: Any) -> np.ndarray:
    if hasattr(data, "__array__") or isinstance(data, int | float | complex):
        return np.asarray(data)
    if isinstance(data, list | tuple):
        data = jax.tree.map(_plain, data, is_leaf=is_handle)
    try:
        return np.asarray(data)
    except ValueError as e:
        raise ValueError(f"to_tensor: nested lists must be rectangular ({e})") from None


def _plain(leaf: Any) -> Any:
    return np.asarray(leaf._read("to_tensor()")) if is_handle(leaf) else leaf


# The dtypes that files of safetensors name; its own reader for NumPy leaves out those that NumPy has not.
_STORED = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool", "C64": "complex64"}
_STORED |= {f"{kind[0].upper()}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
_STORED |= {"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"}


def stored_arrays(data: bytes) -> dict[str, np.ndarray]:
    """Return the arrays by name that bytes in the form of safetensors hold."""
    return {
        name: np.frombuffer(held["data"], jnp.dtype(_STORED[held["dtype"]])).reshape(held["shape"])
        for name, held in deserialize(bytes(data))
    }
