"""Plans of how a model is distributed over chips."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..auto_parallel.process_mesh import ProcessMesh


class MeshPlan(NamedTuple):
    """How a model is distributed over chips, and what is kept for its gradient.

    Examples:
        >>> MeshPlan(4, 2, 1, False).chips, str(MeshPlan(4, 2, 3, True))
        (8, 'dp=4,mp=2,sharding=3,recompute')
        >>> MeshPlan(2, 2, sep=4).chips, str(MeshPlan(2, 2, sep=4))
        (16, 'dp=2,sep=4,mp=2')
        >>> str(MeshPlan(2, 2, pp=2, micro=4))
        'dp=2,mp=2,pp=2,micro=4'
    """

    dp: int  # copies of the model, each with other rows of a batch
    mp: int  # parts of each layer
    sharding: int = 0  # what the copies have a part of each: 1, states; 2, gradients too; 3, parameters too
    recompute: bool = False  # layers are computed again for the gradient, rather than kept
    sep: int = 1  # parts of each sequence
    pp: int = 1  # stages of a pipeline, each with as many layers
    micro: int = 0  # micro-batches that pass the stages; 0: twice as many as stages

    @property
    def chips(self) -> int:
        """The number of chips."""
        return self.dp * self.sep * self.mp * self.pp

    @property
    def micro_batches(self) -> int:
        """The number of parts in which the rows of a batch pass the stages."""
        return 1 if self.pp == 1 else self.micro or 2 * self.pp

    def mesh(self) -> ProcessMesh:
        """Return the axes "pp", "dp", "sep" and "mp" over as many devices of this process; "pp" and "sep" if above 1.

        Examples:
            >>> MeshPlan(4, 2).mesh().shape, MeshPlan(2, 2, sep=2).mesh().dim_names
            ([4, 2], ['dp', 'sep', 'mp'])
        """
        sizes = {"pp": self.pp, "dp": self.dp, "sep": self.sep, "mp": self.mp}
        axes = {name: size for name, size in sizes.items() if size > 1 or name in ("dp", "mp")}
        return ProcessMesh(np.arange(self.chips).reshape(*axes.values()), [*axes])

    def __str__(self) -> str:
        named = f"dp={self.dp},{f'sep={self.sep},' if self.sep > 1 else ''}mp={self.mp}"
        named += f",pp={self.pp},micro={self.micro_batches}" if self.pp > 1 else ""
        named += f",sharding={self.sharding}" if self.sharding else ""
        return named + (",recompute" if self.recompute else "")


def plans(
    chips: int,
    mp: Sequence[int] = (1, 2, 4, 8),
    sharding: Sequence[int] = (1, 3),
    recompute: Sequence[bool] = (False, True),
    sep: Sequence[int] = (1,),
    pp: Sequence[int] = (1,),
) -> Iterator[MeshPlan]:
    """Yield the plans for so many chips: for each mesh those that compute and send least first.

    Arguments:
        chips: how many there are.
        mp: in how many parts layers may be cut; those that do not divide the chips are left out.
        sharding: the stages to try.
        recompute: whether layers are computed again.
        sep: in how many parts sequences may be split; the step must support it (see tutorials/train_language_model.py).
        pp: in how many stages layers may be divided; the step must support it.

    Examples:
        >>> [str(p) for p in plans(4, mp=(1, 2), sharding=(3,), recompute=(True,))]
        ['dp=4,mp=1,sharding=3,recompute', 'dp=2,mp=2,sharding=3,recompute']
    """
    for parts, pieces, stages in itertools.product(mp, sep, pp):
        copies, rest = divmod(chips, parts * pieces * stages)
        if copies and not rest:
            for stage, again in itertools.product(sharding, recompute):
                yield MeshPlan(copies, parts, stage, again, pieces, stages)
