"""What is in force in this process: its topology, or its part in a job with servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .topology import CommunicateTopology, HybridCommunicateGroup

if TYPE_CHECKING:
    from .served.session import Session

current: dict[str, HybridCommunicateGroup] = {}


def use_topology(topology: CommunicateTopology) -> None:
    """Put a topology into force."""
    current["group"] = HybridCommunicateGroup(topology)


def hybrid_group() -> HybridCommunicateGroup:
    """Who this process shares what with; before fleet.init(), all processes share data."""
    if "group" not in current:
        current["group"] = HybridCommunicateGroup()
    return current["group"]


class ServerJob:
    """This process's part in a job with servers; None: there are none."""

    session: Session | None = None


job = ServerJob()
