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
    """

    dp: int  # copies of the model, each with other rows of a batch
    mp: int  # parts of each layer
    sharding: int = 0  # what the copies have a part of each: 1, states; 2, gradients too; 3, parameters too
    recompute: bool = False  # layers are computed again for the gradient, rather than kept
    sep: int = 1  # parts of each sequence

    @property
    def chips(self) -> int:
        """The number of chips."""
        return self.dp * self.sep * self.mp

    def mesh(self) -> ProcessMesh:
        """Return the axes "dp", "sep" (where sequences are split) and "mp" over as many devices of this process.

        Examples:
            >>> MeshPlan(4, 2).mesh().shape, MeshPlan(2, 2, sep=2).mesh().dim_names
            ([4, 2], ['dp', 'sep', 'mp'])
        """
        axes = {"dp": self.dp, **({"sep": self.sep} if self.sep > 1 else {}), "mp": self.mp}
        return ProcessMesh(np.arange(self.chips).reshape(*axes.values()), [*axes])

    def __str__(self) -> str:
        named = f"dp={self.dp},{f'sep={self.sep},' if self.sep > 1 else ''}mp={self.mp}"
        named += f",sharding={self.sharding}" if self.sharding else ""
        return named + (",recompute" if self.recompute else "")


def plans(
    chips: int,
    mp: Sequence[int] = (1, 2, 4, 8),
    sharding: Sequence[int] = (1, 3),
    recompute: Sequence[bool] = (False, True),
    sep: Sequence[int] = (1,),
) -> Iterator[MeshPlan]:
    """Yield the plans for so many chips: for each mesh those that compute and send least first.

    Arguments:
        chips: how many there are.
        mp: in how many parts layers may be cut; those that do not divide the chips are left out.
        sharding: the stages to try.
        recompute: whether layers are computed again.
        sep: in how many parts sequences may be split; the step must support it (see tutorials/train_language_model.py).

    Examples:
        >>> [str(p) for p in plans(4, mp=(1, 2), sharding=(3,), recompute=(True,))]
        ['dp=4,mp=1,sharding=3,recompute', 'dp=2,mp=2,sharding=3,recompute']
    """
    for parts, pieces in itertools.product(mp, sep):
        copies, rest = divmod(chips, parts * pieces)
        if copies and not rest:
            yield from (
                MeshPlan(copies, parts, stage, again, pieces) for stage, again in itertools.product(sharding, recompute)
            )
