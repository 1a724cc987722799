"""Unknown dimensions of a trace: each is a symbol of its own, until an op or the code needs more.

What is wanted is decided by the sizes of the call under way, noted, and the trace begins again with that known. The
program then serves the calls for which it holds.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Sequence
from typing import Any

import jax
from jax import export

from ..core import symbolic
from ..core.errors import UNKNOWN, Where, user_frame
from ..core.interpreter import state
from ..core.unknown_size import plain
from ..ir.block import Value
from ..registry.bound import BoundOp
from ..registry.op import REGISTRY
from .branch_sizes import BranchSizes
from .fitting import (
    ResultCountError,
    fit_symbols,
    flat,
    inferred_by_samples,
    inferred_with_equal,
    is_possible,
    serves_small,
    symbols_in,
)
from .size_conditions import all_of, negated, size_condition
from .size_facts import NAMES, OPPOSITE, Fact, full_cuts, replace_weaker, undecided, windows_fit

# Facts that one trace may learn.
MAX_FACTS = 200


class Learned(BaseException):
    """The trace under way has to begin again, with another fact known. No `except Exception` of the user's stops it."""


class UnknownSizeError(ValueError):
    """A line needs a size that no call has given."""


class Dimensions:
    """The unknown dimensions of one trace.

    Arguments:
        specs: InputSpecs of the arguments; what is unknown in a shape is -1 or a name.
        names: of the arguments, for messages.
        sizes: shapes of the arguments of the call under way, if there is one.
        constraints: what is known from the start, such as "batch <= 64".
        for_file: whether the program outlives the call: a size that it returns is a tensor then.

    Raises:
        ValueError: if dimensions of one name have different sizes.
    """

    def __init__(
        self,
        specs: Sequence[Any],
        names: Sequence[str],
        sizes: Sequence[Any] | None = None,
        constraints: Sequence[str] = (),
        for_file: bool = False,
    ) -> None:
        self.specs, self.arguments, self.constraints = list(specs), list(names), tuple(constraints)
        self.for_file = for_file
        self.texts = [[_symbol(n, i, k, specs) for k, n in enumerate(s.shape)] for i, s in enumerate(specs)]
        self.names: dict[str, str] = {}  # symbol -> its name in messages
        for i, row in enumerate(self.texts):
            for k, text in enumerate(row):
                if not text.isdigit():
                    self.names.setdefault(text, f"dimension {k} of `{names[i] if i < len(names) else f'arg{i}'}`")
        self.at_hand: dict[str, int] | None = None if sizes is None else self.dims(sizes)
        self.facts: list[Fact] = []
        self.known: dict[str, str] = {}  # symbol -> another one, or a number
        self.symbols: dict[str, Any] = {}
        self.branches = BranchSizes()
        self.measured = symbolic.Symbols()  # of a trace: sizes known only at run time

    def dims(self, shapes: Sequence[Any]) -> dict[str, int]:
        """Return the sizes that shapes give the symbols."""
        found: dict[str, int] = {}
        for row, shape in zip(self.texts, shapes, strict=True):
            for text, size in zip(row, shape, strict=True):
                if text in self.names and found.setdefault(text, size) != size:
                    raise ValueError(f"dimension {text} is {found[text]} in one argument and {size} in another")
        return found

    def hold(self, shapes: Sequence[Any]) -> bool:
        """True if what the trace took for granted holds for arguments of these shapes."""
        dims = self.dims(shapes) if self.facts else {}
        return all(f.holds(dims) for f in self.facts)

    # -- a trace ---------------------------------------------------------------------------------------------------
    def shapes(self) -> list[jax.ShapeDtypeStruct]:
        """Return the arguments' shapes with all that is known by now: the dimensions of a new trace."""
        known = [*self.constraints, *[t for t in self._relations() if "!=" not in t]]
        scope = export.SymbolicScope([*known, *self.branches.constraints(known)])
        self.measured = symbolic.Symbols(scope)
        self.symbols = {n: export.symbolic_shape(n, scope=scope)[0] for n in self.names if n not in self.known}
        values: dict[str, Any] = dict(self.symbols)
        for name in self.known:
            values[name] = self._value(name, values)
        self.symbols |= self.branches.begin(scope)
        return [
            jax.ShapeDtypeStruct([values[t] if t in values else int(t) for t in row], s.dtype.np)
            for row, s in zip(self.texts, self.specs, strict=True)
        ]

    def _value(self, name: str, values: dict[str, Any]) -> Any:
        while name in self.known:
            name = self.known[name]
        return int(name) if name.isdigit() else values[name]

    def _relations(self) -> list[str]:
        """Return the facts that are no equality of a symbol."""
        final = {n: str(self._value(n, {m: m for m in self.names})) for n in self.known}
        found = [f for f in self.facts if f.relation != "eq" or f.left not in self.known]
        texts = [re.sub(r"[A-Za-z_]\w*", lambda m: final.get(m[0], m[0]), f.text) for f in found]
        return [t for t, f in zip(texts, found, strict=True) if f.relation != "ne" or not _is_same(t)]

    def relations(self) -> list[str]:
        """The facts as constraints between the symbols that are left; what a symbol is equal to stands in shapes."""
        left = [t for t in dict.fromkeys(self._relations()) if re.search(r"[A-Za-z_]", t)]
        return [t for t in left if "==" not in t or t.split(" ")[0] not in self.symbols]

    def learn(self, left: Any, relation: str, right: Any) -> None:
        """Note a fact, and begin again."""
        self._note(str(left), relation, str(right))
        raise Learned

    def _note(self, left: str, relation: str, right: str) -> None:
        if len(self.facts) + len(self.branches) >= MAX_FACTS:
            raise UnknownSizeError(f"the sizes of the arguments are asked for in {MAX_FACTS} ways; declare them")
        left, right = map(self.branches.original, (left, right))
        if self._is_of_branch(fact := Fact(left, relation, right, user_frame())):
            return
        if relation == "eq" and right in self.symbols and left not in self.symbols:
            left, right = right, left
        if relation == "eq" and left in self.symbols:
            if right in self.symbols and list(self.names).index(left) < list(self.names).index(right):
                left, right = right, left  # the first one stays
            if right.isdigit() or right in self.symbols:
                self.known[left] = right
        self.facts.append(fact._replace(left=left, right=right))

    def _is_of_branch(self, fact: Fact) -> bool:
        """Note a fact of the branch under way, if it follows from what decides that."""
        frame = getattr(state.interpreter, "frame", None)
        branch = None if frame is None else frame.sizes
        return branch is not None and self.branches.learn(fact, branch, [*self.constraints, *self._relations()])

    # -- what code asks --------------------------------------------------------------------------------------------
    def compare(self, relation: str, a: Any, b: Any) -> Any:
        """Whether a is less than b, or equal, ...: a condition of a program for a file, and noted for one of a call."""
        if not self.for_file:
            return self._decide(relation, a, b)
        builder: Any = state.interpreter
        a, b = (self.branches.moved(n, builder.frame.sizes) for n in (a, b))
        if not symbolic.is_symbolic(a):  # what differed in name alone
            return getattr(operator, relation)(a, b)
        if relation in ("eq", "ne") and (found := self._follows(relation, a, b)) is not None:
            return found  # an order that is known is a condition all the same: it may be that of a loop
        right = b if isinstance(b, int) else self.number(b)
        decide = functools.partial(self._decide, relation, a, b)
        return size_condition(self.number(a), right, (a, relation, b), decide)

    def all_of(self, conditions: Sequence[Any]) -> Any:
        """Return whether all comparisons of sizes hold."""
        return all_of(conditions)

    def negated(self, condition: Any) -> Any:
        """Return whether sizes differ."""
        return negated(condition)

    def _decide(self, relation: str, a: Any, b: Any) -> bool:
        if (found := self._follows(relation, a, b)) is not None:
            return found
        if not all(map(self._is_at_hand, (a, b))):
            raise self._unknown(a if symbolic.is_symbolic(a) else b, user_frame())
        dims = self.at_hand
        if dims is None:
            if relation not in ("eq", "ne"):
                raise self._unknown(a if symbolic.is_symbolic(a) else b, user_frame())
            answer = relation == "ne"  # they may differ
        else:
            answer = bool(getattr(operator, relation)(symbolic.evaluate(a, dims), symbolic.evaluate(b, dims)))
        relation = relation if answer else OPPOSITE[relation]
        if relation == "ne":
            self._note(str(a), relation, str(b))
            return answer
        self.learn(a, relation, b)
        return answer

    def _follows(self, relation: str, a: Any, b: Any) -> bool | None:
        try:
            if relation not in ("eq", "ne"):
                return bool(getattr(operator, relation)(a, b))
            if a == b:
                return relation == "eq"
            below, above = bool(a < b), bool(a > b)
            return relation == "ne" if below or above else None
        except jax.errors.InconclusiveDimensionOperation:
            told = {(f.left, f.relation, f.right) for f in self.facts}
            different = any(p in told for p in ((str(a), "ne", str(b)), (str(b), "ne", str(a))))
            return relation == "ne" if different and relation in ("eq", "ne") else None

    def _is_at_hand(self, dim: Any) -> bool:
        """Whether no size of it is one known only at run time."""
        return not symbols_in(dim, self.measured.symbols)

    def wanted(self, dim: Any) -> int:
        """Return the value of a dimension that code needs now."""
        if self.at_hand is None or not self._is_at_hand(dim):
            raise self._unknown(dim, user_frame())
        for name in self.words(dim):
            self._note(name, "eq", str(self.at_hand[name]))
        raise Learned

    def number(self, dim: Any) -> Any:
        """Return a dimension as a traced number."""
        builder: Any = state.interpreter
        (value,) = builder.emit(REGISTRY["dimension"].bind((dim,)), (), requires_grad=False)
        value.is_number = True
        return builder.handle(value)

    def words(self, dim: Any) -> list[str]:
        """Return the symbols that a dimension is made of."""
        return symbols_in(dim, self.symbols)

    # -- what ops want ---------------------------------------------------------------------------------------------
    def given(self, bound: BoundOp, out: Any) -> None:
        """Learn what an op takes for granted that gives these shapes."""
        dims = self.at_hand
        if found := [f for f in windows_fit(bound, out, self.symbols) if dims is None or f.holds(dims)]:
            self.facts = replace_weaker(self.facts, found)
            raise Learned

    def refused(self, bound: BoundOp, inputs: tuple[Any, ...], error: Exception) -> Any:
        """Learn what an op needs to know, which has failed.

        Returns:
            Shapes and dtypes of what it gives, where a program for a file may hold it as it is; None if no size can be
            the reason.
        """
        sizes = [n for v in inputs if isinstance(v, Value) for n in v.shape]
        names = list(dict.fromkeys([w for n in (*sizes, *flat(bound.attrs)) for w in self.words(n)]))
        if not names:
            return None
        asked, symbols = undecided(error), self.symbols | self.measured.symbols
        is_needed = asked is not None and not (self.for_file and serves_small(bound, inputs, symbols, *asked))
        if asked is not None and is_needed and self._asked(*asked):
            raise Learned
        known = {f.text for f in self.facts}
        for fact in full_cuts(inputs):
            if fact.text not in known and (self.at_hand is None or fact.holds(self.at_hand)):
                self._note(*fact[:3])
                raise Learned
        if self.for_file:
            specs = None
            try:
                # What is the same for all sizes that a run finds stays an expression of the arguments' sizes.
                for free in (names, [*names, *self.measured.symbols]):
                    specs = specs or inferred_by_samples(bound, inputs, symbols, free, alike=False)
            except ResultCountError as e:
                raise self._unknown(names[0], user_frame(), e) from None
            specs = specs or inferred_with_equal(self.symbols, self.measured.symbols, bound, inputs)
            if specs is not None:
                return specs
        found = fit_symbols(self.symbols, bound, inputs, self.at_hand, self.measured.symbols)
        for name, other in found or ():
            self._note(name, "eq", str(other))
        if found:
            raise Learned
        if not is_possible(bound, inputs, self.symbols | self.measured.symbols, names):
            return None
        if self.at_hand is None:
            raise self._unknown(names[0], user_frame(), error) from None
        for name in names:
            self._note(name, "eq", str(self.at_hand[name]))
        raise Learned

    def _asked(self, left: str, sign: str, right: str) -> bool:
        """Answer a comparison that JAX could not decide: sizes are taken to be larger than a number."""
        if symbols_in(f"{left} {right}", self.measured.symbols):
            return False  # a call's shapes do not tell: the run finds out
        relation, dims = NAMES[sign], self.at_hand
        try:
            if dims is not None:
                answer = Fact(left, relation, right, user_frame()).holds(dims)
            elif right.isdigit():
                answer = relation in ("ge", "gt")
            else:
                return False
        except ValueError:
            return False
        before = len(self.facts) + len(self.branches)
        relation = relation if answer else OPPOSITE[relation]
        if (left, relation, right) in {(f.left, f.relation, f.right) for f in self.facts}:
            return False
        self._note(left, relation, right)
        return len(self.facts) + len(self.branches) > before

    def fixed(self) -> str:
        """The dimensions that must have one size, and the lines that want it, in words; empty if there are none."""
        found = [f for f in self.facts if f.relation == "eq" and f.left in self.names and f.right.isdigit()]
        lines = [f"{self.names[f.left]}, {f.right} now, which {f.where} needs" for f in found]
        return "; ".join(dict.fromkeys(lines))

    def blame(self, error: Exception) -> bool:
        """Take the sizes that an error of a finished program names for known, or all; False if they are.

        Raises:
            UnknownSizeError: if there is no call to know them of.
        """
        names = [n for n in symbols_in(str(error), self.symbols) if n not in self.known]
        if self.at_hand is None:
            if not self.symbols:
                return False
            raise UnknownSizeError(f"{self._unknown(', '.join(names or self.symbols), UNKNOWN)}: {error}") from None
        for name in names:
            self._note(name, "eq", str(self.at_hand[name]))
        return bool(names) or self.fix()

    def returned(self, dim: Any) -> Any:
        """Return a dimension among the results: a tensor in a file, otherwise the number of this call."""
        return self.number(plain(dim)) if self.for_file else self.wanted(dim)

    def fix(self) -> bool:
        """Take all sizes for those of the call; False if they are, or if there is none."""
        left = [n for n in self.names if n not in self.known] if self.at_hand is not None else []
        for name in left:
            self._note(name, "eq", str(self.at_hand[name]))  # type: ignore[index]
        return bool(left)

    def _unknown(self, dim: Any, where: Where, cause: Exception | None = None) -> UnknownSizeError:
        if not self._is_at_hand(dim):
            return UnknownSizeError(
                f"{where} needs a size that is known only at run time, since it depends on the data: let the program "
                "compute it, x.shape[0] where a number is wanted, or leave that part out of what is saved"
            )
        words = self.words(dim) or [str(dim)]
        what = " and ".join(self.names.get(w, w) for w in words)
        reason = f" ({str(cause).splitlines()[0]})" if cause else ""
        return UnknownSizeError(
            f"{where} needs the size of {what}, which its InputSpec leaves open{reason}: write a number there, "
            "or call the function once with tensors of the sizes meant"
        )


def _is_same(text: str) -> bool:
    """Whether both sides of a relation are the same: it was noted before they were made the same."""
    left, _, right = text.partition(" != ")
    return left == right


def _symbol(n: Any, position: int, axis: int, specs: Sequence[Any]) -> str:
    """A size as text: a number, the user's name, or a name of ours; the first that leads an argument is `batch`."""
    if isinstance(n, int) and n >= 0:
        return str(n)
    if isinstance(n, str):
        return n
    first = next(i for i, s in enumerate(specs) if s.shape and s.shape[0] == -1) if axis == 0 else -1
    return "batch" if position == first and axis == 0 else f"d{position}_{axis}"
