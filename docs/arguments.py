"""Writes the table of the arguments that have no effect into differences.md, from their declarations in the code.

usage: python docs/arguments.py
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import paddle_lite_py
from paddle_lite_py.core.no_effect import DECLARATIONS, EXEMPT, public_name

PAGE = Path(__file__).resolve().parent / "differences.md"
BEGIN, END = "<!-- written by docs/arguments.py: begin -->\n", "<!-- end -->\n"
# A command.
NOT_IMPORTED = "paddle_lite_py.__main__"


def table() -> str:
    """The declarations as Markdown: what is exempt everywhere, then a row for each reason that functions share."""
    for module in pkgutil.walk_packages(paddle_lite_py.__path__, "paddle_lite_py."):
        if module.name != NOT_IMPORTED:
            _imported(module.name)
    rows: dict[tuple[str, str], dict[str, list[str]]] = {}
    for d in DECLARATIONS:
        if d.function.__module__.startswith("paddle_lite_py."):
            given = rows.setdefault((d.told, str(d.reason)), {})
            given.setdefault(public_name(d.function), []).append(d.argument)
    lines = ["| Functions | Arguments | A call | Reason |", "|---|---|---|---|"]
    for (told, reason), functions in rows.items():
        by_arguments: dict[tuple[str, ...], list[str]] = {}
        for name, arguments in functions.items():
            by_arguments.setdefault(tuple(sorted(set(arguments))), []).append(name)
        for arguments, names in by_arguments.items():
            cells = [_listed(sorted(set(names))), _listed(arguments) if any(arguments) else "all", told, reason]
            lines.append("| " + " | ".join(cells) + " |")
    everywhere = [f"- `{name}`: {reason}." for name, reason in EXEMPT.items()]
    return "\n".join([*everywhere, "", *lines[:2], *sorted(lines[2:])]) + "\n"


def _imported(module: str) -> None:
    """Import it, where the packages that it stands on are there."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as e:
        if str(e.name).startswith("paddle_lite_py"):
            raise


def _listed(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"`{n}`" for n in names)


def page(text: str) -> str:
    """The page with the table as it should be."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
