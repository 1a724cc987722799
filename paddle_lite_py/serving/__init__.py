"""Serve saved models over HTTP and gRPC, in the Open Inference Protocol (KServe v2)."""

from __future__ import annotations

from .batching import Limits
from .errors import ServingError
from .models import ServedModel, load_model
from .pipelines import ModelPipeline, Stage
from .server import Server, ServerSettings
from .tensors import TensorSpec

__all__ = [
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
