"""Optimizers with torch's arguments, for programs that choose the class while they run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import optimizer as _own
from ...core.argument_docs import document as _document
from ...core.no_effect import KERNELS, no_effect
from .grouped import RMSprop as _RMSprop
from .grouped import groups

__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop"]


def _refuse(who: str, **given: Any) -> None:
    for name, value in given.items():
        if value:
            raise ValueError(f"{who}: {name} is {value!r}, which is not known here; leave it out")


class SGD(_own.Momentum):
    """Stochastic gradient descent.

    Arguments:
        params: parameters, or groups: dicts with "params" and settings of their own.
        lr: learning rate.
        momentum: part of the last step that is kept.
        weight_decay: L2 penalty.
        nesterov: whether the gradient is that of the next step.

    Raises:
        ValueError: dampening or maximize is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.nn.Parameter(paddle.ones([1]))
        >>> opt = paddle.compat.optim.classes.SGD([w], lr=0.25)
        >>> (w * 2).backward(); opt.step()
        >>> w.tolist()
        [0.5]
    """

    @no_effect(foreach=KERNELS, fused=KERNELS, differentiable=KERNELS)
    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-3, momentum: float = 0.0, dampening: float = 0.0,
        weight_decay: float = 0.0, nesterov: bool = False, *, maximize: bool = False, foreach: Any = None,
        differentiable: bool = False, fused: Any = None,
    ) -> None:  # fmt: skip
        _refuse("SGD", dampening=dampening, maximize=maximize)
        super().__init__(lr, momentum, groups(params, lr), nesterov, weight_decay or None)


class Adam(_own.Adam):
    """Adam (Kingma and Ba, 2015).

    Arguments:
        params: parameters, or groups: dicts with "params" and settings of their own.
        lr: learning rate.
        betas: decay rates of the averages of gradients and of their squares.
        eps: added to the root of the latter.
        weight_decay: L2 penalty.
        amsgrad: divide by the largest average of squares so far.

    Raises:
        ValueError: maximize is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.nn.Parameter(paddle.ones([1]))
        >>> opt = paddle.compat.optim.classes.Adam([w], lr=0.25, betas=(0.9, 0.99))
        >>> (w * 2).backward(); opt.step()
        >>> round(w.item(), 4)
        0.75
    """

    @no_effect(foreach=KERNELS, capturable=KERNELS, differentiable=KERNELS, fused=KERNELS)
    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.0, amsgrad: bool = False, *, foreach: Any = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: Any = None, decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        _refuse("Adam", maximize=maximize, decoupled_weight_decay=decoupled_weight_decay)
        super().__init__(lr, betas[0], betas[1], eps, groups(params, lr), weight_decay or None, amsgrad=amsgrad)


class AdamW(_own.AdamW):
    """Adam with weight decay apart from the gradient (Loshchilov and Hutter, 2019).

    Arguments:
        params: parameters, or groups: dicts with "params" and settings of their own.
        lr: learning rate.
        betas: decay rates of the averages of gradients and of their squares.
        eps: added to the root of the latter.
        weight_decay: part of a parameter that lr times it removes.
        amsgrad: divide by the largest average of squares so far.

    Raises:
        ValueError: maximize is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.compat.optim.classes.AdamW(paddle.nn.Linear(2, 2).parameters(), 1e-3, weight_decay=0.1)
        >>> opt.get_lr()
        0.001
    """

    @no_effect(foreach=KERNELS, capturable=KERNELS, differentiable=KERNELS, fused=KERNELS)
    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, foreach: Any = None,
        capturable: bool = False, differentiable: bool = False, fused: Any = None,
    ) -> None:  # fmt: skip
        _refuse("AdamW", maximize=maximize)
        super().__init__(lr, betas[0], betas[1], eps, groups(params, lr), weight_decay, amsgrad=amsgrad)


class Adamax(_own.Adamax):
    """Adam with the largest gradient in the place of the root of squares.

    Arguments:
        params: parameters, or groups: dicts with "params" and settings of their own.
        lr: learning rate.
        betas: decay rates of the averages of gradients and of their squares.
        eps: added to the root of the latter.
        weight_decay: L2 penalty.

    Raises:
        ValueError: maximize is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.compat.optim.classes.Adamax(paddle.nn.Linear(2, 2).parameters(), lr=0.5)
        >>> opt.get_lr()
        0.5
    """

    @no_effect(foreach=KERNELS, capturable=KERNELS, differentiable=KERNELS)
    def __init__(
        self, params: Iterable[Any], lr: Any = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.0, *, foreach: Any = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        _refuse("Adamax", maximize=maximize)
        super().__init__(lr, betas[0], betas[1], eps, groups(params, lr), weight_decay or None)


class NAdam(_own.NAdam):
    """Adam with Nesterov's momentum (Dozat, 2016).

    Arguments:
        params: parameters, or groups: dicts with "params" and settings of their own.
        lr: learning rate.
        betas: decay rates of the averages of gradients and of their squares.
        eps: added to the root of the latter.
        momentum_decay: how the momentum grows.
        weight_decay: L2 penalty.

    Raises:
        ValueError: maximize is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.compat.optim.classes.NAdam(paddle.nn.Linear(2, 2).parameters(), lr=0.5)
        >>> opt.get_lr()
        0.5
    """

    @no_effect(foreach=KERNELS, capturable=KERNELS, differentiable=KERNELS)
    def __init__(
        self, params: Iterable[Any], lr: Any = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: Any = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        _refuse("NAdam", maximize=maximize, decoupled_weight_decay=decoupled_weight_decay)
        super().__init__(lr, betas[0], betas[1], eps, momentum_decay, groups(params, lr), weight_decay or None)


class RAdam(_own.RAdam):
    """Rectified Adam (Liu et al., 2020).

    Arguments:
        params: parameters, or groups: dicts with "params" and settings of their own.
        lr: learning rate.
        betas: decay rates of the averages of gradients and of their squares.
        eps: added to the root of the latter.
        weight_decay: L2 penalty.

    Raises:
        ValueError: maximize is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.compat.optim.classes.RAdam(paddle.nn.Linear(2, 2).parameters(), lr=0.5)
        >>> opt.get_lr()
        0.5
    """

    @no_effect(foreach=KERNELS, capturable=KERNELS, differentiable=KERNELS)
    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.0, decoupled_weight_decay: bool = False, *,
        foreach: Any = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        _refuse("RAdam", maximize=maximize, decoupled_weight_decay=decoupled_weight_decay)
        super().__init__(lr, betas[0], betas[1], eps, groups(params, lr), weight_decay or None)


class Adadelta(_own.Adadelta):
    """Adadelta (Zeiler, 2012).

    Arguments:
        params: parameters, or groups: dicts with "params" and settings of their own.
        lr: learning rate.
        rho: decay rate of the averages.
        eps: added to squares.
        weight_decay: L2 penalty.

    Raises:
        ValueError: maximize is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.compat.optim.classes.Adadelta(paddle.nn.Linear(2, 2).parameters(), lr=0.5)
        >>> opt.get_lr()
        0.5
    """

    @no_effect(foreach=KERNELS, capturable=KERNELS, differentiable=KERNELS)
    def __init__(
        self, params: Iterable[Any], lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6,
        weight_decay: float = 0.0, *, foreach: Any = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        _refuse("Adadelta", maximize=maximize)
        super().__init__(lr, eps, rho, groups(params, lr), weight_decay or None)


class Adagrad(_own.Adagrad):
    """Adagrad (Duchi et al., 2011).

    Arguments:
        params: parameters, or groups: dicts with "params" and settings of their own.
        lr: learning rate.
        initial_accumulator_value: at which sums of squares begin.
        eps: added to roots.
        weight_decay: L2 penalty.

    Raises:
        ValueError: maximize is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.compat.optim.classes.Adagrad(paddle.nn.Linear(2, 2).parameters(), lr=0.5)
        >>> opt.get_lr()
        0.5
    """

    @no_effect(foreach=KERNELS, capturable=KERNELS, differentiable=KERNELS)
    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-2, lr_decay: float = 0.0, weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0, eps: float = 1e-10, *, foreach: Any = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        _refuse("Adagrad", maximize=maximize, lr_decay=lr_decay)
        super().__init__(
            lr, eps, groups(params, lr), weight_decay or None, initial_accumulator_value=initial_accumulator_value
        )


class RMSprop(_RMSprop):
    """Gradients over the root of an average of their squares.

    Arguments:
        params: parameters, or groups: dicts with "params" and settings of their own.
        lr: learning rate.
        alpha: decay rate of the averages.
        eps: added to roots.
        momentum: part of the last step that is kept.
        centered: subtract the square of the average gradient.
        weight_decay: L2 penalty.

    Raises:
        ValueError: maximize is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> opt = paddle.compat.optim.classes.RMSprop(paddle.nn.Linear(2, 2).parameters(), lr=0.5)
        >>> opt.get_lr()
        0.5
    """

    @no_effect(foreach=KERNELS, capturable=KERNELS, differentiable=KERNELS)
    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0.0, momentum: float = 0.0, centered: bool = False, *, foreach: Any = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        _refuse("RMSprop", maximize=maximize)
        super().__init__(lr, alpha, eps, momentum, centered, groups(params, lr), weight_decay or None)


_document(globals())
