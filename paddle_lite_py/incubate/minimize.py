"""Minima of functions by quasi-Newton methods: BFGS, and L-BFGS, which remembers changes in place of a matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd import grad
from ..core.no_effect import Immaterial, no_effect
from ..eager.tensor import Tensor
from ..ops.convert import to_tensor
from ..optimizer.line_search import Point, strong_wolfe

__all__ = ["minimize_bfgs", "minimize_lbfgs"]

_OWN_LIMIT = Immaterial("the line search has a limit of its own")


class _Objective:
    """A function of a vector with its gradient in float64, and how often it was called."""

    def __init__(self, function: Callable[[Tensor], Tensor], start: Any, dtype: str, line_search_fn: str) -> None:
        if dtype not in ("float32", "float64"):
            raise ValueError(f"dtype is {dtype!r}; expected 'float32' or 'float64'")
        if line_search_fn != "strong_wolfe":
            raise NotImplementedError(f"line_search_fn is {line_search_fn!r}; expected 'strong_wolfe'")
        if not isinstance(start, Tensor) or start.ndim > 1:
            raise ValueError("initial_position is expected to be a tensor of one dimension; flatten it first")
        self.function, self.dtype, self.shape, self.calls = function, dtype, start.shape, 0
        self.start = np.asarray(start.numpy(), np.float64).reshape(-1)

    def given(self, value: np.ndarray) -> Tensor:
        """Return an array as a tensor of the user's dtype."""
        return to_tensor(value.astype(self.dtype))

    def __call__(self, place: np.ndarray) -> tuple[float, np.ndarray]:
        self.calls += 1
        x = self.given(place.reshape(self.shape))
        x.stop_gradient = False
        loss = self.function(x)
        if loss.size != 1:
            raise ValueError(f"objective_func returned the shape {[*loss.shape]}; expected one number")
        slope: Any = grad(loss, x)[0]
        return float(loss), np.asarray(slope.numpy(), np.float64).reshape(-1)


def _descend(
    objective: _Objective, toward: Callable[[np.ndarray], np.ndarray], learn: Callable[[np.ndarray, np.ndarray], None],
    max_iters: int, tolerance_grad: float, tolerance_change: float, length: float,
) -> tuple[bool, int, Tensor, Tensor, Tensor]:  # fmt: skip
    """Go along directions until the gradient or the steps are small.

    Arguments:
        toward: the product of the inverse Hessian's estimate with a gradient.
        learn: takes a step, and the change of the gradient over it.
    """
    place = objective.start
    loss, slope = objective(place)
    done = bool(np.abs(slope).max(initial=0.0) < tolerance_grad)
    for _ in range(max_iters):
        if done:
            break
        direction = -toward(slope)

        def look(at: float, place: np.ndarray = place, direction: np.ndarray = direction) -> Point:
            there, gradient = objective(place + at * direction)
            return Point(at, there, float(gradient @ direction), gradient)

        start = Point(0.0, loss, float(slope @ direction), slope)
        found, _ = strong_wolfe(look, start, length, float(np.abs(direction).max()), tolerance_change)
        step = found.at * direction
        learn(step, found.slope - slope)
        place, loss, slope = place + step, found.loss, found.slope
        done = bool(np.abs(slope).max() < tolerance_grad or np.abs(step).max() < tolerance_change)
    ends = objective.given(place.reshape(objective.shape)), objective.given(np.asarray(loss))
    return done, objective.calls, *ends, objective.given(slope.reshape(objective.shape))


def _first_estimate(given: Any, size: int) -> np.ndarray:
    if given is None:
        return np.eye(size)
    matrix = np.asarray(given.numpy(), np.float64)
    if matrix.shape != (size, size) or not np.allclose(matrix, matrix.T) or np.linalg.eigvalsh(matrix).min() <= 0:
        raise ValueError(
            f"initial_inverse_hessian_estimate is expected to be symmetric and positive definite, of shape "
            f"[{size}, {size}]"
        )
    return matrix


@no_effect(max_line_search_iters=_OWN_LIMIT)
def minimize_bfgs(
    objective_func: Callable[[Tensor], Tensor],
    initial_position: Tensor,
    max_iters: int = 50,
    tolerance_grad: float = 1e-7,
    tolerance_change: float = 1e-9,
    initial_inverse_hessian_estimate: Tensor | None = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: float = 1.0,
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[bool, int, Tensor, Tensor, Tensor, Tensor]:
    """Minimize a function by BFGS, which estimates the inverse of its Hessian.

    Returns:
        Whether it converged, the number of calls, the position, the function's value and gradient there, and the
        estimate of the inverse Hessian.

    Raises:
        ValueError: an argument is none of these.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> found = minimize_bfgs(lambda x: ((x - 2) ** 2).sum(), paddle.zeros([2]))
        >>> found[0], found[2].tolist()
        (True, [2.0, 2.0])

    Source: Nocedal and Wright, Numerical Optimization, 2006, algorithm 6.1.
    """
    objective = _Objective(objective_func, initial_position, dtype, line_search_fn)
    inverse = _first_estimate(initial_inverse_hessian_estimate, objective.start.size)

    def learn(step: np.ndarray, turned: np.ndarray) -> None:
        nonlocal inverse
        if (bend := step @ turned) > 0:
            left = np.eye(step.size) - np.outer(step, turned) / bend
            inverse = left @ inverse @ left.T + np.outer(step, step) / bend

    ends = max_iters, tolerance_grad, tolerance_change, initial_step_length
    found = _descend(objective, lambda slope: inverse @ slope, learn, *ends)
    return *found, objective.given(inverse)


@no_effect(max_line_search_iters=_OWN_LIMIT)
def minimize_lbfgs(
    objective_func: Callable[[Tensor], Tensor],
    initial_position: Tensor,
    history_size: int = 100,
    max_iters: int = 50,
    tolerance_grad: float = 1e-8,
    tolerance_change: float = 1e-8,
    initial_inverse_hessian_estimate: Tensor | None = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: float = 1.0,
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[bool, int, Tensor, Tensor, Tensor]:
    """Minimize a function by L-BFGS, which remembers the last steps in place of the inverse Hessian.

    Arguments:
        history_size: steps that are remembered.

    Returns:
        Whether it converged, the number of calls, the position, and the function's value and gradient there.

    Raises:
        ValueError: an argument is none of these.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> found = minimize_lbfgs(lambda x: ((x - 2) ** 2).sum(), paddle.zeros([2]))
        >>> found[0], found[2].tolist()
        (True, [2.0, 2.0])

    Source: Nocedal and Wright, Numerical Optimization, 2006, algorithm 7.5.
    """
    objective = _Objective(objective_func, initial_position, dtype, line_search_fn)
    first = _first_estimate(initial_inverse_hessian_estimate, objective.start.size)
    past: list[tuple[np.ndarray, np.ndarray]] = []

    def toward(slope: np.ndarray) -> np.ndarray:
        q, weights = slope.copy(), []
        for step, turned in reversed(past):
            weights.append(step @ q / (step @ turned))
            q -= weights[-1] * turned
        q = first @ q
        for (step, turned), weight in zip(past, reversed(weights), strict=True):
            q += step * (weight - turned @ q / (step @ turned))
        return q

    def learn(step: np.ndarray, turned: np.ndarray) -> None:
        if step @ turned > 0:
            past.append((step, turned))
            del past[:-history_size]

    ends = max_iters, tolerance_grad, tolerance_change, initial_step_length
    return _descend(objective, toward, learn, *ends)
