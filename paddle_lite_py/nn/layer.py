"""`paddle.nn.layer`: the layers under the reference's module paths, each of which has those of all families."""

from . import base as layers  # noqa: F401
from . import families
from .base import HookRemoveHelper, Layer, in_declarative_mode  # noqa: F401
from .families import *  # noqa: F403

activation = common = container = conv = loss = norm = pooling = rnn = transformer = vision = families
