"""Convolution and pooling of sparse tensors: rows gathered by a table, then one matrix product."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...dispatch.define import op
from ...ops.convolution import tuple_of
from ..tensors import SparseCooTensor
from .sites import Meeting, Window, find_neighbors

__all__ = [
    *("conv2d", "conv3d", "max_pool3d", "subm_conv2d", "subm_conv2d_igemm", "subm_conv3d", "subm_conv3d_igemm"),
]
_FORMATS = {2: "NHWC", 3: "NDHWC"}


@op(name="sparse_convolution", amp="white")
def _convolution(values: Any, weight: Any, table: Any, bias: Any = None, /) -> Any:
    """Rows [n, in] gathered by a table [window, m], times a weight [*window, in, out]."""
    rows = jnp.pad(values, ((0, 1), (0, 0)))[table]
    out = jnp.einsum("kmc,kcd->md", rows, weight.reshape(-1, *weight.shape[-2:]))
    return out if bias is None else out + bias


@op(name="sparse_max_pool")
def _max_pool(values: Any, table: Any, /) -> Any:
    return jnp.max(jnp.pad(values, ((0, 1), (0, 0)), constant_values=-jnp.inf)[table], 0)


def _checked(who: str, x: Any, n: int, data_format: str) -> SparseCooTensor:
    if not isinstance(x, SparseCooTensor) or len(x.shape) != n + 2 or len(x._indices) != n + 1:
        raise ValueError(
            f"sparse {who}: x is a {type(x).__name__} of shape {list(x.shape)}; expected a SparseCooTensor [batch, "
            f"{n} of space, channels] with places of {n + 1} rows, so that each value is a row of channels"
        )
    if data_format != _FORMATS[n]:
        raise ValueError(f"sparse {who}: data_format is {data_format!r}; expected {_FORMATS[n]!r}")
    return x.coalesce() if x._repeats() else x


def _with_sites(x: SparseCooTensor, met: Meeting, values: Any) -> SparseCooTensor:
    sites = x._indices if met.sites is None else met.sites
    return SparseCooTensor(sites, values, [x.shape[0], *met.space, values.shape[-1]])


def _convolve(
    who: str,
    n: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    data_format: str,
    same_sites: bool = False,
) -> SparseCooTensor:
    x = _checked(who, x, n, data_format)
    if groups != 1:
        raise ValueError(f"sparse {who}: groups is {groups}; expected 1")
    if weight.ndim != n + 2 or weight.shape[-2] != x.shape[-1]:
        raise ValueError(
            f"sparse {who}: weight has the shape {list(weight.shape)}, and x {x.shape[-1]} channels; "
            f"expected [{n} sizes, {x.shape[-1]}, out]"
        )
    met = find_neighbors(x, Window.of(weight.shape[:n], stride, padding, dilation, same_sites=same_sites))
    fn: Any = _convolution
    return _with_sites(x, met, fn(x.values(), weight, met.table, bias))


_DOC = """Apply a {what} to a sparse tensor {space} with dense channels.

Arguments:
    x: SparseCooTensor {space}.
    weight: float tensor {weight}.
    bias: float tensor [C_out]; None: no bias.
    stride, padding, dilation: int or list of ints, the geometry of the window.{more}
    groups: only 1 is supported.

Returns:
    A SparseCooTensor {space} with C_out channels.

Raises:
    ValueError: if the shapes do not match.

Source: Graham et al., 3D Semantic Segmentation with Submanifold Sparse Convolutional Networks, 2018.

Examples:
    >>> import paddle_lite_py as paddle
    >>> x = paddle.sparse.sparse_coo_tensor({places}, [[1.0, 2.0]], {shape})
    >>> y = paddle.sparse.nn.functional.{name}(x, paddle.ones({ones}))
    >>> y.shape, y.values().tolist()
    {result}
"""
_SPACE = {2: "[N, H, W, C]", 3: "[N, D, H, W, C]"}


def _define(name: str, n: int, same_sites: bool) -> Any:
    def plain(
        x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        data_format: str = _FORMATS[n], name: str | None = None,
    ) -> SparseCooTensor:  # fmt: skip
        return _convolve(who, n, x, weight, bias, stride, padding, dilation, groups, data_format)

    def submanifold(
        x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        data_format: str = _FORMATS[n], key: str | None = None, name: str | None = None,
    ) -> SparseCooTensor:  # fmt: skip
        return _convolve(who, n, x, weight, bias, stride, padding, dilation, groups, data_format, True)

    who, function = name, submanifold if same_sites else plain
    function.__name__ = function.__qualname__ = name
    function.__doc__ = _DOC.format(
        name=name,
        what=f"submanifold {n}-D convolution" if same_sites else f"{n}-D convolution",
        space=_SPACE[n],
        weight=f"[{', '.join(['K'] * n)}, C_in, C_out]",
        more="\n        The output has the sites of the input, so padding and stride have no effect.\n"
        "    key: accepted; neighbor tables are cached with the indices." if same_sites else "",
        places=[[0]] * (n + 1),
        shape=[1, *[3] * n, 2],
        ones=[*[3 if same_sites else 2] * n, 2, 1],
        result=f"([1, {', '.join(['3' if same_sites else '2'] * n)}, 1], [[3.0]])",
    )  # fmt: skip
    return function


conv2d, conv3d = _define("conv2d", 2, False), _define("conv3d", 3, False)
subm_conv2d, subm_conv3d = _define("subm_conv2d", 2, True), _define("subm_conv3d", 3, True)
subm_conv2d_igemm, subm_conv3d_igemm = _define("subm_conv2d_igemm", 2, True), _define("subm_conv3d_igemm", 3, True)


def max_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> SparseCooTensor:
    """Apply 3-D max pooling to a sparse tensor: the maximum of each channel over the sites in each window.

    Arguments:
        x: sparse COO tensor [N, D, H, W, C] with dense channels.
        stride: int or three ints. Default: `kernel_size`.
        ceil_mode: round the output size up instead of down. Default: False.

    Returns:
        A sparse tensor [N, D_out, H_out, W_out, C] with a site for each window that contains one.

    Raises:
        ValueError: if `x` has another layout.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1], [0, 1]], [[1.0], [-2.0]], [1, 2, 2, 2, 1])
        >>> max_pool3d(x, 2).values().tolist()
        [[1.0]]
    """
    x = _checked("max_pool3d", x, 3, data_format)
    kernel = tuple_of(kernel_size, 3, "kernel_size")
    met = find_neighbors(x, Window.of(kernel, kernel if stride is None else stride, padding, 1, ceil=ceil_mode))
    fn: Any = _max_pool
    return _with_sites(x, met, fn(x.values(), met.table))
