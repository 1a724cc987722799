"""Serve saved models over HTTP and gRPC, in the Open Inference Protocol (KServe v2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .batching import Limits
from .errors import ServingError
from .language.model import LanguageModel
from .models import ServedModel, load_model
from .pipelines import ModelPipeline, Stage
from .tensors import TensorSpec

if TYPE_CHECKING:
    from .server import Server, ServerSettings

__all__ = [
    "LanguageModel",
    "Limits",
    "ModelPipeline",
    "ServedModel",
    "Server",
    "ServerSettings",
    "ServingError",
    "Stage",
    "TensorSpec",
    "load_model",
]


def __getattr__(name: str) -> Any:
    """Import what needs the packages of the extra `serving` on first use: the command line must work without them."""
    if name in ("Server", "ServerSettings"):
        from . import server

        return getattr(server, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
