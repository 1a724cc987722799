"""Sparse tensors in COO and CSR format: indices are known on the host; values are a tensor with a gradient."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.errors import SparseError
from ..core.no_effect import Immaterial, no_effect
from ..core.printing import text_of
from ..core.size import Size
from ..dispatch.define import op
from ..eager.tensor import RemoveHandle, Tensor
from ..ops.convert import to_tensor
from ..ops.dynamic import concrete, fresh

__all__ = ["SparseCooTensor", "SparseCsrTensor", "sparse_coo_tensor", "sparse_csr_tensor"]


@op(name="sparse_to_dense")
def _scatter(values: Any, /, *, places: Any, shape: Any) -> Any:
    at = tuple(np.array(row, np.int64) for row in places)
    return jnp.zeros((*shape, *values.shape[1:]), values.dtype).at[at].add(values)


@op(name="sparse_values")
def _gathered(x: Any, /, *, places: Any) -> Any:
    return x[tuple(np.array(row, np.int64) for row in places)]


def _frozen(indices: np.ndarray) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in indices.tolist())


def gathered(x: Tensor, indices: np.ndarray) -> Tensor:
    """Return the elements of a dense tensor at indices [ndim, nnz]."""
    fn: Any = _gathered
    return fn(x, places=_frozen(indices))


def _floating(value: Any, dtype: Any, place: Any = None) -> Tensor:
    found: Any = value if isinstance(value, Tensor) else to_tensor(value)
    found = found if dtype is None else found.astype(dtype)
    return found if place is None else found.to(place)


class _Sparse(Tensor):
    """Base class of both formats: shape, values, and the indices as host arrays; a Tensor without dense data."""

    _values: Tensor
    _indices: Any
    _PRINTED: tuple[str, ...]

    _dense = False
    _shape: Size

    @property
    def _payload(self) -> Any:  # read by whatever is of dense tensors only
        raise SparseError("a sparse tensor is given; call its to_dense(), or the function of paddle.sparse")

    @property
    def _source(self) -> Any:  # read by the tape
        raise SparseError("a sparse tensor has no place on the tape; give its values()")

    @property
    def shape(self) -> Size:
        """The shape: the size of each dimension."""
        return self._shape

    @property
    def name(self) -> str:
        """The name, which is that of the values."""
        return self._values.name

    @name.setter
    def name(self, value: str) -> None:
        self._values.name = value

    def register_hook(self, hook: Callable[[Any], Any]) -> RemoveHandle:
        """Call `hook(grad)` with the sparse gradient in each `backward()`; a returned one replaces it."""

        def of_values(grad: Tensor) -> Any:
            changed = hook(self._with(grad))
            return changed.values() if isinstance(changed, _Sparse) else changed

        return self._values.register_hook(of_values)

    def retain_grads(self) -> None:
        """Keep the gradient of this tensor in `.grad` although it is not a leaf."""
        self._values.retain_grads()

    def detach_(self) -> Any:
        """Detach the tensor from the graph in place."""
        self._values.detach_()
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        memo[id(self)] = out = copy.copy(self)
        out.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return object.__new__, (type(self),), self.__dict__

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def values(self) -> Tensor:
        """Return the stored values."""
        return self._values

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def place(self) -> Any:
        """The device of the values."""
        return self._values.place

    @property
    def stop_gradient(self) -> bool:
        """True if no gradients are recorded for the values."""
        return self._values.stop_gradient

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self._values.stop_gradient = value

    @property
    def grad(self) -> Any:
        """The gradient, with the same indices; None if there is none."""
        found = self._values.grad
        return None if found is None else self._with(found)

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None and not isinstance(value, _Sparse):
            raise TypeError(f"gradient of a sparse tensor: expected a sparse one or None, got {type(value).__name__}")
        self._values.grad = None if value is None else value.values()

    def dim(self) -> int:
        """Return the number of dimensions."""
        return self.ndim

    def sparse_dim(self) -> int:
        """Return the number of sparse dimensions."""
        return len(self._indices)

    def dense_dim(self) -> int:
        """Return the number of dense dimensions: those of each value."""
        return self.ndim - self.sparse_dim()

    def is_sparse(self) -> bool:
        """Return True."""
        return True

    def is_dense(self) -> bool:
        """Return False."""
        return False

    def nnz(self) -> int:
        """Return the number of stored values."""
        return self._values.shape[0]

    def numpy(self, blocking: bool = True, *, force: bool = False) -> np.ndarray:
        """Convert to a dense NumPy array."""
        return self.to_dense().numpy(blocking, force=force)

    def astype(self, dtype: Any) -> Any:
        """Convert the values to another dtype."""
        return self._with(self._values.astype(dtype))

    cast = astype

    def element_size(self) -> int:
        """Return the size of one value in bytes."""
        return self._values.element_size()

    @property
    def is_leaf(self) -> bool:
        """True if no op computed the values."""
        return self._values.is_leaf

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Set the gradient to zeros (the default) or None."""
        self._values.clear_gradient(set_to_zero)

    clear_grad = clear_gradient

    def clone(self) -> Any:
        """Copy the tensor; gradients flow through the copy."""
        return self._with(self._values.clone())

    def cpu(self) -> Any:
        """Return the tensor on the CPU."""
        return self._with(self._values.cpu())

    def detach(self) -> Any:
        """Return the tensor detached from the graph."""
        return self._with(self._values.detach())

    def backward(
        self, grad_tensor: Any = None, retain_graph: bool = False, *, dump_backward_graph_path: str | None = None
    ) -> None:
        """Compute the gradients of the values."""
        grad = grad_tensor.values() if isinstance(grad_tensor, _Sparse) else grad_tensor
        self._values.backward(grad, retain_graph, dump_backward_graph_path=dump_backward_graph_path)

    def _with(self, values: Tensor) -> Any:
        raise NotImplementedError

    def to_dense(self) -> Tensor:
        """Convert to a dense tensor."""
        raise NotImplementedError

    def __repr__(self) -> str:
        kind = f"shape={[*self.shape]}, dtype={self.dtype}, place={self.place!r}"
        head = f"Tensor({kind}, stop_gradient={self.stop_gradient}"
        parts = [(n, getattr(self, n)().numpy()) for n in self._PRINTED]
        shown = [f"       {n}={text_of(np.asarray(found), 8 + len(n))}" for n, found in parts]
        return ", \n".join([head, *shown]) + ")"


