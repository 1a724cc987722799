"""python -m paddle_lite_py migrate SOURCE: rewrites files, and says what it changed and what is left to do."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import libcst as cst

from .rewriter import Note, upgrade

_IMPORTS_TORCH = re.compile(r"^\s*(import|from) torch\b", re.MULTILINE)


def upgrade_files(source: Any, target: Any = None, show: bool = True) -> dict[Path, list[Note]]:
    """Rewrite a program, or all programs in a folder.

    Arguments:
        source: a file or folder.
        target: where the rewritten files go; next to the source by default: train.py as train_migrated.py.
        show: print a report.

    Returns:
        For each file what was changed, and what is left to do.

    Raises:
        FileNotFoundError: if there is no such file.
    """
    source = Path(source)
    if not source.exists():
        raise FileNotFoundError(f"there is no file or folder {source}")
    target = Path(target) if target is not None else source.with_name(f"{source.stem}_migrated{source.suffix}")
    files = [source] if source.is_file() else [p for p in sorted(source.rglob("*")) if p.is_file()]
    beside = {part for p in files if p.suffix == ".py" for part in (*p.relative_to(source).parts[:-1], p.stem)}
    sources = [p.read_text(encoding="utf8", errors="ignore") for p in files if p.suffix == ".py"]
    of_torch = any(_IMPORTS_TORCH.search(text) for text in sources)
    found = {}
    for file in files:
        into = target if source.is_file() else target / file.relative_to(source)
        into.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix != ".py":
            shutil.copy2(file, into)
            continue
        found[file] = _one(file, into, beside, of_torch)
        if show:
            print(report(file, into, found[file]))
    return found


def _one(file: Path, into: Path, beside: set[str], of_torch: bool) -> list[Note]:
    text = file.read_text(encoding="utf8")
    try:
        made = upgrade(text, beside, of_torch)
    except cst.ParserSyntaxError as e:
        into.write_text(text, encoding="utf8")
        return [Note(e.raw_line, "the file", f"is no Python of today: {e.message}", True)]
    into.write_text(made.text, encoding="utf8")
    return made.notes


def report(file: Path, into: Path, notes: list[Note]) -> str:
    """Report what was changed and what is left to do, by lines of the source."""
    parts = {"changed": [n for n in notes if not n.todo], "left to do by hand": [n for n in notes if n.todo]}
    lines = [f"{file} -> {into}"]
    for what, some in parts.items():
        lines += [f"  {what}: {len(some)}", *(f"    {n}" for n in some)]
    return "\n".join(lines)
