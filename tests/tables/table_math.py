"""Rows of the op table: arithmetic, elementwise functions, logic, reductions, statistics."""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from ops_table import INT, B, D, K, N, P, U, V, between, complexes, distinct, fixed, ints, normal, row

# -- two tensors --------------------------------------------------------------------------------------------------
row("add", [N, V], np.add, dtypes=INT)
row("subtract", [N, V], np.subtract, dtypes=INT)
row("multiply", [N, V], np.multiply, dtypes=INT)
row("divide", [N, P], np.divide, dtypes=INT)
row("div", [P, P], lambda x, y: np.trunc(x / y), rounding_mode="trunc")
row("floor_divide", [N, P], np.floor_divide, dtypes=INT, grad=False)
row("remainder", [N, P], np.remainder, dtypes=INT)
row("pow", [P, N], np.power)
row("pow", [N], lambda x: x**2, dtypes=INT, y=2)
row("pow", [P], lambda x: x**0.5, y=0.5)
row("pow", [P], lambda x: x**-3, y=-3)
row("maximum", [D, D], np.maximum, dtypes=INT, grad=False)
row("maximum", [N, V], np.maximum)
row("minimum", [N, V], np.minimum, dtypes=INT)
row("fmax", [N, V], np.fmax, dtypes=INT)
row("fmin", [N, V], np.fmin, dtypes=INT)
row("atan2", [N, P], np.arctan2)
row("hypot", [N, P], np.hypot)
row("logaddexp", [N, V], np.logaddexp)
row("copysign", [P, N], np.copysign)
row("nextafter", [N, V], np.nextafter, grad=False, tol=0)
row("heaviside", [N, V], np.heaviside, grad=False)
row("gammainc", [P, P], sp.gammainc, grad=False)
row("gammaincc", [P, P], sp.gammaincc, grad=False)
row("gcd", [K, K], np.gcd, grad=False)
row("lcm", [K, K], np.lcm, grad=False)
row("ldexp", [N, K], lambda x, n: x * 2.0**n, tol=1e-4)
row("frexp", [P], lambda x: (np.frexp(x)[0], np.frexp(x)[1].astype(x.dtype)), grad=False)
row("lerp", [N, N, P], lambda x, y, w: x + w * (y - x))
row("clip", [N], lambda x: np.clip(x, -0.5, 0.5), attrs={"min": -0.5, "max": 0.5})
row("clip", [N, V], lambda x, low: np.maximum(x, low), dtypes=INT)
row("scale", [N], lambda x: 2 * x + 1, dtypes=INT, attrs={"scale": 2, "bias": 1})
row(
    "scale",
    [N],
    lambda x: np.maximum(2 * (x + 1), 0),
    attrs={"scale": 2.0, "bias": 1.0, "act": "relu"},
    bias_after_scale=False,
)
row("add_n", [[N, N, N]], lambda xs: xs[0] + xs[1] + xs[2], dtypes=INT)
row("complex", [N, N], lambda a, b: a + 1j * b, grad=False)
row("polar", [P, N], lambda r, phi: r * np.exp(1j * phi), grad=False)
row("multiplex", [[N, N], ints(0, 2, 2, 1)], lambda xs, i: np.stack([xs[int(k)][r] for r, k in enumerate(i[:, 0])]))

# -- one tensor ---------------------------------------------------------------------------------------------------
for name, f, sample in [
    *[("exp", np.exp, N), ("expm1", np.expm1, N), ("log", np.log, P), ("log2", np.log2, P), ("log10", np.log10, P)],
    *[
        ("log1p", np.log1p, P),
        ("sqrt", np.sqrt, P),
        ("rsqrt", lambda x: x**-0.5, P),
        ("reciprocal", lambda x: 1 / x, P),
    ],
    *[("sin", np.sin, N), ("cos", np.cos, N), ("tan", np.tan, U), ("asin", np.arcsin, U), ("acos", np.arccos, U)],
    *[
        ("atan", np.arctan, N),
        ("sinh", np.sinh, N),
        ("cosh", np.cosh, N),
        ("tanh", np.tanh, N),
        ("asinh", np.arcsinh, N),
    ],
    *[
        ("acosh", np.arccosh, between(1.1, 3, 2, 3)),
        ("atanh", np.arctanh, U),
        ("erf", sp.erf, N),
        ("erfinv", sp.erfinv, U),
    ],
    *[("sigmoid", sp.expit, N), ("lgamma", sp.gammaln, P), ("digamma", sp.digamma, P), ("i0", sp.i0, N)],
    *[("i0e", sp.i0e, N), ("i1", sp.i1, N), ("i1e", sp.i1e, N), ("sinc", np.sinc, P), ("deg2rad", np.deg2rad, N)],
    *[("rad2deg", np.rad2deg, N), ("logit", sp.logit, between(0.1, 0.9, 2, 3))],
    *[("stanh", lambda x: 1.7159 * np.tanh(0.67 * x), N), ("frac", lambda x: x - np.trunc(x), N)],
]:
    row(name, [sample], f, tol=1e-4)
