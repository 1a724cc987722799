"""Complete the Arguments sections of docstrings from a table of shared descriptions, arguments.txt.

Arguments that a docstring does not describe itself get the text of the table, or the reason why they have no effect,
with the default of the signature; all entries are put in the order of the signature. This happens when a public package
is imported, but only where docstrings may be read: in an interactive session, a notebook, a documentation tool or a
test. It takes 10 ms, which other programs do not pay.
"""

from __future__ import annotations

import enum
import inspect
import re
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

from .memo import memo, once
from .no_effect import DECLARATIONS, EXEMPT

_SECTION = re.compile(r"\n( *)(?:Shape|Returns|Raises|Yields|Examples?|Note|Attributes):")
# A section with its lines, which are indented further; there may be empty ones between them.
_OWN = re.compile(r"\n( *)(?:Arguments|Args):.*\n(?:\1 +\S.*\n|\n(?=\1 +\S))+")
_INDENT, _NONE = re.compile(r"\n( +)\S"), ("", "")
_READERS = frozenset({"IPython", "pydoc", "pytest", "sphinx"})
_TOP = "paddle_lite_py."
_SILENT = frozenset(EXEMPT) - {"pin_memory"} | {"self", "cls"}


def document(names: dict[str, Any]) -> None:
    """Complete the docstrings of the functions and classes in a package's namespace."""
    if not _has_readers():
        return
    for value in list(names.values()):
        own = type(value) is FunctionType or (isinstance(value, type) and "__doc__" in vars(value))
        if own and value.__module__.startswith(_TOP) and value.__doc__:
            complete(value)


def _has_readers() -> bool:
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or any(name in sys.modules for name in _READERS)


def complete(value: Any) -> None:
    """Add the missing arguments to the docstring of a function or class, as far as the table describes them."""
    doc = value.__doc__
    own = _OWN.search(doc)
    told = told_of(own[0]) if own else ()
    found = described(value)
    lines = [f"{name}: {text}{default}" for name, text, default in found if text and name not in told]
    if not lines:
        return
    after = _SECTION.search(doc)
    indent = (own or after or _INDENT.search(doc) or _NONE)[1]
    entries = [f"{indent}    {line}\n" for line in lines]
    if own:
        head, *kept = re.split(rf"(?m)^(?={indent}    \S)", own[0].rstrip() + "\n")
        order = [name for name, _, _ in found]
        text = head + "".join(sorted(kept + entries, key=lambda entry: _position(entry, order)))
        value.__doc__ = doc[: own.start()] + text + doc[own.end() :]
        return
    at = after.start() if after else len(doc.rstrip())
    text = f"{'' if after else chr(10)}\n{indent}Arguments:\n{''.join(entries)}"
    value.__doc__ = doc[:at].rstrip(" ") + text + doc[at:]


def _position(entry: str, order: list[str]) -> int:
    """Return the position of an entry's first argument in the signature."""
    name = entry.strip().lstrip("*").partition(":")[0].partition(",")[0]
    return order.index(name) if name in order else len(order)


def told_of(section: str) -> set[str]:
    """Return the names of the arguments that a section describes."""
    return set(re.findall(r"\w+", " ".join(re.findall(r"\n +([\w*, ]+):(?= |\n)", section))))


def described(value: Any) -> list[tuple[str, str, str]]:
    """Return name, description and default of each argument; the description is empty if the table has none."""
    module, own = value.__module__.removeprefix(_TOP), value.__name__
    idle = _without_effect(len(DECLARATIONS)).get((value.__module__, own), {})
    return [
        (p.name, f"no effect: {idle[p.name]}." if p.name in idle else _text(module, own, p.name), _default(p.default))
        for p in parameters(value)
    ]


# Key: the number of declarations.
@memo(1, context=False)
def _without_effect(count: int) -> dict[tuple[str, str], dict[str, str]]:
    """Return the arguments without effect and the reasons, by module and name of the function."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for d in DECLARATIONS[:count]:
        name = d.function.__qualname__.removesuffix(".__init__")
        found.setdefault((d.function.__module__, name), {})[d.argument] = str(d.reason)
    return found


def parameters(value: Any) -> list[inspect.Parameter]:
    """Return the parameters of a public signature, without those that never have an effect."""
    if isinstance(value, type) and issubclass(value, enum.Enum | tuple):
        return []
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in found if p.name not in _SILENT and not p.name.startswith("_")]


def _default(value: Any) -> str:
    return f" Default: {value!r}." if isinstance(value, bool | int | float | str | tuple) else ""


@once
def _table() -> dict[str, str]:
    lines = (Path(__file__).with_name("arguments.txt")).read_text().splitlines()
    pairs = (line.split(": ", 1) for line in lines if line and not line.startswith("#"))
    return dict(pairs)


def _text(module: str, own: str, name: str) -> str:
    table = _table()
    if (text := table.get(f"{own}.{name}")) is not None:
        return text
    room = module
    while room:
        if (text := table.get(f"{room}/{name}")) is not None:
            return text
        room = room.rpartition(".")[0]
    return table.get(name, "")
