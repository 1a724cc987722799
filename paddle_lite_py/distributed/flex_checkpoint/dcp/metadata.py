"""The metadata records of a checkpoint, under the reference's names."""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass, field
from typing import Any

from ....framework.unpickle import RECORDS, read

# The module whose classes a file names.
MAX_SIZE = 1 << 40  # along a dimension
HOME = "paddle.distributed.flex_checkpoint.dcp.metadata"


@dataclass
class LocalTensorMetadata:
    """A part of a tensor: where it begins, its shape and dtype, and the shape of the whole."""

    global_offset: tuple[int, ...]
    local_shape: tuple[int, ...]
    dtype: str
    global_shape: tuple[int, ...] | None = None
    is_flattened: bool = False
    flattened_range: tuple[int, ...] | None = None


@dataclass(frozen=True)
class LocalTensorIndex:
    """The name of a part: that of the tensor, and where it begins."""

    tensor_key: str
    global_offset: tuple[int, ...]
    is_flattened: bool = False
    flattened_range: tuple[int, ...] | None = None
    replica_id: int | None = None
    local_shape: tuple[int, ...] | None = None


@dataclass
class Metadata:
    """All parts of all tensors, the file of each part, and where in nested dicts each tensor was."""

    state_dict_metadata: dict[str, list[LocalTensorMetadata]] = field(default_factory=dict)
    storage_metadata: dict[LocalTensorIndex, str] = field(default_factory=dict)
    flat_mapping: dict[str, tuple[Any, ...]] = field(default_factory=dict)


_HOMES = (HOME, HOME.replace(".flex_checkpoint.dcp.", ".checkpoint."))
_RECORDS = {(h, r.__name__): r for h in _HOMES for r in (LocalTensorMetadata, LocalTensorIndex, Metadata)}
RECORDS.update(_RECORDS)


def as_bytes(metadata: Metadata) -> bytes:
    """Return a record of a checkpoint as the reference writes it."""
    own = pickle.dumps(metadata, protocol=3)  # which names modules in plain text
    return own.replace(f"c{__name__}\n".encode(), f"c{HOME}\n".encode())


def from_bytes(data: bytes) -> Metadata:
    """Return the record that bytes hold; nothing else is made of them.

    Raises:
        ValueError: if they hold something else.
    """
    try:
        found = read(io.BytesIO(data), more=_RECORDS)
    except Exception as e:  # what was cut off or altered fails in any way
        raise ValueError(f"the metadata are damaged, or no checkpoint's ({type(e).__name__}: {e})") from None
    if not isinstance(found, Metadata):
        raise ValueError(f"the metadata are a {type(found).__name__}")
    for part in [p for parts in found.state_dict_metadata.values() for p in parts] + list(found.storage_metadata):
        sizes = [part.global_offset, part.local_shape, getattr(part, "global_shape", None)]
        if not all(type(n) is int and 0 <= n < MAX_SIZE for s in sizes if s is not None for n in s):
            raise ValueError(f"the metadata have sizes that are none: {sizes!r:.200}")
    return found
