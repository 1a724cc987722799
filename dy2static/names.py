"""Names that the conversion makes, kept clear of the user's."""

from __future__ import annotations

import gast


def identifiers(tree: gast.AST) -> set[str]:
    """Return every name, attribute and declaration that occurs in the tree."""
    found: set[str] = set()
    for node in gast.walk(tree):
        for field in ("id", "name", "attr", "asname", "rest"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                found.add(value)
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            found.update(node.names)
    return found


# Held in cells, see Callees.
HELPERS = (
    "ops",
    "type",
    "class",
    "builtin",
    "function",
    "method",
    "known",
    "reduce",
    "plain",
    "fixed",
    "native",
    "sets",
    "later",
)


def rebound(tree: gast.AST) -> set[str]:
    """Return the names that are bound otherwise than by `def`, somewhere in the tree."""
    found: set[str | None] = set()
    for node in gast.walk(tree):
        if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            found.add(node.id)
        elif isinstance(node, (gast.Global, gast.Nonlocal)):
            found.update(node.names)
        elif isinstance(node, gast.FunctionDef):
            found.update([node.name] if node.decorator_list else [])
        else:  # imports, classes, patterns
            found.update(getattr(node, field, None) for field in ("name", "asname", "rest"))
    return {str(name).partition(".")[0] for name in found}


class Namer:
    """Makes names with a prefix that no name of the user's has.

    Arguments:
        tree: the user's code.
        taken: the variables of the functions around it.

    Example:
        >>> namer = Namer(gast.parse("x = 1"))
        >>> namer.new("break"), namer.new("break")
        ('_dy_break', '_dy_break_1')
    """

    def __init__(self, tree: gast.AST, taken: set[str] | frozenset[str] = frozenset()) -> None:
        self.outer = frozenset(taken)  # the variables of the functions around the tree
        used = identifiers(tree) | taken
        self.prefix = next(p for i in range(10_000) if not any(u.startswith(p := f"_dy{i or ''}_") for u in used))
        self.helpers = {helper: self.prefix + helper for helper in HELPERS}
        self.operators = self.helpers["ops"]
        self.value, self.truth = self.prefix + "value", self.prefix + "truth"
        self.functions: dict[str, set[str]] = {}  # functions made for one expression: the names each of them reads
        self._count: dict[str, int] = {}

    def new(self, purpose: str) -> str:
        """Return a name never used before."""
        number = self._count.get(purpose, 0)
        self._count[purpose] = number + 1
        return f"{self.prefix}{purpose}_{number}" if number else self.prefix + purpose

    def helper(self, kind: str, attribute: str) -> str:
        """Return the helper of a kind for methods of one name: `Callees` has a cell for each."""
        return self.helpers.setdefault(kind + attribute, f"{self.prefix}{kind.strip()}_{attribute}")

    def made(self, name: str) -> bool:
        """Whether the conversion made this name."""
        return name.startswith(self.prefix)
