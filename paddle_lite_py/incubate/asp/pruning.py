"""Weights are pruned to n:m patterns, and an optimizer keeps them there: after each step it multiplies by masks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

from ...core.interpreter import no_grad, state
from ...core.memo import IdentityMap
from ...eager.tensor import Tensor
from ...nn import Layer, create_parameter
from ...nn.initializer import Constant
from ...nn.unique_name import snake_case
from .masks import CheckMethod, MaskAlgo, check_sparsity, create_mask

SUFFIX = "asp_mask"
ALGORITHMS = {
    "mask_1d": MaskAlgo.MASK_1D,
    "mask_2d_greedy": MaskAlgo.MASK_2D_GREEDY,
    "mask_2d_best": MaskAlgo.MASK_2D_BEST,
}
# From (weight, m, n, algorithm, name) to the pruned weight and its mask.
Pruning = Callable[[np.ndarray, int, int, MaskAlgo, str], tuple[np.ndarray, np.ndarray]]

_masks = IdentityMap()  # by the parameter that they are of
_excluded = IdentityMap()  # parts of names, by the program they are excluded in


def _default_pruning(weight: np.ndarray, m: int, n: int, algorithm: MaskAlgo, name: str) -> Any:
    """Return a weight pruned along its inputs: rows of a matrix, the second dimension of a kernel."""
    along = {2: 0, 4: 1}.get(weight.ndim)
    if along is not None and weight.shape[along] < m:
        warnings.warn(f"'{name}' is not pruned: dimension {along} of {list(weight.shape)} is below {m}", stacklevel=4)
        return weight, np.ones_like(weight)
    mask = create_mask(weight.T, algorithm, n, m).T
    if not check_sparsity((weight * mask).T, CheckMethod.get_checking_method(algorithm), n, m):
        raise ValueError(f"{algorithm} keeps {n} of {m} elements, which leaves '{name}' fewer than {n} zeros in each")
    return weight * mask, mask


_prunings: dict[str, Pruning] = dict.fromkeys(("fc", "linear", "conv2d"), _default_pruning)


def add_supported_layer(layer: Any, pruning_func: Pruning | None = None) -> None:
    """Have weights of a layer pruned.

    Arguments:
        layer: a layer, its class, or the name that its parameters begin with.
        pruning_func: from (weight, m, n, MaskAlgo, name) to the pruned weight and its mask, as arrays.

    Examples:
        >>> add_supported_layer(paddle.nn.Embedding)
    """
    kind = layer if isinstance(layer, str | type) else type(layer)
    _prunings[kind if isinstance(kind, str) else snake_case(kind.__name__)] = pruning_func or _default_pruning


def _program(given: Any) -> Any:
    """Return a program, by default the current one; eager code has its interpreter instead."""
    return getattr(state.interpreter, "program", state.interpreter) if given is None else given


def set_excluded_layers(param_names: list[str], main_program: Any = None) -> None:
    """Leave the parameters alone whose names hold one of these.

    Arguments:
        param_names: names of layers or parameters, or parts of them.
        main_program: where that holds; by default, the current program or eager code.

    Examples:
        >>> set_excluded_layers(["linear_7"])
        >>> reset_excluded_layers()
    """
    program = _program(main_program)
    _excluded.put(program, [*(_excluded.find(program) or ()), *param_names])


def reset_excluded_layers(main_program: Any = None) -> None:
    """Exclude nothing any more, in a program or anywhere.

    Examples:
        >>> reset_excluded_layers()
    """
    if main_program is None:
        _excluded.clear()
    else:
        _excluded.put(main_program, [])


def _pruning(name: str, program: Any = None) -> Pruning | None:
    """How a parameter is pruned: by its own name, that of its layer, or the layer's kind; None if it is not."""
    stem, _, kind = name.partition(".")
    if SUFFIX in name.split(".") or any(part in name for part in _excluded.find(_program(program)) or ()):
        return None
    if name in _prunings or "w_" not in kind:
        return _prunings.get(name)
    return _prunings.get(stem) or _prunings.get(stem.rpartition("_")[0])


def _mask_name(parameter: Tensor) -> str:
    return f"{parameter.name}.{SUFFIX}"


