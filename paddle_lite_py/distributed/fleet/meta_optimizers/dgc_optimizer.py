"""Gradients of which processes exchange only the largest numbers (Lin et al., Deep Gradient Compression, 2018)."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ....core.interpreter import no_grad, state
from ....core.no_effect import Immaterial, no_effect
from ....eager.tensor import Tensor, wrap
from ....ops.creation import zeros_like
from ....optimizer import SGD
from ...group import Group, ReduceOp, init_parallel_env
from ...programs import exchanged

__all__ = ["DGCMomentumOptimizer"]


class DGCMomentumOptimizer:
    """Momentum of which processes exchange the largest numbers of each update; the rest is kept, and added to the next.

    The model is not wrapped in DataParallel: this optimizer exchanges what there is to exchange.

    Arguments:
        learning_rate: a number or a scheduler.
        momentum: of the velocity that each process keeps.
        rampup_begin_step: the steps before this one exchange all.
        rampup_step: over how many steps the entries of `sparsity` follow each other.
        sparsity: the part of the numbers that is not exchanged.
        parameter_list: the parameters.
        use_nesterov: look ahead along the velocity, in the steps that exchange all.
        num_trainers: accepted for compatibility: the group says it.
        regularization: weight decay.
        grad_clip: clips the gradients of this process, by their norm over the root of the number of processes.
        group: who exchanges; all processes by default.

    Raises:
        ValueError: if a sparsity is not from 0 to below 1.
        NotImplementedError: in a program.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([4], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = DGCMomentumOptimizer(0.5, 0.0, rampup_begin_step=0, sparsity=[0.75], parameter_list=[w])
        >>> (w * paddle.to_tensor([1.0, 0.5, 0.25, 0.0])).sum().backward()
        >>> opt.step(); w.tolist()
        [0.5, 1.0, 1.0, 1.0]
    """

    @no_effect(num_trainers=Immaterial("the group says how many there are"))
    def __init__(
        self, learning_rate: Any, momentum: float, rampup_begin_step: int = 0, rampup_step: int = 1,
        sparsity: Sequence[float] = (0.999,), parameter_list: Any = None, use_nesterov: bool = False,
        num_trainers: int | None = None, regularization: Any = None, grad_clip: Any = None, name: str | None = None,
        group: Group | None = None,
    ) -> None:  # fmt: skip
        if wrong := [s for s in sparsity if not 0 <= s < 1]:
            raise ValueError(f"DGCMomentumOptimizer: sparsity has {wrong[0]}; expected numbers from 0 to below 1")
        self._inner_opt = SGD(learning_rate, parameters=parameter_list, weight_decay=regularization, name=name)
        self._group, self._momentum, self._nesterov = group or init_parallel_env(), momentum, use_nesterov
        self._begin, self._ramp, self._sparsity, self._clip = rampup_begin_step, rampup_step, list(sparsity), grad_clip
        self._steps = 0
        self._velocity: dict[int, Tensor] = {}
        self._rest: dict[int, Tensor] = {}

    def step(self) -> None:
        """Exchange what is due, and update the parameters."""
        if not state.interpreter.at_once:
            raise NotImplementedError("DGCMomentumOptimizer: step() in a program; call it outside of static functions")
        pairs = [(p, p.grad) for p in self._inner_opt._parameter_list if p.grad is not None]
        with no_grad():
            if self._clip is not None:
                pairs = [(p, g / math.sqrt(self._group.nranks)) for p, g in self._clip(pairs)]
            updates = self._all(pairs) if self._steps < self._begin else self._largest(pairs)
        for (p, _), update in zip(pairs, updates, strict=True):
            p.grad = update
        self._steps += 1
        self._inner_opt.step()

    def _all(self, pairs: list[Any]) -> list[Tensor]:
        grads = [g for _, g in pairs]
        if self._group.nranks > 1:
            grads = list(exchanged("all_reduce of gradients", grads, self._group, ReduceOp.AVG, "all"))
        made = []
        for (p, _), g in zip(pairs, grads, strict=True):
            velocity = self._velocity[id(p)] = self._moved(p, g)
            made.append(g + velocity * self._momentum if self._nesterov else velocity)
        return made

    def _moved(self, p: Any, g: Tensor) -> Tensor:
        before = self._velocity.get(id(p))
        return g.clone() if before is None else before * self._momentum + g

    def _largest(self, pairs: list[Any]) -> list[Tensor]:
        at = min((self._steps - self._begin) * len(self._sparsity) // self._ramp, len(self._sparsity) - 1)
        values, places, start, sizes = [], [], 0, []
        for p, g in pairs:
            velocity = self._moved(p, g)
            rest = self._rest.get(id(p), zeros_like(velocity)) + velocity
            count = max(1, round(p.size * (1 - self._sparsity[at])))
            value, place, velocity_left, rest_left = _take_largest(rest._payload, velocity._payload, count)
            self._rest[id(p)], self._velocity[id(p)] = wrap(rest_left), wrap(velocity_left)
            values.append(value)
            places.append(place + start)
            start += p.size
            sizes.append(p.size)
        flat = self._summed(jnp.concatenate(values), jnp.concatenate(places), start) / self._group.nranks
        parts = jnp.split(flat, [sum(sizes[: i + 1]) for i in range(len(sizes) - 1)])
        return [wrap(part.reshape(tuple(p.shape))) for (p, _), part in zip(pairs, parts, strict=True)]

    def _summed(self, values: Any, places: Any, total: int) -> Any:
        if self._group.nranks == 1:
            return jnp.zeros(total, values.dtype).at[places].add(values)
        return exchanged("sum of sparse gradients", [wrap(values), wrap(places)], self._group, total)[0]._payload

    @no_effect(loss=Immaterial("its gradients are there already"), more=Immaterial("there is one program"))
    def minimize(self, loss: Tensor, *more: Any) -> Any:
        """step(), after the user's loss.backward(); further arguments are those of other optimizers."""
        pairs = [(p, p.grad) for p in self._inner_opt._parameter_list if p.grad is not None]
        self.step()
        return [], pairs

    def state_dict(self) -> dict[str, Any]:
        """Return the state: the velocity and the residual of each parameter, by its name, and the steps."""
        held = {p.name: p for p in self._inner_opt._parameter_list}
        found = {f"{n}_velocity": self._velocity[id(p)] for n, p in held.items() if id(p) in self._velocity}
        found |= {f"{n}_rest": self._rest[id(p)] for n, p in held.items() if id(p) in self._rest}
        return {**self._inner_opt.state_dict(), **found, "dgc_steps": self._steps}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what state_dict() gives."""
        own = dict(state_dict)
        self._steps = int(own.pop("dgc_steps", 0))
        for p in self._inner_opt._parameter_list:
            for kept, what in ((self._velocity, "velocity"), (self._rest, "rest")):
                if (found := own.pop(f"{p.name}_{what}", None)) is not None:
                    kept[id(p)] = found.clone()
        self._inner_opt.set_state_dict(own)

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":
            raise AttributeError(name)
        return getattr(self._inner_opt, name)


@functools.partial(jax.jit, static_argnums=2)
def _take_largest(rest: Any, velocity: Any, count: int) -> Any:
    """Return the largest numbers of an array, where they stand, and what remains; the velocity begins anew there."""
    flat = rest.reshape(-1)
    _, place = jax.lax.top_k(jnp.abs(flat), count)
    left = flat.at[place].set(0).reshape(rest.shape)
    return flat[place], place, velocity.reshape(-1).at[place].set(0).reshape(rest.shape), left
