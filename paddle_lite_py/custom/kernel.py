"""Operators compiled from C++: handlers of XLA's foreign function interface in a shared library."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from ..ir.program import Program
from .jax_op import CustomOp, define, with_gradient

__all__ = ["KernelOp", "Library", "kernels", "unknown_kernels"]

# Handlers known to XLA in this process, and the library that each came from.
_known: dict[str, str] = {}


class KernelOp(CustomOp):
    """An op whose function calls handlers of a library; `targets` are their names to XLA."""

    targets: tuple[str, ...] = ()


def kernels(program: Program) -> list[str]:
    """Return the names to XLA of all compiled operators in a program, and of their gradients."""
    return sorted({t for op in program.ops() if isinstance(op.bound.op, KernelOp) for t in op.bound.op.targets})


def unknown_kernels(names: Iterable[str]) -> list[str]:
    """Return those of the names that no library has been loaded for."""
    return [n for n in names if n not in _known]


class Library:
    """A compiled library; its operators are its attributes.

    A handler `f` is an operator with one result like its first tensor, and `f_grad`, if there is one, is its gradient;
    define() says otherwise.

    Arguments:
        name: of the library, which programs know its operators by.
        path: the shared library.
        handlers: the names of the handlers in it.
    """

    def __init__(self, name: str, path: str, handlers: Sequence[str]) -> None:
        if name in _loaded and _loaded[name] != path:
            raise RuntimeError(
                f"cpp_extension '{name}' was loaded before, from other sources; XLA keeps what it was given: start "
                "Python again, or load it under another name"
            )
        self.name, self.path, self.handlers = name, path, list(handlers)
        library = ctypes.CDLL(path)
        for handler in self.handlers:
            jax.ffi.register_ffi_target(self._target(handler), jax.ffi.pycapsule(library[handler]), platform="cpu")
            _known[self._target(handler)] = name
        _loaded[name] = path
        for handler in self.handlers:
            if not handler.endswith("_grad"):
                setattr(self, handler, self.define(handler))

    def _target(self, handler: str) -> str:
        return f"{self.name}.{handler}"

    def define(self, handler: str, out: Callable[..., Any] | None = None, backward: str | None = None) -> Any:
        """Return an operator of a handler.

        Arguments:
            out: is given shape and dtype of each tensor, and the attributes by name; returns an InputSpec for each
                result.
            backward: the handler that computes its gradient: it takes the tensors, the results and the gradients of the
                results, and gives the gradient of each tensor; "f_grad" by default, if it is there.

        Raises:
            AttributeError: if the library has no such handler.
        """
        back = backward or (f"{handler}_grad" if f"{handler}_grad" in self.handlers else None)
        for name in filter(None, (handler, back)):
            if name not in self.handlers:
                known = ", ".join(self.handlers) or "none"
                raise AttributeError(f"library '{self.name}' has no handler `{name}`; its handlers: {known}")
        made = KernelOp(self._function(handler, out, back), self._target(handler), grad=back is not None)
        made.targets = tuple([self._target(name) for name in (handler, back) if name])
        define(made)

        def run(*tensors: Any, **attributes: Any) -> Any:
            found = made.apply((list(tensors),), (tuple(sorted(attributes.items())),))
            return found if len(found) > 1 else found[0]

        run.__name__ = run.__qualname__ = handler
        run.__doc__ = f"Operator `{handler}` of the library '{self.name}': run(*tensors, **attributes)."
        setattr(self, handler, run)
        return run

    def _function(self, handler: str, out: Callable[..., Any] | None, back: str | None) -> Callable[..., Any]:
        target = self._target(handler)

        def forward(tensors: list[Any], /, attributes: Any = ()) -> Any:
            given = [jax.ShapeDtypeStruct(t.shape, t.dtype) for t in tensors]
            wanted = given[0] if out is None else out(*given, **dict(attributes))
            return call(target, tensors, _specs(target, wanted), attributes)

        if back is None:
            return forward

        def backward(inputs: Any, outputs: Any, grads: Any, attributes: Any = ()) -> Any:
            (tensors,) = inputs
            specs = tuple([jax.ShapeDtypeStruct(t.shape, t.dtype) for t in tensors])
            return call(self._target(back), [*tensors, *outputs, *grads], specs, attributes)

        return with_gradient(forward, backward, target)

    def __repr__(self) -> str:
        return f"<library '{self.name}': {', '.join(self.handlers)}>"


_loaded: dict[str, str] = {}


def call(target: str, arrays: Sequence[Any], specs: tuple[Any, ...], attributes: Any) -> tuple[Any, ...]:
    """Results of a handler for arrays."""
    return tuple(jax.ffi.ffi_call(target, specs)(*arrays, **{k: _attribute(v) for k, v in attributes}))


def _specs(target: str, wanted: Any) -> tuple[Any, ...]:
    listed = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
    for spec in listed:
        if not (hasattr(spec, "shape") and hasattr(spec, "dtype")):
            raise TypeError(
                f"operator `{target}`: its rule for results gave {spec!r}; expected an InputSpec(shape, dtype) for each"
            )
    return tuple([jax.ShapeDtypeStruct(tuple(s.shape), np.dtype(getattr(s.dtype, "np", s.dtype))) for s in listed])


def _attribute(value: Any) -> Any:
    """Return a Python value as the C++ type that handlers take it as: float, int64_t, and spans of these."""
    if isinstance(value, tuple):
        return np.asarray(value, np.float32 if any(isinstance(v, float) for v in value) else np.int64)
    return np.float32(value) if type(value) is float else np.int64(value) if type(value) is int else value
