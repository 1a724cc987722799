"""LU and Householder factors, least squares, and functions of matrices."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from . import elimination
from .creation import zeros
from .decomposition import H, T
from .matrices import matrices, need_equal_rows, square
from .promote import promote
from .svd import full_svd
from .types import Array, TensorLike
from .view_rules import PERMUTED

__all__ = ["householder_product", "lstsq", "lu", "lu_solve", "lu_unpack", "matrix_exp", "matrix_transpose", "ormqr"]


@op(name="lstsq", amp="black")
def _lstsq(x: Any, y: Any, /, rcond: float | None) -> Any:
    x, y = promote(matrices(x), matrices(y, "y"))
    need_equal_rows(x, y)
    u, s, vh = full_svd(x)
    floor = (jnp.finfo(x.dtype).eps * max(x.shape[-2:]) if rcond is None else rcond) * s[..., :1]
    kept = s > floor
    scaled = (H(u) @ y) * jnp.where(kept, 1 / jnp.where(kept, s, 1), 0)[..., None]
    out = H(vh) @ scaled
    tall = x.shape[-2] > x.shape[-1]
    residual = jnp.sum(jnp.abs(x @ out - y) ** 2, -2) if tall else jnp.zeros(0, x.dtype)
    return out, residual, jnp.sum(kept, -1).astype(jnp.int32), s


# Which of residuals, rank and singular values each LAPACK driver returns; the others are empty.
_GIVEN = {"gels": (True, False, False), "gelsy": (False, True, False)}
_GIVEN |= dict.fromkeys(("gelsd", "gelss"), (True, True, True))


@composite(methods=["lstsq"])
def lstsq(x: Tensor, y: TensorLike, rcond: float | None = None, driver: str | None = None) -> Any:
    """Solve the least squares problem: find the z that minimizes `|x @ z - y|`.

    Arguments:
        rcond: singular values below `rcond` times the largest count as zero; None: machine precision.
        driver: "gels" returns neither rank nor singular values, "gelsy" no singular values, "gelsd" and "gelss" all.
            The algorithm is always the singular value decomposition. Default: "gelsy".

    Returns:
        (solution, residuals, rank, singular_values); what the driver leaves out is empty.

    Raises:
        ValueError: if `driver` is invalid.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[1.0], [1.0]]), paddle.to_tensor([[1.0], [3.0]])
        >>> f"{paddle.linalg.lstsq(x, y)[0].item():.4f}"
        '2.0000'
    """
    if (driver or "gelsy") not in _GIVEN:
        raise ValueError(f"lstsq: driver is {driver!r}; expected one of {', '.join(_GIVEN)}")
    solution, *rest = _lstsq(x, y, rcond)
    given = _GIVEN[driver or "gelsy"]
    return solution, *[part if kept else zeros([0], part.dtype) for part, kept in zip(rest, given, strict=True)]


@op(name="lu", amp="black")
def _lu(x: Any, /) -> Any:
    packed, pivots = elimination.lu(matrices(x))
    return packed, pivots.astype(jnp.int32) + 1, jnp.zeros(x.shape[:-2], jnp.int32)


@composite(methods=["lu"])
def lu(x: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """Compute the LU decomposition with partial pivoting.

    Arguments:
        get_infos: return a tensor of zeros (success) as well. Default: False.

    Returns:
        (LU, pivots), or (LU, pivots, infos): both factors packed in one matrix, and the int32 pivots counted from 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.tolist() for part in paddle.linalg.lu(paddle.to_tensor([[1.0, 2.0], [2.0, 5.0]]))]
        [[[2.0, 5.0], [0.5, -0.5]], [2, 2]]
    """
    if not pivot:
        raise NotImplementedError("lu() without pivoting is not supported: use pivot=True")
    outs = _lu(x)
    return outs if get_infos else outs[:2]


@op(name="lu_unpack", amp="black")
def _lu_unpack(x: Any, y: Any, /) -> Any:
    rows, columns = x.shape[-2:]
    small = min(rows, columns)
    lower = jnp.tril(x[..., :, :small], -1) + jnp.eye(rows, small, dtype=x.dtype)
    order = jax.lax.linalg.lu_pivots_to_permutation(y.astype(jnp.int32) - 1, rows)
    return T(jax.nn.one_hot(order, rows, dtype=x.dtype)), lower, jnp.triu(x[..., :small, :])


@composite(methods=["lu_unpack"])
def lu_unpack(x: Tensor, y: TensorLike, unpack_ludata: bool = True, unpack_pivots: bool = True) -> Any:
    """Unpack the result of `lu()` into P, L and U with `A = P @ L @ U`.

    Arguments:
        unpack_ludata: False: leave L and U empty. Default: True.
        unpack_pivots: False: leave P empty. Default: True.

    Returns:
        (P, L, U): [..., m, m], [..., m, k] and [..., k, n].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> packed, pivots = paddle.linalg.lu(paddle.to_tensor([[1.0, 2.0], [2.0, 5.0]]))
        >>> P, L, U = paddle.linalg.lu_unpack(packed, pivots)
        >>> (P @ L @ U).tolist()
        [[1.0, 2.0], [2.0, 5.0]]
    """
    kept = unpack_pivots, unpack_ludata, unpack_ludata
    return tuple([part if k else zeros([0], part.dtype) for part, k in zip(_lu_unpack(x, y), kept, strict=True)])


@op(methods=["lu_solve"], amp="black")
def lu_solve(b: Array, lu: Array, pivots: Array, /, trans: str = "N") -> Any:
    """Solve `A @ z = b` given the LU decomposition of A.

    Arguments:
        trans: "N": solve with A; "T": with its transpose; "C" or "H": with its conjugate transpose. Default: "N".

    Returns:
        The solution z, with the shape of `b`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> packed, pivots = paddle.linalg.lu(paddle.to_tensor([[2.0]]))
        >>> paddle.linalg.lu_solve(paddle.to_tensor([[4.0]]), packed, pivots).tolist()
        [[2.0]]
    """
    return jax.scipy.linalg.lu_solve((lu, pivots - 1), b, trans="NTC".index(trans.replace("H", "C")))


@op(methods=["matrix_exp"], amp="black")
def matrix_exp(x: Array, /) -> Any:
    """Compute the matrix exponential of square matrices.

    Returns:
        A tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.matrix_exp(paddle.zeros([2, 2])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return elimination.exponential(square(x)) if x.ndim else jnp.exp(x)


@op(methods=["matrix_transpose"], views=PERMUTED)
def matrix_transpose(x: Array, /) -> Any:
    """Transpose the last two dimensions.

    Returns:
        A tensor [..., n, m] for `x` [..., m, n].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.matrix_transpose(paddle.to_tensor([[1, 2]])).tolist()
        [[1], [2]]
    """
    return T(x)


@op(methods=["householder_product"], amp="black")
def householder_product(x: Array, tau: Array, /) -> Any:
    """Compute the first columns of the product of Householder reflections.

    Returns:
        A tensor with the shape of `x`, whose columns are orthonormal.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.householder_product(paddle.to_tensor([[1.0], [0.0]]), paddle.to_tensor([0.0])).abs().tolist()
        [[1.0], [0.0]]
    """
    return jax.lax.linalg.householder_product(x, tau)


@op(name="ormqr", amp="black")
def _ormqr(x: Any, tau: Any, y: Any, /, left: bool, transpose: bool) -> Any:
    q = jax.lax.linalg.householder_product(x, tau)
    q = T(q) if transpose else q
    return q @ y if left else y @ q


@composite(methods=["ormqr"])
def ormqr(x: Tensor, tau: TensorLike, y: TensorLike, left: bool = True, transpose: bool = False) -> Any:
    """Multiply `y` by the Q of a reduced QR decomposition given by Householder reflections.

    Q is `householder_product(x, tau)`, [..., m, n]; PyTorch multiplies by the square Q.

    Returns:
        `Q @ y`, or `y @ Q` if `left` is False (Q transposed, not conjugated, if `transpose`).

    Raises:
        ValueError: the shapes do not fit.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, tau = paddle.to_tensor([[1.0], [0.0]]), paddle.to_tensor([0.0])
        >>> paddle.linalg.ormqr(x, tau, paddle.to_tensor([[3.0]])).abs().tolist()
        [[3.0], [0.0]]
    """
    given: list[Any] = [x, tau, y]
    shapes = [list(tensor.shape) for tensor in given]
    if not shapes[0][:-1] or shapes[0][-2] < shapes[0][-1] or shapes[1] != [*shapes[0][:-2], shapes[0][-1]]:
        raise ValueError(
            f"ormqr: x of shape [..., m, n] with m >= n and tau [..., n] are expected; got {shapes[0]} and {shapes[1]}"
        )
    inner = shapes[0][-2 if left == transpose else -1]
    if len(shapes[2]) != len(shapes[0]) or shapes[2][-2 if left else -1] != inner:
        side = "rows" if left else "columns"
        raise ValueError(
            f"ormqr(left={left}, transpose={transpose}): y has the shape {shapes[2]}; expected one of as many "
            f"dimensions as x, {shapes[0]}, with {inner} {side}"
        )
    return _ormqr(x, tau, y, left, transpose)
