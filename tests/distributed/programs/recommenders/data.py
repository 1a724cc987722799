"""Writes click logs of a made-up shop: python data.py FOLDER [LINES [FILES]]

A line is "label<tab>dense numbers<tab>categories<tab>history<tab>item", lists with commas; what is clicked depends on
the fields alone, on pairs of them, and on how near the item is to those in the history.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

FIELDS, NUMBERS, ITEMS, EACH, LONGEST = 6, 3, 40, 80, 8


def rows(count: int, seed: int):
    """Lines of the log."""
    taste = np.random.default_rng(7)  # the shop is the same for all files
    alone = taste.normal(0, 0.6, (FIELDS, EACH))
    factors = taste.normal(0, 0.5, (FIELDS, EACH, 4))
    near = taste.normal(0, 1, (ITEMS, 4))
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    weights = taste.normal(0, 0.6, NUMBERS)
    rng = np.random.default_rng(seed)
    for _ in range(count):
        fields = np.minimum(rng.zipf(1.4, FIELDS) - 1, EACH - 1)
        numbers = rng.normal(size=NUMBERS).round(3)
        kind = rng.integers(ITEMS)
        likely = np.argsort(-(near @ near[kind]))[:8]
        history = rng.choice(likely, rng.integers(2, LONGEST + 1))
        item = rng.choice(likely) if rng.random() < 0.5 else rng.integers(ITEMS)
        own = factors[np.arange(FIELDS), fields]
        pairs = ((own.sum(0) ** 2).sum() - (own**2).sum()) / 2
        logit = alone[np.arange(FIELDS), fields].sum() + pairs + numbers @ weights
        logit += 4 * (near[history] @ near[item]).mean() - 1
        label = int(rng.random() < 1 / (1 + np.exp(-logit)))
        yield label, numbers.tolist(), [f * 1000 + int(c) for f, c in enumerate(fields)], history.tolist(), int(item)


def line(label, *fields) -> str:
    """A row as text."""
    texts = [",".join(map(str, f)) if isinstance(f, list) else str(f) for f in fields]
    return "\t".join([str(label), *texts]) + "\n"


def write(folder: Path, lines: int = 4000, files: int = 2, share: int = 32) -> None:
    """Files train/part-0, ... and test/part-0; and whole/part-0, which takes `share` lines of each part in turn."""
    for kind in ("train", "test", "whole"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    parts = [[line(*row) for row in rows(lines // files, seed)] for seed in range(files)]
    for i, part in enumerate(parts):
        (folder / "train" / f"part-{i}").write_text("".join(part))
    turns = [part[at : at + share] for at in range(0, lines // files, share) for part in parts]
    (folder / "whole" / "part-0").write_text("".join(text for turn in turns for text in turn))
    (folder / "test" / "part-0").write_text("".join(line(*row) for row in rows(lines // 2, 1000)))


if __name__ == "__main__":
    write(Path(sys.argv[1]), *map(int, sys.argv[2:]))
