"""Models for pictures."""

from ...core.argument_docs import document as _document
from . import densenet, inception, lenet, mobilenet, resnet, shufflenet, squeezenet, vgg
from .densenet import *  # noqa: F403
from .inception import *  # noqa: F403
from .lenet import *  # noqa: F403
from .mobilenet import *  # noqa: F403
from .resnet import *  # noqa: F403
from .shufflenet import *  # noqa: F403
from .squeezenet import *  # noqa: F403
from .vgg import *  # noqa: F403

__all__ = [
    *(*densenet.__all__, *inception.__all__, *lenet.__all__, *mobilenet.__all__, *resnet.__all__),
    *(*shufflenet.__all__, *squeezenet.__all__, *vgg.__all__),
]

# For each function that builds a network and has no example itself.
_EXAMPLE = """

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.vision.models.{name}(num_classes=10)
        >>> net.parameters()[-1].shape
        paddle.Size([10])
    """
for _name in __all__:
    if not isinstance(_builder := globals()[_name], type) and ">>>" not in _builder.__doc__:
        _builder.__doc__ = _builder.__doc__.rstrip() + _EXAMPLE.format(name=_name)
_document(globals())
