"""PyLayer: an operation with the user's own backward."""

from __future__ import annotations

from typing import Any

from ..core.interpreter import state
from ..core.no_effect import Immaterial, no_effect
from ..eager.tensor import Tensor
from .mode import no_grad


class PyLayerContext:
    """Context that passes tensors and attributes from forward() to backward() of a PyLayer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Square(paddle.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, dy):
        ...         (x,) = ctx.saved_tensor()
        ...         return dy * 2 * x
        >>> x = paddle.to_tensor(3.0, stop_gradient=False)
        >>> Square.apply(x).backward(); x.grad.item()
        6.0
    """

    def __init__(self) -> None:
        self._saved: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Save tensors for backward(), which reads them with saved_tensor()."""
        self._saved = tensors

    def saved_tensor(self) -> tuple[Any, ...]:
        """Return the tensors that forward() saved."""
        if self._unpack is None:
            return self._saved
        return tuple([s if u is None else u(s) for s, u in zip(self._saved, self._unpack, strict=True)])

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What save_for_backward() saved, as other frameworks name it."""
        return self.saved_tensor()

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Mark outputs through which no gradient flows."""
        for t in tensors:
            t.stop_gradient = True
        self._blocked = {id(t) for t in tensors}

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether backward() receives zeros (True, the default) or None for outputs without a gradient."""
        self._materialize = value

    @no_effect(tensors=Immaterial("a result is always a tensor of its own"))
    def mark_not_inplace(self, *tensors: Tensor) -> None:
        """Do nothing; a result is always a new tensor."""

    @no_effect(flag=Immaterial("gradients have the dtypes of the results"))
    def set_grad_in_dtype_consistent(self, flag: bool) -> None:
        """Do nothing; the gradients that backward() receives always have the dtypes of the outputs."""

    _unpack: list[Any] | None = None  # see saved_tensors_hooks
    _materialize = True
    _blocked: set[int] = set()


class PyLayer:
    """Base class of functions with a gradient of your own.

    Define static methods forward(ctx, *args) and backward(ctx, *grads), and call the function as
    `MyLayer.apply(*args)`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Double(paddle.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     def backward(ctx, dy):
        ...         return dy * 2
        >>> x = paddle.to_tensor(1.0, stop_gradient=False)
        >>> Double.apply(x).backward(); float(x.grad)
        2.0
    """

    name: str

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = cls.__name__

    @staticmethod
    def forward(ctx: PyLayerContext, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; every subclass defines it."""
        raise NotImplementedError("a PyLayer needs a static method forward(ctx, ...)")

    @staticmethod
    def backward(ctx: PyLayerContext, *grads: Any) -> Any:
        """Compute a gradient for each tensor argument of forward(); every subclass defines it."""
        raise NotImplementedError("a PyLayer needs a static method backward(ctx, ...)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward() and record backward() for its outputs.

        Arguments:
            args: arguments of forward().
            kwargs: keyword arguments of forward(). backward() returns a gradient, or None, for each tensor among all
                arguments, including those in lists and tuples.

        Returns:
            The outputs of forward().

        Raises:
            ValueError: if forward() has outputs, but none is a tensor.
        """
        ctx = PyLayerContext()
        given = [b for a in [*args, *kwargs.values()] for b in (a if isinstance(a, list | tuple) else [a])]
        tensors = [a for a in given if isinstance(a, Tensor)]
        needs = state.grad_enabled and any(not t.stop_gradient for t in tensors)
        with no_grad():
            out = state.interpreter.callee(cls.forward)(ctx, *args, **kwargs)
        results = out if isinstance(out, list | tuple) else [out]
        if results and not any(isinstance(t, Tensor) for t in results):
            raise ValueError(f"{cls.name}.forward gave {type(out).__name__}; at least one result must be a tensor")
        if not needs:
            return out
        return state.interpreter.custom_gradient(cls, ctx, tensors, out)


LegacyPyLayer = PyLayer
EagerPyLayer = PyLayer
