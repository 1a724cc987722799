"""Gradient clipping. An optimizer runs it inside its own compiled update."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from ..core.interpreter import no_grad
from ..core.no_effect import Immaterial, no_effect
from ..core.versioned import Versioned
from ..dispatch.define import op
from ..eager.tensor import Parameter, Tensor

__all__ = ["ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue"]

Arrays = list[Any]
# A gradient rule over arrays: the gradients to clip -> the clipped ones.
Rule = Callable[[Arrays], Arrays]


class ClipGradBase(Versioned):
    """Base class of gradient clipping: called with (parameter, gradient) pairs, it returns such pairs."""

    def key(self) -> tuple[Any, ...] | None:
        """Return the settings of the rule, hashable; None if a subclass itself says what becomes of gradients."""
        made, base = type(self), ClipGradBase
        own = made.__call__ is not base.__call__ or made._dygraph_clip is not base._dygraph_clip
        return None if own else self._key()

    def _key(self) -> tuple[Any, ...] | None:
        return None

    def __call__(self, params_grads: Sequence[tuple[Parameter, Tensor | None]]) -> list[tuple[Any, Any]]:
        return self._dygraph_clip(params_grads)

    def _dygraph_clip(self, params_grads: Sequence[tuple[Parameter, Tensor | None]]) -> list[tuple[Any, Any]]:
        """Return the clipped pairs: what subclasses of users replace in PaddlePaddle."""
        key = self._key()
        if key is None:
            raise NotImplementedError(f"{type(self).__name__} must define __call__(params_grads)")
        chosen = [g for p, g in params_grads if g is not None and getattr(p, "need_clip", True)]
        with no_grad():
            clipped = iter(clip_gradients(chosen, key) if chosen else ())
        return [
            (p, next(clipped)) if g is not None and getattr(p, "need_clip", True) else (p, g) for p, g in params_grads
        ]


class ClipGradByValue(ClipGradBase):
    """Clip each element of the gradients to [min, max].

    Arguments:
        max: upper bound.
        min: lower bound; None: -max.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(0.0))
        >>> opt = paddle.optimizer.SGD(1.0, parameters=[w], grad_clip=paddle.nn.ClipGradByValue(0.5))
        >>> (w * 3).sum().backward(); opt.step(); w.item()
        -0.5
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        if min is None and max <= 0:
            raise ValueError(f"ClipGradByValue: max is {max}; expected more than 0 where min is not given")
        self.max, self.min = float(max), float(-max if min is None else min)

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"

    def _key(self) -> tuple[Any, ...]:
        return ("value", self.min, self.max)


class ClipGradByNorm(ClipGradBase):
    """Clip each gradient by its own norm: `grad * clip_norm / norm` if its 2-norm exceeds clip_norm.

    Arguments:
        clip_norm: largest norm of a gradient.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.ones([1])
        >>> clip = paddle.nn.ClipGradByNorm(1.0)
        >>> [g.astype("float64").numpy().round(3).tolist() for _, g in clip([(w, paddle.to_tensor([3.0, 4.0]))])]
        [[0.6, 0.8]]
    """

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = float(clip_norm)

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"

    def _key(self) -> tuple[Any, ...]:
        return ("norm", self.clip_norm)


class ClipGradByGlobalNorm(ClipGradBase):
    """Clip all gradients by their joint norm: `grad * clip_norm / max(global_norm, clip_norm)` (Pascanu et al., 2013).

    `global_norm = sqrt(sum of the squares of all elements of all gradients)`.

    Arguments:
        clip_norm: largest joint 2-norm.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(0.0))
        >>> opt = paddle.optimizer.SGD(1.0, parameters=[w], grad_clip=paddle.nn.ClipGradByGlobalNorm(5.0))
        >>> (w * paddle.to_tensor([30.0, 40.0])).sum().backward(); opt.step(); w.tolist()
        [-3.0, -4.0]
    """

    @no_effect(
        group_name="all gradients of an optimizer are one group",
        auto_skip_clip=Immaterial("a norm that is small enough changes nothing"),
    )
    def __init__(self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False) -> None:
        self.clip_norm, self.group_name, self.auto_skip_clip = float(clip_norm), group_name, auto_skip_clip

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"

    def _key(self) -> tuple[Any, ...]:
        return ("global_norm", self.clip_norm)


def rule(key: tuple[Any, ...]) -> Rule:
    """Return the function over arrays that a key stands for."""
    return functools.partial(_RULES[key[0]], *key[1:])


def _by_value(low: float, high: float, grads: Arrays) -> Arrays:
    return [jnp.clip(g, low, high) for g in grads]


def square_sum(g: Any) -> Any:
    """Sum of squares; of low-precision numbers in float32."""
    wide = g.astype(jnp.float32) if g.dtype.itemsize < 4 else g
    return jnp.sum(jnp.square(jnp.abs(wide)))


def _by_norm(limit: float, grads: Arrays) -> Arrays:
    norms = [jnp.sqrt(square_sum(g)) for g in grads]
    return [(g * (limit / jnp.maximum(n, limit))).astype(g.dtype) for g, n in zip(grads, norms, strict=True)]


def _by_global_norm(limit: float, grads: Arrays) -> Arrays:
    if not grads:
        return []
    norm = jnp.sqrt(sum(square_sum(g) for g in grads))
    scale = limit / jnp.maximum(norm, limit)
    return [(g * scale).astype(g.dtype) for g in grads]


_RULES: dict[str, Callable[..., Arrays]] = {"value": _by_value, "norm": _by_norm, "global_norm": _by_global_norm}


@op(grad=False)
def clip_gradients(grads: list[Any], /, key: tuple[Any, ...]) -> Any:
    """Clip gradients by the rule that a key describes."""
    return tuple(rule(key)(list(grads)))
