"""Other keywords for parameters, such as `dim` for `axis`: keywords.txt lists those of all functions and layers."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path

from .memo import once


def _read(sign: str) -> dict[str, dict[str, str]]:
    """The pairs of names with that sign between them, of each function, layer and method."""
    table: dict[str, dict[str, str]] = {}
    text = Path(__file__).with_name("keywords.txt").read_text(encoding="utf-8")
    for line in text.replace("\n    ", " ").splitlines():
        pairs, _, names = line.partition(": ")
        if sign in pairs and not line.startswith("#"):
            spelling = dict([pair.split(sign, 1) for pair in pairs.split(" ")])
            table |= dict.fromkeys(names.split(" "), spelling)
    return table


@once
def _table() -> dict[str, dict[str, str]]:
    """The keywords of each function, layer and method, with the parameters that they stand for."""
    return _read("=")


@once
def _places() -> dict[str, dict[str, str]]:
    """The parameters of each function that change their place, with those that then stand there."""
    return _read("|")


def other_keywords(name: str, params: Container[str]) -> Mapping[str, str]:
    """Return the other keywords of a function for those of its parameters that it has.

    Example:
        >>> other_keywords("mean", ("x", "axis"))
        {'input': 'x', 'dim': 'axis'}
    """
    found = _table().get(name, {})
    return {keyword: param for keyword, param in found.items() if param in params and keyword not in params}


def other_place(name: str) -> tuple[str, str] | None:
    """Return the parameter of a function that changes its place, and the one that stands there where it is a keyword.

    Example:
        >>> other_place("index_select")  # index_select(x, 1, index=i)
        ('index', 'axis')
    """
    return next(iter(_places().get(name, {}).items()), None)


def of_layers() -> dict[str, Mapping[str, str]]:
    """Return the keywords of layers ("GLU", when one is made) and of their methods ("Conv1D.forward").

    Example:
        >>> of_layers()["GLU"]
        {'dim': 'axis'}
    """
    return {name: spelling for name, spelling in _table().items() if name[0].isupper()}
