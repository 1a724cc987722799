"""Who shares what with whom, under the path of the reference."""

from typing import Any

from ..current import current
from ..topology import CommunicateTopology, HybridCommunicateGroup, ParallelMode

__all__ = ["CommunicateTopology", "HybridCommunicateGroup", "ParallelMode"]


def __getattr__(name: str) -> Any:
    if name == "_HYBRID_PARALLEL_GROUP":  # None before fleet.init()
        return current.get("group")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
