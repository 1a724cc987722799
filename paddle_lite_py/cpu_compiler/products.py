"""Products of arrays with more axes than matrices, as products of matrices.

XLA's compiler for CPUs puts the operands of a product in order first: what is summed over last, and in one axis. Where
that is several axes, as for the gradient of a weight that meets a batch of sequences, it copies both operands: a step
of a small BERT takes 131 ms so, and 108 without. Axes that lie side by side are one axis to begin with.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import jax

from ..core.memo import memo
from .flattening import reformed, specs_of

Axes = tuple[int, ...]


def collapse_contractions(jaxpr: Any) -> Any:
    """Return a jaxpr whose products sum over one axis, where they summed over several side by side."""
    return reformed(jaxpr, _form)


def _form(eqn: Any) -> Any:
    is_product = eqn.primitive.name == "dot_general"
    return _of_matrices(*specs_of(eqn.invars), tuple(eqn.params.items())) if is_product else None


# Key: shapes, dtypes and settings of the product; pure.
@memo(512, context=False)
def _of_matrices(x: Any, y: Any, params: Any) -> Any:
    """A product with one axis that is summed over, as a jaxpr; None where it has one, or they do not lie together."""
    settings = dict(params)
    (summed_x, summed_y), (batch, _) = settings.pop("dimension_numbers")
    if batch or len(summed_x) < 2 or not (_together(summed_x) and _together(summed_y)):
        return None

    def product(a: Any, b: Any) -> Any:
        return jax.lax.dot_general(
            _joined(a, summed_x), _joined(b, summed_y), (((summed_x[0],), (summed_y[0],)), ((), ())), **settings
        )

    return jax.make_jaxpr(product)(x, y)


def _together(axes: Axes) -> bool:
    return all(b == a + 1 for a, b in itertools.pairwise(axes))


def _joined(a: Any, axes: Axes) -> Any:
    first, last = axes[0], axes[-1] + 1
    return a.reshape(*a.shape[:first], math.prod(a.shape[first:last]), *a.shape[last:])
