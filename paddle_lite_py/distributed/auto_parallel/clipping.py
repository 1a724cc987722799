"""Clipping by the norm of gradients over several meshes, as of the stages of a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.interpreter import no_grad, state
from ...core.processes import world
from ...eager.pending import payload_of
from ...eager.tensor import Parameter, Tensor
from ...nn.clip import ClipGradBase, ClipGradByGlobalNorm
from ...ops.convert import to_tensor
from ..collective import exchanged
from ..group import ReduceOp
from .layouts import mesh_of
from .process_mesh import ProcessMesh
from .reading import group_of


class ClipGradOverMeshes(ClipGradBase):
    """ClipGradByGlobalNorm of parameters over several meshes.

    The processes of a mesh add up the squares of its gradients, and those of all meshes exchange the sums.

    Arguments:
        clip: what a single mesh would do.
        parameters: those of all meshes.
    """

    def __init__(self, clip: ClipGradByGlobalNorm, parameters: Sequence[Parameter]) -> None:
        self.clip_norm, self._parameters, self._scale = clip.clip_norm, list(parameters), 1.0

    def key(self) -> None:
        """None: it is not a function of the gradients over one mesh."""

    def measure(self) -> None:
        """Compute the norm of all gradients, before an update; all processes of the meshes call it.

        Raises:
            NotImplementedError: in a program, which lies over one mesh.
        """
        if not state.interpreter.is_eager:
            raise NotImplementedError(
                "ClipGradByGlobalNorm: a static step has parameters over several meshes, and a program lies over one; "
                "call optimizer.step() outside of the static function"
            )
        meshes: dict[ProcessMesh | None, list[Tensor]] = {}
        for p in self._parameters:
            if p.need_clip and not p.stop_gradient and (grad := p.grad) is not None:
                meshes.setdefault(mesh_of(payload_of(p)), []).append(grad)
        ranks = sorted({rank for mesh in meshes if mesh is not None for rank in mesh.process_ids})
        here = world()
        if here.size > 1 and here.rank not in ranks:
            return
        own = 0.0
        with no_grad():
            for mesh, grads in meshes.items():
                members = ranks if mesh is None else mesh.process_ids
                if here.size == 1 or here.rank in members:  # all of them compute it, and one passes it on
                    squares = float(sum(g.astype("float32").square().sum() for g in grads))
                    own += squares if here.size == 1 or here.rank == min(members) else 0.0
            total = to_tensor(np.float32(own))
            if here.size > 1:
                total = exchanged("all_reduce", total, group_of(tuple(ranks)), ReduceOp.SUM)
        self._scale = self.clip_norm / max(float(total) ** 0.5, self.clip_norm)

    def __call__(self, params_grads: Sequence[tuple[Parameter, Tensor | None]]) -> list[tuple[Any, Any]]:
        """Return pairs with the gradients scaled."""
        with no_grad():
            return [
                (p, g) if g is None or not p.need_clip else (p, (g * self._scale).astype(g.dtype))
                for p, g in params_grads
            ]
