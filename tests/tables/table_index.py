"""Rows of the op table: gathering, scattering, searching, sorting."""

from __future__ import annotations

import numpy as np

from ops_table import INT, B, D, K, N, V, bools, distinct, fixed, ints, normal, row


def put(x: np.ndarray, at: object, values: object, ufunc: np.ufunc | None = None) -> np.ndarray:
    """x with values written, or combined by a ufunc, at an index."""
    out = x.copy()
    if ufunc is None:
        out[at] = values
    else:
        ufunc.at(out, at, values)
    return out


ROWS, COLUMNS = np.indices((2, 2))

# -- gather -------------------------------------------------------------------------------------------------------
row("gather", [N, ints(0, 2, 4)], lambda x, i: x[i], dtypes=INT)
row("gather", [N, ints(0, 3, 2)], lambda x, i: x[:, i], axis=1)
row("index_select", [N, ints(-3, 3, 4)], lambda x, i: x[:, i], axis=1)
row("gather_nd", [normal(2, 3, 4), ints(0, 2, 5, 2)], lambda x, i: x[i[:, 0], i[:, 1]])
row("index_sample", [N, ints(0, 3, 2, 4)], lambda x, i: np.take_along_axis(x, i, 1))
row("take_along_axis", [N, ints(0, 3, 2, 2)], lambda x, i: np.take_along_axis(x, i, 1), axis=1)
row("take_along_axis", [N, ints(0, 3, 1, 2)], lambda x, i: x[:1][:, i[0]], axis=1, broadcast=False)
row("take_along_dim", [N, ints(0, 6, 4)], lambda x, i: x.ravel()[i])
row("take_along_dim", [N, ints(0, 3, 1, 2)], lambda x, i: x[:, i[0]], dim=1)
row("take", [N, ints(-6, 6, 2, 2)], lambda x, i: np.take(x, i))
row("take", [N, ints(-20, 20, 4)], lambda x, i: np.take(x, i, mode="wrap"), mode="wrap")
row(
    "shard_index",
    [ints(0, 20, 4, 1)],
    lambda i: np.where(i // 10 == 1, i % 10, -1),
    index_num=20,
    nshards=2,
    shard_id=1,
    grad=False,
)

# -- scatter ------------------------------------------------------------------------------------------------------
row("scatter", [normal(4, 3), fixed(2, 0), N], lambda x, i, u: put(x, i, u))
row("scatter", [normal(4, 3), fixed(1, 1), N], lambda x, i, u: put(put(x, i, 0), i, u, np.add), overwrite=False)
row("scatter_nd", [ints(0, 3, 4, 1), normal(4)], lambda i, u: put(np.zeros(3), i[:, 0], u, np.add), shape=[3])
row("scatter_nd_add", [normal(3), ints(0, 3, 4, 1), normal(4)], lambda x, i, u: put(x, i[:, 0], u, np.add))
row(
    "index_add",
    [N, ints(0, 3, 4)],
    lambda x, i: put(x, (slice(None), i), 1.5, np.add),
    axis=1,
    value=np.full((2, 4), 1.5),
)
row("index_fill", [N, ints(0, 3, 2)], lambda x, i: put(x, (slice(None), i), 5.0), axis=1, value=5.0)
row("index_put", [N], lambda x: put(x, ([0, 1], [1, 2]), 9.0), indices=([0, 1], [1, 2]), value=9.0)
row("index_put", [N], lambda x: put(x, ([1, 1],), 2.0, np.add), indices=([1, 1],), value=2.0, accumulate=True)
row("masked_fill", [N, B, fixed(3.0)], lambda x, m, v: np.where(m, v, x))
row("masked_scatter", [N, B, normal(6)], lambda x, m, v: put(x, m, v[: m.sum()]))
I2 = ints(0, 3, 2, 1)
row("put_along_axis", [N, I2, normal(2, 1)], lambda x, i, v: put(x, (ROWS[:, :1], i), v), axis=1)
for reduce, ufunc in [("add", np.add), ("mul", np.multiply), ("amax", np.maximum), ("amin", np.minimum)]:
    row(
        "put_along_axis",
        [N, I2, normal(2, 1)],
        lambda x, i, v, f=ufunc: put(x, (ROWS[:, :1], i), v, f),
        axis=1,
        reduce=reduce,
    )
row(
    "put_along_axis",
    [N, I2, normal(2, 1)],
    lambda x, i, v: put(x, (ROWS[:, :1], i), (x[ROWS[:, :1], i] + v) / 2),
    axis=1,
    reduce="mean",
)
row(
    "scatter_add",
    [N, ints(0, 3, 2, 4), normal(2, 4)],
    lambda x, i, v: put(x, (np.indices(i.shape)[0], i), v, np.add),
    dim=1,
    names=("input", "index", "src"),
)
row(
    "scatter_reduce",
    [N, I2, normal(2, 1)],
    lambda x, i, v: put(x, (ROWS[:, :1], i), v, np.multiply),
    dim=1,
    reduce="prod",
    names=("input", "index", "src"),
)
row("select_scatter", [N, normal(2)], lambda x, v: put(x, (slice(None), 1), v), axis=1, index=1)
row(
    "slice_scatter",
    [N, normal(2, 2)],
    lambda x, v: put(x, (slice(None), slice(0, 3, 2)), v),
    axes=[1],
    starts=[0],
    ends=[3],
    strides=[2],
)
row("diagonal_scatter", [N, normal(2)], lambda x, v: put(x, ([0, 1], [1, 2]), v), offset=1)
row("fill_diagonal_tensor", [N, normal(2)], lambda x, v: put(x, ([0, 1], [0, 1]), v))

# -- search and sort ----------------------------------------------------------------------------------------------
row("argmax", [D], np.argmax, grad=False, dtypes=INT)
row(
    "argmax",
    [D],
    lambda x: np.argmax(x, 1)[:, None].astype("int32"),
    axis=1,
    keepdim=True,
    attrs={"dtype": "int32"},
    grad=False,
)
row("argmin", [D], lambda x: np.argmin(x, 0), axis=0, grad=False)
row("sort", [D], np.sort, dtypes=INT)
row("sort", [D], lambda x: -np.sort(-x, 0), axis=0, descending=True)
row("msort", [D], lambda x: np.sort(x, 0))
row("argsort", [D], np.argsort, grad=False)
row("argsort", [ints(0, 3, 8)], lambda x: np.argsort(-x, kind="stable"), descending=True, stable=True, grad=False)
row("topk", [D], lambda x: (-np.sort(-x, 1)[:, :2], np.argsort(-x, 1)[:, :2]), k=2, dtypes=INT)
row(
    "topk",
    [distinct(3, 2)],
    lambda x: (np.sort(x, 0)[:2], np.argsort(x, 0)[:2]),
    k=2,
    axis=0,
    largest=False,
    dtypes=INT,
)
row("searchsorted", [fixed(1.0, 3.0, 5.0), N], np.searchsorted, grad=False)
row(
    "searchsorted",
    [fixed(1, 3, 5), K],
    lambda s, v: np.searchsorted(s, v, "right").astype("int32"),
    right=True,
    out_int32=True,
    grad=False,
)
row("bucketize", [K, fixed(1, 3, 5)], lambda x, s: np.searchsorted(s, x), grad=False)
row("where", [B, N, V], np.where, dtypes=INT)
row("where", [B, N], lambda c, x: np.where(c, x, 0), y=0)

# -- data-dependent shapes ----------------------------------------------------------------------------------------
row("nonzero", [K], lambda x: np.argwhere(x), grad=False, dynamic=True)
row("nonzero", [K], np.nonzero, as_tuple=True, grad=False, dynamic=True)
row("argwhere", [K], np.argwhere, grad=False, dynamic=True)
row("masked_select", [N, B], lambda x, m: x[m], dynamic=True)
row("masked_select", [N, bools(3)], lambda x, m: x[np.broadcast_to(m, x.shape)], dynamic=True)
row("unique", [K], np.unique, grad=False, dynamic=True)
row(
    "unique",
    [ints(0, 3, 6)],
    lambda x: np.unique(x, True, True, True),
    **{f"return_{part}": True for part in ("index", "inverse", "counts")},
    grad=False,
    dynamic=True,
)
row("unique", [fixed([1, 2], [1, 2], [0, 3])], lambda x: np.unique(x, axis=0), axis=0, grad=False, dynamic=True)
row(
    "unique_consecutive",
    [fixed(1, 1, 2, 1)],
    lambda x: (np.array([1, 2, 1]), np.array([2, 1, 1])),
    return_counts=True,
    grad=False,
    dynamic=True,
)
row(
    "unique_consecutive",
    [fixed(1, 1, 2, 1)],
    lambda x: (np.array([1, 2, 1]), np.array([0, 0, 1, 2])),
    return_inverse=True,
    grad=False,
    dynamic=True,
)
row("where", [V], lambda x: np.nonzero(x), grad=False, dynamic=True)