row("exp", [ints(-3, 3, 2, 3)], lambda x: np.exp(x).astype("float32"), grad=False)
row("digamma", [P], sp.digamma, tol=1e-3)
row("polygamma", [P], lambda x: sp.polygamma(1, x), n=1, tol=1e-3)
row(
    "multigammaln",
    [between(2, 4, 2, 3)],
    lambda x: sp.multigammaln(x, 2) if x.ndim == 0 else np.vectorize(lambda v: sp.multigammaln(v, 2))(x),
    p=2,
    tol=1e-4,
)
row("abs", [N], np.abs, dtypes=INT)
row("neg", [N], np.negative, dtypes=INT)
row("square", [N], np.square, dtypes=INT)
row("sign", [N], np.sign, dtypes=INT, grad=False)
row("sgn", [complexes(2, 3)], lambda z: z / np.abs(z), grad=False)
row("positive", [N], np.positive, dtypes=INT)
row("floor", [N], np.floor, dtypes=INT, grad=False)
row("ceil", [N], np.ceil, dtypes=INT, grad=False)
row("trunc", [N], np.trunc, dtypes=INT, grad=False)
row("round", [N], np.round, dtypes=INT, grad=False)
row("round", [N], lambda x: np.round(x, 1), decimals=1, grad=False, tol=1e-4)
row(
    "nan_to_num",
    [fixed(np.nan, np.inf, 1.0)],
    lambda x: np.nan_to_num(x, nan=2.0, posinf=9.0),
    nan=2.0,
    posinf=9.0,
    grad=False,
)
row("real", [complexes(2, 3)], np.real, grad=False)
row("imag", [complexes(2, 3)], np.imag, grad=False)
row("conj", [complexes(2, 3)], np.conj, grad=False)
row("angle", [complexes(2, 3)], np.angle, grad=False)
row("as_real", [complexes(2, 3)], lambda z: np.stack([z.real, z.imag], -1), grad=False)
row("as_complex", [normal(2, 3, 2)], lambda x: x[..., 0] + 1j * x[..., 1], grad=False)

# -- logic --------------------------------------------------------------------------------------------------------
for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
    full = {"less": "less_than", "greater": "greater_than"}.get(name, name)
    row(full, [K, K], getattr(np, name), grad=False)
    row(full, [N, V], getattr(np, name), grad=False)
for name in ("logical_and", "logical_or", "logical_xor"):
    row(name, [B, B], getattr(np, name), grad=False)
    row(name, [K, N], getattr(np, name), grad=False)
row("logical_not", [K], np.logical_not, grad=False)
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    row(name, [K, K], getattr(np, name), grad=False)
    row(name, [B, B], getattr(np, name), grad=False)
row("bitwise_not", [K], np.bitwise_not, grad=False)
row("bitwise_left_shift", [K, K], np.left_shift, grad=False)
row("bitwise_right_shift", [ints(-8, 8, 2, 3), ints(0, 3, 3)], np.right_shift, grad=False)
row(
    "bitwise_right_shift",
    [ints(-8, 8, 3)],
    lambda x: (x.astype("uint64") >> 1).astype("int64"),
    y=1,
    is_arithmetic=False,
    grad=False,
)
for name in ("isnan", "isinf", "isfinite", "isposinf", "isneginf", "isreal", "signbit"):
    row(name, [fixed(np.nan, np.inf, -np.inf, -1.0, 0.0)], getattr(np, name), grad=False)
row("isclose", [fixed(1.0, 1.1), fixed(1.0, 1.0)], np.isclose, grad=False)
row("allclose", [fixed(1.0, 1.1), fixed(1.0, 1.0)], lambda x, y: np.allclose(x, y, atol=0.2), atol=0.2, grad=False)
row("equal_all", [K, K], np.array_equal, grad=False)
row("isin", [K, ints(0, 8, 4)], np.isin, grad=False)
row("is_empty", [N], lambda x: x.size == 0, grad=False)

# -- reductions ---------------------------------------------------------------------------------------------------
for name, f in [("sum", np.sum), ("mean", np.mean), ("nansum", np.nansum), ("nanmean", np.nanmean), ("prod", np.prod)]:
    row(name, [N], f)
    row(name, [N], lambda x, f=f: f(x, axis=1, keepdims=True), axis=1, keepdim=True)
    row(name, [normal(2, 3, 4)], lambda x, f=f: f(x, axis=(0, 2)), axis=[0, -1])
