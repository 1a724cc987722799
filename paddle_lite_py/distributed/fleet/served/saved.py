"""Rows of one table: out of what the servers have saved, and in files of their own."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from ...ps import Client
from ...ps.config import SparseConfig, from_json
from ...ps.files import read_arrays, read_json
from ...ps.saving import FORM, FORMAT, MANIFEST

FILE = "part-0.npz"


def table_rows(client: Client, name: str, folder: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """All ids of a table in their order, int64 [n], and their weights, float32 [n, columns].

    Arguments:
        folder: where servers may write meanwhile, if they do not share this machine's folder for temporary files.

    Raises:
        LookupError: there is no such table.
    """
    config = client.config(name)
    if not isinstance(config, SparseConfig):
        raise LookupError(f"table '{name}' is dense; only sparse tables have rows")
    with tempfile.TemporaryDirectory(dir=folder) as made:
        client.save(made)
        shares = read_json(Path(made) / MANIFEST, FORM, FORMAT)["tables"]
        files = [Path(made) / share["file"] for share in shares if from_json(share["config"]).name == name]
        parts = [read_arrays(file) for file in files]
    ids = [a for part in parts for key, a in part.items() if key.endswith(".ids")]
    values = [a[:, : config.columns] for part in parts for key, a in part.items() if key.endswith(".values")]
    keys = np.concatenate(ids).view(np.int64)
    order = np.argsort(keys)
    return keys[order], np.concatenate(values)[order]


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
    columns = getattr(client.config(name), "columns", None)
    if values.ndim != 2 or values.shape[1] != columns:
        raise ValueError(
            f"table '{name}' has {columns} columns, {Path(folder) / FILE} holds values of shape {list(values.shape)}"
        )
    client.add_sparse(name, ids, values - client.pull_sparse(name, ids))
