"""Data parallelism: copies of a model in several processes, each with its share of the data, and one gradient."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import nn
from ..core.interpreter import after_backward, no_grad, state
from ..core.no_effect import no_effect
from ..eager.tensor import Tensor
from ..ops.convert import to_tensor
from ..ops.creation import zeros_like
from .experts import add_up, is_apart
from .gradients import gradient_of, set_gradient
from .group import Group, ReduceOp, init_parallel_env
from .programs import exchanged

__all__ = ["DataParallel", "sync_params_buffers"]

_BY_XLA = "gradients travel together after backward(), in one program"


@no_effect(is_model_parallel="all parameters of the layer are given", more="each parameter travels once")
def sync_params_buffers(
    model: nn.Layer, comm_group: Group | None = None, src_rank: int = 0, is_model_parallel: bool = False, **more: Any
) -> None:
    """Copy the parameters and buffers of one process to all others.

    Arguments:
        model: a layer, of the same structure in all processes.
        comm_group: the group of processes; None: all.
        src_rank: rank of the source. Default: 0.
        is_model_parallel: see docs/differences.md. Default: False.
        more: see docs/differences.md.

    Raises:
        RuntimeError: if the layers of the processes differ.
    """
    group = comm_group or init_parallel_env()
    held = [t for t in (*model.parameters(), *model.buffers()) if not is_apart(t)]
    if group.nranks == 1 or not held:
        return
    with no_grad():
        found = exchanged("broadcast of a model", held, group, group.get_group_rank(src_rank))
        for tensor, value in zip(held, found, strict=True):
            tensor._set_payload(value._payload)


def _note(model: Any, parameter: Tensor, gradient: Tensor) -> None:
    if (found := model()) is not None:
        found._reached[id(parameter)] = parameter


class DataParallel(nn.Layer):
    """Data parallelism: each process has a copy of a layer, and backward() averages the gradients over all processes.

    Arguments:
        layers: the layer; parameters and buffers are copied from the first process.
        find_unused_parameters: allow processes to use different parameters in a step. Default: False.
        group: the group of processes; None: all.
        strategy: see docs/differences.md.
        comm_buffer_size: see docs/differences.md. Default: 25.
        last_comm_buffer_size: see docs/differences.md. Default: 1.

    Raises:
        TypeError: if `layers` is not a Layer.
        RuntimeError: in backward(), if processes have gradients of different parameters and find_unused_parameters is
            False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.DataParallel(paddle.nn.Linear(2, 1))
        >>> net(paddle.ones([3, 2])).shape, list(net.state_dict())
        (paddle.Size([3, 1]), ['weight', 'bias'])
    """

    @no_effect(strategy=_BY_XLA, comm_buffer_size=_BY_XLA, last_comm_buffer_size=_BY_XLA)
    def __init__(
        self,
        layers: nn.Layer,
        strategy: Any = None,
        comm_buffer_size: int = 25,
        last_comm_buffer_size: float = 1,
        find_unused_parameters: bool = False,
        group: Any = None,
    ) -> None:
        super().__init__()
        if not isinstance(layers, nn.Layer):
            raise TypeError(f"DataParallel: layers is a {type(layers).__name__}; expected a Layer")
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters
        self.group = group or init_parallel_env()
        self.grad_need_sync = True
        self.sequence_parts = 1  # among the processes; their gradients are added up
        self._reached: dict[int, Tensor] = {}
        if self.group.nranks > 1:
            sync_params_buffers(layers, self.group, self.group.ranks[0])
            self._listen()

    def _listen(self) -> None:
        """Note which parameters a backward() reaches, and exchange their gradients when it is over."""
        me = weakref.ref(self)
        self._layers.__dict__["_copies"] = self  # it lives as long as the model, which may be trained without it
        for p in self._layers.parameters():
            if not p.stop_gradient:
                p.register_hook(functools.partial(_note, me, p))

        def call() -> None:
            if (it := me()) is None:
                after_backward.remove(call)
            elif it._reached:
                it._meet()

        after_backward.append(call)

    def _meet(self) -> None:
        reached, self._reached = self._reached, {}
        if not self.grad_need_sync:
            return
        every = [(name, p) for name, p in self._layers.named_parameters() if not p.stop_gradient]
        trained = [(name, p) for name, p in every if not is_apart(p)]
        used = [(name, p) for name, p in trained if id(p) in reached]
        with no_grad():
            if self.find_unused_parameters and state.interpreter.at_once:
                used = self._used_by_any(trained, reached)
            which = "all" if len(used) == len(trained) else ", ".join([name for name, _ in used])
            held = [gradient_of(p) for _, p in used]
            grads = [zeros_like(p) if g is None else g for g, (_, p) in zip(held, used, strict=True)]
            means = exchanged("all_reduce of gradients", grads, self.group, ReduceOp.AVG, which)
            for (_, p), mean in zip(used, means, strict=True):
                set_gradient(p, mean if self.sequence_parts == 1 else mean * self.sequence_parts)
        add_up([p for _, p in every if is_apart(p)], self.group.nranks / self.sequence_parts)

    def _used_by_any(self, trained: list[Any], reached: dict[int, Tensor]) -> list[Any]:
        mine = to_tensor(np.array([id(p) in reached for _, p in trained]))
        found = exchanged("all_reduce", [mine], self.group, ReduceOp.MAX)[0].numpy()
        return [one for one, is_used in zip(trained, found, strict=True) if is_used]

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return the layer's."""
        return self._layers(*inputs, **kwargs)

    def scale_loss(self, loss: Any) -> Any:
        """Return the loss as it is: gradients are means already."""
        return loss

    def apply_collective_grads(self) -> None:
        """Make the gradients means over the processes, where no backward() outside of `no_sync` has."""
        self._reached |= {id(p): p for p in self._layers.parameters() if gradient_of(p) is not None}
        if self.group.nranks > 1 and self._reached:
            self._meet()

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block in which gradients stay those of this process, until a backward() outside of it adds to them."""
        before, self.grad_need_sync = self.grad_need_sync, False
        try:
            yield
        finally:
            self.grad_need_sync = before

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Return the layer's, under its own names."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict: Any, use_structured_name: bool = True) -> Any:
        """Load the layer's state."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict
