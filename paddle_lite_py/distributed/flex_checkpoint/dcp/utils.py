"""Nested dicts of state as flat ones, and the parts of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from ....core.processes import world


def flatten_state_dict(state_dict: dict[Any, Any]) -> tuple[dict[str, Any], dict[str, tuple[Any, ...]]]:
    """Return a flat dict, its keys joined by dots, and the path of each key.

    Examples:
        >>> flatten_state_dict({"opt": {"m": 1}})
        ({'opt.m': 1}, {'opt.m': ('opt', 'm')})
    """
    flat: dict[str, Any] = {}
    paths: dict[str, tuple[Any, ...]] = {}

    def walk(path: tuple[Any, ...], value: Any) -> None:
        if isinstance(value, dict):
            for k, v in value.items():
                walk((*path, k), v)
            return
        key = ".".join(map(str, path))
        if key in flat:
            raise ValueError(f"two entries of the state have the name {key!r}")
        flat[key], paths[key] = value, path

    walk((), state_dict)
    return flat, paths


def parts(data: Any) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Where each part of an array begins that this process has to save, and the part."""
    held = getattr(data, "sharding", None)
    if isinstance(data, jax.Array) and isinstance(held, jax.sharding.NamedSharding):
        for shard in data.addressable_shards:
            if shard.replica_id == 0:
                yield tuple([s.start or 0 for s in shard.index]), np.asarray(shard.data)
    elif world().rank == 0:  # the same in all processes
        array = np.asarray(data)
        yield (0,) * array.ndim, array
