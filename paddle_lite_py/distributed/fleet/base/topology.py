"""Who shares what with whom, under the path of the reference."""

from ..topology import CommunicateTopology, HybridCommunicateGroup, ParallelMode

__all__ = ["CommunicateTopology", "HybridCommunicateGroup", "ParallelMode"]
