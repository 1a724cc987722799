"""Ways in which a model can lie over chips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..auto_parallel.process_mesh import ProcessMesh


class MeshPlan(NamedTuple):
    """How a model lies over chips, and what is kept for its gradient.

    Examples:
        >>> MeshPlan(4, 2, 1, False).chips, str(MeshPlan(4, 2, 3, True))
        (8, 'dp=4,mp=2,sharding=3,recompute')
    """

    dp: int  # copies of the model, each with other rows of a batch
    mp: int  # parts of each layer
    sharding: int = 0  # what the copies have a part of each: 1, states; 2, gradients too; 3, parameters too
    recompute: bool = False  # layers are computed again for the gradient, rather than kept

    @property
    def chips(self) -> int:
        """How many there are."""
        return self.dp * self.mp

    def mesh(self) -> ProcessMesh:
        """Return the axes "dp" and "mp" over as many devices of this process.

        Examples:
            >>> MeshPlan(4, 2).mesh().shape
            [4, 2]
        """
        return ProcessMesh(np.arange(self.chips).reshape(self.dp, self.mp), ["dp", "mp"])

    def __str__(self) -> str:
        named = f"dp={self.dp},mp={self.mp}"
        named += f",sharding={self.sharding}" if self.sharding else ""
        return named + (",recompute" if self.recompute else "")


def plans(
    chips: int,
    mp: Sequence[int] = (1, 2, 4, 8),
    sharding: Sequence[int] = (1, 3),
    recompute: Sequence[bool] = (False, True),
) -> Iterator[MeshPlan]:
    """Yield the plans for so many chips: for each mesh those that compute and send least first.

    Arguments:
        chips: how many there are.
        mp: in how many parts layers may be cut; those that do not divide the chips are left out.
        sharding: the stages to try.
        recompute: whether layers are computed again.

    Examples:
        >>> [str(p) for p in plans(4, mp=(1, 2), sharding=(3,), recompute=(True,))]
        ['dp=4,mp=1,sharding=3,recompute', 'dp=2,mp=2,sharding=3,recompute']
    """
    for parts in mp:
        if chips % parts == 0:
            yield from (MeshPlan(chips // parts, parts, stage, again) for stage in sharding for again in recompute)
