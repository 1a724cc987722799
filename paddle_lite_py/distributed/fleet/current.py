"""The topology that is in force in this process."""

from __future__ import annotations

from .topology import CommunicateTopology, HybridCommunicateGroup

current: dict[str, HybridCommunicateGroup] = {}


def use_topology(topology: CommunicateTopology) -> None:
    """Put a topology into force."""
    current["group"] = HybridCommunicateGroup(topology)


def hybrid_group() -> HybridCommunicateGroup:
    """Who this process shares what with; before fleet.init(), all processes share data."""
    if "group" not in current:
        current["group"] = HybridCommunicateGroup()
    return current["group"]
