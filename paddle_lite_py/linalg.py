"""Linear algebra: the namespace paddle.linalg.

Examples:
    >>> import paddle_lite_py as paddle
    >>> paddle.linalg.norm(paddle.to_tensor([3.0, 4.0])).item()
    5.0
"""

from .core.argument_docs import document as _document
from .ops.decomposition import (
    cholesky,
    cholesky_inverse,
    cholesky_solve,
    cond,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    matrix_power,
    matrix_rank,
    pca_lowrank,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    svd_lowrank,
    svdvals,
    triangular_solve,
)
from .ops.diagonals import diagonal
from .ops.factors import householder_product, lstsq, lu, lu_solve, lu_unpack, matrix_exp, matrix_transpose, ormqr
from .ops.linalg import cross, matmul, multi_dot, vecdot
from .ops.norms import matrix_norm, norm, vector_norm
from .ops.statistics import corrcoef, cov

__all__ = [
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "cond",
    "corrcoef",
    "cov",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "lstsq",
    "lu",
    "lu_solve",
    "lu_unpack",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "ormqr",
    "pca_lowrank",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svd_lowrank",
    "svdvals",
    "triangular_solve",
    "vecdot",
    "vector_norm",
]

_document(globals())
