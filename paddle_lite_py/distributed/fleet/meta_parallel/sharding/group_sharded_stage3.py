"""A model of whose parameters each process holds a share (ZeRO, stage 3): they are whole where a layer uses them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .....autograd import PyLayer, backward, enable_grad
from .....core.interpreter import no_grad, state
from .....core.no_effect import Immaterial, no_effect
from .....eager.random import get_rng_state, set_rng_state
from .....eager.tensor import Parameter, Tensor, wrap
from .....nn import Layer
from .....nn.clip import ClipGradByGlobalNorm
from .....ops.creation import zeros
from .....ops.joining import concat
from .....utils import flatten, pack_sequence_as
from ....data_parallel import sync_params_buffers
from ....group import Group, init_parallel_env
from ....programs import exchanged
from ...meta_optimizers.dygraph_optimizer.hybrid_parallel_optimizer import HybridParallelClipGrad
from .group_sharded_optimizer_stage2 import StatesGroup

__all__ = ["GroupShardedStage3"]

# Optimizers whose update of a number depends on others of the parameter.
_BY_NORM = ("Lamb", "LarsMomentum", "LBFGS", "Muon", "DistributedFusedLamb")
_TOGETHER = "parameters of a layer travel together"


class _Share:
    """A parameter, and this process's share of it, flat, which is what the optimizer trains."""

    def __init__(self, parameter: Any, group: Group) -> None:
        self.parameter, self.shape = parameter, tuple(parameter.shape)
        self.size = math.prod(self.shape)
        each = -(-self.size // group.nranks)
        self.padding = each * group.nranks - self.size
        flat = self._flat(parameter.detach())
        self.held = Parameter(wrap(flat[group.rank * each : (group.rank + 1) * each]._payload), name=parameter.name)
        self.held.optimize_attr, self.held.regularizer = parameter.optimize_attr, parameter.regularizer
        self.held.need_clip, self.held.stop_gradient = parameter.need_clip, parameter.stop_gradient
        self.users = 0
        self.release()

    def _flat(self, whole: Tensor) -> Tensor:
        flat = whole.reshape([-1])
        return concat([flat, zeros([self.padding], flat.dtype)], 0) if self.padding else flat

    def fill(self, flat: Tensor) -> None:
        """Make the parameter whole."""
        self.parameter._set_payload(flat[: self.size].reshape(list(self.shape))._payload)

    def release(self) -> None:
        """Forget the whole: only its shape and dtype remain, and no number."""
        kind = self.held._payload.dtype
        nothing = np.full((), np.nan if np.issubdtype(kind, np.floating) else 0, np.float32).astype(kind)
        self.parameter._set_payload(np.broadcast_to(nothing, self.shape))


class _Around(PyLayer):
    """A layer whose parameters are whole only while it runs: backward runs it once more."""

    @staticmethod
    def forward(ctx: Any, stage: Any, shares: Any, call: Any, *tensors: Tensor) -> Any:
        ctx.how, ctx.random, ctx.casting = (stage, shares, call), get_rng_state(), state.casting
        ctx.save_for_backward(*tensors)
        with stage.whole(shares):
            return call(tensors[1:])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        stage, shares, call = ctx.how
        inputs = []
        for t in ctx.saved_tensor()[1:]:
            leaf = t.detach()
            leaf.stop_gradient = t.stop_gradient
            inputs.append(leaf)
        before = get_rng_state(), state.casting
        set_rng_state(ctx.random)
        state.casting = ctx.casting
        with stage.whole(shares):
            try:
                with enable_grad():
                    out = call(inputs)
            finally:
                set_rng_state(before[0])
                state.casting = before[1]
            outs = [t for t in flatten(out) if isinstance(t, Tensor)]
            pairs = [(t, g) for t, g in zip(outs, grads, strict=True) if not t.stop_gradient]
            backward([t for t, _ in pairs], [g for _, g in pairs])
            stage.scatter_gradients(shares)
        return (None, *[t.grad for t in inputs])


class GroupShardedStage3(Layer):
    """A model of whose parameters, gradients and states each process holds a share.

    A layer that has parameters of its own takes them from all processes when it is called, and again in backward, which
    runs it once more. Outside of that they have their shapes, and NaN for numbers: state_dict() has them whole.

    Arguments:
        layer: the model; parameters begin as those of the first process.
        optimizer: trains the shares from now on.
        group: who has shares; all processes by default.
        sync_buffers, device, segment_size, pretrain_sync_models, offload, sync_comm, dp_group, exclude_layer: see
            docs/differences.md.

    Raises:
        NotImplementedError: if the optimizer looks at whole parameters; in forward(), inside of a static function.
    """

    @no_effect(
        sync_buffers="buffers begin the same", device="XLA's device is used", segment_size=_TOGETHER,
        pretrain_sync_models="parameters always begin as those of the first process", sync_comm=_TOGETHER,
        offload="shares stay on the device", dp_group="give all processes that share the data as `group`",
        exclude_layer="parameters of all layers are shared",
    )  # fmt: skip
    def __init__(
        self, layer: Layer, optimizer: Any, group: Group | None = None, sync_buffers: bool = False,
        device: str = "gpu", segment_size: int = 2**20, pretrain_sync_models: bool = True, offload: bool = False,
        sync_comm: bool = False, dp_group: Any = None, exclude_layer: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._layer, self._group = layer, group or init_parallel_env()
        sync_params_buffers(layer, self._group, self._group.ranks[0])
        self._shares = {id(p): _Share(p, self._group) for p in layer.parameters()}
        for sublayer in layer.sublayers(include_self=True):
            if own := [self._shares[id(p)] for p in sublayer.parameters(include_sublayers=False)]:
                sublayer.forward = functools.partial(self._run, own, sublayer.forward)
        self._adopt(optimizer)

    def _adopt(self, optimizer: Any) -> None:
        """Let an optimizer train shares in the place of parameters."""
        if type(optimizer).__name__ in _BY_NORM:
            raise NotImplementedError(
                f"GroupShardedStage3: {type(optimizer).__name__} looks at whole parameters; each process has a "
                "share of them: use an optimizer that treats each number by itself, such as AdamW, or a lower stage"
            )
        for held in optimizer._groups:
            held.params[:] = [self._shares[id(p)].held if id(p) in self._shares else p for p in held.params]
        if isinstance(optimizer._grad_clip, ClipGradByGlobalNorm):
            optimizer._grad_clip = HybridParallelClipGrad(optimizer._grad_clip, StatesGroup(self._group))

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return the model's."""
        return self._layer(*inputs, **kwargs)

    # -- one layer -------------------------------------------------------------------------------------------------
    def _run(self, shares: list[_Share], forward: Any, *args: Any, **kwargs: Any) -> Any:
        if not state.interpreter.is_eager:
            raise NotImplementedError(
                "GroupShardedStage3: parameters come and go between calls, which a static function cannot have; shard "
                "them over a mesh instead: paddle.distributed.shard_optimizer(..., ShardingStage3(...))"
            )
        flat = flatten([args, kwargs])
        places = [i for i, a in enumerate(flat) if isinstance(a, Tensor)]

        def call(tensors: Sequence[Tensor]) -> Any:
            given = list(flat)
            for i, t in zip(places, tensors, strict=True):
                given[i] = t
            positional, named = pack_sequence_as([args, kwargs], given)
            return forward(*positional, **named)

        trained = state.grad_enabled and any(not s.held.stop_gradient for s in shares)
        if not trained:
            with self.whole(shares):
                return forward(*args, **kwargs)
        mark = next(s.held for s in shares if not s.held.stop_gradient)
        return _Around.apply(self, shares, call, mark, *[flat[i] for i in places])

    @contextmanager
    def whole(self, shares: Sequence[_Share]) -> Iterator[None]:
        """A block in which some parameters are whole."""
        missing = [s for s in shares if not s.users]
        for s in shares:
            s.users += 1
        try:
            self._gather(missing)
            yield
        finally:
            for s in shares:
                s.users -= 1
                if not s.users:
                    s.release()

    def _gather(self, shares: Sequence[_Share]) -> None:
        if not shares:
            return
        with no_grad():
            held = [s.held for s in shares]
            found = held if self._group.nranks == 1 else exchanged("all_gather of parameters", held, self._group)
            for s, flat in zip(shares, found, strict=True):
                s.fill(flat)

    def scatter_gradients(self, shares: Sequence[_Share]) -> None:
        """Give each process the means of the gradients of its shares, and forget the whole ones."""
        used = [s for s in shares if s.parameter.grad is not None]
        if not used:
            return
        with no_grad():
            found = [s._flat(s.parameter.grad) for s in used]
            if self._group.nranks > 1:
                found = list(exchanged("reduce_scatter of gradients", found, self._group))
            for s, grad in zip(used, found, strict=True):
                s.held.grad = grad if s.held.grad is None else s.held.grad + grad
                s.parameter.clear_gradient(set_to_zero=False)

    # -- the whole model -------------------------------------------------------------------------------------------
    @no_effect(convert2cpu="they stay where they are", with_freeze_param=Immaterial("all parameters are returned"))
    def get_all_parameters(self, convert2cpu: bool = False, with_freeze_param: bool = False) -> list[Any]:
        """Return the parameters, made whole until a layer uses them; all processes call it."""
        self._gather(list(self._shares.values()))
        return self._layer.parameters()

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Return the model's, whole; all processes call it."""
        with self.whole(list(self._shares.values())):
            return {k: v.detach().clone() for k, v in self._layer.state_dict(*args, **kwargs).items()}

    def set_state_dict(self, state_dict: Any, use_structured_name: bool = True) -> Any:
        """Load the model's state, of which this process keeps its share."""
        shares = list(self._shares.values())
        with self.whole(shares):
            found = self._layer.set_state_dict(state_dict, use_structured_name)
            for s in shares:
                each, rank = s.held.shape[0], self._group.rank
                s.held._set_payload(s._flat(s.parameter.detach())[rank * each : (rank + 1) * each]._payload)
        return found

    set_dict = load_dict = set_state_dict
