"""Differentiation: backward, grad, PyLayer and the gradient modes."""

from ..core.argument_docs import document as _document
from .derivatives import hessian, jacobian, vjp
from .functional import backward, grad
from .mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .py_layer import PyLayer, PyLayerContext
from .py_layer import PyLayer as Function
from .saved import saved_tensors_hooks
from .transforms import jvp, vmap

__all__ = [
    *("hessian", "jacobian", "jvp", "vjp", "vmap"),
    "Function",
    "PyLayer",
    "PyLayerContext",
    "backward",
    "enable_grad",
    "grad",
    "is_grad_enabled",
    "no_grad",
    "saved_tensors_hooks",
    "set_grad_enabled",
]

_document(globals())
