"""Where files of data sets are kept, and whether they are whole."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from ..utils.download import fetched, file_name

__all__ = ["DATA_HOME", "download", "md5file"]

DATA_HOME = os.path.expanduser("~/.cache/paddle/dataset")


def md5file(fname: str) -> str:
    """Return the MD5 checksum of a file, as hexadecimal digits.

    Args:
        fname: its path.

    Examples:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile() as f:
        ...     md5file(f.name)
        'd41d8cd98f00b204e9800998ecf8427e'
    """
    with open(fname, "rb") as f:
        return hashlib.file_digest(f, "md5").hexdigest()


def download(url: str, module_name: str, md5sum: str, save_name: str | None = None) -> str:
    """Return the local path of a file, fetched when it is not there yet.

    Args:
        url: where it is.
        module_name: the folder in `DATA_HOME`.
        md5sum: its checksum.
        save_name: the name of the file; the last part of the url by default.

    Raises:
        RuntimeError: if it cannot be fetched, or its checksum differs.
    """
    folder = Path(DATA_HOME, module_name)
    return str(fetched(url, folder / (save_name or file_name(url)), lambda path: md5file(str(path)) == md5sum))
