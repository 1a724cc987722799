"""Rows of the op table: creation, shape, joining and splitting."""

from __future__ import annotations

import itertools

import numpy as np
import scipy.linalg

from ops_table import INT, B, K, N, V, complexes, fixed, ints, normal, row

X = normal(2, 3, 4)

# -- creation -----------------------------------------------------------------------------------------------------
row("full", [], lambda: np.full((2, 3), 1.5), shape=[2, 3], fill_value=1.5)
row("full", [], lambda: np.full(2, True), shape=2, fill_value=True)
row("zeros", [], lambda: np.zeros((2, 3)), shape=[2, 3])
row("ones", [], lambda: np.ones((2, 3), "int32"), shape=(2, 3), attrs={"dtype": "int32"})
row("empty", [], lambda: np.zeros((2, 3)), shape=[2, 3])
row("full_like", [N], lambda x: np.full_like(x, 2), fill_value=2, dtypes=INT, grad=False)
row("zeros_like", [N], np.zeros_like, dtypes=INT, grad=False)
row("ones_like", [N], lambda x: np.ones(x.shape, "int32"), attrs={"dtype": "int32"}, grad=False)
row("empty_like", [N], np.zeros_like, grad=False)
row("arange", [], lambda: np.arange(5), start=5)
row("arange", [], lambda: np.arange(5, 0, -2), start=5, end=0, step=-2)
row("arange", [], lambda: np.arange(0, 1, 0.25), start=0, end=1, step=0.25)
row("range", [], lambda: np.arange(0, 1.25, 0.25), start=0, end=1, step=0.25)
row("linspace", [], lambda: np.linspace(0, 1, 5), start=0, stop=1, num=5)
row("logspace", [], lambda: np.logspace(0, 2, 3), start=0, stop=2, num=3, tol=1e-4)
row("eye", [], lambda: np.eye(2, 3), num_rows=2, num_columns=3)
row("assign", [N], lambda x: x, dtypes=INT)
row("clone", [N], lambda x: x)
row("numel", [N], lambda x: np.int64(6), grad=False)
row("shape", [N], lambda x: np.array([2, 3]), grad=False)
row("rank", [N], lambda x: np.int32(2), grad=False)
row("tril_indices", [], lambda: np.stack(np.tril_indices(3, 1, 4)), row=3, col=4, offset=1)
row("triu_indices", [], lambda: np.stack(np.triu_indices(3)), row=3)
row("one_hot", [ints(0, 4, 2, 3)], lambda i: np.eye(4)[i], num_classes=4, grad=False)

# -- shape --------------------------------------------------------------------------------------------------------
row("reshape", [X], lambda x: x.reshape(2, 12), shape=[0, -1])
row("reshape", [N], lambda x: x.reshape(6), shape=-1, dtypes=INT)
row("flatten", [X], lambda x: x.reshape(2, 12), start_axis=1)
row("ravel", [X], np.ravel)
row("unflatten", [X], lambda x: x.reshape(2, 3, 2, 2), axis=2, shape=[2, -1])
row("transpose", [X], lambda x: x.transpose(2, 0, 1), perm=[2, 0, 1])
row("permute", [X], lambda x: x.transpose(2, 0, 1), dims=[2, 0, 1])
row("t", [N], np.transpose)
row("moveaxis", [X], lambda x: np.moveaxis(x, (0, 1), (2, 0)), source=[0, 1], destination=[2, 0])
row("swapaxes", [X], lambda x: np.swapaxes(x, 0, 2), axis0=0, axis1=2)
row("squeeze", [normal(1, 3, 1)], np.squeeze)
row("squeeze", [normal(1, 3, 1)], lambda x: x[0], axis=[0, 1])
row("unsqueeze", [N], lambda x: x[None, :, None], axis=[0, 2])
row("unsqueeze", [N], lambda x: x[..., None], axis=-1)
row("expand", [normal(2, 1)], lambda x: np.broadcast_to(x, (4, 2, 3)), shape=[4, -1, 3])
row("broadcast_to", [V], lambda x: np.broadcast_to(x, (2, 3)), shape=[2, 3])
row("expand_as", [V, N], lambda x, y: np.broadcast_to(x, y.shape), grad=False)
row("tile", [N], lambda x: np.tile(x, (2, 1, 2)), repeat_times=[2, 1, 2])
row("repeat", [N], lambda x: np.tile(x, (2, 2)), repeats=[2, 2])
row("cast", [N], lambda x: x.astype("int32"), attrs={"dtype": "int32"}, grad=False)
row("cast", [K], lambda x: x.astype("float32"), attrs={"dtype": "float32"}, grad=False)
row("cast", [complexes(2, 3)], np.real, attrs={"dtype": "float32"}, grad=False)
row("view", [N], lambda x: x.reshape(3, 2), shape_or_dtype=[3, 2])
row("view", [N], lambda x: x.view("int32"), shape_or_dtype="int32", grad=False)
row("view_as", [N, normal(6)], lambda x, y: x.reshape(6), grad=False)

