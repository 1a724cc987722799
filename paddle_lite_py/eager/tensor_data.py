"""Conversion of tensor data to Python and NumPy values."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from ..core.arrays import is_array
from ..core.errors import DataDependentError, user_frame
from ..core.interpreter import state
from ..core.printing import as_text
from ..core.processes import gathered_arrays
from ..core.symbolic import is_symbolic
from ..core.unknown_size import UnknownSize
from .pending import payload_of

# NumPy functions behind operators: the method of a left operand, and of a right one.
_OPERATORS = {
    getattr(np, name): (f"__{left}__", f"__{right}__")
    for name, left, right in [
        *((n, o, f"r{o}") for n, o in [("add", "add"), ("subtract", "sub"), ("multiply", "mul"),
          ("true_divide", "truediv"), ("floor_divide", "floordiv"), ("remainder", "mod"), ("power", "pow"),
          ("matmul", "matmul"), ("bitwise_and", "and"), ("bitwise_or", "or"), ("bitwise_xor", "xor"),
          ("left_shift", "lshift"), ("right_shift", "rshift")]),
        ("less", "lt", "gt"), ("less_equal", "le", "ge"), ("greater", "gt", "lt"), ("greater_equal", "ge", "le"),
        ("equal", "eq", "eq"), ("not_equal", "ne", "ne"),
    ]
}  # fmt: skip


class TensorData:
    """The part of Tensor that converts its data to Python and NumPy; a traced tensor has no data and raises."""

    _payload: Any
    shape: Any
    dtype: Any
    place: Any
    grad: Any
    stop_gradient: Any
    __getitem__: Any
    _HEADING = ""  # first line of the repr

    def _array(self, what: str) -> jax.Array:
        """Return the payload as an array; `what` names the user's call in the error for a traced tensor."""
        data = self._payload
        if not is_array(data):
            return state.interpreter.data_of(self, what)
        if gathered_arrays and data.__class__ is not np.ndarray:
            return gathered_arrays[0](data)
        return data

    def _read(self, what: str) -> jax.Array:
        """The same for Python to look at, which a program under construction depends on from then on."""
        array = self._array(what)
        state.interpreter.looked_at(self)
        return array

    def _static_value(self, what: str) -> Any:
        return state.interpreter.static_value(self, what)

    def _static_number(self, what: str) -> Any:
        """Return the same for Python, which no size known only at run time can serve."""
        found = self._static_value(what)
        if is_symbolic(found):
            raise DataDependentError(
                f"{what} at {user_frame()} must be known while a static program is traced, and only a run tells it: "
                "keep to tensors there"
            )
        return found

    def numpy(self, blocking: bool = True, *, force: bool = False) -> np.ndarray:
        """Copy the data to a NumPy array, waiting for the computation.

        Returns:
            A writable `numpy.ndarray` with the shape and dtype of the tensor.
        """
        return np.array(self._read("numpy()"))

    def item(self, *args: int) -> Any:
        """Return the only element, or the one at the given index, as a Python number.

        While a program is traced, return a 0-D tensor, as `int()` and `float()` do.

        Arguments:
            args: ints: a flat index, or one index per dimension.
        """
        return state.interpreter.item(self, args)

    def tolist(self) -> Any:
        """Convert the tensor to nested Python lists."""
        return self._read("tolist()").tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._read("numpy()"), dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Dispatch `array + tensor` to the tensor's operator; other NumPy functions work on the values."""
        names = _OPERATORS.get(ufunc)
        if names and method == "__call__" and not kwargs:
            first, second = inputs
            on_left = isinstance(first, TensorData)
            return getattr(first, names[0])(second) if on_left else getattr(second, names[1])(first)
        what = f"numpy.{ufunc.__name__}()"
        if any(isinstance(out, TensorData) for out in kwargs.get("out", ())):
            raise TypeError(
                f"{what}: `out` is a Tensor; expected an array (tensor.set_value(array) writes into a tensor)"
            )
        values = [np.asarray(v._read(what)) if isinstance(v, TensorData) else v for v in inputs]
        return getattr(ufunc, method)(*values, **kwargs)

    def __jax_array__(self) -> jax.Array:
        return jax.numpy.asarray(self._read("jax.numpy"))

    def __dlpack__(self, **kwargs: Any) -> Any:
        if not self.stop_gradient:
            raise BufferError(
                "a tensor that requires gradient cannot be given by DLPack, which knows of none: take x.detach()"
            )
        # A copy: an optimizer may donate the array itself to XLA while the importer still reads it.
        return jax.numpy.copy(self._read("__dlpack__()")).__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self._array("__dlpack__()").__dlpack_device__()  # type: ignore[attr-defined]

    def _scalar(self, what: str) -> Any:
        array = self._read(what)
        if array.size != 1:
            if array.shape != payload_of(self).shape:
                raise ValueError(f"{what}: this process has no part of the tensor, {self._layout_text()}")
            raise ValueError(
                f"{what} needs a tensor of one element, got shape {list(array.shape)}; "
                + ("use .any() or .all()" if what.startswith("bool") else "index it, or reduce it, as by .mean()")
            )
        return array.item()

    def __bool__(self) -> bool:
        return bool(self._scalar("bool()"))

    def __int__(self) -> int:
        return int(self._scalar("int()"))

    def __float__(self) -> float:
        return float(self._scalar("float()"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex()"))

    def __index__(self) -> int:
        if not (self.dtype.is_integer or self.dtype == "bool"):
            raise TypeError(f"only an integer tensor can be an index, got {self.dtype.name}{[*self.shape]}")
        return int(self._static_number("an index"))

    def __len__(self) -> int:
        shape = payload_of(self).shape
        if not shape:
            raise TypeError("len() of a 0-D tensor; it has no first dimension")
        return shape[0] if type(shape[0]) is int else UnknownSize.of(shape[0])

    def __iter__(self) -> Iterator[Any]:
        if not payload_of(self).shape:
            raise TypeError("a 0-D tensor cannot be iterated over")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __format__(self, spec: str) -> str:
        if is_array(self._payload) and (self._payload.ndim == 0 or (spec and self._payload.size == 1)):
            return format(self._scalar("format()"), spec)
        return str(self)

    @property
    def itemsize(self) -> int:
        """Size of one element in bytes."""
        return payload_of(self).dtype.itemsize

    def element_size(self) -> int:
        """Return the size of one element in bytes."""
        return self.itemsize

    def __repr__(self) -> str:
        if not is_array(self._payload):
            what = "without data" if isinstance(self._payload, jax.ShapeDtypeStruct) else f"traced as {self._payload}"
            layout = f"{layout}, " if (layout := self._layout_text()) else ""
            return f"Tensor(shape={[*self.shape]}, dtype={self.dtype.name}, {layout}{what})"
        layout, values = self._layout_text(), np.asarray(self._array("repr()"))
        if values.shape != self._payload.shape:
            return f"Tensor(shape={[*self.shape]}, dtype={self.dtype.name}, {layout}, without data in this process)"
        return self._HEADING + as_text(values, self.place, self.stop_gradient, layout=layout)

    def _layout_text(self) -> str:
        """How the tensor lies over several devices; distributed.auto_parallel tells."""
        return ""

    def _repr_html_(self) -> str:
        head, _, body = repr(self).partition("\n")
        kind = f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"
        return (
            f"<details open><summary><code>{html.escape(type(self).__name__)} {kind}</code> "
            f"<small>{html.escape(self.place.name)}, stop_gradient={self.stop_gradient}</small></summary>"
            f"<pre>{html.escape(body.strip().removesuffix(')') if body else head)}</pre></details>"
        )

    def is_floating_point(self) -> bool:
        """Return True if the dtype is floating-point."""
        return self.dtype.is_floating

    def gradient(self) -> np.ndarray | None:
        """Return the gradient as a NumPy array, or None."""
        return None if self.grad is None else self.grad.numpy()
