"""`paddle.nn.layer`: the layers of all families. Its modules are computed: migrate/module_paths.txt."""

from .base import Layer  # noqa: F401
from .families import *  # noqa: F403
