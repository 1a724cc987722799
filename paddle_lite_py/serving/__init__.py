"""Serve saved models over HTTP and gRPC, in the Open Inference Protocol (KServe v2)."""

from __future__ import annotations

from .batching import Limits
from .errors import ServingError
from .models import ServedModel, load_model
from .pipelines import Pipeline, Step
from .server import Server, ServerSettings
from .tensors import TensorSpec

__all__ = [
    "Limits",
    "Pipeline",
    "ServedModel",
    "Server",
    "ServerSettings",
    "ServingError",
    "Step",
    "TensorSpec",
    "load_model",
]
