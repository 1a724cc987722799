"""The layers of all families."""

from ..core.keywords import of_layers as _of_layers
from ..dispatch.respelling import with_keywords as _with_keywords
from ..eager.tensor import Parameter  # noqa: F401
from .activation import *  # noqa: F403
from .aliases import *  # noqa: F403
from .attention import *  # noqa: F403
from .attention import additive as _convert_attention_mask  # noqa: F401
from .base import Layer  # noqa: F401
from .batch_norm import *  # noqa: F403
from .clip import *  # noqa: F403
from .common import *  # noqa: F403
from .container import *  # noqa: F403
from .conv import *  # noqa: F403
from .conv import _Conv as _ConvNd  # noqa: F401
from .decode import *  # noqa: F403
from .function_layer import FunctionLayer as _FunctionLayer
from .function_layer import property_of as _property_of
from .loss import *  # noqa: F403
from .norm import *  # noqa: F403
from .parameter import create_parameter  # noqa: F401
from .pooling import *  # noqa: F403
from .rnn import *  # noqa: F403
from .rnn_cells import *  # noqa: F403
from .transformer import *  # noqa: F403
from .transformer import attrs_of_parts as _convert_param_attr_to_list  # noqa: F401
from .tree_losses import *  # noqa: F403
from .vision import *  # noqa: F403

for _name, _spelling in _of_layers().items():
    _layer, _, _method = _name.partition(".")
    _cls = globals()[_layer]
    setattr(_cls, _method or "__init__", _with_keywords(getattr(_cls, _method or "__init__"), _spelling))
    if not _method and issubclass(_cls, _FunctionLayer):  # its settings are attributes under these names as well
        for _key, _setting in _spelling.items():
            setattr(_cls, _key, _property_of(_setting))
