"""Messages between clients and servers: a header as JSON, then the bytes of arrays.

Nothing is unpickled: a header says dtypes and shapes, which are held against the bytes that have come.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import numpy_name

VERSION = 2
SERVERS = "parameter servers"  # whose secret is theirs where no token is given
DTYPES = {name: np.dtype(name).newbyteorder("<") for name in ("float32", "uint64")}


class WireError(ValueError):
    """A message that is none of this protocol."""


def split(endpoint: str) -> tuple[str, int]:
    """Host and port of an endpoint.

    Raises:
        ValueError: it has another form.

    Example:
        >>> split("10.0.0.1:8600")
        ('10.0.0.1', 8600)
    """
    host, _, port = str(endpoint).rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise ValueError(f"endpoint is {endpoint!r}; expected 'host:port', such as '127.0.0.1:8600'")
    return host, int(port)


def pack(header: dict[str, Any], arrays: Sequence[np.ndarray]) -> list[Any]:
    """Return the frames of a message."""
    described = [[numpy_name(a.dtype), list(a.shape)] for a in arrays]
    head = json.dumps({"v": VERSION, **header, "arrays": described}).encode()
    return [head, *(np.ascontiguousarray(a).reshape(-1).view(np.uint8).data for a in arrays)]


def unpack(frames: Sequence[Any]) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Return the header and the arrays of a message; these lie in the frames, and are not to be written to.

    Raises:
        WireError: if it is not well formed.
    """
    try:
        header = json.loads(bytes(frames[0]))
        described = header["arrays"]
        if header["v"] not in (1, VERSION):
            raise WireError(f"it is of version {header['v']!r} of the protocol, this side is of version {VERSION}")
        data = frames[3 - header["v"] :]  # in version 1, which logs may hold, a code follows the header
        if len(described) != len(data):
            raise WireError(f"{len(data)} arrays came where {len(described)} were announced")
        return header, [_array(name, shape, part) for (name, shape), part in zip(described, data, strict=True)]
    except WireError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as e:
        raise WireError(f"it is not of this protocol ({type(e).__name__})") from None


def _array(name: str, shape: list[int], data: Any) -> np.ndarray:
    dtype = DTYPES.get(name)
    if dtype is None or len(shape) > 32 or not all(type(d) is int and d >= 0 for d in shape):
        raise WireError(f"an array is announced as {name!r} {shape!r}")
    view = memoryview(data)
    if view.nbytes != math.prod(shape) * dtype.itemsize:
        raise WireError(f"{name}{shape} takes {math.prod(shape) * dtype.itemsize} bytes, {view.nbytes} came")
    array = np.frombuffer(view, dtype).reshape(shape)
    return array if array.flags.aligned else array.copy()


KINDS = (PermissionError, OSError, LookupError, TypeError, ValueError)


def failure(error: Exception) -> dict[str, str]:
    """Return an exception as a header: its kind, if clients know that, and what it says."""
    kind = next((kind.__name__ for kind in KINDS if isinstance(error, kind)), "RuntimeError")
    return {"error": kind, "message": str(error) if kind != "RuntimeError" else f"{type(error).__name__}: {error}"}


def raised(header: dict[str, Any], endpoint: str) -> Exception:
    """Return the exception that `failure` was made of, as one that names the server."""
    kinds = {kind.__name__: kind for kind in KINDS}
    return kinds.get(header["error"], RuntimeError)(f"parameter server {endpoint}: {header.get('message')}")
