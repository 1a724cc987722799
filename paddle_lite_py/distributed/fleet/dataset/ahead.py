"""Work that a thread does ahead of time."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any


def ahead(feeds: Iterable[Any], most: int = 4) -> Iterator[Any]:
    """Yield the same feeds, some of which a thread makes while others are used."""
    made: queue.Queue[tuple[bool, Any]] = queue.Queue(most)
    left = threading.Event()

    def put(item: tuple[bool, Any]) -> bool:
        while not left.is_set():
            with contextlib.suppress(queue.Full):
                made.put(item, timeout=0.1)
                return True
        return False

    def make() -> None:
        try:
            if all(put((True, feed)) for feed in feeds):
                put((False, None))
        except BaseException as e:
            put((False, e))

    threading.Thread(target=make, daemon=True).start()
    try:
        while (item := made.get())[0]:
            yield item[1]
        if item[1] is not None:
            raise item[1]
    finally:
        left.set()