for name, f in [("max", np.max), ("min", np.min), ("amax", np.max), ("amin", np.min)]:
    row(name, [D], f, dtypes=INT)
    row(name, [D], lambda x, f=f: f(x, axis=0, keepdims=True), axis=0, keepdim=True)
row("sum", [ints(-5, 5, 2, 3)], lambda x: x.sum(0), axis=0, grad=False)
row("sum", [B], np.sum, grad=False)
row("sum", [N], lambda x: x.astype("float64").sum(), attrs={"dtype": "float64"}, out="float64")
row("mean", [ints(0, 9, 2, 3)], lambda x: np.trunc(x.mean(1)).astype("int64"), axis=1, grad=False)
row("all", [B], lambda x: x.all(1), axis=1, grad=False)
row("any", [B], lambda x: x.any(1), axis=1, grad=False)
row("all", [K], np.all, grad=False)
row("count_nonzero", [K], lambda x: np.count_nonzero(x, axis=1), axis=1, grad=False)
row("logsumexp", [N], lambda x: sp.logsumexp(x, axis=1), axis=1)
row("cumsum", [N], np.cumsum, dtypes=INT)
row("cumsum", [N], lambda x: np.cumsum(x, 1), axis=-1)
row("cumprod", [N], lambda x: np.cumprod(x, 1), dim=1)
row("logcumsumexp", [N], lambda x: np.logaddexp.accumulate(x, axis=1), axis=1)
row("cummax", [D], lambda x: (np.maximum.accumulate(x, 1), _last(x, np.maximum.accumulate(x, 1))), axis=1)
row("cummin", [D], lambda x: (np.minimum.accumulate(x, 1), _last(x, np.minimum.accumulate(x, 1))), axis=1)
row("reduce_as", [N, V], lambda x, target: x.sum(0), grad=False)


def _last(x: np.ndarray, best: np.ndarray) -> np.ndarray:
    return np.maximum.accumulate(np.where(x == best, np.arange(x.shape[1]), 0), 1)


# -- statistics ---------------------------------------------------------------------------------------------------
row("var", [N], lambda x: x.var(ddof=1))
row("var", [N], lambda x: x.var(1), axis=1, unbiased=False)
row("std", [N], lambda x: x.std(ddof=1))
row("std", [N], lambda x: x.std(0, ddof=1, keepdims=True), axis=0, keepdim=True)
row("median", [D], np.median)
row("median", [distinct(2, 4)], lambda x: np.median(x, 1), axis=1)
row("median", [distinct(2, 4)], lambda x: (np.sort(x, 1)[:, 1], np.argsort(x, 1)[:, 1]), axis=1, mode="min")
row("nanmedian", [fixed(1.0, np.nan, 3.0, 4.0)], np.nanmedian, grad=False)
row(
    "nanmedian",
    [fixed([1.0, np.nan, 2.0, 5.0, 7.0])],
    lambda x: (np.array([2.0]), np.array([2])),
    axis=1,
    mode="min",
    grad=False,
)
row("quantile", [D], lambda x: np.quantile(x, [0.1, 0.5], axis=1), q=[0.1, 0.5], axis=1)
row("quantile", [D], lambda x: np.quantile(x, 0.3, method="lower"), q=0.3, interpolation="lower")
row("nanquantile", [fixed(1.0, np.nan, 3.0, 4.0)], lambda x: np.nanquantile(x, 0.4), q=0.4, grad=False)
row("kthvalue", [D], lambda x: (np.sort(x, 1)[:, 1], np.argsort(x, 1)[:, 1]), k=2)
row("mode", [fixed([2, 2, 1], [3, 1, 1])], lambda x: (np.array([2, 1]), np.array([1, 2])), grad=False)
row("bincount", [ints(0, 5, 6)], np.bincount, grad=False, dynamic=True)
row("bincount", [ints(0, 5, 6), normal(6)], lambda x, w: np.bincount(x, w, 7), minlength=7)
row("histogram", [N], lambda x: np.histogram(x, 4, (-1, 1))[0], bins=4, attrs={"min": -1.0, "max": 1.0}, grad=False)
row(
    "histogram_bin_edges",
    [N],
    lambda x: np.histogram_bin_edges(x, 4, (-1, 1)),
    bins=4,
    attrs={"min": -1.0, "max": 1.0},
    grad=False,
)
row(
    "histogramdd",
    [normal(5, 2)],
    lambda x: _flat(np.histogramdd(x, (2, 3))),
    bins=[2, 3],
    grad=False,
    dynamic=True,
    tol=1e-4,
)
row("cov", [N], np.cov)
row("corrcoef", [normal(2, 5)], np.corrcoef)


def _flat(result: tuple) -> tuple:
    return (result[0], *result[1])
