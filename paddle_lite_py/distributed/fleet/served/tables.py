"""The tables of a program, in the servers' terms."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ....nn import initializer as initializers
from ...entry_attr import CountFilterEntry, EntryAttr, ProbabilityEntry, ShowClickEntry
from ...ps import Rule, SparseConfig

# The dense parameters of a program, one after another, are one table.
DENSE = "dense"


class Table(NamedTuple):
    """A table of embeddings that a program looks up.

    Arguments:
        name: of the parameter that it stands for.
        shape: rows and columns, as the program has them; there may be more rows.
        initializer: draws first values.
        entry: which features it takes up.
    """

    name: str
    shape: tuple[int, int]
    initializer: Any
    entry: EntryAttr | None = None

    @property
    def count_names(self) -> tuple[str, str] | None:
        """The data that say how often an instance was shown and clicked."""
        entry = self.entry
        return (entry.show_name, entry.click_name) if isinstance(entry, ShowClickEntry) else None

    def config(self, rule: Rule) -> SparseConfig:
        """Return the configuration for the servers."""
        return SparseConfig(
            self.name, self.shape[1], rule, first_values(self.name, self.initializer, self.shape), entry_of(self.entry)
        )


def entry_of(entry: EntryAttr | None) -> dict[str, Any] | None:
    """Return the rule by which a table takes up features."""
    match entry:
        case None:
            return None
        case CountFilterEntry():
            return {"kind": "count_filter", "count": entry.count_filter}
        case ProbabilityEntry():
            return {"kind": "probability", "probability": entry.probability}
        case ShowClickEntry():
            return {"kind": "show_click"}
    raise ValueError(
        f"sparse_embedding: entry is a {type(entry).__name__}; expected paddle.distributed.CountFilterEntry, "
        "ProbabilityEntry or ShowClickEntry"
    )


def first_values(name: str, initializer: Any, shape: tuple[int, int]) -> dict[str, Any]:
    """How the servers draw the first values of a row: for itself, since nobody knows how many there will be.

    Raises:
        ValueError: for an initializer that draws all rows together, or not around zero.
    """
    kind = type(initializer)
    spread = math.sqrt(2.0 / (shape[0] + shape[1]))
    if kind is initializers.Constant:
        return {"kind": "constant", "value": float(initializer.value)}
    if kind is initializers.Uniform and initializer.low == -initializer.high:
        return {"kind": "uniform", "bound": float(initializer.high)}
    if kind is initializers.Normal and initializer.mean == 0:
        return {"kind": "normal", "std": float(initializer.std)}
    if kind is initializers.TruncatedNormal and initializer.mean == 0:
        return {"kind": "normal", "std": float(initializer.std)}
    if kind is initializers.XavierUniform:
        return {"kind": "uniform", "bound": math.sqrt(3.0) * spread}
    if kind is initializers.XavierNormal:
        return {"kind": "normal", "std": spread}
    raise ValueError(
        f"table '{name}': the initializer {kind.__name__} is not one that servers draw rows by; take Constant, a "
        "Uniform or Normal around zero, XavierUniform or XavierNormal"
    )


def rule_of(optimizer: Any) -> Rule:
    """Return the servers' update rule for an optimizer of the program.

    Raises:
        NotImplementedError: for an optimizer, or a setting of it, that they do not know.
    """
    kind, rate = type(optimizer).__name__, float(optimizer.get_lr())
    if optimizer._weight_decay is not None or optimizer._grad_clip is not None:
        raise NotImplementedError(
            f"{kind}: weight_decay and grad_clip look at whole parameters, which no process has where servers keep "
            "them; add a penalty to the loss instead"
        )
    match kind:
        case "SGD":
            return Rule("sgd", rate)
        case "Adagrad":
            numbers = {"epsilon": optimizer._epsilon, "initial": optimizer._slots[0].fill}
            return Rule("adagrad", rate, {name: float(value) for name, value in numbers.items()})
        case "Adam":
            numbers = {"beta1": optimizer._beta1, "beta2": optimizer._beta2, "epsilon": optimizer._epsilon}
            return Rule("adam", rate, {name: float(value) for name, value in numbers.items()})
    raise NotImplementedError(f"fleet: servers do not update as {kind} does; take SGD, Adagrad or Adam")
