"""Training of a program with servers: what fleet's optimizer appends to it."""

from __future__ import annotations

import math
from typing import Any

from ..core.interpreter import no_grad, state
from ..distributed.fleet.served.session import DenseState, Plan, Session
from ..distributed.fleet.served.tables import rule_of
from ..distributed.fleet.strategy import CHANGES
from ..eager.tensor import Tensor, wrap
from ..ops.joining import concat
from .builder import StaticBuilder
from .differentiation import append_backward
from .served import DENSE_GRADIENT, Served

__all__ = ["ServedOptimizer"]


class ServedOptimizer:
    """An optimizer whose minimize() makes a program train with servers.

    The rows of tables and their gradients pass between them and the program; so do the dense parameters, as one array,
    or in geo mode the program updates these itself.

    Arguments:
        optimizer: says what is done with gradients: SGD, Adagrad or Adam.
        strategy: a_sync and a_sync_configs say how workers keep step.
        session: this process's part.

    Raises:
        NotImplementedError: for another optimizer, or a strategy that asks for more.
    """

    def __init__(self, optimizer: Any, strategy: Any, session: Session) -> None:
        strategy.check()
        if wanted := [name for name in CHANGES if getattr(strategy, name, False)]:
            raise NotImplementedError(
                f"DistributedStrategy: {wanted[0]} is on, which is not done with parameter servers"
            )
        self._inner_opt, self._strategy, self._session = optimizer, strategy, session
        session.strategy = strategy
        rule_of(optimizer)

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[Any]]:
        """Append gradients: of the rows that tables give, and of all other parameters.

        Raises:
            RuntimeError: outside of a program, or for a second program.
        """
        builder = state.interpreter
        if not isinstance(builder, StaticBuilder):
            raise RuntimeError("fleet: no program is under construction; call paddle.enable_static() first")
        if self._session.plan is not None:
            raise RuntimeError("fleet: the servers have the tables of one program already; minimize() once")
        program = builder.program
        rows = [wrap(program.feeds[k.rows]) for k in program.lookups if k.trained]
        for r in rows:
            r.stop_gradient = False
        program.optimizers.append(self._inner_opt)
        with builder.starting(startup_program):
            given = parameters or self._inner_opt._parameter_list or program.all_parameters()
            dense = [p for p in given if getattr(p, "name", p) not in self._session.tables]
            found = append_backward(builder, loss, [*dense, *rows], no_grad_set)
            pairs = [(p, g) for p, g in found if g is not None]
            own = {id(r) for r in rows}
            trained = [(p, g) for p, g in pairs if id(p) not in own]
            geo = self._strategy.a_sync and self._strategy.a_sync_configs["k_steps"] > 0
            ops = self._inner_opt.apply_gradients(trained) if geo and trained else []
            if trained and not geo:
                _append_dense(trained)
        reached = {p.name for p, _ in pairs}
        program.lookups = [k._replace(trained=k.rows in reached) for k in program.lookups]
        program.served = Served(
            tuple((p.name, tuple(p.shape)) for p, _ in trained), bool(trained) and not geo, self._inner_opt
        )
        place = self._session.place
        job = {"mpi_size": place.workers, "mpi_rank": place.number}
        program._fleet_opt = {**(program._fleet_opt or {}), **job, **self._strategy.trainer_desc_configs}
        self._session.plan = Plan(sum(math.prod(p.shape) for p, _ in trained), rule_of(self._inner_opt))
        self._session.state = DenseState(*[getattr(program.served, name) for name in DenseState._fields])
        return ops, pairs

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":
            raise AttributeError(name)
        return getattr(self._inner_opt, name)


def _append_dense(pairs: list[Any]) -> None:
    """Append the gradients of all dense parameters as one array."""
    with no_grad():
        flat = concat([g.reshape([-1]).astype("float32") for _, g in pairs], 0).clone()
        flat._payload.name = DENSE_GRADIENT
