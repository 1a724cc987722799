"""Models for pictures."""

from . import lenet, mobilenet, resnet, vgg
from .lenet import *  # noqa: F403
from .mobilenet import *  # noqa: F403
from .resnet import *  # noqa: F403
from .vgg import *  # noqa: F403

__all__ = [*lenet.__all__, *mobilenet.__all__, *resnet.__all__, *vgg.__all__]
