"""Programs that run on the batches of a data set."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ..eager.tensor import Tensor


def run_batches(
    run: Any, dataset: Any, fetch_list: Sequence[Any], fetch_info: Sequence[str] | None, print_period: int,
    handler: Any, prepared: Callable[[Any], Any] = lambda feed: feed, skips: Callable[[], bool] = lambda: False,
) -> None:  # fmt: skip
    """Run once for each feed of a dataset, as it is prepared, and show what is fetched now and then.

    Arguments:
        skips: whether the next feed is skipped; called until it says no.
    """
    # Only here: with them all of paddle.distributed is loaded.
    from ..distributed.fleet.dataset import InMemoryDataset, QueueDataset
    from ..distributed.fleet.dataset.ahead import ahead

    if dataset is None or not hasattr(dataset, "__iter__"):
        raise TypeError(f"dataset is a {type(dataset).__name__}; expected a dataset, or feeds one after another")
    names = list(fetch_info or [f.name if isinstance(f, Tensor) else str(f) for f in fetch_list])
    # Feeds of a dataset are made during the runs; the user's own functions are called between them.
    feeds: Any = itertools.dropwhile(lambda _: skips(), dataset)
    if isinstance(dataset, InMemoryDataset | QueueDataset):
        feeds = ahead(map(prepared, feeds))
    for step, feed in enumerate(feeds, 1):
        shown = bool(fetch_list) and step % print_period == 0
        found = run(feed, list(fetch_list) if shown else [])
        if shown and handler is not None:
            handler.handler(dict(zip(names, found, strict=True)))
        elif shown:
            print(f"batch {step}: " + ", ".join(f"{n}={a}" for n, a in zip(names, found, strict=True)))
