"""Parameter servers: embedding tables in processes of their own, which workers pull from and push to."""

from ...core.extras import install_hint

try:
    import zmq as _zmq  # noqa: F401
except ImportError:
    raise ImportError(f"parameter servers need the package pyzmq: {install_hint('ps')}") from None

from .channel import ServerGone
from .client import Client
from .config import DenseConfig, Rule, SparseConfig
from .server import Server

__all__ = ["Client", "DenseConfig", "Rule", "Server", "ServerGone", "SparseConfig"]
