"""Run the notebooks, and keep in them what they print and draw: python tutorials/execute.py [NAME.ipynb ...].

Needs what `make docs` installs. Run it on a quiet machine: some of what is kept are times.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent


def execute(path: Path) -> None:
    """Run a notebook from top to bottom and write it back with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    settings = {"metadata": {"path": str(HERE)}}
    NotebookClient(notebook, timeout=300, record_timing=False, resources=settings).execute()
    for key in set(notebook.metadata) - {"kernelspec"}:
        del notebook.metadata[key]  # the version of this Python
    nbformat.write(notebook, path)


if __name__ == "__main__":
    os.environ["FLAGS_compile_progress"] = "0"  # notes on a busy machine are not for readers
    for path in [HERE / name for name in sys.argv[1:]] or sorted(HERE.glob("*.ipynb")):
        print(path.name, flush=True)
        execute(path)
