"""The configuration of a table: size, optimizer, initial values, admission and expiry of rows; each has a JSON form."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

# The numbers that each optimizer takes, with their defaults.
RULES: dict[str, dict[str, float]] = {
    "sgd": {},
    "adagrad": {"epsilon": 1e-6, "initial": 0.0},
    "adam": {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
    "ftrl": {"l1": 0.0, "l2": 0.0},
}
# The numbers of each kind of first values, and of each kind of entry; None: must be given.
INITIALIZERS: dict[str, dict[str, float | None]] = {
    "zeros": {},
    "constant": {"value": None},
    "uniform": {"bound": 1.0},
    "normal": {"std": 1.0},
}
ENTRIES: dict[str, dict[str, float | None]] = {
    "count_filter": {"count": None},
    "probability": {"probability": None},
    "show_click": {"nonclk_coeff": 0.1, "click_coeff": 1.0, "threshold": 0.0},
}
Numbers = Mapping[str, float]


def _with_defaults(what: str, name: str, known: Mapping[str, Mapping[str, Any]], given: Numbers) -> dict[str, float]:
    """Numbers with the defaults filled in.

    Raises:
        ValueError: an unknown kind or number, one that is missing, or is no finite number.
    """
    if name not in known:
        raise ValueError(f"{what} is {name!r}; expected one of {', '.join(known)}")
    if unknown := sorted(set(given) - set(known[name])):
        raise ValueError(f"{what} {name!r} takes no number {unknown[0]!r}; it takes {', '.join(known[name]) or 'none'}")
    full = {**known[name], **given}
    for key, value in full.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"{what} {name!r}: {key} is {value!r}; expected a finite number")
    return {key: float(value) for key, value in full.items()}


@dataclass(frozen=True)
class Rule:
    """A table's optimizer, which the servers apply.

    Args:
        name: "sgd", "adagrad", "adam" or "ftrl".
        rate: learning rate, used by pushes that bring none of their own.
        numbers: what else the optimizer takes, by name; `ps.config.RULES` has the defaults.

    Raises:
        ValueError: an unknown optimizer or number.

    Example:
        >>> Rule("adam", 0.01, {"beta1": 0.8}).numbers["beta2"]
        0.999
    """

    name: str = "sgd"
    rate: float = 0.01
    numbers: Numbers = field(default_factory=dict)

    def __post_init__(self) -> None:
        full = _with_defaults("rule", self.name, RULES, self.numbers)
        if not math.isfinite(self.rate):
            raise ValueError(f"rule {self.name!r}: rate is {self.rate!r}; expected a finite number")
        object.__setattr__(self, "numbers", MappingProxyType(full))


@dataclass(frozen=True)
class SparseConfig:
    """A table of rows by id: embeddings. A row is there from when its id is first seen.

    Args:
        name: the table's.
        columns: numbers in each row.
        rule: the optimizer.
        initializer: first values: "zeros", "uniform", "normal", a number for all, or a dict: {"kind": "uniform",
            "bound": 0.1}, {"kind": "normal", "std": 0.02}, {"kind": "constant", "value": 1.0}. They depend on `seed`
            and the id alone, however many servers there are.
        entry: which ids get a row: None for all, {"kind": "count_filter", "count": n} for those pushed n times,
            {"kind": "probability", "probability": p} draws at each push, {"kind": "show_click", "threshold": t} for
            those whose score of shows and clicks comes to t. Others read as zeros.
        seed: of first values and of draws.
        memory_rows: rows that each server keeps in memory; the others lie on disk. None: all.
        folder: where they lie. None: in the server's folder, or in a temporary one.
        decay: what `shrink` multiplies shows and clicks by.
        delete_threshold: `shrink` deletes rows whose score is lower. None: none.
        delete_after_unseen_days: `shrink` deletes rows that were not pushed in as many calls of it. None: none.

    Raises:
        ValueError: a value that a table cannot have.

    Example:
        >>> config = SparseConfig("words", 8, Rule("adagrad", 0.05), {"kind": "normal", "std": 0.02})
        >>> config.initializer["std"]
        0.02
    """

    name: str
    columns: int
    rule: Rule = field(default_factory=Rule)
    initializer: Any = "zeros"
    entry: Any = None
    seed: int = 0
    memory_rows: int | None = None
    folder: str | None = None
    decay: float = 1.0
    delete_threshold: float | None = None
    delete_after_unseen_days: int | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        _check_size(self.name, "columns", self.columns)
        if self.memory_rows is not None:
            _check_size(self.name, "memory_rows", self.memory_rows)
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"table {self.name!r}: seed is {self.seed}; expected a number from 0 to 2**63 - 1")
        if not 0 <= self.decay <= 1:
            raise ValueError(f"table {self.name!r}: decay is {self.decay}; expected a number from 0 to 1")
        object.__setattr__(self, "initializer", _kind("initializer", self.initializer, INITIALIZERS))
        if self.entry is not None:
            object.__setattr__(self, "entry", _kind("entry", self.entry, ENTRIES))

    @property
    def keeps_stats(self) -> bool:
        """Whether rows hold their shows, their clicks, and since when they were not seen."""
        scored = self.entry is not None and self.entry["kind"] == "show_click"
        return scored or self.delete_threshold is not None or self.delete_after_unseen_days is not None

    @property
    def wants_counts(self) -> bool:
        """Whether a push says how often each id occurred."""
        return self.keeps_stats or (self.entry is not None and self.entry["kind"] == "count_filter")


@dataclass(frozen=True)
class DenseConfig:
    """A table that is one array, which lies whole on one server. It begins as zeros.

    Args:
        name: the table's.
        shape: of the array.
        rule: the optimizer.

    Raises:
        ValueError: a shape with a dimension below 1.

    Example:
        >>> DenseConfig("bias", [2, 3]).shape
        (2, 3)
    """

    name: str
    shape: tuple[int, ...]
    rule: Rule = field(default_factory=Rule)

    def __post_init__(self) -> None:
        _check_name(self.name)
        object.__setattr__(self, "shape", tuple(int(d) for d in self.shape))
        for d in self.shape:
            _check_size(self.name, f"shape {list(self.shape)}", d)


Config = SparseConfig | DenseConfig


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not 0 < len(name.encode()) <= 200:
        raise ValueError(f"a table's name is {name!r}; expected a text of 1 to 200 bytes")


def _check_size(name: str, what: str, size: Any) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size < 2**31:
        raise ValueError(f"table {name!r}: {what} is {size!r}; expected whole numbers from 1 to 2**31 - 1")


def _kind(what: str, given: Any, known: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """{"kind": ..., numbers}, from a name, a number (a constant) or such a mapping."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        given = {"kind": "constant", "value": given}
    given = {"kind": given} if isinstance(given, str) else given
    if not isinstance(given, Mapping) or "kind" not in given:
        raise ValueError(f"{what} is {given!r}; expected a dict with a 'kind', one of {', '.join(known)}")
    rest = {key: value for key, value in given.items() if key != "kind"}
    return MappingProxyType({"kind": given["kind"], **_with_defaults(what, given["kind"], known, rest)})


def to_json(config: Config) -> dict[str, Any]:
    """Return a config as what JSON can hold.

    Example:
        >>> to_json(DenseConfig("bias", (4,)))["shape"]
        [4]
    """
    made = {f.name: getattr(config, f.name) for f in dataclasses.fields(config) if f.name != "rule"}
    made = {key: dict(value) if isinstance(value, Mapping) else value for key, value in made.items()}
    made["rule"] = {"name": config.rule.name, "rate": config.rule.rate, "numbers": dict(config.rule.numbers)}
    if isinstance(config, DenseConfig):
        made["shape"] = list(config.shape)
    return {"kind": "sparse" if isinstance(config, SparseConfig) else "dense", **made}


def from_json(made: Mapping[str, Any]) -> Config:
    """Return the config that `to_json` wrote.

    Raises:
        ValueError: it is none.
    """
    kinds = {"sparse": SparseConfig, "dense": DenseConfig}
    try:
        rest = {key: value for key, value in made.items() if key not in ("kind", "rule")}
        return kinds[made["kind"]](**rest, rule=Rule(**made["rule"]))
    except (KeyError, TypeError, AttributeError) as e:
        raise ValueError(f"a table's config cannot be read: {type(e).__name__}: {e}") from None
