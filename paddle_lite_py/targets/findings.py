"""Findings: read from its StableHLO, with the user's lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from .hlo import source

_LOCATION = re.compile(r"^(#loc\d*) = loc\((.*)\)\s*$")
_OPERATION = re.compile(r'^\s*(?:(%\w+)(?::\d+)? = )?"?(?:stablehlo|chlo)\.(\w+)"?(.*?)(?: loc\((#loc\d*)\))?\s*$')
_TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+)>")
_NAME = re.compile(r'^"([^"]*)"')
_REFERENCE = re.compile(r"#loc\d*")
_HOST = re.compile(r"@\"?([\w.]*(?:callback|python|host)[\w.]*)", re.IGNORECASE)
_NO_WORK = frozenset("constant convert return broadcast_in_dim reshape transpose slice case while".split())
_TRANSFERS = ("send", "recv", "infeed", "outfeed")
_NARROW = ("bf16", "f16")
# int64 arithmetic on fewer elements costs a TPU nothing that could be seen.
MANY = 1 << 16


class Finding(NamedTuple):
    """One kind of thing at one line.

    Examples:
        >>> Finding("float64", "add", "net.py:3", 2).kind
        'float64'
    """

    kind: str  # a key of KINDS
    op: str
    where: str
    times: int


KINDS = {
    "host callback": "Python or the host is called in the middle of the program",
    "transfer": "data move between host and device in the middle of the program",
    "float64": "arithmetic in float64, which TPUs do not have: it is emulated",
    "int64": f"arithmetic on {MANY} or more 64-bit integers, which TPUs emulate",
    "widened product": "a product of low-precision numbers that were widened to float32 first: the slow kind",
}


def findings(text: str) -> list[Finding]:
    """Return the findings in a program given as StableHLO, by the user's lines.

    Examples:
        >>> findings('%0 = stablehlo.add %a, %b : tensor<2xf64> loc(#loc1)')
        [Finding(kind='float64', op='add', where='', times=1)]
    """
    lines = text.splitlines()
    places: dict[str, str] = {found[1]: found[2] for line in lines if (found := _LOCATION.match(line))}
    counts: dict[tuple[str, str, str], int] = {}
    for kind, name, place in _find_costly(lines):
        op, where = source(_resolve(place, places))
        key = kind, (op if where else name), where
        counts[key] = counts.get(key, 0) + 1
    order = list(KINDS)
    return sorted((Finding(*k, n) for k, n in counts.items()), key=lambda f: (order.index(f.kind), -f.times))


def _find_costly(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """(kind, operation, location) of each operation that costs more than it looks."""
    widened: set[str] = set()
    for line in lines:
        made = _OPERATION.match(line)
        if made is None:
            continue
        result, name, rest, place = made[1], made[2], made[3], made[4] or ""
        types = [(math.prod(int(n) for n in dims.split("x") if n), kind) for dims, kind in _TENSOR.findall(rest)]
        kinds = {kind for _, kind in types}
        if result and name == "convert" and kinds & {*_NARROW} and types[-1][1] == "f32":
            widened.add(result)
        if name == "custom_call" and (host := _HOST.search(rest)):
            yield "host callback", host[1], place
        elif name in _TRANSFERS:
            yield "transfer", name, place
        elif name in ("dot_general", "convolution") and any(f"{v}," in rest or f"{v})" in rest for v in widened):
            yield "widened product", name, place
        elif name not in _NO_WORK and "f64" in kinds:
            yield "float64", name, place
        elif name not in _NO_WORK and any(n >= MANY and kind in ("i64", "ui64") for n, kind in types[-1:]):
            yield "int64", name, place


def _resolve(place: str, places: dict[str, str]) -> str:
    """Return the name that a location stands for: the nearest one that it is made of."""
    for _ in range(20):
        text = places.get(place, "")
        if found := _NAME.match(text):
            if source(found[1])[1]:
                return found[1]
        deeper = _REFERENCE.findall(text)
        if not deeper:
            return found[1] if found else ""
        place = deeper[0]
    return ""
