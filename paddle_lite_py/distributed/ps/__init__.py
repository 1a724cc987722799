"""Parameter servers: embedding tables in processes of their own, which workers pull from and push to."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ...core.extras import install_hint
from .config import DenseConfig, Rule, SparseConfig

if TYPE_CHECKING:
    from .channel import ServerGone
    from .client import Client
    from .server import Server

__all__ = ["Client", "DenseConfig", "Rule", "Server", "ServerGone", "SparseConfig"]

_OVER_NETWORK = {"Client": "client", "Server": "server", "ServerGone": "channel"}


def __getattr__(name: str) -> Any:
    """Import what needs pyzmq on first use: programs without tables do without."""
    if name not in _OVER_NETWORK:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(f"{__name__}.{_OVER_NETWORK[name]}"), name)
    except ModuleNotFoundError as e:
        if e.name != "zmq":
            raise
        raise ImportError(f"parameter servers need the package pyzmq: {install_hint('ps')}") from None
