"""Matrix decompositions: inverses, linear systems, determinants, rank."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..core.no_effect import Immaterial, no_effect
from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from . import elimination
from .matrices import matrices, need_equal_rows, square
from .norms import of_matrices
from .promote import promote
from .reduction import mean
from .svd import compilable, full_svd, singular_values
from .types import Array, TensorLike

__all__ = [
    *("cholesky", "cholesky_inverse", "cholesky_solve", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv"),
    *("inverse", "matrix_power", "matrix_rank", "pca_lowrank", "pinv", "qr", "slogdet", "solve", "svd", "svd_lowrank"),
    *("svdvals", "triangular_solve"),
]


def T(x: Any) -> Any:
    """Transpose the last two dimensions."""
    return jnp.swapaxes(x, -1, -2)


def H(x: Any) -> Any:
    """Compute the conjugate transpose of the last two dimensions."""
    return jnp.conj(T(x))


def _mirror(x: Any, lower: bool) -> Any:
    """Return the Hermitian matrices of which one triangle is read, with the gradient of all of `x`."""
    one = (jnp.tril if lower else jnp.triu)(x)
    other = H((jnp.tril if lower else jnp.triu)(x, -1 if lower else 1))
    return x + jax.lax.stop_gradient(one + other - x)


def batched(x: Any, y: Any) -> tuple[Any, Any]:
    """Convert two stacks of matrices to one dtype and broadcast their batch dimensions."""
    x, y = promote(x, y)
    batch = jnp.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    return jnp.broadcast_to(x, (*batch, *x.shape[-2:])), jnp.broadcast_to(y, (*batch, *y.shape[-2:]))


@op(methods=["inverse"], amp="black")
def inverse(x: Array, /) -> Any:
    """Compute the inverse of square matrices.

    Returns:
        A tensor with the shape of `x` [..., n, n].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.inverse(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> bool(paddle.allclose(paddle.inverse(x) @ x, paddle.eye(2), atol=1e-5))
        True
    """
    return elimination.inverse(square(x))


inv = inverse


@op(methods=["det"], amp="black")
def det(x: Array, /) -> Any:
    """Compute the determinant of square matrices.

    Returns:
        A tensor of shape [...] for `x` [..., n, n].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.det(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).item()
        8.0
    """
    return elimination.det(square(x))


@op(methods=["slogdet"], amp="black")
def slogdet(x: Array, /) -> Any:
    """Compute the sign and the log absolute value of the determinant of square matrices.

    Returns:
        A tensor [2, ...] for `x` [..., n, n]: the signs, then the logarithms.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> sign, log = paddle.linalg.slogdet(paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]))
        >>> sign.item(), round(log.exp().item(), 4)
        (-1.0, 6.0)
    """
    return jnp.stack(elimination.slogdet(square(x)))


@op(methods=["cholesky"], amp="black")
def cholesky(x: Array, /, upper: bool = False) -> Any:
    """Compute the Cholesky factorization of positive-definite matrices: `x = L @ L^T` (or `U^T @ U`).

    Returns:
        The triangular factor, with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.cholesky(paddle.to_tensor([[4.0, 0.0], [0.0, 9.0]])).tolist()
        [[2.0, 0.0], [0.0, 3.0]]
    """
    return jnp.linalg.cholesky(_mirror(square(x), not upper), upper=upper)


@op(methods=["cholesky_solve"], amp="black")
def cholesky_solve(x: Array, y: Array, /, upper: bool = False) -> Any:
    """Solve `A @ z = x` given the Cholesky factor `y` of A.

    Returns:
        The solution z, with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.cholesky_solve(paddle.to_tensor([[4.0]]), paddle.to_tensor([[2.0]])).tolist()
        [[1.0]]
    """
    x, y = batched(matrices(x), square(y, "y"))
    need_equal_rows(y, x)
    first = jax.lax.linalg.triangular_solve(y, x, left_side=True, lower=not upper, transpose_a=upper, conjugate_a=upper)
    return jax.lax.linalg.triangular_solve(
        y, first, left_side=True, lower=not upper, transpose_a=not upper, conjugate_a=not upper
    )


@op(methods=["cholesky_inverse"], amp="black")
def cholesky_inverse(x: Array, /, upper: bool = False) -> Any:
    """Compute the inverse of A from its Cholesky factor `x`.

    Returns:
        A tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.cholesky_inverse(paddle.to_tensor([[2.0]])).tolist()
        [[0.25]]
    """
    x = square(x)
    return elimination.inverse(H(x) @ x if upper else x @ H(x))


@op(methods=["solve"], amp="black")
def solve(x: Array, y: Array, /, left: bool = True) -> Any:
    """Solve the linear system `x @ z = y`, or `z @ x = y` if `left` is False.

    Returns:
        The solution z, with the (broadcast) shape of `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.solve(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]]), paddle.to_tensor([2.0, 4.0])).tolist()
        [1.0, 1.0]
    """
    x, y = promote(square(x), y)
    vector = y.ndim == 1 or (y.ndim == x.ndim - 1 and y.shape == x.shape[:-1])
    y = y[..., None] if vector else y
    need_equal_rows(x, y if left or y.ndim < 2 else T(y))
    out = elimination.solve(x, y) if left else T(elimination.solve(T(x), T(y)))
    return out[..., 0] if vector else out


@op(methods=["triangular_solve"], amp="black")
def triangular_solve(
    x: Array, y: Array, /, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """Solve `x @ z = y` for triangular `x`.

    Arguments:
        upper: `x` is upper triangular (True) or lower triangular. Default: True.
        transpose: solve with the transpose of `x`. Default: False.
        unitriangular: take the diagonal of `x` as ones. Default: False.

    Returns:
        The solution z, with the shape of `y`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[1.0, 1.0], [0.0, 2.0]]), paddle.to_tensor([[2.0], [2.0]])
        >>> paddle.linalg.triangular_solve(x, y).tolist()
        [[1.0], [1.0]]
    """
    x, y = batched(square(x), matrices(y, "y"))
    need_equal_rows(x, y)
    return jax.lax.linalg.triangular_solve(
        x, y, left_side=True, lower=not upper, transpose_a=transpose, unit_diagonal=unitriangular
    )


@op(methods=["svd"], amp="black")
def svd(x: Array, /, full_matrices: bool = False) -> Any:
    """Compute the singular value decomposition: `x = U @ diag(S) @ VH`.

    Returns:
        (U, S, VH): [..., m, k], [..., k] and [..., k, n] with `k = min(m, n)`, S descending; U and VH are square if
        `full_matrices`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
        >>> u, s, vh = paddle.linalg.svd(x)
        >>> u.shape, s.tolist(), vh.shape
        (paddle.Size([3, 2]), [4.0, 3.0], paddle.Size([2, 2]))
        >>> bool(paddle.allclose(u @ paddle.diag(s) @ vh, x, atol=1e-5))
        True
    """
    return full_svd(matrices(x), full_matrices)


@op(methods=["svdvals"], amp="black")
def svdvals(x: Array, /) -> Any:
    """Compute the singular values of matrices in descending order.

    Returns:
        A tensor [..., min(m, n)].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.svdvals(paddle.to_tensor([[3.0, 0.0], [0.0, 4.0]])).tolist()
        [4.0, 3.0]
    """
    return singular_values(matrices(x))


EXACT = Immaterial("the result is exact")


@composite
@no_effect(niter=EXACT)
def svd_lowrank(x: Tensor, q: int | None = None, niter: int = 2, M: Any = None) -> Any:
    """Return the `q` largest singular values and vectors, found by a full decomposition.

    Arguments:
        q: int, the number of components. Default: min(6, m, n).
        M: tensor subtracted from `x` first; None: nothing.

    Returns:
        (U, S, V): [..., m, q], [..., q] and [..., n, q].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.shape for part in paddle.linalg.svd_lowrank(paddle.ones([4, 3]), q=2)]
        [paddle.Size([4, 2]), paddle.Size([2]), paddle.Size([3, 2])]
    """
    q = min(6, *x.shape[-2:]) if q is None else q
    u, s, vh = svd(x if M is None else x - M)
    return u[..., :q], s[..., :q], vh.conj().swapaxes(-1, -2)[..., :q]


@composite
@no_effect(niter=EXACT)
def pca_lowrank(x: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """Compute the principal components: `svd_lowrank()` of `x` minus the mean of its rows.

    Returns:
        (U, S, V): [..., m, q], [..., q] and [..., n, q].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [part.shape for part in paddle.linalg.pca_lowrank(paddle.ones([4, 3]), q=2)]
        [paddle.Size([4, 2]), paddle.Size([2]), paddle.Size([3, 2])]
    """
    return svd_lowrank(x - mean(x, -2, True) if center else x, q)


@op(name="qr", amp="black")
def _qr(x: Any, /, mode: str) -> Any:
    return jnp.linalg.qr(matrices(x), mode=mode)


@composite(methods=["qr"])
def qr(x: Tensor, mode: str = "reduced") -> Any:
    """Compute the QR decomposition: `x = Q @ R` with orthonormal Q and upper triangular R.

    Arguments:
        mode: "reduced": Q [..., m, k], R [..., k, n]; "complete": Q [..., m, m], R [..., m, n]; "r": R only. Default:
            "reduced".

    Returns:
        (Q, R), or R for mode "r".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        >>> q, r = paddle.linalg.qr(x)
        >>> q.shape, r.shape, bool(paddle.allclose(q @ r, x, atol=1e-5))
        (paddle.Size([3, 2]), paddle.Size([2, 2]), True)
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr(): mode is {mode!r}; expected 'reduced', 'complete' or 'r'")
    return _qr(x, mode)


@op(methods=["eigh"], amp="black")
def eigh(x: Array, /, UPLO: str = "L") -> Any:
    """Compute eigenvalues and eigenvectors of symmetric (Hermitian) matrices, reading one triangle.

    Returns:
        (values, vectors): [..., n] in ascending order, and [..., n, n] with the eigenvectors as columns.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> values, vectors = paddle.linalg.eigh(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]]))
        >>> values.tolist(), vectors.abs().tolist()
        ([1.0, 2.0], [[0.0, 1.0], [1.0, 0.0]])
    """
    return tuple(jnp.linalg.eigh(_mirror(square(x), UPLO == "L"), UPLO=UPLO))


@op(methods=["eigvalsh"], amp="black")
def eigvalsh(x: Array, /, UPLO: str = "L") -> Any:
    """Compute the eigenvalues of symmetric (Hermitian) matrices in ascending order.

    Returns:
        A real tensor [..., n].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.eigvalsh(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
        [1.0, 2.0]
    """
    return jnp.linalg.eigvalsh(_mirror(square(x), UPLO == "L"), UPLO=UPLO)


@op(methods=["eig"], amp="black")
def eig(x: Array, /) -> Any:
    """Compute eigenvalues and eigenvectors of square matrices.

    Returns:
        (values, vectors): complex tensors [..., n] and [..., n, n] with the eigenvectors as columns.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.eig(paddle.to_tensor([[1.0, 0.0], [0.0, 2.0]]))[0].tolist()
        [(1+0j), (2+0j)]
    """
    return _eig(square(x))


@jax.custom_vjp
def _eig(x: Any) -> tuple[Any, Any]:
    return tuple(jnp.linalg.eig(x))  # type: ignore[return-value]


def _eig_forward(x: Any) -> tuple[Any, Any]:
    values, vectors = _eig(x)
    return (values, vectors), (x, values, vectors)


def _eig_backward(saved: Any, given: Any) -> tuple[Any]:
    """The gradient of vectors of length 1, of which a result may not depend on the phases.

    Here JAX's gradients are the conjugates of the reference's, so that they are conjugated on the way in and out.
    """
    x, values, vectors = saved
    by_values, by_vectors = map(jnp.conj, given)
    gaps = values[..., None, :] - values[..., :, None]
    same = jnp.eye(values.shape[-1], dtype=bool)
    across = H(vectors) @ by_vectors
    lengths = jnp.real(jnp.diagonal(across, axis1=-2, axis2=-1))
    inner = (across - H(vectors) @ (vectors * lengths[..., None, :])) / jnp.conj(jnp.where(same, 1, gaps))
    inner = jnp.where(same, by_values[..., None, :], inner)
    found = jnp.conj(jnp.linalg.solve(H(vectors), inner @ H(vectors)))
    return (found if jnp.iscomplexobj(x) else jnp.real(found).astype(x.dtype),)


_eig.defvjp(_eig_forward, _eig_backward)


@op(methods=["eigvals"], amp="black")
def eigvals(x: Array, /) -> Any:
    """Compute the eigenvalues of square matrices.

    Returns:
        A complex tensor [..., n].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.eigvals(paddle.to_tensor([[1.0, 0.0], [0.0, 2.0]])).tolist()
        [(1+0j), (2+0j)]
    """
    return jnp.linalg.eigvals(square(x))


@op(methods=["pinv"], amp="black")
def pinv(x: Array, /, rcond: float = 1e-15, hermitian: bool = False) -> Any:
    """Compute the Moore-Penrose pseudo-inverse of matrices.

    Arguments:
        rcond: singular values below `rcond` times the largest count as zero. Default: 1e-15.

    Returns:
        A tensor [..., n, m] for `x` [..., m, n].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.pinv(paddle.to_tensor([[2.0], [0.0]])).tolist()
        [[0.5, 0.0]]
    """
    x = square(x) if hermitian else matrices(x)
    floor = jnp.finfo(x.dtype).eps * max(x.shape[-2:])
    x = _mirror(x, True) if hermitian else x
    return compilable(lambda x: jnp.linalg.pinv(x, rtol=max(rcond, float(floor)), hermitian=hermitian), x)


@op(methods=["matrix_power"], amp="black")
def matrix_power(x: Array, /, n: int) -> Any:
    """Raise square matrices to an integer power; a negative power inverts first.

    Returns:
        A tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.matrix_power(paddle.to_tensor([[2.0]]), 3).tolist()
        [[8.0]]
    """
    floats = square(x)
    return jnp.linalg.matrix_power(elimination.inverse(floats) if n < 0 else x, abs(n))


@op(name="matrix_rank", grad=False)
def _matrix_rank(x: Any, tol: Any = None, atol: Any = None, rtol: Any = None, /, hermitian: bool = False) -> Any:
    x = square(x) if hermitian else matrices(x)
    values = jnp.abs(jnp.linalg.eigvalsh(_mirror(x, True))) if hermitian else singular_values(x)
    top = jnp.max(values, -1, initial=0)
    if tol is None and atol is None and rtol is None:
        tol = top * max(x.shape[-2:]) * jnp.finfo(x.dtype).eps
    elif tol is None:
        tol = jnp.maximum(0 if atol is None else atol, (0 if rtol is None else rtol) * top)
    return jnp.sum(values > jnp.expand_dims(jnp.asarray(tol), -1), -1)


@composite(methods=["matrix_rank"], around=call_cached("x", "tol?"))
def matrix_rank(
    x: Tensor,
    tol: TensorLike | None = None,
    hermitian: bool = False,
    atol: TensorLike | None = None,
    rtol: TensorLike | None = None,
) -> Any:
    """Compute the rank of matrices: the number of singular values above a tolerance.

    Arguments:
        tol, atol: absolute tolerance; None: derived from the dtype and the shape.
        rtol: tolerance relative to the largest singular value.

    Returns:
        An integer tensor [...].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.matrix_rank(paddle.ones([3, 3])).item()
        1
    """
    return _matrix_rank(x, tol, atol, rtol, hermitian)


@op(name="condition_number", amp="black")
def _condition(x: Any, /, p: Any) -> Any:
    x = matrices(x) if p in (None, 2, -2) else square(x)
    if 0 in x.shape[-2:]:
        return jnp.zeros(x.shape[:-2], x.dtype)
    if p in (None, 2, -2):
        values = singular_values(x)
        return values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    return of_matrices(x, p, (-2, -1)) * of_matrices(elimination.inverse(x), p, (-2, -1))


@composite(methods=["cond"], around=call_cached("x"))
def cond(x: Tensor, p: float | None = None) -> Any:
    """Compute the condition number of matrices: `|x| * |x^-1|`.

    Arguments:
        p: order of the norm: None or 2, -2, 1, -1, inf, -inf, "fro" or "nuc". Default: None.

    Returns:
        A real tensor [...].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.linalg.cond(paddle.to_tensor([[4.0, 0.0], [0.0, 2.0]])).item()
        2.0
    """
    return _condition(x, p)
