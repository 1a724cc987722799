"""Layers, and what is needed to build and train them."""

from ..tensor import Parameter
from . import clip, functional, initializer, unique_name
from .activation import *  # noqa: F403
from .clip import *  # noqa: F403
from .common import *  # noqa: F403
from .container import *  # noqa: F403
from .conv import *  # noqa: F403
from .layer import Layer
from .loss import *  # noqa: F403
from .norm import *  # noqa: F403
from .parameter import create_parameter
from .pooling import *  # noqa: F403
from .vision import *  # noqa: F403
