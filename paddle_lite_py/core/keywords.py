"""Other keywords for parameters, such as `dim` for `axis`: keywords.txt lists those of all functions and layers."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path

from .memo import once


@once
def _table() -> dict[str, dict[str, str]]:
    """The keywords of each function, layer and method, with the parameters that they stand for."""
    table: dict[str, dict[str, str]] = {}
    text = Path(__file__).with_name("keywords.txt").read_text(encoding="utf-8")
    for line in text.replace("\n    ", " ").splitlines():
        if not line.startswith("#"):
            pairs, names = line.split(": ")
            spelling = dict([pair.split("=", 1) for pair in pairs.split(" ")])
            table |= dict.fromkeys(names.split(" "), spelling)
    return table


def other_keywords(name: str, params: Container[str]) -> Mapping[str, str]:
    """Return the other keywords of a function for those of its parameters that it has.

    Example:
        >>> other_keywords("mean", ("x", "axis"))
        {'input': 'x', 'dim': 'axis'}
    """
    found = _table().get(name, {})
    return {keyword: param for keyword, param in found.items() if param in params and keyword not in params}


def of_layers() -> dict[str, Mapping[str, str]]:
    """Return the keywords of layers ("GLU", when one is made) and of their methods ("Conv1D.forward").

    Example:
        >>> of_layers()["GLU"]
        {'dim': 'axis'}
    """
    return {name: spelling for name, spelling in _table().items() if name[0].isupper()}
