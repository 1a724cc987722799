"""Where workers wait for each other."""

from __future__ import annotations

from typing import Any


class Barrier:
    """Keeps who has arrived, until all have.

    Args:
        workers: how many it waits for.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._waiting: dict[int, tuple[Any, dict[str, Any]]] = {}

    def arrive(self, client: Any, header: dict[str, Any]) -> list[tuple[Any, dict[str, Any]]]:
        """Note that a worker is there; all that have waited, if it is the last one. One that comes again counts once.

        Raises:
            ValueError: a number that is no worker's.
        """
        worker = header.get("worker")
        if type(worker) is not int or not 0 <= worker < self.workers:
            raise ValueError(f"barrier: worker is {worker!r}; the servers were started for {self.workers} workers")
        self._waiting[worker] = client, header
        if len(self._waiting) < self.workers:
            return []
        arrived = list(self._waiting.values())
        self._waiting.clear()
        return arrived
