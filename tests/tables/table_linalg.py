"""Rows of the op table: products, norms, decompositions, Fourier transforms."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.spatial.distance as distance

from ops_table import N, V, complexes, normal, positive_definite, row

S, BATCH = positive_definite(3), normal(2, 2, 3)
INF = float("inf")

# -- products -----------------------------------------------------------------------------------------------------
row("matmul", [N, N], lambda x, y: x @ y.T, transpose_y=True)
row(
    "matmul",
    [normal(2, 3, 2), BATCH],
    lambda x, y: np.swapaxes(x, 1, 2) @ y.swapaxes(1, 2),
    transpose_x=True,
    transpose_y=True,
)
row("matmul", [N, V], np.matmul)
row("mm", [N, normal(3, 2)], np.matmul)
row("bmm", [BATCH, normal(2, 3, 4)], np.matmul)
row("mv", [N, V], np.matmul)
row("dot", [V, V], np.dot)
row("vecdot", [N, N], lambda x, y: (x * y).sum(-1))
row("inner", [N, V], np.inner)
row("outer", [V, normal(2)], np.outer)
row("cross", [N, N], np.cross)
row("addmm", [normal(2, 2), N, normal(3, 2)], lambda a, x, y: 2 * a + 3 * x @ y, beta=2.0, alpha=3.0)
row("baddbmm", [normal(2, 2, 4), BATCH, normal(2, 3, 4)], lambda a, x, y: a + x @ y)
row("kron", [N, normal(2)], np.kron)
row("tensordot", [N, N], lambda x, y: np.tensordot(x, y, ((0,), (0,))), axes=[[0], [0]])
row("multi_dot", [[N, normal(3, 4), normal(4, 2)]], lambda xs: np.linalg.multi_dot(xs))
row("vander", [V], lambda x: np.vander(x, 4, increasing=True), n=4, increasing=True)

# -- norms --------------------------------------------------------------------------------------------------------
row("norm", [N], np.linalg.norm)
row("norm", [N], lambda x: np.linalg.norm(x, axis=1, keepdims=True), axis=1, keepdim=True)
for p in (0, 1, 3, INF, -INF, -1):
    row("norm", [N], lambda x, p=p: np.linalg.norm(x, p, axis=-1), p=p, axis=-1, grad=p != 0)
for p in ("fro", "nuc", 1, -1, 2, -2, INF, -INF):
    row("matrix_norm", [N], lambda x, p=p: np.linalg.norm(x, p), p=p)
row("norm", [normal(2, 3, 4)], lambda x: np.linalg.norm(x, "nuc", axis=(0, 2)), p="nuc", axis=[0, 2])
row("vector_norm", [N], lambda x: np.linalg.norm(x.ravel(), 3), p=3)
row("dist", [N, N], lambda x, y: np.abs(x - y).sum(), p=1)
row("cdist", [N, normal(4, 3)], lambda x, y: distance.cdist(x, y))
row("cdist", [N, normal(4, 3)], lambda x, y: distance.cdist(x, y), compute_mode="use_mm_for_euclid_dist", tol=1e-4)
row("pdist", [normal(3, 2)], lambda x: distance.pdist(x))
row(
    "renorm",
    [N],
    lambda x: x * np.minimum(1, 1.0 / np.linalg.norm(x, axis=1, keepdims=True)),
    p=2.0,
    axis=0,
    max_norm=1.0,
)

# -- decompositions: of those that are not unique, what they multiply to ---------------------------------------------
row("inverse", [S], np.linalg.inv, tol=1e-4)
row("det", [S], np.linalg.det, tol=1e-4)
row("slogdet", [S], lambda x: np.array(np.linalg.slogdet(x)))
row("cholesky", [S], np.linalg.cholesky)
row("cholesky", [positive_definite(2, 3)], lambda x: np.swapaxes(np.linalg.cholesky(x), -1, -2), upper=True)
row("cholesky_solve", [normal(3, 2), S], lambda x, y: np.linalg.solve(np.tril(y) @ np.tril(y).T, x), tol=1e-4)
row("cholesky_inverse", [S], lambda x: np.linalg.inv(x @ x.T), tol=1e-3)
row("solve", [S, normal(3, 2)], np.linalg.solve, tol=1e-4)
row("solve", [S, normal(2, 3)], lambda x, y: np.linalg.solve(x.T, y.T).T, left=False, tol=1e-4)
row(
    "triangular_solve",
    [S, normal(3, 2)],
    lambda x, y: scipy.linalg.solve_triangular(x, y, trans=1),
    transpose=True,
    tol=1e-4,
)
row("svdvals", [N], lambda x: np.linalg.svd(x, compute_uv=False))
row("eigvalsh", [S], np.linalg.eigvalsh)
row("pinv", [N], np.linalg.pinv, tol=1e-4)
row("matrix_power", [S], lambda x: np.linalg.matrix_power(x, -2), n=-2, tol=1e-3)
row("matrix_rank", [normal(4, 3)], np.linalg.matrix_rank, grad=False)
row("matrix_exp", [normal(2, 2)], scipy.linalg.expm, tol=1e-4)
row("matrix_transpose", [N], np.transpose)
row("cond", [S], np.linalg.cond, tol=1e-3)
row("cond", [S], lambda x: np.linalg.cond(x, 1), p=1, tol=1e-3)

# -- Fourier transforms -------------------------------------------------------------------------------------------
for name in ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "rfft2", "rfftn", "ihfft"):
    row(f"fft.{name}", [normal(2, 4)], getattr(np.fft, name), grad=False, tol=1e-4)
for name in ("irfft", "irfft2", "irfftn", "hfft"):
    row(f"fft.{name}", [complexes(2, 3)], getattr(np.fft, name), grad=False, tol=1e-4)
row("fft.fft", [normal(2, 4)], lambda x: np.fft.fft(x, 6, 0, "ortho"), n=6, axis=0, norm="ortho", grad=False, tol=1e-4)
row("fft.fftshift", [N], np.fft.fftshift)
row("fft.ifftshift", [N], lambda x: np.fft.ifftshift(x, 1), axes=1)
row("fft.fftfreq", [], lambda: np.fft.fftfreq(5, 0.5), n=5, d=0.5)
row("fft.rfftfreq", [], lambda: np.fft.rfftfreq(5), n=5)
# New rows come last: recorded figures are found by the number of a row.
row("mm", [normal(2, 3, 4), normal(2, 4, 2)], np.matmul)
