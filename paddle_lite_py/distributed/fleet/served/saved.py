"""Rows of one table: out of what the servers have saved, and in files of their own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...ps.config import SparseConfig, from_json
from ...ps.entry import SHOWS, STATS
from ...ps.files import read_arrays, read_json
from ...ps.saving import FORM, FORMAT, MANIFEST

if TYPE_CHECKING:
    from ...ps import Client

FILE = "part-0.npz"


def table_rows(client: Client, name: str, folder: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return all ids of a table in their order, int64 [n], and their weights, float32 [n, columns].

    Arguments:
        folder: where servers may write meanwhile, if they do not share this machine's folder for temporary files.

    Raises:
        LookupError: there is no such table.
    """
    keys, values = _all_values(client, name, folder)
    return keys, values[:, : _columns(client, name)]


def _columns(client: Client, name: str) -> int:
    config = client.config(name)
    if not isinstance(config, SparseConfig):
        raise LookupError(f"table '{name}' is dense; only sparse tables have rows")
    return config.columns


def _all_values(client: Client, name: str, folder: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return all ids of a table, and all that servers keep for each."""
    _columns(client, name)
    with tempfile.TemporaryDirectory(dir=folder) as made:
        client.save(made)
        shares = read_json(Path(made) / MANIFEST, FORM, FORMAT)["tables"]
        files = [Path(made) / share["file"] for share in shares if from_json(share["config"]).name == name]
        parts = [read_arrays(file) for file in files]
    keys = np.concatenate([a for part in parts for key, a in part.items() if key.endswith(".ids")]).view(np.int64)
    values = np.concatenate([a for part in parts for key, a in part.items() if key.endswith(".values")])
    order = np.argsort(keys)
    return keys[order], values[order]


def write_hot_rows(client: Client, name: str, folder: str, share: float) -> int:
    """Write the rows of a table that were shown most, as write_rows() does; how many.

    Arguments:
        share: of all rows, at most 1; one row at least, if there is any.

    Raises:
        ValueError: if the table does not count how often rows are shown.
    """
    config = client.config(name)
    if not isinstance(config, SparseConfig) or not config.keeps_stats:
        raise ValueError(
            f"table '{name}' does not count how often its features are shown; give sparse_embedding an entry, as "
            "paddle.distributed.ShowClickEntry('show', 'click')"
        )
    Path(folder).mkdir(parents=True, exist_ok=True)
    keys, values = _all_values(client, name, folder)
    count = min(len(keys), max(1, round(share * len(keys))))
    hot = np.sort(np.argsort(-values[:, values.shape[1] - STATS + SHOWS], kind="stable")[:count])
    np.savez(Path(folder) / FILE, allow_pickle=False, ids=keys[hot], values=values[hot, : _columns(client, name)])
    return count


def write_rows(client: Client, name: str, folder: str) -> None:
    """Write the rows of a table: `ids` and `values` in folder/part-0.npz."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    ids, values = table_rows(client, name, folder)
    np.savez(Path(folder) / FILE, allow_pickle=False, ids=ids, values=values)


def read_rows(client: Client, name: str, folder: str) -> None:
    """Give a table the rows that write_rows() wrote; what its optimizer keeps stays as it is.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if its rows have another length.
    """
    with np.load(Path(folder) / FILE, allow_pickle=False) as found:
        ids, values = found["ids"], found["values"]
    replace_rows(client, name, ids, values, str(Path(folder) / FILE))


def replace_rows(client: Client, name: str, ids: np.ndarray, values: np.ndarray, source: str) -> None:
    """Give some ids other weights.

    Arguments:
        source: where they come from, for the error.

    Raises:
        ValueError: if these have another length than the rows of the table.
    """
    if values.ndim != 2 or values.shape[1] != _columns(client, name):
        raise ValueError(
            f"table '{name}' has {_columns(client, name)} columns, {source} holds values of shape {list(values.shape)}"
        )
    client.add_sparse(name, ids, values - client.pull_sparse(name, ids))
