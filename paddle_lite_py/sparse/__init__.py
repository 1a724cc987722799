"""Sparse tensors in coordinate (COO) and compressed sparse row (CSR) format."""

from ..core.argument_docs import document as _document
from . import nn, operators
from .elementwise import (
    abs,
    asin,
    asinh,
    atan,
    atanh,
    cast,
    deg2rad,
    expm1,
    isnan,
    log1p,
    neg,
    pow,
    rad2deg,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
)
from .matrix import add, addmm, divide, masked_matmul, matmul, multiply, mv, subtract
from .shape import coalesce, is_same_shape, mask_as, pca_lowrank, reshape, slice, sum, transpose
from .tensors import SparseCooTensor, SparseCsrTensor, sparse_coo_tensor, sparse_csr_tensor

__all__ = [
    "SparseCooTensor",
    "SparseCsrTensor",
    "abs",
    "add",
    "addmm",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cast",
    "coalesce",
    "deg2rad",
    "divide",
    "expm1",
    "is_same_shape",
    "isnan",
    "log1p",
    "mask_as",
    "masked_matmul",
    "matmul",
    "multiply",
    "mv",
    "neg",
    "nn",
    "pca_lowrank",
    "pow",
    "rad2deg",
    "reshape",
    "sin",
    "sinh",
    "slice",
    "sparse_coo_tensor",
    "sparse_csr_tensor",
    "sqrt",
    "square",
    "subtract",
    "sum",
    "tan",
    "tanh",
    "transpose",
]

_document(globals())