class SparseCooTensor(_Sparse):
    """A sparse tensor in coordinate format: the indices [ndim, nnz] and the values [nnz].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> type(x).__name__, x.indices().tolist()
        ('SparseCooTensor', [[0, 1], [1, 0]])
    """

    _PRINTED = ("indices", "values")

    def __init__(self, indices: np.ndarray, values: Tensor, shape: Sequence[int], coalesced: bool = False) -> None:
        self._indices, self._values, self._shape, self._coalesced = indices, values, Size(shape), coalesced

    def indices(self) -> Tensor:
        """Return the indices, an int64 tensor [sparse_dim, nnz]."""
        return fresh(self._indices)

    def is_sparse_coo(self) -> bool:
        """Return True."""
        return True

    def is_sparse_csr(self) -> bool:
        """Return False."""
        return False

    def _with(self, values: Tensor) -> SparseCooTensor:
        return SparseCooTensor(self._indices, values, self.shape)

    def to_dense(self) -> Tensor:
        """Convert to a dense tensor; values of duplicate indices are summed."""
        fn: Any = _scatter
        return fn(self._values, places=_frozen(self._indices), shape=tuple(self.shape[: len(self._indices)]))

    @no_effect(sparse_dim=Immaterial("it has its sparse dimensions"))
    def to_sparse_coo(self, sparse_dim: int | None = None) -> SparseCooTensor:
        """Return the tensor itself."""
        return self

    def coalesce(self) -> SparseCooTensor:
        """Sort the indices and sum the values of duplicates."""
        found = np.unique(self._indices, axis=1)
        return SparseCooTensor(found, gathered(self.to_dense(), found), self.shape, True)

    def is_coalesced(self) -> bool:
        """Return True if `coalesce()` has been applied."""
        return self._coalesced

    def _repeats(self) -> bool:
        return np.unique(self._indices, axis=1).shape[1] < self._indices.shape[1]

    def to_sparse_csr(self) -> SparseCsrTensor:
        """Convert a matrix, or a batch of matrices, to compressed sparse row format."""
        c = self.coalesce()
        if c.ndim not in (2, 3) or len(c._indices) != c.ndim:
            raise ValueError(f"to_sparse_csr: the tensor has {c.ndim} dimensions; expected 2 or 3")
        outer = tuple(c.shape[:-1])
        filled = np.bincount(np.ravel_multi_index(tuple(c._indices[:-1]), outer), minlength=int(np.prod(outer)))
        starts = np.pad(filled.reshape(-1, outer[-1]).cumsum(1), ((0, 0), (1, 0)))
        return SparseCsrTensor(starts.reshape(-1), c._indices[-1], c._values, self.shape)


