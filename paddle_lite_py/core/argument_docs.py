"""Sections of arguments for docstrings: what many functions share is said once, in arguments.txt.

A docstring gets a section of the table's texts, the declarations of what has no effect, and the defaults of the
signature; what its own `Arguments:` section says stays as it is. That is done when the package that gives the function
to users is imported and somebody may read it: in a session, a notebook, a tool for documentation or tests. It takes
10 ms, which no other program has to wait for.
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

_SECTION = re.compile(r"\n( *)(?:Returns|Raises|Yields|Examples?|Note|Attributes):")
# A section with its lines, which are indented further; there may be empty ones between them.
_OWN = re.compile(r"\n( *)(?:Arguments|Args):.*\n(?:\1 +\S.*\n|\n(?=\1 +\S))+")
_INDENT, _NONE = re.compile(r"\n( +)\S"), ("", "")
_READERS = frozenset({"IPython", "pydoc", "pytest", "sphinx"})
_TOP = "paddle_lite_py."
_SILENT = frozenset(EXEMPT) - {"pin_memory"} | {"self", "cls"}


def document(names: dict[str, Any]) -> None:
    """Complete the docstrings of functions and classes among the names that a package gives."""
    if not _has_readers():
        return
    for value in list(names.values()):
        own = type(value) is FunctionType or (isinstance(value, type) and "__doc__" in vars(value))
        if own and value.__module__.startswith(_TOP) and value.__doc__:
            complete(value)


def _has_readers() -> bool:
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or any(name in sys.modules for name in _READERS)


def complete(value: Any) -> None:
    """Give the docstring of a function or class what its section lacks, as far as the table knows the arguments."""
    doc = value.__doc__
    own = _OWN.search(doc)
    told = told_of(own[0]) if own else ()
    lines = [f"{name}: {text}{default}" for name, text, default in described(value) if text and name not in told]
    if not lines:
        return
    after = _SECTION.search(doc)
    indent = (own or after or _INDENT.search(doc) or _NONE)[1]
    text = "\n".join(f"{indent}    {line}" for line in lines) + "\n"
    if own:
        at = own.end()
    else:
        at = after.start() if after else len(doc.rstrip())
        text = f"{'' if after else chr(10)}\n{indent}Arguments:\n{text}"
    value.__doc__ = doc[:at].rstrip(" ") + text + doc[at:]


def told_of(section: str) -> set[str]:
    """The arguments that a section tells of."""
    return set(re.findall(r"\w+", " ".join(re.findall(r"\n +([\w*, ]+):(?= |\n)", section))))


def described(value: Any) -> list[tuple[str, str, str]]:
    """Name, meaning and default of each argument; the meaning is empty where the table has none."""
    module, own = value.__module__.removeprefix(_TOP), value.__name__
    idle = _without_effect(len(DECLARATIONS)).get((value.__module__, own), {})
    return [
        (p.name, f"no effect: {idle[p.name]}." if p.name in idle else _text(module, own, p.name), _default(p.default))
        for p in parameters(value)
    ]


# Key: how many functions have said what has no effect.
@memo(1, context=False)
def _without_effect(count: int) -> dict[tuple[str, str], dict[str, str]]:
    """By module and name of a function the arguments that change nothing, with the reasons; of so many declarations."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for d in DECLARATIONS[:count]:
        name = d.function.__qualname__.removesuffix(".__init__")
        found.setdefault((d.function.__module__, name), {})[d.argument] = str(d.reason)
    return found


def parameters(value: Any) -> list[inspect.Parameter]:
    """The arguments that a user may give, but for those that change nothing anywhere."""
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


def _inherited(value: Any) -> bool:
    return isinstance(value, type) and "__doc__" not in vars(value)
