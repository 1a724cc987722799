"""Who shares data, layers and states with whom."""

from ..topology import HybridCommunicateGroup

__all__ = ["HybridCommunicateGroup"]
