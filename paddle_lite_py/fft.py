"""Fourier transforms: the namespace paddle.fft.

Examples:
    >>> import paddle_lite_py as paddle
    >>> paddle.fft.rfft(paddle.to_tensor([1.0, 1.0])).tolist()
    [(2+0j), 0j]
"""

from .core.argument_docs import document as _document
from .ops.fft import *  # noqa: F403
from .ops.fft import __all__ as __all__

_document(globals())
