"""Parameters that are functions of others, as torch.nn.utils.parametrize has them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ....core.argument_docs import document as _document
from ....core.interpreter import no_grad
from ....core.no_effect import Immaterial, no_effect
from ....eager.tensor import Parameter, Tensor
from ....nn.base import Layer
from ....nn.container import LayerDict, LayerList

__all__ = [
    *("ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations"),
    "type_before_parametrizations",
]


class ParametrizationList(LayerList):
    """The functions of one parameter, and what it is computed from: `original`, or `original0`, `original1`, ...

    Examples:
        >>> import paddle_lite_py as paddle
        >>> P, layer = paddle.compat.nn.utils.parametrize, paddle.compat.nn.Linear(2, 2)
        >>> _ = P.register_parametrization(layer, "weight", paddle.nn.Tanh())
        >>> held = layer.parametrizations.weight
        >>> isinstance(held, P.ParametrizationList), held.original.shape
        (True, paddle.Size([2, 2]))
    """

    def __init__(self, functions: list[Layer], original: Any) -> None:
        super().__init__(functions)
        self.ntensors = len(original) if isinstance(original, list | tuple) else 1
        self.is_tensor = not isinstance(original, list | tuple)
        for name, value in zip(self._names(), [original] if self.is_tensor else original, strict=True):
            if isinstance(value, Parameter):
                setattr(self, name, value)
            else:
                self.register_buffer(name, value)

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def forward(self) -> Any:
        """Compute the parameter."""
        first, *others = [*self]
        value = first(*[getattr(self, name) for name in self._names()])
        for function in others:
            value = function(value)
        return value

    def right_inverse(self, value: Any) -> None:
        """Set what the parameter is computed from, so that it becomes a value.

        Raises:
            NotImplementedError: one of the functions has no right_inverse().
        """
        with no_grad():
            for function in reversed([*self]):
                if not hasattr(function, "right_inverse"):
                    raise NotImplementedError(f"{type(function).__name__} has no right_inverse(), so it cannot be set")
                value = function.right_inverse(value)
            for name, new in zip(self._names(), [value] if self.is_tensor else value, strict=True):
                getattr(self, name).set_value(new)


def _started(function: Any, value: Any) -> Any:
    """Return what a function computes a parameter from, as parameters if that is one."""
    if not hasattr(function, "right_inverse"):
        return value
    with no_grad():
        made = function.right_inverse(value)

    def kept(new: Any) -> Any:
        if not isinstance(value, Parameter):
            return new
        return Parameter(new.detach().clone(), requires_grad=not value.stop_gradient)

    return [kept(v) for v in made] if isinstance(made, list | tuple) else kept(made)


@no_effect(unsafe=Immaterial("shapes are checked where the parameter is used"))
def register_parametrization(module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False) -> Any:
    """Compute a parameter or buffer of a layer by another layer, from now on.

    Where it stood is computed from `module.parametrizations.<tensor_name>.original`, which is what is trained.

    Arguments:
        module: the layer, whose class becomes a subclass of its own.
        tensor_name: name of the parameter or buffer.
        parametrization: a layer whose forward() gives the parameter; from what its right_inverse() gives of the
            present value, if it has such a method.

    Returns:
        The module.

    Raises:
        ValueError: the layer has no such parameter or buffer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> class Symmetric(paddle.nn.Layer):
        ...     def forward(self, x):
        ...         return x.triu() + x.triu(1).T
        >>> layer = paddle.compat.nn.Linear(3, 3)
        >>> _ = paddle.compat.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
        >>> bool((layer.weight == layer.weight.T).all()), sorted(layer.state_dict())
        (True, ['bias', 'parametrizations.weight.original'])
    """
    if is_parametrized(module, tensor_name):
        module.parametrizations[tensor_name].append(parametrization)
        return module
    value = module._parameters.get(tensor_name)
    value = module._buffers.get(tensor_name) if value is None else value
    if not isinstance(value, Tensor):
        raise ValueError(
            f"register_parametrization: {type(module).__name__} has no parameter or buffer {tensor_name!r}; expected "
            f"one of {sorted([*module._parameters, *module._buffers])}"
        )
    delattr(module, tensor_name)
    if not is_parametrized(module):
        module.parametrizations = LayerDict()
    module.parametrizations[tensor_name] = ParametrizationList([parametrization], _started(parametrization, value))
    _set_class(module, getattr(type(module), "_unparametrized", type(module)))
    return module


def _set_class(module: Any, there: type) -> None:
    """Give a layer a class of its own, which computes what is parametrized; copies of it keep theirs."""
    names = [*module.parametrizations]
    held = {"_unparametrized": there, **{name: _computed(name) for name in names}}
    module.__class__ = type(f"Parametrized{there.__name__}", (there,), held) if names else there


def _computed(name: str) -> property:
    def get(module: Any) -> Any:
        return module.parametrizations[name]()

    def put(module: Any, value: Any) -> None:
        module.parametrizations[name].right_inverse(value)

    return property(get, put)


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Return whether a layer has parameters that are computed, or one of that name.

    Arguments:
        module: a layer.
        tensor_name: name of the parameter or buffer; None: of any.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.utils.parametrize.is_parametrized(paddle.nn.Linear(2, 2))
        False
    """
    found = module._sub_layers.get("parametrizations")
    return isinstance(found, LayerDict) and (tensor_name is None or tensor_name in found)


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a computed parameter of a layer an ordinary one again.

    Arguments:
        module: the layer.
        tensor_name: name of the parameter or buffer.
        leave_parametrized: keep the value it has; False: that which it was computed from. Default: True.

    Returns:
        The module.

    Raises:
        ValueError: it is not computed, or leave_parametrized is False and it is computed from several tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> P, layer = paddle.compat.nn.utils.parametrize, paddle.compat.nn.Linear(2, 2)
        >>> _ = P.register_parametrization(layer, "weight", paddle.nn.Tanh())
        >>> sorted(P.remove_parametrizations(layer, "weight").state_dict())
        ['bias', 'weight']
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"remove_parametrizations: {tensor_name!r} of {type(module).__name__} is not parametrized")
    functions = module.parametrizations[tensor_name]
    if not leave_parametrized and not functions.is_tensor:
        raise ValueError(
            f"remove_parametrizations: leave_parametrized is False, and {tensor_name!r} is computed from "
            f"{functions.ntensors} tensors; write leave_parametrized=True"
        )
    first = getattr(functions, functions._names()[0])
    with no_grad():
        value = getattr(module, tensor_name).detach().clone() if leave_parametrized else first
    del module.parametrizations[tensor_name]
    _set_class(module, module._unparametrized)
    if not isinstance(first, Parameter):
        module.register_buffer(tensor_name, value)
    else:
        setattr(
            module, tensor_name, value if value is first else Parameter(value, requires_grad=not first.stop_gradient)
        )
    if not len(module.parametrizations):
        del module.parametrizations
    return module


@contextmanager
def cached() -> Iterator[None]:
    """Do nothing: a block in which torch computes each parameter once, and which gives the same values without.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.compat.nn.utils.parametrize.cached():
        ...     pass
    """
    yield


def type_before_parametrizations(module: Any) -> type:
    """Return the class of a layer, without what register_parametrization() made of it.

    Arguments:
        module: a layer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.utils.parametrize.type_before_parametrizations(paddle.nn.Tanh()).__name__
        'Tanh'
    """
    there: type = getattr(type(module), "_unparametrized", type(module)) if is_parametrized(module) else type(module)
    return there


_document(globals())
