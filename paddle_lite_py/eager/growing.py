"""Loops in which shapes change: what waits of them is many turns, as a program of which none would come again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.arrays import array_class
from ..core.unrolled_loops import are_turns
from ..registry.bound import BoundOp
from .recorded_ops import BackwardStep, CallStep


def is_growing(steps: Sequence[CallStep | BackwardStep], outside: Sequence[Any]) -> bool:
    """Whether steps are many turns of a loop in which shapes change, such as those of a decoder with a cache."""
    values: list[Any] = []
    kinds: defaultdict[BoundOp, set[int]] = defaultdict(set)
    reads: Counter[int] = Counter()
    for step in steps:
        if isinstance(step, BackwardStep) or step.bound.lazy is None:
            return False
        found = step.bound.lazy.results([values[i] if i >= 0 else outside[~i] for i in step.places])
        values += found.specs
        kinds[step.bound].add(id(found))  # kept under the shapes and dtypes of arguments
        reads.update(i for i in step.places if i < 0 and outside[~i].__class__ in (np.ndarray, array_class()))
    return are_turns(reads, kinds)
