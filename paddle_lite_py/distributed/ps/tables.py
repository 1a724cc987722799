"""The tables of one server, and what a request does to them. It knows no network and no disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .config import Config, SparseConfig, from_json, to_json
from .dense import DenseTable
from .hashing import part_of
from .sparse import Push, SparseTable

Arrays = Sequence[np.ndarray]
Answer = tuple[dict[str, Any], list[np.ndarray]]
# Requests that change what must outlive the server.
CHANGES = frozenset("create push_sparse add_sparse push_dense add_dense set_dense shrink".split())
FLOAT, ID = np.dtype("float32"), np.dtype("uint64")


class Tables:
    """Tables by name. A request is checked first; what has passed can be applied, now or when a log is read.

    Args:
        folder: for rows that memory has no room for, unless their table names one.
    """

    def __init__(self, folder: str | None = None) -> None:
        self.folder = folder
        self.all: dict[str, SparseTable | DenseTable] = {}

    def check(self, header: dict[str, Any], arrays: Arrays) -> None:
        """Whether a request can be answered.

        Raises:
            ValueError: what is wrong with it.
            LookupError: a table that is not there.
        """
        op = header.get("op")
        if op not in CHECKS:
            raise ValueError(f"the request is {op!r}, which servers do not know")
        CHECKS[op](self, header, arrays)

    def make_room(self, header: dict[str, Any], arrays: Arrays) -> None:
        """Prepare for rows that a checked request may bring.

        Raises:
            OSError: the disk is full; nothing was changed.
        """
        if header["op"] in ("pull_sparse", "push_sparse", "add_sparse"):
            self.sparse(header).rows.make_room(len(arrays[0]))

    def apply(self, header: dict[str, Any], arrays: Arrays) -> Answer:
        """Answer a request that has been checked."""
        return ANSWERS[header["op"]](self, header, arrays)

    def apply_in(self, header: dict[str, Any], arrays: Arrays, parts: np.ndarray) -> Answer:
        """Make a change in some parts of a table alone: bool [PARTS]. A dense table is its first part."""
        if header["op"] == "shrink":
            return {"removed": self.sparse(header).shrink(np.flatnonzero(parts).tolist())}, []
        if isinstance(self.table(header), DenseTable):
            return self.apply(header, arrays) if parts[0] else ({}, [])
        there = parts[part_of(arrays[0])]
        return self.apply(header, [a[there] for a in arrays])

    def make(self, config: Config) -> None:
        """Make an empty table, unless there is one of the name."""
        if config.name not in self.all:
            self.all[config.name] = self.made(config)

    def made(self, config: Config) -> SparseTable | DenseTable:
        """Return an empty table."""
        return SparseTable(config, self.folder) if isinstance(config, SparseConfig) else DenseTable(config)

    def sparse(self, header: dict[str, Any]) -> SparseTable:
        """Return the sparse table that a request names."""
        table = self.table(header)
        if not isinstance(table, SparseTable):
            raise ValueError(f"table {header['table']!r} is dense; {header['op']} needs a sparse table")
        return table

    def dense(self, header: dict[str, Any]) -> DenseTable:
        """Return the dense table that a request names."""
        table = self.table(header)
        if not isinstance(table, DenseTable):
            raise ValueError(f"table {header['table']!r} is sparse; {header['op']} needs a dense table")
        return table

    def table(self, header: dict[str, Any]) -> SparseTable | DenseTable:
        """Return the table that a request names."""
        name = header.get("table")
        if name not in self.all:
            known = ", ".join(sorted(self.all)) or "none yet"
            raise LookupError(f"there is no table {name!r}; the server has: {known}")
        return self.all[name]


def describe(config: Config) -> str:
    """Return a table in a few words, for errors."""
    if isinstance(config, SparseConfig):
        return f"sparse with {config.columns} columns, {config.rule.name}"
    return f"dense of shape {list(config.shape)}, {config.rule.name}"


# -- checks ------------------------------------------------------------------------------------------------------------
def _check_create(tables: Tables, header: dict[str, Any], arrays: Arrays) -> None:
    config = from_json(header.get("config", {}))
    there = tables.all.get(config.name)
    if there is None:
        tables.made(config)  # its requirements (a package, a folder) must be met before it is logged
        return
    if there.config == config:
        return
    old, new = to_json(there.config), to_json(config)
    differing = ", ".join(f"{k}: {old.get(k)!r} and {new.get(k)!r}" for k in new if old.get(k) != new[k])
    raise ValueError(
        f"table {config.name!r} exists ({describe(there.config)}), but another configuration is requested "
        f"({describe(config)}); they differ in {differing}"
    )


def _check_rate(header: dict[str, Any]) -> None:
    rate = header.get("rate")
    if rate is not None and (type(rate) not in (int, float) or not np.isfinite(rate)):
        raise ValueError(f"{header['op']} of table {header['table']!r}: rate is {rate!r}; expected a finite number")


def _check_arrays(header: dict[str, Any], arrays: Arrays, wanted: Sequence[tuple[np.dtype, tuple[int, ...]]]) -> None:
    came = [f"{a.dtype}{list(a.shape)}" for a in arrays]
    expected = [f"{dtype}{list(shape)}" for dtype, shape in wanted]
    if came != expected:
        got = f"{header['op']} of table {header['table']!r} came with {', '.join(came) or 'no arrays'}"
        raise ValueError(f"{got}; expected {', '.join(expected) or 'none'}")


def _check_finite(header: dict[str, Any], values: np.ndarray, ids: np.ndarray | None = None) -> None:
    if np.isfinite(values).all():
        return
    where = np.argwhere(~np.isfinite(values))[0]
    at = f"id {ids[where[0]].view(np.int64)}" if ids is not None else f"index {where.tolist()}"
    raise ValueError(
        f"{header['op']} of table {header['table']!r}: the value at {at} is {values[tuple(where)]}; expected finite "
        "numbers. Nothing was applied"
    )


def _check_ids(tables: Tables, header: dict[str, Any], arrays: Arrays) -> None:
    tables.sparse(header)
    _check_arrays(header, arrays, [(ID, (_length(arrays),))])


def _check_push(tables: Tables, header: dict[str, Any], arrays: Arrays) -> None:
    config, n = tables.sparse(header).config, _length(arrays)
    counts = [(FLOAT, (n,)), (FLOAT, (n,))] if config.wants_counts else []
    _check_arrays(header, arrays, [(ID, (n,)), (FLOAT, (n, config.columns)), *counts])
    _check_rate(header)
    _check_finite(header, arrays[1], arrays[0])


def _check_add(tables: Tables, header: dict[str, Any], arrays: Arrays) -> None:
    n = _length(arrays)
    _check_arrays(header, arrays, [(ID, (n,)), (FLOAT, (n, tables.sparse(header).config.columns))])
    _check_finite(header, arrays[1], arrays[0])


def _check_dense(tables: Tables, header: dict[str, Any], arrays: Arrays) -> None:
    _check_arrays(header, arrays, [(FLOAT, tables.dense(header).config.shape)])
    _check_rate(header)
    _check_finite(header, arrays[0])


def _length(arrays: Arrays) -> int:
    return len(arrays[0]) if arrays and arrays[0].ndim else 0


# -- answers -----------------------------------------------------------------------------------------------------------
def _create(tables: Tables, header: dict[str, Any], arrays: Arrays) -> Answer:
    tables.make(from_json(header["config"]))
    return {}, []


def _push_sparse(tables: Tables, header: dict[str, Any], arrays: Arrays) -> Answer:
    ids, gradients, *counts = arrays
    shows, clicks = counts or (np.ones(len(ids), np.float32), np.zeros(len(ids), np.float32))
    moment = (header.get("worker", 0), header.get("seq", 0))
    tables.sparse(header).push(Push(ids, gradients, shows, clicks, header.get("rate"), moment))
    return {}, []


def _add_sparse(tables: Tables, header: dict[str, Any], arrays: Arrays) -> Answer:
    tables.sparse(header).add(arrays[0], arrays[1])
    return {}, []


def _push_dense(tables: Tables, header: dict[str, Any], arrays: Arrays) -> Answer:
    tables.dense(header).push(arrays[0], header.get("rate"))
    return {}, []


def _add_dense(tables: Tables, header: dict[str, Any], arrays: Arrays) -> Answer:
    tables.dense(header).add(arrays[0])
    return {}, []


def _set_dense(tables: Tables, header: dict[str, Any], arrays: Arrays) -> Answer:
    tables.dense(header).set(arrays[0])
    return {}, []


def _stats(tables: Tables, header: dict[str, Any], arrays: Arrays) -> Answer:
    return {"stats": {name: table.stats() for name, table in tables.all.items()}}, []


CHECKS: dict[str, Callable[[Tables, dict[str, Any], Arrays], Any]] = {
    "create": _check_create,
    "describe": lambda tables, header, arrays: tables.table(header),
    "pull_sparse": _check_ids,
    "push_sparse": _check_push,
    "add_sparse": _check_add,
    "shrink": lambda tables, header, arrays: tables.sparse(header),
    "pull_dense": lambda tables, header, arrays: tables.dense(header),
    "push_dense": _check_dense,
    "add_dense": _check_dense,
    "set_dense": _check_dense,
    "stats": lambda tables, header, arrays: None,
}
ANSWERS: dict[str, Callable[[Tables, dict[str, Any], Arrays], Answer]] = {
    "create": _create,
    "describe": lambda tables, header, arrays: ({"config": to_json(tables.table(header).config)}, []),
    "pull_sparse": lambda tables, header, arrays: ({}, [tables.sparse(header).pull(arrays[0])]),
    "push_sparse": _push_sparse,
    "add_sparse": _add_sparse,
    "shrink": lambda tables, header, arrays: ({"removed": tables.sparse(header).shrink()}, []),
    "pull_dense": lambda tables, header, arrays: ({}, [tables.dense(header).value]),
    "push_dense": _push_dense,
    "add_dense": _add_dense,
    "set_dense": _set_dense,
    "stats": _stats,
}