class SparseCsrTensor(_Sparse):
    """A sparse matrix, or a batch of them, in compressed sparse row format: row offsets, columns and values.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2])
        >>> y = x.to_sparse_csr()
        >>> type(y).__name__, y.crows().tolist()
        ('SparseCsrTensor', [0, 1, 2])
    """

    _PRINTED = ("crows", "cols", "values")

    def __init__(self, crows: np.ndarray, cols: np.ndarray, values: Tensor, shape: Sequence[int]) -> None:
        self._crows, self._cols, self._values, self._shape = crows, cols, values, Size(shape)

    def crows(self) -> Tensor:
        """Return the row offsets, [rows + 1] per matrix."""
        return fresh(self._crows)

    def cols(self) -> Tensor:
        """Return the column index of each value, [nnz]."""
        return fresh(self._cols)

    def is_sparse_coo(self) -> bool:
        """Return False."""
        return False

    def is_sparse_csr(self) -> bool:
        """Return True."""
        return True

    def _with(self, values: Tensor) -> SparseCsrTensor:
        return SparseCsrTensor(self._crows, self._cols, values, self.shape)

    @property
    def _indices(self) -> np.ndarray:
        outer = tuple(self.shape[:-1])
        filled = np.diff(self._crows.reshape(-1, outer[-1] + 1)).reshape(-1)
        rows = np.unravel_index(np.repeat(np.arange(filled.size), filled), outer)
        return np.stack([*rows, self._cols]).astype(np.int64)

    def to_sparse_coo(self, sparse_dim: int | None = None) -> SparseCooTensor:
        """Convert to coordinate format; all dimensions are sparse."""
        if sparse_dim not in (None, len(self.shape)):
            raise ValueError(f"to_sparse_coo: sparse_dim is {sparse_dim}; expected {len(self.shape)}, all dimensions")
        return SparseCooTensor(self._indices, self._values, self.shape)

    def to_sparse_csr(self) -> SparseCsrTensor:
        """Return the tensor itself."""
        return self

    def to_dense(self) -> Tensor:
        """Convert to a dense tensor."""
        return self.to_sparse_coo().to_dense()


def _host(value: Any, who: str) -> np.ndarray:
    return np.asarray(concrete(value, who, "places that are known while tracing")).astype(np.int64)


