"""Parameter servers: embedding tables in processes of their own, which workers pull from and push to."""

from .channel import ServerGone
from .client import Client
from .config import DenseConfig, Rule, SparseConfig
from .server import Server

__all__ = ["Client", "DenseConfig", "Rule", "Server", "ServerGone", "SparseConfig"]
