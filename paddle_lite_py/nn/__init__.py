"""Layers."""

from . import container, initializer, layer
from .clip import *  # noqa: F403
from .container import *  # noqa: F403
from .layer import Layer
from .parameter import create_parameter
from ..tensor import Parameter
