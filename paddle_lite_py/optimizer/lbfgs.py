"""L-BFGS: a quasi-Newton method that asks for the loss again and again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core.interpreter import no_grad
from ..eager.tensor import Tensor
from .line_search import Point, strong_wolfe
from .optimizer import Optimizer

__all__ = ["LBFGS"]


def _vector(value: Any) -> np.ndarray:
    return np.asarray(value.numpy() if isinstance(value, Tensor) else value, np.float64)


class LBFGS(Optimizer):
    """Limited-memory BFGS, a quasi-Newton method for small, deterministic problems.

    step() takes a closure that computes the loss.

    Arguments:
        learning_rate: initial step length along a search direction. Default: 1.0.
        max_iter: largest number of iterations in a step(). Default: 20.
        max_eval: largest number of evaluations of the closure in a step(); None: max_iter * 1.25.
        tolerance_grad: stop when no element of the gradient is larger in absolute value. Default: 1e-07.
        tolerance_change: stop when neither the loss nor the parameters change by more. Default: 1e-09.
        history_size: number of past updates that approximate the Hessian. Default: 100.
        line_search_fn: None (a fixed step length) or "strong_wolfe".
        parameters: the parameters to train, an iterable. Required in dynamic mode.
        weight_decay: a float or L2Decay, which adds `coeff * param` to the gradient, or L1Decay, which adds `coeff *
            sign(param)`; None: no decay.
        grad_clip: ClipGradByValue, ClipGradByNorm or ClipGradByGlobalNorm, applied to the gradients before the decay;
            None: no clipping.

    Raises:
        ValueError: for another line search.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([2], "float32")
        >>> opt = paddle.optimizer.LBFGS(parameters=[w], line_search_fn="strong_wolfe")
        >>> def closure():
        ...     opt.clear_grad()
        ...     loss = ((w - 3.0) ** 2).sum(); loss.backward()
        ...     return loss
        >>> first = opt.step(closure); w.round().tolist()
        [3.0, 3.0]

    Source: Nocedal and Wright, Numerical Optimization, 2006, algorithm 7.4.
    """

    def __init__(
        self,
        learning_rate: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        if line_search_fn not in (None, "strong_wolfe"):
            raise ValueError(f"LBFGS: line_search_fn is {line_search_fn!r}; expected None or 'strong_wolfe'")
        self.max_iter, self.max_eval = max_iter, max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad, self.tolerance_change = tolerance_grad, tolerance_change
        self.line_search_fn = line_search_fn
        self._changes: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=history_size)  # of place and gradient
        self._last: tuple[np.ndarray, np.ndarray, float] | None = None  # direction, gradient, step
        self._evaluations, self._iterations, self._loss = 0, 0, 0.0

    # -- the parameters as one vector ------------------------------------------------------------------------------
    def _trained(self) -> list[Any]:
        return [p for p in self._parameter_list if not p.stop_gradient]

    def _place(self) -> np.ndarray:
        return np.concatenate([p.numpy().astype(np.float64).ravel() for p in self._trained()])

    def _move(self, place: np.ndarray) -> None:
        at = 0
        with no_grad():
            for p in self._trained():
                p.set_value(place[at : at + p.size].reshape(p.shape).astype(p.dtype.np))
                at += p.size

    def _slope(self) -> np.ndarray:
        pairs = [(p, p.grad if p.grad is not None else p.detach() * 0) for p in self._trained()]
        pairs = pairs if self._grad_clip is None else self._grad_clip(pairs)
        decay = float(getattr(self._weight_decay, "coeff", self._weight_decay) or 0.0)
        parts = [g.numpy().astype(np.float64) + decay * p.numpy() for p, g in pairs]
        return np.concatenate([v.ravel() for v in parts])

    def _at(self, closure: Callable[[], Any], place: np.ndarray) -> tuple[float, np.ndarray]:
        self._move(place)
        loss = float(closure())
        return loss, self._slope()

    # -- the method ------------------------------------------------------------------------------------------------
    def step(self, closure: Callable[[], Any] | None = None) -> Tensor:  # type: ignore[override]
        """Minimize the loss that `closure()` computes.

        Arguments:
            closure: a function without arguments that clears the gradients, computes the loss, calls backward() and
                returns the loss.

        Returns:
            The loss before the first iteration.

        Raises:
            TypeError: without a closure.
        """
        if closure is None:
            raise TypeError("LBFGS.step needs a closure: a function that computes the loss and its gradients")
        first = closure()
        loss, slope, place, calls = float(first), self._slope(), self._place(), 1
        for _ in range(self.max_iter):
            if np.abs(slope).max(initial=0.0) <= self.tolerance_grad:
                break
            self._iterations += 1
            direction, rate = self._direction(slope)
            steep = float(slope @ direction)
            if steep > -self.tolerance_change:
                break
            length, new_loss, new_slope, used = self._search(closure, place, direction, loss, slope, rate)
            calls += used
            self._last, self._loss = (direction, slope, length), loss
            moved, change = length * direction, abs(new_loss - loss)
            place, loss, slope = place + moved, new_loss, new_slope
            little = np.abs(moved).max() <= self.tolerance_change or change < self.tolerance_change
            if little or calls >= self.max_eval:
                break
        self._move(place)
        self._evaluations += calls
        return first

    # -- saving ----------------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """Return the state under "state": past updates of parameters and gradient, the last direction, the counters."""
        state: dict[str, Any] = {"func_evals": self._evaluations, "n_iter": self._iterations}
        if self._last is not None:
            direction, slope, length = self._last
            state |= {"d": Tensor(direction), "alpha": float(length), "prev_flat_grad": Tensor(slope)}
            state |= {"prev_loss": self._loss}
        state["old_sk"] = [Tensor(moved) for moved, _ in self._changes]
        state["old_yk"] = [Tensor(turned) for _, turned in self._changes]
        state["ro"] = [Tensor(np.asarray(1.0 / (turned @ moved))) for moved, turned in self._changes]
        return {**super().state_dict(), "state": state}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state_dict().

        Raises:
            ValueError: if the state is that of other parameters.
        """
        state = state_dict.get("state", {})
        vectors = [_vector(state[k]) for k in ("d", "prev_flat_grad") if k in state]
        changes = [(_vector(s), _vector(y)) for s, y in zip(state["old_sk"], state["old_yk"], strict=True)]
        size = sum(p.size for p in self._trained())
        if any(len(v) != size for v in [*vectors, *(v for pair in changes for v in pair)]):
            raise ValueError(f"LBFGS.set_state_dict: the state is that of other parameters than these {size} numbers")
        super().set_state_dict({k: v for k, v in state_dict.items() if k != "state"})
        self._changes.clear()
        self._changes.extend(changes)
        self._last = (vectors[0], vectors[1], float(state["alpha"])) if vectors else None
        self._evaluations, self._iterations = int(state.get("func_evals", 0)), int(state.get("n_iter", 0))
        self._loss = float(state.get("prev_loss", 0.0))

    load_state_dict = set_dict = set_state_dict

    def _direction(self, slope: np.ndarray) -> tuple[np.ndarray, float]:
        """Where to go, and how far at first."""
        if self._last is None:
            return -slope, min(1.0, 1.0 / max(np.abs(slope).sum(), 1e-300)) * self.get_lr()
        before, old_slope, length = self._last
        moved, turned = before * length, slope - old_slope
        if turned @ moved > 1e-10:
            self._changes.append((moved, turned))
        return -self._inverse_hessian(slope), self.get_lr()

    def _inverse_hessian(self, slope: np.ndarray) -> np.ndarray:
        """Return the product of the remembered inverse Hessian with a vector."""
        q, weights = slope.copy(), []
        for moved, turned in reversed(self._changes):
            weight = moved @ q / (turned @ moved)
            q -= weight * turned
            weights.append(weight)
        if self._changes:
            moved, turned = self._changes[-1]
            q *= (turned @ moved) / (turned @ turned)
        for (moved, turned), weight in zip(self._changes, reversed(weights), strict=True):
            q += moved * (weight - turned @ q / (turned @ moved))
        return q

    def _search(
        self, closure: Any, place: np.ndarray, direction: np.ndarray, loss: float, slope: np.ndarray, rate: float
    ) -> tuple[float, float, np.ndarray, int]:
        """How far to go, loss and gradient there, and the evaluations that it took."""
        if self.line_search_fn is None:
            return (rate, *self._at(closure, place + rate * direction), 1)

        def look(at: float) -> Point:
            there, gradient = self._at(closure, place + at * direction)
            return Point(at, there, float(gradient @ direction), gradient)

        start, reach = Point(0.0, loss, float(slope @ direction), slope), float(np.abs(direction).max())
        found, calls = strong_wolfe(look, start, rate, reach, self.tolerance_change)
        return found.at, found.loss, found.slope, calls
