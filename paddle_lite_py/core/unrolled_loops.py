"""How a loop looks whose turns stand one after the other, and in which shapes change from turn to turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

TURNS = 16


def are_turns(reads: Counter[Any], kinds: Mapping[Any, set[Any]]) -> bool:
    """Whether operators are many turns of such a loop.

    Arguments:
        reads: how often each input is read; a weight is, in each turn.
        kinds: for each operator, the shapes that it has met; they differ in each turn.
    """
    return max(reads.values(), default=0) >= TURNS and max(map(len, kinds.values()), default=0) >= TURNS
