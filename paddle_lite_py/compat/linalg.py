"""Decompositions whose parts have names in torch.linalg."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core.argument_docs import document as _document
from ..eager.tensor import Tensor
from ..ops import decomposition, factors
from .results import OrthogonalFactors

__all__ = ["eig", "eigh", "lstsq", "lu_factor", "qr", "slogdet", "svd"]


class Eigen(NamedTuple):
    """Eigenvalues, and eigenvectors as columns.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.linalg.eigh(paddle.eye(2)).eigenvalues.tolist()
        [1.0, 1.0]
    """

    eigenvalues: Tensor
    eigenvectors: Tensor


class SignAndLogarithm(NamedTuple):
    """Sign, and logarithm of the size, of determinants.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.linalg.slogdet(paddle.eye(2)).sign.item()
        1.0
    """

    sign: Tensor
    logabsdet: Tensor


class LeastSquares(NamedTuple):
    """What lstsq() finds.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.linalg.lstsq(paddle.eye(2), paddle.ones([2, 1])).solution.tolist()
        [[1.0], [1.0]]
    """

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


class SingularParts(NamedTuple):
    """The parts of a singular value decomposition.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.linalg.svd(paddle.ones([2, 3]), False).Vh.shape
        paddle.Size([2, 3])
    """

    U: Tensor
    S: Tensor
    Vh: Tensor


class PackedFactors(NamedTuple):
    """Both triangular factors in one matrix, and the rows that were exchanged, counted from 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.linalg.lu_factor(paddle.eye(2)).pivots.tolist()
        [1, 2]
    """

    LU: Tensor
    pivots: Tensor


def eig(A: Tensor) -> Eigen:
    """Return the eigenvalues and eigenvectors of square matrices.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.linalg.eig(paddle.eye(2)).eigenvectors.shape
        paddle.Size([2, 2])
    """
    found: Any = decomposition.eig
    return Eigen(*found(A))


def eigh(A: Tensor, UPLO: str = "L") -> Eigen:
    """Return the eigenvalues and eigenvectors of symmetric matrices.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> values, vectors = paddle.compat.linalg.eigh(paddle.eye(2))
        >>> values.tolist()
        [1.0, 1.0]
    """
    found: Any = decomposition.eigh
    return Eigen(*found(A, UPLO))


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> LeastSquares:
    """Solve `A @ X = B` with the least error.

    Arguments:
        rcond: singular values below its product with the largest one count as 0.
        driver: "gels" (A has full rank), "gelsy", "gelsd" or "gelss".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.linalg.lstsq(2 * paddle.eye(2), paddle.ones([2, 1])).solution.tolist()
        [[0.5], [0.5]]
    """
    return LeastSquares(*factors.lstsq(A, B, rcond, driver))


def lu_factor(A: Tensor, *, pivot: bool = True) -> PackedFactors:
    """Return the triangular factors of matrices in one, and the rows that were exchanged.

    Arguments:
        pivot: exchange rows. Default: True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.linalg.lu_factor(paddle.eye(2)).LU.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return PackedFactors(*factors.lu(A, pivot))


def qr(A: Tensor, mode: str = "reduced") -> OrthogonalFactors:
    """Return the orthogonal and the triangular factor of matrices.

    Arguments:
        mode: "reduced" or "complete".

    Raises:
        ValueError: mode is "r", which gives no Q here.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.linalg.qr(paddle.eye(2)).Q.shape
        paddle.Size([2, 2])
    """
    if mode == "r":
        raise ValueError("qr: mode is 'r'; expected 'reduced' or 'complete', or write paddle.linalg.qr(x, 'r')")
    found: Any = decomposition.qr
    return OrthogonalFactors(*found(A, mode))


def slogdet(A: Tensor) -> SignAndLogarithm:
    """Return sign, and logarithm of the size, of determinants.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.linalg.slogdet(paddle.eye(2)).logabsdet.item()
        0.0
    """
    found: Any = decomposition.slogdet
    return SignAndLogarithm(*found(A).unbind(0))


def svd(A: Tensor, full_matrices: bool = True) -> SingularParts:
    """Return U, S and Vh of matrices with `A = U @ diag(S) @ Vh`.

    Arguments:
        full_matrices: U and Vh are square. Default: True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.linalg.svd(paddle.to_tensor([[0.0, 2.0], [1.0, 0.0]])).S.tolist()
        [2.0, 1.0]
    """
    found: Any = decomposition.svd
    return SingularParts(*found(A, full_matrices))


_document(globals())
