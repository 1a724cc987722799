"""A model in stages, one in each process, through which small batches go one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....autograd import backward
from ....core.arrays import from_host
from ....core.interpreter import no_grad
from ....eager.tensor import Tensor, wrap
from ....nn import Layer
from ....ops.convert import to_tensor
from ....ops.splitting import split
from ...collective import exchanged, from_bytes, to_bytes
from ...data_parallel import sync_params_buffers
from ...exchange import exchanges
from ...group import Group
from ..utils.hybrid_parallel_util import fused_allreduce_gradients, sync_shared
from .pipeline import PipelineLayer

__all__ = ["PipelineParallel"]


class PipelineParallel(Layer):
    """A model in stages, trained with one forward and one backward in turn (1F1B; Narayanan et al., 2019).

    Arguments:
        layers: a `PipelineLayer`, of which this process has built its stage.
        hcg: the topology.
        strategy: `pipeline_configs` has `accumulate_steps`, the small batches of a batch, and `micro_batch_size`.

    Raises:
        TypeError: if `layers` is no PipelineLayer.
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
        sync_shared(layers, hcg.get_model_parallel_group())
        for group in (hcg.get_data_parallel_group(), hcg.get_sharding_parallel_group()):
            sync_params_buffers(layers, group, group.ranks[0])
        layers.sync_shared_weights()

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """This process's stage."""
        return self._layers(*inputs, **kwargs)

    # -- one batch -------------------------------------------------------------------------------------------------
    def train_batch(
        self, data: Sequence[Any], optimizer: Any, lr_scheduler: Any = None, scaler: Any = None
    ) -> Tensor:  # fmt: skip
        """Forward, backward and a step of the optimizer; the mean loss, in every stage.

        Arguments:
            data: inputs and labels, of which the first stage uses the former and the last the latter.
            optimizer: of the parameters of this stage.
            lr_scheduler: makes a step too.
            scaler: a GradScaler.

        Raises:
            ValueError: if the batch cannot be divided into `accumulate_steps` small ones.
        """
        self.train()
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

    def forward_backward_pipeline(self, data: Sequence[Any], scaler: Any = None) -> Tensor:
        """All small batches forward and backward; gradients are whole afterwards."""
        batches, count = self._batches(data), self.accumulate_steps
        under_way: list[tuple[Any, Any]] = []
        total = to_tensor(0.0)
        ahead = min(self.num_stages - self.stage_id - 1, count)
        for i in range(count + ahead):
            if i < count:
                x, out, loss = self._forward_step(next(batches), scaler)
                under_way.append((x, out))
                total = total if loss is None else total + loss
            if i >= ahead:
                self._backward_step(*under_way.pop(0))
        self._layers.add_shared_gradients()
        fused_allreduce_gradients(self._layers.parameters(), self._hcg)
        return self._told(total)

    def eval_batch(self, data: Sequence[Any], compute_loss: bool = True) -> Any:
        """Forward only: the mean loss, in every stage; what the last stage gives where compute_loss is False."""
        self.eval()
        total, outs = to_tensor(0.0), []
        with no_grad():
            batches = self._batches(data)
            for _ in range(self.accumulate_steps):
                _, out, loss = self._forward_step(next(batches), None, compute_loss)
                outs.append(out)
                total = total if loss is None else total + loss
        return self._told(total) if compute_loss else outs

    # -- steps -----------------------------------------------------------------------------------------------------
    def _batches(self, data: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
        inputs, labels = data if len(data) == 2 else (data[0], None)
        first = self._parts(inputs) if self.stage_id == 0 else [None] * self.accumulate_steps
        last = self._parts(labels) if self._is_last else [None] * self.accumulate_steps
        return iter(list(zip(first, last, strict=True)))

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

    @property
    def _is_last(self) -> bool:
        return self.stage_id == self.num_stages - 1

    def _forward_step(self, batch: Any, scaler: Any, compute_loss: bool = True) -> tuple[Any, Any, Any]:
        x = batch[0] if self.stage_id == 0 else self._taken(self.stage_id - 1)
        out = self._layers(x)
        if not self._is_last:
            self._give(self.stage_id + 1, out)
            return x, out, None
        if self._layers._loss_fn is None or not compute_loss:
            return x, out, None
        loss = self._layers._loss_fn(out, batch[1]) / self.accumulate_steps
        return x, loss if scaler is None else scaler.scale(loss), loss.detach()

    def _backward_step(self, x: Any, out: Any) -> None:
        if self._is_last:
            out.backward()
        else:
            outs = [t for t in _listed(out) if not t.stop_gradient]
            backward(outs, self._taken(self.stage_id + 1, len(outs)))
        if self.stage_id:
            self._give(self.stage_id - 1, [t.grad for t in _listed(x) if not t.stop_gradient])

    # -- from stage to stage ---------------------------------------------------------------------------------------
    def _give(self, stage: int, tensors: Any) -> None:
        rank, messenger = self._pipe.ranks[stage], exchanges().messenger
        listed = _listed(tensors)
        head = (isinstance(tensors, Tensor), [t.stop_gradient for t in listed])
        messenger.send(rank, self._pipe.id, to_bytes(head))
        for t in listed:
            messenger.send(rank, self._pipe.id, np.asarray(t._data))

    def _taken(self, stage: int, expected: int | None = None) -> Any:
        rank, group, messenger = self._pipe.ranks[stage], self._pipe, exchanges().messenger
        single, stopped = from_bytes(messenger.receive(rank, group.id, group.patience))
        found = []
        for is_stopped in stopped:
            t = wrap(from_host(messenger.receive(rank, group.id, group.patience)))
            t.stop_gradient = is_stopped
            found.append(t)
        return found[0] if single and expected is None else found if expected is not None else tuple(found)

    def _told(self, loss: Tensor) -> Tensor:
        """The loss of the last stage."""
        return exchanged("broadcast", loss, self._pipe, self.num_stages - 1)

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The stage's, under its own names."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict: Any, use_structured_name: bool = True) -> Any:
        """Load the stage's state."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict


def _listed(tensors: Any) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)