def prune_model(
    model: Any,
    n: int = 2,
    m: int = 4,
    mask_algo: Literal["mask_1d", "mask_2d_greedy", "mask_2d_best"] = "mask_1d",
    with_mask: bool = True,
) -> dict[str, np.ndarray]:
    """Set n of each m elements of the weights of a layer or program to zero, those of linear layers and convolutions.

    Arguments:
        model: a layer, or a static program whose startup program has run.
        n: how many of m elements become zero.
        m: how many elements are looked at together.
        mask_algo: how they are chosen: in rows, or in squares, one after the other or for the best sum.
        with_mask: keep them zero in each step of the optimizer, which has to be decorated before.

    Returns:
        The masks, by the names of the parameters.

    Raises:
        TypeError, ValueError: the model is neither of the two, or `mask_algo` is unknown.
        RuntimeError: no optimizer was decorated for a parameter.

    Examples:
        >>> layer = paddle.nn.Linear(4, 2)
        >>> masks = prune_model(layer, with_mask=False)
        >>> paddle.incubate.asp.calculate_density(layer.weight.numpy())
        0.5
    """
    if mask_algo not in ALGORITHMS:
        raise ValueError(f"mask_algo is {mask_algo!r}; expected one of {', '.join(ALGORITHMS)}")
    program = None if isinstance(model, Layer) else model
    if program is not None and not hasattr(program, "all_parameters"):
        raise TypeError(f"model is a {type(model).__name__}; expected a paddle.nn.Layer or a paddle.static.Program")
    found = {}
    for p in model.parameters() if program is None else program.all_parameters():
        if prune := _pruning(p.name, program):
            weight, found[p.name] = prune(p.numpy(), m, n, ALGORITHMS[mask_algo], p.name)
            _put(p, weight, found[p.name], with_mask)
    return found


def _put(parameter: Tensor, weight: np.ndarray, mask: np.ndarray, with_mask: bool) -> None:
    held = _masks.find(parameter)
    if with_mask and held is None:
        raise RuntimeError(
            f"no optimizer keeps '{parameter.name}' sparse; call paddle.incubate.asp.decorate(optimizer) first (in "
            "static mode its minimize() and the startup program, too), or prune with with_mask=False"
        )
    parameter.set_value(weight.astype(parameter.numpy().dtype))
    if with_mask:
        held.set_value(mask)


class OptimizerWithSparsityGuarantee:
    """An optimizer after whose steps pruned weights are zero where they were pruned; `decorate` makes it.

    Other attributes are those of the inner optimizer.
    """

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer
        self._make_masks(optimizer._parameter_list or ())

    def __getattr__(self, name: str) -> Any:
        if name == "_optimizer":
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def _make_masks(self, parameters: Iterable[Tensor]) -> None:
        for p in parameters:
            if _pruning(p.name) and _masks.find(p) is None:
                shape, ones = p.shape, Constant(1.0)
                mask = create_parameter(shape, p.dtype, name=_mask_name(p), default_initializer=ones)
                mask.stop_gradient = True
                _masks.put(p, mask)

    def _masked(self, parameters: Iterable[Tensor]) -> dict[str, tuple[Tensor, Tensor]]:
        """Parameters and their masks, by the names of the masks."""
        found = ((p, _masks.find(p)) for p in parameters)
        return {_mask_name(p): (p, mask) for p, mask in found if mask is not None}

    @no_grad()
    def _mask(self, parameters: Iterable[Tensor]) -> None:
        for p, mask in self._masked(parameters).values():
            p._set_payload((p * mask)._payload)

    def step(self) -> None:
        """A step of the optimizer; then the weights are masked."""
        self._optimizer.step()
        self._mask(self._optimizer._parameter_list)

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> Any:
        """Return the same as the optimizer's; then the weights are masked."""
        made, pairs = self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)
        parameters = [p for p, _ in pairs]
        with state.interpreter.starting(startup_program):
            self._make_masks(parameters)
        self._mask(parameters)
        return made, pairs

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the optimizer, and the masks."""
        masks = self._masked(self._optimizer._parameter_list)
        return {**self._optimizer.state_dict(), **{name: mask for name, (_, mask) in masks.items()}}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state of an optimizer, and its masks.

        Raises:
            KeyError: a mask is missing.
        """
        masks = self._masked(self._optimizer._parameter_list)
        for name, (_, mask) in masks.items():
            if name not in state_dict:
                raise KeyError(f"{name!r} is not in the state_dict, which is of an optimizer without these masks")
            mask.set_value(state_dict[name])
        self._optimizer.set_state_dict({k: v for k, v in state_dict.items() if k not in masks})


def decorate(optimizer: Any) -> OptimizerWithSparsityGuarantee:
    """Return an optimizer that keeps zero what `prune_model` sets to zero.

    Arguments:
        optimizer: any optimizer, which takes the steps.

    Examples:
        >>> layer = paddle.nn.Linear(4, 2)
        >>> opt = decorate(paddle.optimizer.SGD(0.1, layer.parameters()))
        >>> masks = prune_model(layer)
        >>> layer(paddle.ones([1, 4])).sum().backward(); opt.step()
        >>> paddle.incubate.asp.calculate_density(layer.weight.numpy())
        0.5
    """
    return OptimizerWithSparsityGuarantee(optimizer)