def sparse_coo_tensor(
    indices: Any, values: Any, shape: Any = None, dtype: Any = None, place: Any = None, stop_gradient: bool = True
) -> SparseCooTensor:
    """Create a sparse tensor in coordinate format.

    Arguments:
        indices: integer tensor [ndim, nnz].
        values: tensor [nnz], or [nnz, ...] for dense blocks.
        shape: list of ints. Default: the smallest shape that contains the indices.
        place: device of the values. Default: the current device.

    Returns:
        A SparseCooTensor.

    Raises:
        ValueError: if the numbers of indices and values differ, or an index is out of range.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2]).to_dense().tolist()
        [[0.0, 1.0], [2.0, 0.0]]
    """
    places, found = _host(indices, "sparse_coo_tensor()"), _floating(values, dtype, place)
    if places.ndim != 2 or places.shape[1] != found.shape[0]:
        raise ValueError(f"sparse_coo_tensor: places of shape {list(places.shape)} for {found.shape[0]} values")
    least = [*(places.max(1) + 1 if places.size else [0] * len(places)), *found.shape[1:]]
    sizes = [int(n) for n in least] if shape is None else [int(n) for n in shape]
    if len(sizes) != len(least) or any(s < n for s, n in zip(sizes, least, strict=True)) or (places < 0).any():
        raise ValueError(f"sparse_coo_tensor: the shape is {sizes}, and the places reach {[int(n) for n in least]}")
    return SparseCooTensor(places, _leaf(found, stop_gradient), sizes)


def _leaf(values: Tensor, stop_gradient: bool) -> Tensor:
    if not stop_gradient and values.stop_gradient:
        values = values.detach()
        values.stop_gradient = False
    return values


def sparse_csr_tensor(
    crows: Any,
    cols: Any,
    values: Any,
    shape: Any = None,
    dtype: Any = None,
    place: Any = None,
    stop_gradient: bool = True,
) -> SparseCsrTensor:
    """Create a sparse matrix in compressed sparse row format.

    Arguments:
        crows: 1-D integer tensor [rows + 1], the offset of each row in `cols` and the end; for several matrices,
            concatenated.
        cols: 1-D integer tensor [nnz], the column index of each value.
        shape: list of ints. Default: the smallest shape that contains the values.
        place: device of the values. Default: the current device.

    Returns:
        A SparseCsrTensor.

    Raises:
        ValueError: if their shapes do not match.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [3.0, 4.0], [2, 2]).to_dense().tolist()
        [[0.0, 3.0], [4.0, 0.0]]
    """
    starts, columns, found = (
        _host(crows, "sparse_csr_tensor()"),
        _host(cols, "sparse_csr_tensor()"),
        _floating(values, dtype, place),
    )
    if shape is None:
        shape = [len(starts) - 1, int(columns.max(initial=-1)) + 1]
    outer = tuple(shape[:-1])
    fits = len(outer) in (1, 2) and starts.shape == (math.prod(outer[:-1]) * (outer[-1] + 1),)
    fits = fits and starts.reshape(-1, outer[-1] + 1)[:, -1].sum() == len(columns) == found.shape[0]
    if not fits or (len(columns) and not (0 <= columns.min() and columns.max() < shape[1])):
        raise ValueError(f"sparse_csr_tensor: crows, cols and values do not fit the shape {list(shape)}")
    return SparseCsrTensor(starts, columns, _leaf(found, stop_gradient), shape)


def to_sparse_coo(self: Tensor, sparse_dim: int | None = None) -> SparseCooTensor:
    """Convert a dense tensor to coordinate format; zeros are not stored."""
    array = concrete(self, "to_sparse_coo()", "a mask")
    rest = tuple(range(sparse_dim or array.ndim, array.ndim))
    places = np.stack(np.nonzero(np.abs(array).sum(rest) if rest else array)).astype(np.int64)
    return SparseCooTensor(places, gathered(self, places), self.shape, True)


def to_sparse_csr(self: Tensor) -> SparseCsrTensor:
    """Convert a dense matrix to compressed sparse row format; zeros are not stored."""
    return to_sparse_coo(self).to_sparse_csr()
