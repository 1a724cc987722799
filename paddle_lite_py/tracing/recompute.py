"""A part of a program whose inner values are computed again for its gradient, rather than kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import structure as nested
from ..core.errors import user_frame
from ..eager.tensor import Tensor
from ..ir import control
from ..ir.block import Operator
from ..ir.graph import acts, close
from .builder import Builder
from .differentiate import identity


def recomputed(builder: Builder, call: Callable[[], Any]) -> Any:
    """Return the result of a call, whose operators have become one that is computed again.

    What acts on the world would do so twice: with such operators the call stays as it is.
    """
    frame = builder.frame
    ops, start = frame.block.ops, len(frame.block.ops)
    result = call()
    if frame.block.ops is not ops:  # a backward() inside has put them in another order
        return result
    segment = ops[start:]
    made = [v for op in segment for v in op.outputs]
    if not any(v.requires_grad for v in made) or any(map(acts, segment)):
        return result
    block, mapping, outer = close(segment)
    block.outputs = [mapping[v] for v in made]
    ops[start:] = [Operator(control.recompute(block), tuple(outer), tuple(made), user_frame())]
    # Results are separate values: a gradient with respect to one is taken of what is computed from it outside.
    tensors: list[Any] = []
    structure = nested.flatten(result, lambda v: isinstance(v, Tensor), tensors)
    inside = set(made)
    own = [builder.run(identity(), (t,)) if t._payload in inside and not t.stop_gradient else t for t in tensors]
    return nested.unflatten(structure, iter(own))
