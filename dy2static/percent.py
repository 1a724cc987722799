"""`template % values` as the parts of an f-string, for values of which Python does not know the text yet."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_FIELD = re.compile(r"%(?:\((\w+)\))?([-+ #0]*)(\d*)(\.\d+)?[hlL]?([diueEfFgGrsaxXoc%])")
Part = str | tuple[Any, int, str]


def parts_of(template: str, values: Any, whole: Callable[[Any], Any]) -> list[Part]:
    """Return the parts of a text.

    Arguments:
        template: text with fields as `%` knows them.
        values: a tuple, a dict, or one value.
        whole: what makes a whole number of a value, for `%d`.

    Raises:
        TypeError: there are more or fewer values than fields.

    Example:
        >>> parts_of("%s: %5.1f", ("x", 2.5), int)
        [('x', 115, ''), ': ', (2.5, -1, '5.1f')]
    """
    named = isinstance(values, dict)
    each = values if named or isinstance(values, tuple) else (values,)
    template % (dict.fromkeys(each, 0) if named else (0,) * len(each))  # raises what Python raises
    given = iter(each)
    parts: list[Part] = []
    at = 0
    for field in _FIELD.finditer(template):
        name, flags, width, precision, kind = field.groups()
        parts.append(template[at : field.start()])
        at = field.end()
        if kind == "%":
            parts.append("%")
            continue
        value = values[name] if name else next(given)
        value = whole(value) if kind in "diu" else value
        parts.append((value, ord(kind) if kind in "rsa" else -1, _spec(flags, width, precision or "", kind)))
    return [part for part in [*parts, template[at:]] if part != ""]


def _spec(flags: str, width: str, precision: str, kind: str) -> str:
    """Return the format of an f-string for the flags, width, precision and letter of a field."""
    text = kind in "rsa"
    align = "<" if "-" in flags else ">" if text and width else ""
    sign = "" if text else "+" if "+" in flags else " " if " " in flags else ""
    zero = "0" if "0" in flags and not text and not align else ""
    form = "" if text else "d" if kind in "iu" else kind
    return f"{align}{sign}{'#' if '#' in flags and not text else ''}{zero}{width}{precision}{form}"
