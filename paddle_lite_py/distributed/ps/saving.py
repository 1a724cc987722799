"""Tables in files: each server writes its share, and reads what is its own among the shares of however many wrote.

A folder is named whole by `tables.json`, which server 0 writes when all shares are there. So a save that fails leaves
the one before as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from .config import Config, SparseConfig, from_json, to_json
from .dense import DenseTable
from .files import StateError, read_arrays, read_json, write_arrays, write_json
from .hashing import PARTS, home_of, shard_of
from .sparse import SparseTable
from .tables import Tables

FORM, FORMAT = "parameter server tables", 1
MANIFEST = "tables.json"


def save_share(tables: Tables, folder: Path, word: str, index: int, servers: int) -> list[dict[str, Any]]:
    """Write what this server has; a description of each table, with its file.

    Args:
        tables: of the server.
        folder: made if it is not there.
        word: tells the files of this save from those of others.
        index: which of the servers this one is.
        servers: how many there are.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, table in tables.all.items():
        if isinstance(table, DenseTable) and home_of(name, servers) != index:
            continue
        file = f"table-{crc32(name.encode()):08x}-{word}-{index}-of-{servers}.npz"
        write_arrays(folder / file, _parts(table))
        made.append({"config": to_json(table.config), "file": file})
    return made


def _parts(table: SparseTable | DenseTable) -> Iterator[tuple[str, np.ndarray]]:
    """Yield a table as named arrays: `part.ids`, `part.values`, ..."""
    for part in range(PARTS if isinstance(table, SparseTable) else 1):
        yield from ((f"{part}.{key}", array) for key, array in table.part(part).items())


def commit(folder: Path, shares: list[dict[str, Any]]) -> None:
    """Make the files of a save the ones that count, and delete those of saves before.

    Raises:
        OSError: the manifest cannot be written; what was saved before stays.
    """
    write_json(folder / MANIFEST, {"form": FORM, "version": FORMAT, "tables": shares})
    named = {share["file"] for share in shares}
    for path in folder.glob("table-*.npz"):
        if path.name not in named:
            path.unlink()


def load_share(tables: Tables, folder: Path, index: int, servers: int) -> None:
    """Replace tables by those of a folder, as far as they belong to this server. All is read before any is replaced.

    Raises:
        StateError: the folder holds no save, or a file of it is damaged.
        ValueError: a table is there that is another one.
    """
    read: dict[str, SparseTable | DenseTable] = {}
    for share in read_json(folder / MANIFEST, FORM, FORMAT)["tables"]:
        config = from_json(share["config"])
        there = tables.all.get(config.name)
        if there is not None:
            _check_same(there.config, config)
            config = there.config
        if config.name not in read:
            read[config.name] = tables.made(config)
        _take_in(read[config.name], read_arrays(_inside(folder, share["file"])), index, servers)
    tables.all.update(read)


def _inside(folder: Path, file: str) -> Path:
    if Path(file).name != file:
        raise StateError(f"{folder / MANIFEST} names {file!r}, which is no file of the folder")
    return folder / file


def _check_same(there: Config, saved: Config) -> None:
    """Whether rows of one table have a meaning in another one."""
    one, other = to_json(there), to_json(saved)
    for key in ("kind", "columns", "shape"):
        if one.get(key) != other.get(key):
            raise ValueError(f"table {there.name!r} has {key} {one.get(key)}, the saved one {other.get(key)}")
    if one["rule"]["name"] != other["rule"]["name"]:
        raise ValueError(
            f"table {there.name!r} is trained by {one['rule']['name']}, the saved one by {other['rule']['name']}"
        )
    if isinstance(there, SparseConfig) and isinstance(saved, SparseConfig) and there.keeps_stats != saved.keeps_stats:
        raise ValueError(f"only one of table {there.name!r} and the saved one has statistics of shows and clicks")


def _take_in(table: SparseTable | DenseTable, arrays: dict[str, np.ndarray], index: int, servers: int) -> None:
    """Put a share into a table, as far as it belongs to this server."""
    parts: dict[str, dict[str, np.ndarray]] = {}
    for key, array in arrays.items():
        part, _, name = key.partition(".")
        parts.setdefault(part, {})[name] = array
    for held in parts.values():
        if isinstance(table, SparseTable):
            held = _own(held, "ids", "values", index, servers) | _own(held, "counted_ids", "counted", index, servers)
        table.put(held)


def _own(held: dict[str, np.ndarray], ids: str, values: str, index: int, servers: int) -> dict[str, np.ndarray]:
    if ids not in held:
        return {}
    own = shard_of(held[ids], servers) == index
    return {ids: held[ids][own], values: held[values][own]}
