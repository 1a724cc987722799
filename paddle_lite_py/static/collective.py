"""Training of a program by several processes: what fleet's optimizer appends to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.interpreter import no_grad, state
from ..distributed.exchange import exchanges
from ..distributed.fleet.meta_optimizers.chosen import as_asked
from ..distributed.group import Group, ReduceOp
from ..distributed.kernels import KERNELS
from ..distributed.programs import exchanged
from ..eager.tensor import Parameter, Tensor
from ..ops.creation import zeros
from ..ops.joining import concat
from .amp import AutoMixedPrecisionLists, decorate
from .builder import StaticBuilder
from .current import current
from .merging import GradientMergeOptimizer
from .pipeline import StagedTraining

__all__ = ["CollectiveOptimizer"]

# Optimizers whose update of a number depends on others of the parameter.
_BY_NORM = ("Lamb", "LarsMomentum", "DistributedFusedLamb")
_REFUSED = {
    "asp": "paddle.incubate.asp on the model",
    "qat": "paddle.quantization on the model",
    "dgc": "training outside of programs",
    "localsgd": "training outside of programs",
    "adaptive_localsgd": "training outside of programs",
    "lars": "paddle.incubate.optimizer.LarsMomentumOptimizer itself",
}


class CollectiveOptimizer:
    """An optimizer whose minimize() makes a program train with others: gradients are means over the processes.

    Arguments:
        optimizer: updates the parameters.
        strategy: amp, recompute, gradient_merge, lamb and sharding are done, each with its `*_configs`.
        group: who trains: each with its own data.

    Raises:
        NotImplementedError: if the strategy asks for something else.
        ValueError: if what it asks for does not go together.
    """

    def __init__(self, optimizer: Any, strategy: Any, group: Group) -> None:
        if wanted := [name for name in _REFUSED if getattr(strategy, name, False)]:
            raise NotImplementedError(
                f"DistributedStrategy: {wanted[0]} is on, which fleet does not do in programs; use "
                + _REFUSED[wanted[0]]
            )
        self._group, self._strategy = group, strategy
        if strategy.pipeline:
            _fits_pipeline(strategy)
        self._innermost = as_asked(optimizer, strategy, group)
        self._shards = bool(strategy.sharding) and group.nranks > 1
        self._inner_opt = self._with_amp(self._innermost)
        if strategy.gradient_merge:
            if strategy.amp:
                raise ValueError("DistributedStrategy: gradient_merge and amp are both on; choose one")
            configs = {"k_steps": 1, "avg": True, **strategy.gradient_merge_configs}
            self._inner_opt = GradientMergeOptimizer(self._innermost, configs["k_steps"], configs["avg"])
        if self._shards and type(self._innermost).__name__ in _BY_NORM:
            raise ValueError(
                f"DistributedStrategy: sharding is on, and {type(self._innermost).__name__} looks at whole parameters"
            )

    def _with_amp(self, optimizer: Any) -> Any:
        if not self._strategy.amp:
            return optimizer
        configs = dict(self._strategy.amp_configs)
        dtype = "bfloat16" if configs.get("use_bf16") or configs.get("dtype") == "bfloat16" else "float16"
        if self._shards and dtype == "float16":
            raise ValueError(
                "DistributedStrategy: sharding and amp in float16 are both on, and processes would not agree on which "
                "steps to leave out; use bfloat16 (amp_configs={'use_bf16': True})"
            )
        level = "O2" if configs.get("use_pure_fp16") or configs.get("use_pure_bf16") else "O1"
        lists = AutoMixedPrecisionLists(configs.get("custom_white_list"), configs.get("custom_black_list"))
        kept = ("init_loss_scaling", "incr_every_n_steps", "decr_every_n_nan_or_inf", "incr_ratio", "decr_ratio")
        given = {k: configs[k] for k in (*kept, "use_dynamic_loss_scaling") if k in configs}
        return decorate(optimizer, lists, level, dtype, **given)

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[Any]]:
        """Append gradients, what processes exchange, and updates; processes start with the values of the first one."""
        builder = state.interpreter
        if not isinstance(builder, StaticBuilder):
            raise RuntimeError("fleet: no program is under construction; call paddle.enable_static() first")
        if self._strategy.pipeline:
            return self._in_stages(builder.program, loss, startup_program or current.startup)
        with builder.starting(startup_program):
            for p in builder.program.all_parameters():
                self._begin_alike(p.name, self._group)
            self._shared: list[tuple[Any, Tensor]] = []
            checkpoints = self._strategy.recompute_configs.get("checkpoints") if self._strategy.recompute else None
            with builder.gradients_changed(self._scattered if self._shards else self._average, checkpoints):
                made = self._inner_opt.minimize(loss, None, parameters, no_grad_set)
            self._gather()
        return made

    def _in_stages(self, main: Any, loss: Tensor, startup: Any) -> tuple[list[Any], list[Any]]:
        """Let this process train its stage of the program."""
        configs = {"accumulate_steps": 1, "schedule_mode": "1F1B", **self._strategy.pipeline_configs}
        schedule, parts = configs["schedule_mode"], configs["accumulate_steps"]
        made = StagedTraining(main, loss, self._innermost, self._group, parts, schedule, startup)
        with state.interpreter.starting(startup):
            for p, _ in made.trained:
                self._begin_alike(p.name, made.who.copies)
        main.pipeline = made
        return [], list(made.trained)

    def _begin_alike(self, name: str, group: Group) -> None:
        initial = current.startup.initials.get(name)
        if group.nranks > 1 and initial is not None:
            drawn = _of_first(initial.draw, group)
            current.startup.initials[name] = initial._replace(draw=drawn)

    def _average(self, pairs: list[Any]) -> list[Any]:
        if self._group.nranks == 1 or not pairs:
            return pairs
        with no_grad():
            names = f"{len(pairs)} parameters"
            means = exchanged("all_reduce of gradients", [g for _, g in pairs], self._group, ReduceOp.AVG, names)
        return [(p, mean) for (p, _), mean in zip(pairs, means, strict=True)]

    # -- sharding --------------------------------------------------------------------------------------------------
    def _scattered(self, pairs: list[Any]) -> list[Any]:
        """This process's shares of parameters, flat, with the means of their gradients."""
        with no_grad():
            flat = [(self._flat(p.detach()), self._flat(g)) for p, g in pairs]
            own = exchanged("own shares", [p for p, _ in flat], self._group)
            means = exchanged("reduce_scatter of gradients", [g for _, g in flat], self._group)
        made = []
        for (p, _), share, mean in zip(pairs, own, means, strict=True):
            held = Parameter.of_payload(share._payload, p.name, True)
            held.optimize_attr, held.regularizer, held.need_clip = p.optimize_attr, p.regularizer, p.need_clip
            made.append((held, mean))
            self._shared.append((p, held))
        whole = {id(p): share for p, share in self._shared}
        for group in self._innermost._groups:
            group.params[:] = [whole.get(id(p), p) for p in group.params]
        return made

    def _flat(self, x: Tensor) -> Tensor:
        size = math.prod(x.shape)
        missing = -size % self._group.nranks
        flat = x.reshape([-1])
        return concat([flat, zeros([missing], flat.dtype)], 0) if missing else flat

    def _gather(self) -> None:
        """Give parameters the new values of all shares."""
        if not self._shared:
            return
        with no_grad():
            wholes = exchanged("all_gather of parameters", [share for _, share in self._shared], self._group)
            for (p, _), flat in zip(self._shared, wholes, strict=True):
                p._set_payload(flat[: math.prod(p.shape)].reshape(list(p.shape))._payload)

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":
            raise AttributeError(name)
        return getattr(self._inner_opt, name)


def _fits_pipeline(strategy: Any) -> None:
    """Check that the other settings of a strategy work with stages.

    Raises:
        ValueError: if it does not.
    """
    for other in ("amp", "gradient_merge", "sharding"):
        if getattr(strategy, other, False):
            raise ValueError(f"DistributedStrategy: pipeline and {other} are both on in a program; choose one")
    configs = strategy.pipeline_configs
    schedule, parts = configs.get("schedule_mode", "1F1B"), configs.get("accumulate_steps", 1)
    if schedule not in ("1F1B", "F-then-B"):
        raise ValueError(f"pipeline_configs: schedule_mode is {schedule!r}; expected '1F1B' or 'F-then-B'")
    if not isinstance(parts, int) or parts < 1:
        raise ValueError(f"pipeline_configs: accumulate_steps is {parts!r}; expected 1 or more")


def _of_first(draw: Callable[[], Any], group: Group) -> Callable[[], Any]:
    """Return a first value as the first process has drawn it."""

    def drawn() -> Any:
        own = np.asarray(draw())
        return np.asarray(exchanges().run(group, "broadcast", KERNELS["broadcast"], (0,), own))

    return drawn
