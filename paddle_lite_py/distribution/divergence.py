"""Rules for the divergence of two distributions, found by the types of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..eager.tensor import Tensor

Rule = Callable[[Any, Any], Tensor]
_RULES: dict[tuple[type, type], Rule] = {}


def register(cls_p: type, cls_q: type, rule: Rule) -> None:
    """Register the rule for the divergence of two classes."""
    _RULES[cls_p, cls_q] = rule


def divergence(p: Any, q: Any) -> Tensor:
    """Compute the divergence by the rule that is closest to the types of p and q.

    Raises:
        NotImplementedError: if there is none.
    """
    matches = [pair for pair in _RULES if isinstance(p, pair[0]) and isinstance(q, pair[1])]
    if not matches:
        raise NotImplementedError(
            f"kl_divergence of {type(p).__name__} from {type(q).__name__} is not known; define it with register_kl"
        )
    depth = [(type(p).__mro__.index(a) + type(q).__mro__.index(b), (a, b)) for a, b in matches]
    return _RULES[min(depth, key=lambda d: d[0])[1]](p, q)