# -- parts --------------------------------------------------------------------------------------------------------
row("flip", [X], lambda x: np.flip(x, (0, 2)), axis=[0, 2])
row("roll", [N], lambda x: np.roll(x, 1), shifts=1)
row("roll", [N], lambda x: np.roll(x, (1, -1), (0, 1)), shifts=[1, -1], axis=[0, 1])
row("rot90", [N], lambda x: np.rot90(x, 3), k=3)
row("slice", [X], lambda x: x[:1, 1:3], axes=[0, 1], starts=[-3, 1], ends=[1, 99])
row("strided_slice", [X], lambda x: x[:, ::-2, 1:4:2], axes=[1, 2], starts=[2, 1], ends=[-4, 4], strides=[-2, 2])
row("narrow", [X], lambda x: x[:, 1:3], dim=1, start=-2, length=2)
row("crop", [N], lambda x: x[1:, :2], shape=[-1, 2], offsets=[1, 0])
row(
    "as_strided",
    [N],
    lambda x: x.reshape(-1)[8 // x.itemsize :][[[0, 2], [1, 3]]],
    shape=[2, 2],
    stride=[1, 2],
    offset=8,
)
row(
    "unfold",
    [normal(2, 5)],
    lambda x: np.lib.stride_tricks.sliding_window_view(x, 3, 1)[:, ::2],
    axis=1,
    size=3,
    step=2,
)

# -- joining and splitting ----------------------------------------------------------------------------------------
row("concat", [[N, N]], lambda xs: np.concatenate(xs, 1), axis=-1, dtypes=INT)
row("stack", [[N, N]], lambda xs: np.stack(xs, 1), axis=1)
row("split", [X], lambda x: tuple(np.split(x, 3, 1)), num_or_sections=3, axis=1)
row("split", [X], lambda x: tuple(np.split(x, [1], 2)), num_or_sections=[1, -1], axis=-1)
row("chunk", [X], lambda x: tuple(np.split(x, 2, 2)), chunks=2, axis=2)
row("tensor_split", [X], lambda x: tuple(np.array_split(x, 3, 2)), num_or_indices=3, axis=2)
row("hsplit", [X], lambda x: tuple(np.hsplit(x, 3)), num_or_indices=3)
row("vsplit", [X], lambda x: tuple(np.vsplit(x, 2)), num_or_indices=2)
row("dsplit", [X], lambda x: tuple(np.dsplit(x, [1, 3])), num_or_indices=[1, 3])
row("unbind", [N], lambda x: tuple(x), dtypes=INT)
row("unstack", [N], lambda x: tuple(x.T), axis=1)
row("broadcast_tensors", [[V, N]], lambda xs: tuple(np.broadcast_arrays(*xs)))
row("meshgrid", [[V, normal(2)]], lambda xs: tuple(np.meshgrid(*xs, indexing="ij")))
row("repeat_interleave", [N], lambda x: np.repeat(x, 2, 1), repeats=2, axis=1)
row("repeat_interleave", [N, ints(0, 3, 2)], lambda x, n: np.repeat(x, n, 0), axis=0, dynamic=True)
row("hstack", [[N, N]], np.hstack)
row("vstack", [[N, N]], np.vstack)
row("dstack", [[N, N]], np.dstack)
row("column_stack", [[V, V]], np.column_stack)
row("block_diag", [[N, normal(1, 2)]], lambda xs: scipy.linalg.block_diag(*xs))
row("atleast_1d", [fixed(1.5)], np.atleast_1d)
row("atleast_2d", [V], np.atleast_2d)
row("atleast_3d", [N], np.atleast_3d)
row("cartesian_prod", [[V, normal(2)]], lambda xs: np.array(list(itertools.product(*xs))))
row("combinations", [V], lambda x: np.array(list(itertools.combinations(x, 2))))

# -- diagonals and differences ------------------------------------------------------------------------------------
row("tril", [N], lambda x: np.tril(x, 1), diagonal=1, dtypes=INT)
row("triu", [X], np.triu)
row("diag", [V], lambda x: np.diag(x, 1), offset=1)
row("diag", [N], np.diag)
row("diag", [V], lambda x: np.where(np.eye(3) > 0, np.diag(x), 9), padding_value=9)
row("diagflat", [N], np.diagflat)
row("diagonal", [X], lambda x: np.diagonal(x, 1, 1, 2), offset=1, axis1=1, axis2=2)
row("diag_embed", [N], lambda x: np.stack([np.diag(r, -1) for r in x]), offset=-1)
row("trace", [X], lambda x: np.trace(x, 0, 1, 2), axis1=1, axis2=2)
row("diff", [N], lambda x: np.diff(x, 2), n=2)
row("trapezoid", [N], lambda x: np.trapezoid(x, dx=2.0), dx=2.0)
row("cumulative_trapezoid", [N], lambda x: np.cumsum((x[:, 1:] + x[:, :-1]) / 2, 1))
row("complex", [B, N], lambda a, b: (a + 1j * b).astype("complex64"), grad=False)
