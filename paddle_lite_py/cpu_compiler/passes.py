"""The passes over a program that XLA will compile for CPUs: what each is for, and which benchmark shows it.

`FLAGS_skip_cpu_passes="layouts,products"` in the environment leaves some out, to measure what they are worth. What is
there for right results and not for speed is never left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .chained import unfuse_dot_chains
from .compared import materialize_before_extremum
from .convolutions import lower_convolutions
from .fusion import materialize_shared_chains
from .in_place import materialize_read_slices
from .kernel_gradients import rewrite_conv_gradients
from .layouts import propagate_layouts
from .products import collapse_contractions
from .updates import fuse_optimizer_updates

SKIP = "FLAGS_skip_cpu_passes"


class Pass(NamedTuple):
    """One of them.

    Attributes:
        run: from a flat jaxpr, and which of its arguments' memory its results may take, to a jaxpr.
        why: what it does, and what XLA does without it.
        row: of `benchmarks/run.py`; empty where it is there for right results.
    """

    name: str
    run: Callable[[Any, Sequence[int]], Any]
    why: str
    row: str


def _alone(run: Callable[[Any], Any]) -> Callable[[Any, Sequence[int]], Any]:
    return lambda jaxpr, donated: run(jaxpr)


PASSES = (
    Pass("layouts", _alone(propagate_layouts), "transposes cancel where XLA makes each of them", "train_resnet_step"),
    Pass("convolutions", _alone(lower_convolutions), "oneDNN computes those that it is faster at", "train_resnet_step"),
    Pass(
        "kernel_gradients",
        _alone(rewrite_conv_gradients),
        "forms that XLA has fast code for",
        "train_unet_step",
    ),
    Pass(
        "products",
        _alone(collapse_contractions),
        "sums over one axis: XLA copies operands for several",
        "train_bert_step",
    ),
    Pass(
        "updates",
        fuse_optimizer_updates,
        "one kernel for an update: XLA has one for each result",
        "train_mlp_step",
    ),
    Pass("chained", _alone(unfuse_dot_chains), "products apart that XLA makes again for each part", "train_lenet_step"),
    Pass("compared", _alone(materialize_before_extremum), "what is compared with its own maximum is computed once", ""),
    Pass(
        "in_place",
        _alone(materialize_read_slices),
        "slices that a write is made of are read before it",
        "",
    ),
    Pass(
        "fusion",
        _alone(materialize_shared_chains),
        "chains that XLA repeats in each kernel into memory",
        "train_bert_step",
    ),
)


def chosen() -> list[Pass]:
    """Return those that are not left out.

    Raises:
        ValueError: a name among those to leave out is of none.
    """
    skipped = {name.strip() for name in os.environ.get(SKIP, "").split(",") if name.strip()}
    names = [p.name for p in PASSES if p.row]
    if unknown := skipped.difference(names):
        raise ValueError(f"{SKIP} names {', '.join(sorted(unknown))}; the passes that may be left out are {names}")
    return [p for p in PASSES if p.name not in skipped]


# The passes of this process: programs on disk are identified by the result of the passes.
CHOSEN = chosen()
