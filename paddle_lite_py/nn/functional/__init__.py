"""Functions of tensors for networks: the ops, and what is made of them."""

from typing import TYPE_CHECKING, Any

from ...core.argument_docs import document as _document
from ...dispatch.define import INPLACE as _INPLACE
from ...ops.activation import *  # noqa: F403
from ...ops.adaptive_pooling import *  # noqa: F403
from ...ops.attention import flash_attn_qkvpacked, scaled_dot_product_attention  # noqa: F401
from ...ops.class_losses import *  # noqa: F403
from ...ops.common import *  # noqa: F403
from ...ops.convolution import *  # noqa: F403
from ...ops.ctc import *  # noqa: F403
from ...ops.diagonals import diag_embed  # noqa: F401
from ...ops.distance_losses import *  # noqa: F403
from ...ops.dropout import *  # noqa: F403
from ...ops.flashmask import flashmask_attention  # noqa: F401
from ...ops.fractional_pooling import *  # noqa: F403
from ...ops.losses import *  # noqa: F403
from ...ops.normalization import *  # noqa: F403
from ...ops.norms import pdist  # noqa: F401
from ...ops.padding import *  # noqa: F403
from ...ops.pooling import *  # noqa: F403
from ...ops.recurrent import *  # noqa: F403
from ...ops.softmax import *  # noqa: F403
from ...ops.sparse_attention import sparse_attention  # noqa: F401
from ...ops.transducer import *  # noqa: F403
from ...ops.tree_losses import *  # noqa: F403
from ...ops.unary import sigmoid, tanh  # noqa: F401
from ...ops.vision_ops import *  # noqa: F403
from . import flash_attention  # noqa: F401

tanh_ = _INPLACE["tanh_"]

if TYPE_CHECKING:
    # The names come from the `__all__` of the op modules, which type checkers do not follow.
    def __getattr__(name: str) -> Any: ...


_document(globals())
