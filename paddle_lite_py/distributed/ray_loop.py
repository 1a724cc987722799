"""The start of a Ray worker before its training. It must not import this package, which joins on import."""

from __future__ import annotations

from typing import Any


class AddressBook:
    """Where workers of one attempt learn each other's addresses."""

    def __init__(self) -> None:
        self._told: dict[str, dict[int, str]] = {}

    def tell(self, attempt: str, rank: int, address: str) -> None:
        """Note where a worker is."""
        self._told.setdefault(attempt, {})[rank] = address

    def all(self, attempt: str) -> dict[int, str]:
        """Return the addresses of the workers that have reported theirs."""
        return self._told.get(attempt, {})


def run(told: dict[str, Any]) -> Any:
    """Say in the environment who the workers are, if they join, then run the training."""
    from ray import cloudpickle

    if told["meeting"] is not None:
        _meet(told["meeting"])
    loop = cloudpickle.loads(told["loop"])
    return loop() if told["config"] is None else loop(told["config"])


def _meet(meeting: Any) -> None:
    """Learn where the others are; the first one chooses the ports."""
    import os
    import socket
    import time
    import uuid

    import ray
    import ray.train
    from ray.train.collective import broadcast_from_rank_zero

    def free() -> int:
        with socket.socket() as one:
            one.bind(("", 0))
            return one.getsockname()[1]

    context = ray.train.get_context()
    rank, size = context.get_world_rank(), context.get_world_size()
    host = ray.util.get_node_ip_address()
    attempt, master = broadcast_from_rank_zero((uuid.uuid4().hex, f"{host}:{free()}"))
    ray.get(meeting.tell.remote(attempt, rank, f"{host}:{free()}"))
    while len(found := ray.get(meeting.all.remote(attempt))) < size:
        time.sleep(0.05)
    os.environ.update({
        "PADDLE_TRAINER_ID": str(rank),
        "PADDLE_TRAINERS_NUM": str(size),
        "PADDLE_MASTER": master,
        "PADDLE_TRAINER_ENDPOINTS": ",".join(found[r] for r in range(size)),
        "PADDLE_JOB_KEY": attempt,
        "PADDLE_LOCAL_RANK": str(context.get_local_rank()),
        "PADDLE_LOCAL_SIZE": str(context.get_local_world_size()),
        "PADDLE_NODE_RANK": str(context.get_node_rank()),
    })  # fmt: skip
