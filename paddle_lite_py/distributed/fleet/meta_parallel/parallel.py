"""A model in stages, one in each process, through which small batches go one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....autograd import backward
from ....core.arrays import from_host
from ....core.interpreter import no_grad
from ....core.no_effect import Immaterial, Refused, no_effect
from ....eager.tensor import Tensor, wrap
from ....nn import Layer
from ....ops.convert import to_tensor
from ....ops.creation import zeros
from ....ops.joining import stack
from ....ops.splitting import split
from ...collective import exchanged
from ...data_parallel import sync_params_buffers
from ...exchange import exchanges
from ...group import Group
from ...objects import from_bytes, to_bytes
from ..current import hybrid_group
from ..utils.hybrid_parallel_util import fused_allreduce_gradients, sync_shared
from ..utils.timer_helper import get_timers, is_timer_initialized
from .pipeline import PipelineLayer

__all__ = ["NoPipelineParallel", "PipelineParallel", "PipelineParallelWithInterleave"]


_SUMMED = Refused("the mean over the micro-batches is returned")


class PipelineParallel(Layer):
    """Pipeline parallelism with the 1F1B schedule: one forward and one backward in turn (Narayanan et al., 2019).

    Arguments:
        layers: a PipelineLayer, whose stage this process has built.
        hcg: the topology; None: the current one.
        strategy: `pipeline_configs` has accumulate_steps, the number of micro-batches, and micro_batch_size.

    Raises:
        TypeError: if `layers` is not a PipelineLayer.
    """

    def __init__(self, layers: Any, hcg: Any = None, strategy: Any = None) -> None:
        super().__init__()
        if not isinstance(layers, PipelineLayer):
            raise TypeError(
                f"PipelineParallel: layers is a {type(layers).__name__}; a pipeline has a PipelineLayer, which says "
                "what its stages are"
            )
        self._layers, self._hcg = layers, hcg
        configs = getattr(strategy, "pipeline_configs", None) or {}
        self.accumulate_steps = int(configs.get("accumulate_steps", 1))
        self.micro_batch_size = configs.get("micro_batch_size")
        self._pipe: Group = hcg.get_pipe_parallel_group()
        self.stage_id, self.num_stages = self._pipe.rank, self._pipe.nranks
        self.num_chunks = layers.get_num_virtual_stages()
        self.loss_fn_idx = 0
        self._check()
        self._mail: dict[Any, Any] = {}  # messages that arrived before they were needed
        sync_shared(layers, hcg.get_model_parallel_group())
        for group in (hcg.get_data_parallel_group(), hcg.get_sharding_parallel_group()):
            sync_params_buffers(layers, group, group.ranks[0])
        layers.sync_shared_weights()

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Compute the stage of this process."""
        return self._layers(*inputs, **kwargs)

    # -- one batch -------------------------------------------------------------------------------------------------
    @no_effect(return_micro_batch_loss=_SUMMED)
    def train_batch(
        self, data: Sequence[Any], optimizer: Any, lr_scheduler: Any = None, scaler: Any = None,
        loss_fn_idx: int = 0, return_micro_batch_loss: bool = False,
    ) -> Any:  # fmt: skip
        """Train on one batch: forward, backward and an optimizer step.

        Arguments:
            data: inputs and labels; the first stage uses the inputs, the last one the labels.
            optimizer: optimizer of the parameters of this stage.
            lr_scheduler: learning rate schedule to step; None: none.
            scaler: a GradScaler; None: none.
            loss_fn_idx: which of several losses gradients are taken of. Default: 0.
            return_micro_batch_loss: see docs/differences.md.

        Returns:
            The mean loss, a scalar, in every stage; a list of them if the layers have several losses.

        Raises:
            ValueError: if the batch cannot be divided into accumulate_steps micro-batches.
        """
        self.train()
        self.loss_fn_idx = loss_fn_idx
        loss = self.forward_backward_pipeline(data, scaler)
        if scaler is None:
            optimizer.step()
        else:
            scaler.step(optimizer)
            scaler.update()
        optimizer.clear_grad()
        if lr_scheduler is not None:
            lr_scheduler.step()
        return loss

    def _check(self) -> None:
        if self.num_chunks > 1 and self.accumulate_steps % self.num_stages:
            raise ValueError(
                f"PipelineParallel: accumulate_steps is {self.accumulate_steps}, with {self.num_chunks} stages in each "
                f"of {self.num_stages} processes; expected a multiple of {self.num_stages}"
            )

    @no_effect(static_scheduler=Refused("train_batch() runs the schedule"), return_micro_batch_loss=_SUMMED)
    def forward_backward_pipeline(
        self, data: Sequence[Any], scaler: Any = None, static_scheduler: bool = False,
        return_micro_batch_loss: bool = False,
    ) -> Any:  # fmt: skip
        """Run forward and backward of all micro-batches; gradients are complete afterwards."""
        batches, count = self._batches(data), self.accumulate_steps * self.num_chunks
        under_way: dict[tuple[int, int], tuple[Any, Any]] = {}
        total = self._no_loss()
        ahead = self.num_stages - self.stage_id - 1
        if self.num_chunks > 1:
            ahead = 2 * ahead + (self.num_chunks - 1) * self.num_stages
        ahead = min(ahead, count)
        for i in range(count + ahead):
            if i < count:
                chunk, number = self._unit(i)
                x, out, loss = self._forward_step(chunk, number, batches[number], scaler)
                under_way[chunk, number] = x, out
                total = total if loss is None else total + loss
            if i >= ahead:
                chunk, number = self._unit(i - ahead)
                chunk = self.num_chunks - 1 - chunk
                self._backward_step(chunk, number, *under_way.pop((chunk, number)))
        self._layers.add_shared_gradients()
        fused_allreduce_gradients(self._layers.parameters(), self._hcg)
        return self._told(total)

    def _unit(self, i: int) -> tuple[int, int]:
        """The stage of this process and the small batch of the i-th forward: as many batches as processes, by stage."""
        several, within = divmod(i, self.num_stages * self.num_chunks)
        return within // self.num_stages, several * self.num_stages + within % self.num_stages

    @no_effect(
        loss_fn_idx=Immaterial("all losses are returned"),
        return_host_tensor=Immaterial("results are read where they are needed"),
    )
    def eval_batch(
        self, data: Sequence[Any], compute_loss: bool = False, loss_fn_idx: int = 0, return_host_tensor: bool = False
    ) -> Any:
        """Evaluate one batch.

        Arguments:
            data: inputs and labels.
            compute_loss: return the mean loss, in every stage. Default: False.
            loss_fn_idx, return_host_tensor: see docs/differences.md.

        Returns:
            The loss, or the outputs of the last stage for each micro-batch.
        """
        self.eval()
        total, outs = self._no_loss(), []
        with no_grad():
            batches = self._batches(data)
            for chunk, number in map(self._unit, range(self.accumulate_steps * self.num_chunks)):
                _, out, loss = self._forward_step(chunk, number, batches[number], None, compute_loss)
                if chunk == self.num_chunks - 1:
                    outs.append(out)
                total = total if loss is None else total + loss
        return self._told(total) if compute_loss else outs

    # -- steps -----------------------------------------------------------------------------------------------------
    def _batches(self, data: Sequence[Any]) -> list[tuple[Any, Any]]:
        inputs, labels = data if len(data) == 2 else (data[0], None)
        first = self._parts(inputs) if self.stage_id == 0 else [None] * self.accumulate_steps
        last = self._parts(labels) if self.stage_id == self.num_stages - 1 else [None] * self.accumulate_steps
        return list(zip(first, last, strict=True))

    def _parts(self, data: Any) -> list[Any]:
        if isinstance(data, list | tuple):
            return [tuple(part) for part in zip(*map(self._parts, data), strict=True)]
        if data is None:
            return [None] * self.accumulate_steps
        rows, count = data.shape[0], self.accumulate_steps
        if rows % count or (self.micro_batch_size and rows // count != self.micro_batch_size):
            raise ValueError(
                f"train_batch: a batch of {rows} rows is not accumulate_steps={count} small ones"
                + (f" of micro_batch_size={self.micro_batch_size}" if self.micro_batch_size else "")
                + "; change pipeline_configs of the strategy"
            )
        return split(data, count, 0)

    def _place(self, chunk: int) -> int:
        """Return the place among the stages of all."""
        return chunk * self.num_stages + self.stage_id

    @property
    def _last(self) -> int:
        return self.num_stages * self.num_chunks - 1

    def _forward_step(
        self, chunk: int, number: int, batch: Any, scaler: Any, compute_loss: bool = True
    ) -> tuple[Any, Any, Any]:
        place = self._place(chunk)
        x = self._taken("forward", place, number, place - 1) if place else batch[0]
        out = self._layers(x, chunk_id=chunk)
        if place != self._last:
            self._give("forward", place + 1, number, out)
            return x, out, None
        if self._layers._loss_fn[0] is None or not compute_loss:
            return x, out, None
        losses = [loss_fn(out, batch[1]) / self.accumulate_steps for loss_fn in self._layers._loss_fn]
        loss = losses[self.loss_fn_idx]
        found = stack([each.detach() for each in losses]) if len(losses) > 1 else loss.detach()
        return x, loss if scaler is None else scaler.scale(loss), found

    def _backward_step(self, chunk: int, number: int, x: Any, out: Any) -> None:
        place = self._place(chunk)
        if place == self._last:
            out.backward()
        else:
            outs = [t for t in _listed(out) if not t.stop_gradient]
            backward(outs, _listed(self._taken("backward", place, number, place + 1)))
        if place:
            self._give("backward", place - 1, number, tuple([t.grad for t in _listed(x) if not t.stop_gradient]))

    # -- from stage to stage ---------------------------------------------------------------------------------------
    def _give(self, what: str, place: int, number: int, tensors: Any) -> None:
        rank, messenger = self._pipe.ranks[place % self.num_stages], exchanges().messenger
        listed = _listed(tensors)
        head = (what, place, number), isinstance(tensors, Tensor), [t.stop_gradient for t in listed]
        messenger.send(rank, self._pipe.id, to_bytes(head))
        for t in listed:
            messenger.send(rank, self._pipe.id, np.asarray(t._payload))

    def _taken(self, what: str, place: int, number: int, source: int) -> Any:
        """Receive what a stage has sent to another one for a micro-batch; other messages that arrive first are kept."""
        rank, group, messenger = self._pipe.ranks[source % self.num_stages], self._pipe, exchanges().messenger
        while (what, place, number) not in self._mail:
            key, single, stopped = from_bytes(messenger.receive(rank, group.id, group.patience))
            found = []
            for is_stopped in stopped:
                t = wrap(from_host(messenger.receive(rank, group.id, group.patience)))
                t.stop_gradient = is_stopped
                found.append(t)
            self._mail[key] = found[0] if single else tuple(found)
        return self._mail.pop((what, place, number))

    def _no_loss(self) -> Tensor:
        """Return what the losses of micro-batches are added to."""
        return to_tensor(0.0) if (count := len(self._layers._loss_fn)) == 1 else zeros([count])

    def _told(self, loss: Tensor) -> Any:
        """Return the loss of the last stage, or its losses."""
        same = loss.astype(self._no_loss().dtype)  # that of the stages that do not compute it
        told = exchanged("broadcast", same, self._pipe, self.num_stages - 1)
        return told if told.ndim == 0 else told.unbind()

    def timer_printer(self) -> None:
        """Print the clocks of this process, if set_timers() has made some."""
        if is_timer_initialized():
            get_timers().log(list(get_timers().timers))

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Return the state of the stage."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict: Any, use_structured_name: bool = True) -> Any:
        """Load the state of the stage."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict


class PipelineParallelWithInterleave(PipelineParallel):
    """Pipeline parallelism with several stages in each process (interleaved 1F1B; Narayanan et al., 2021).

    Arguments:
        layers: a PipelineLayer with num_virtual_pipeline_stages above 1.
        hcg: the topology; None: the current one. Default: None.
        strategy: see PipelineParallel; accumulate_steps must be a multiple of the number of processes.

    Raises:
        ValueError: if a process has one stage, or accumulate_steps is no such multiple.
    """

    def _check(self) -> None:
        if self.num_chunks < 2 and self.num_stages > 1:
            raise ValueError(
                f"{type(self).__name__}: a process has one stage; give PipelineLayer num_virtual_pipeline_stages"
            )
        super()._check()


class NoPipelineParallel(PipelineParallel):
    """PipelineParallel for a single process: micro-batches run one after the other.

    Arguments:
        layers: a PipelineLayer.
        strategy: see PipelineParallel.
        hcg: the topology; None: the current one.
    """

    def __init__(self, layers: Any, strategy: Any, hcg: Any = None) -> None:
        super().__init__(layers, hcg or hybrid_group(), strategy)


def _listed(tensors: Any) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)
