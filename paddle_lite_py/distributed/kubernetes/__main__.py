"""python -m paddle_lite_py.distributed.kubernetes JOB.yaml: manifests of a training job."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ...utils.manifests import to_text, to_yaml
from . import manifests, parse_description


def main(argv: list[str] | None = None) -> None:
    """Print the manifests of the job that a file describes, or write each into a folder."""
    parser = argparse.ArgumentParser(prog="python -m paddle_lite_py.distributed.kubernetes", description=__doc__)
    parser.add_argument("job", type=Path, metavar="JOB.yaml", help="the description; docs/elastic.md has its fields")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="a file for each document, instead of one text")
    given = parser.parse_args(argv)
    try:
        documents = manifests(parse_description(_read(given.job)))
    except (OSError, ValueError) as e:
        parser.error(f"{given.job}: {e}")
    if given.out is None:
        return print(to_text(documents), end="")
    given.out.mkdir(parents=True, exist_ok=True)
    for document in documents:
        path = given.out / f"{document['metadata']['name']}-{document['kind'].lower()}.yaml"
        path.write_text(to_yaml(document))
        print(path)


def _read(path: Path) -> Any:
    """Read a YAML or JSON file.

    Raises:
        ValueError: if it is neither.
    """
    text = path.read_text()
    if path.suffix == ".json":
        return json.loads(text)
    try:
        import yaml
    except ModuleNotFoundError:
        raise ValueError("reading YAML needs the package pyyaml: pip install pyyaml, or give JSON") from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as e:
        raise ValueError(f"no YAML: {' '.join(str(e).split())}") from None


if __name__ == "__main__":
    main(sys.argv[1:])
