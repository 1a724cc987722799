"""Functions that give values and indices, by the names that torch has for them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..eager.tensor import Tensor
from ..ops import decomposition, logic, reduction, statistics, unary

__all__ = ["allclose", "cummax", "cummin", "imag", "kthvalue", "mode", "qr", "real", "svd"]


class ValuesAndIndices(NamedTuple):
    """Values, and where they stood.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.mode(paddle.to_tensor([1.0, 3.0, 3.0])).values.item()
        3.0
    """

    values: Tensor
    indices: Tensor


def _pair(function: Any, *args: Any) -> ValuesAndIndices:
    return ValuesAndIndices(*function(*args))


def cummax(input: Tensor, dim: int) -> ValuesAndIndices:
    """Return the greatest element so far at each place of a dimension, and where it stood.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.cummax(paddle.to_tensor([1.0, 3.0, 2.0]), 0).values.tolist()
        [1.0, 3.0, 3.0]
    """
    return _pair(reduction.cummax, input, dim)


def cummin(input: Tensor, dim: int) -> ValuesAndIndices:
    """Return the least element so far at each place of a dimension, and where it stood.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.cummin(paddle.to_tensor([3.0, 1.0, 2.0]), 0).indices.tolist()
        [0, 1, 1]
    """
    return _pair(reduction.cummin, input, dim)


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> ValuesAndIndices:
    """Return the k-th smallest element along a dimension, counted from 1, and where it stood.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.kthvalue(paddle.to_tensor([5.0, 1.0, 3.0]), 2).values.item()
        3.0
    """
    return _pair(statistics.kthvalue, input, k, dim, keepdim)


def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> ValuesAndIndices:
    """Return the element that is most frequent along a dimension, and where it stood.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.mode(paddle.to_tensor([[2.0, 2.0, 1.0]])).values.tolist()
        [2.0]
    """
    return _pair(statistics.mode, input, dim, keepdim)


class SingularValues(NamedTuple):
    """The parts of a singular value decomposition, where V has not been transposed.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.svd(paddle.ones([2, 3])).V.shape
        paddle.Size([3, 2])
    """

    U: Tensor
    S: Tensor
    V: Tensor


class OrthogonalFactors(NamedTuple):
    """An orthogonal and a triangular matrix.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.qr(paddle.eye(2)).R.shape
        paddle.Size([2, 2])
    """

    Q: Tensor
    R: Tensor


def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> SingularValues:
    """Return U, S and V of matrices with `input = U @ diag(S) @ V.mH`.

    Arguments:
        some: only the columns of U and V that belong to singular values. Default: True.
        compute_uv: True. Default: True.

    Raises:
        ValueError: compute_uv is False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> u, s, v = paddle.compat.svd(paddle.to_tensor([[0.0, 2.0], [1.0, 0.0]]))
        >>> s.tolist()
        [2.0, 1.0]
    """
    if not compute_uv:
        raise ValueError("svd: compute_uv is False; write paddle.linalg.svdvals(x)")
    found: Any = decomposition.svd
    u, s, vh = found(input, not some)
    return SingularValues(u, s, vh.mT.conj())


def qr(input: Tensor, some: bool = True) -> OrthogonalFactors:
    """Return the orthogonal and the triangular factor of matrices.

    Arguments:
        some: only the columns that are needed. Default: True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.shape for part in paddle.compat.qr(paddle.ones([3, 2]))]
        [paddle.Size([3, 2]), paddle.Size([2, 2])]
    """
    found: Any = decomposition.qr
    return OrthogonalFactors(*found(input, "reduced" if some else "complete"))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Return True if all elements differ by at most atol + rtol * abs(other).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.allclose(paddle.ones([2]), paddle.ones([2]) + 1e-6)
        True
    """
    close: Any = logic.allclose
    return bool(close(input, other, rtol, atol, equal_nan))


def real(input: Any) -> Any:
    """Return the real part of a tensor, of a real one itself; of another object its attribute `real`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.real(paddle.to_tensor([1 + 2j])).tolist(), paddle.compat.real(3 + 4j)
        ([1.0], 3.0)
    """
    if not isinstance(input, Tensor):
        return input.real
    part: Any = unary.real
    return part(input) if input.is_complex() else input


def imag(input: Any) -> Any:
    """Return the imaginary part of a tensor; of another object its attribute `imag`.

    Raises:
        TypeError: if the elements of the tensor are not complex.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.imag(paddle.to_tensor([1 + 2j])).tolist(), paddle.compat.imag(3 + 4j)
        ([2.0], 4.0)
    """
    if not isinstance(input, Tensor):
        return input.imag
    if not input.is_complex():
        raise TypeError(f"imag: the input is a {input.dtype.name} tensor; expected a complex one")
    part: Any = unary.imag
    return part(input)
