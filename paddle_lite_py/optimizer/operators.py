"""The update of all parameters as one operator of a Program, which files name by the rule."""

from __future__ import annotations

from typing import Any

from ..core.memo import Memo
from ..ir import control
from ..registry.bound import BoundOp
from ..registry.op import REGISTRY, Op
from .update import Accumulator, Numbers, Recipe, Rule, Setting, update

# The rules that files may name.
RULES: dict[str, UpdateOp] = {}
_SLOT = (str, float, bool, (int, type(None)))
_SETTING = (int, float, str, float, bool, tuple, bool)


def _blank(*flat: Any) -> Any:  # the function of an update is made for its recipe
    raise NotImplementedError


class UpdateOp(Op):
    """The op of a rule: (learning rate, gradients, what changes, a flag if it skips) -> what changes."""

    def __init__(self, name: str, rule: Rule, numbers: Numbers | None) -> None:
        super().__init__(_blank, name, grad=False)
        self.rule, self.numbers = rule, numbers
        self.attr_names = ("slots", "settings", "clip", "skips")

    def is_builtin(self) -> bool:
        """Whether its name stands for the same rule in each process."""
        return RULES.get(self.name) is self

    def rebuild(self, slots: Any, settings: Any, clip: Any, skips: Any) -> Update:
        """Return the update that a file describes.

        Raises:
            ValueError: if its attributes are not those of an update.
        """
        made = tuple([Accumulator(*_typed(f"{self.name}: a slot", s, _SLOT)) for s in slots])
        each = tuple([Setting(*_typed(f"{self.name}: a setting", s, _SETTING)) for s in settings])
        if bad := [s.decay for s in each if s.decay not in ("", "l1", "l2")]:
            raise ValueError(f"{self.name}: the decay is {bad[0]!r:.60}; expected 'l1', 'l2' or ''")
        if type(skips) is not bool:
            raise ValueError(f"{self.name}: skips is {skips!r:.60}; expected true or false")
        return Update(self, Recipe(self.name, self.rule, made, each, clip, skips, self.numbers), foreign=True)


def _typed(what: str, given: Any, kinds: tuple[Any, ...]) -> Any:
    fits = isinstance(given, tuple) and len(given) == len(kinds)
    if not fits or not all(isinstance(g, (int, float) if k is float else k) for g, k in zip(given, kinds, strict=True)):
        raise ValueError(f"{what} is {given!r:.80}; expected {len(kinds)} entries of the kinds that an update has")
    return given


class Settings(tuple[Setting, ...]):
    """The settings of all parameters, shown once where they are the same."""

    def __repr__(self) -> str:
        shown: dict[str, None] = {}
        for s in self:
            given = {"rate": s.rate, **({s.decay: s.coeff} if s.decay else {}), **dict(s.hyper)}
            shown[", ".join(f"{k}={v}" for k, v in given.items())] = None
        return f"({'; '.join(shown)})"


class Update(BoundOp):
    """An update as an operator. What it gives has the types of what it changes.

    Arguments:
        foreign: it was read from a file: it is traced to see whether that is so.
    """

    __slots__ = ("changed", "foreign", "recipe")

    def __init__(self, op: UpdateOp, recipe: Recipe, foreign: bool = False) -> None:
        n = len(recipe.settings)
        end = -1 if recipe.skips else None

        def run(*flat: Any) -> Any:
            flags = flat[end:] if recipe.skips else ()
            return tuple(update(recipe, flat[0], list(flat[1 : n + 1]), list(flat[n + 1 : end]), *flags))

        super().__init__(op, run, (recipe.slots, Settings(recipe.settings), recipe.clip, recipe.skips))
        self.changed, self.recipe, self.foreign = slice(n + 1, end), recipe, foreign

    def parts(self) -> tuple[Any, ...]:
        """Return all that its function depends on, besides the op."""
        return *super().parts(), self.recipe.alike

    def infer(self, specs: tuple[Any, ...]) -> Any:
        """Output specs from input specs."""
        changed = tuple(specs[self.changed])
        if self.foreign:
            self._check(specs, changed)
        return changed

    def _check(self, specs: tuple[Any, ...], changed: tuple[Any, ...]) -> None:
        found = [(s.shape, s.dtype) for s in super().infer(specs)]
        if found != [(s.shape, s.dtype) for s in changed]:
            raise ValueError(f"{self.op.name} gives {found}, which is not like what it changes")
        params, _, _, scalars = self.recipe.split(list(changed))
        if [s.shape for s in specs[1 : len(params) + 1]] != [p.shape for p in params]:
            raise ValueError(f"{self.op.name}: a gradient is not like its parameter")
        rows = [s.row for s in self.recipe.settings]
        for name, vector in scalars.items():
            if len(set(rows)) < len(rows) or not all(0 <= r < vector.shape[0] for r in rows):
                raise ValueError(f"{self.op.name}: the rows {rows} are not those of {name}, {list(vector.shape)}")


# Key: all settings of the update, each of one kind; rules read nothing else.
_made: Memo[Recipe, BoundOp] = Memo("operators of updates", 128)


def operator(recipe: Recipe) -> BoundOp:
    """Return the operator of an update; one of a rule of the user's own has a name that files do not know."""
    return _made.get(recipe) or _made.put(recipe, _operator(recipe))


def _operator(recipe: Recipe) -> BoundOp:
    op = RULES.get(recipe.name)
    if op is None or (op.rule, op.numbers) != (recipe.rule, recipe.numbers):
        taken = op is not None or recipe.name in REGISTRY or recipe.name in control.REBUILD
        op = UpdateOp(recipe.name + "_" * taken, recipe.rule, recipe.numbers)
    return Update(op, recipe)


def register(*optimizers: Any) -> None:
    """Let files name the rules of these optimizers."""
    for made in optimizers:
        op = UpdateOp(made.__name__.lower(), made._rule, made._numbers)
        RULES[op.name], control.REBUILD[op.name] = op, op.rebuild
