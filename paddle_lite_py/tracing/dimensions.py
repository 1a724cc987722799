"""Unknown dimensions of a trace: each is a symbol of its own, until an op or the code wants to know more of it.

What is wanted is decided by the sizes of the call under way, noted, and the trace begins again with that known. The
program then serves the calls for which it holds.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
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
from .size_facts import NAMES, OPPOSITE, Fact, full_cuts, undecided

# Where an op fails on unknown dimensions: how many of them are looked at, and how many ways to make some the same.
MAX_SYMBOLS, MAX_TRIES = 6, 500
# Facts that one trace may learn.
MAX_FACTS = 200


class Learned(BaseException):
    """The trace under way has to begin again, with another fact known. No `except Exception` of the user's stops it."""


class UnknownSizeError(ValueError):
    """A line wants to know a size that no call has given."""


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
        self.names: dict[str, str] = {}  # symbol -> what it is, for people
        for i, row in enumerate(self.texts):
            for k, text in enumerate(row):
                if not text.isdigit():
                    self.names.setdefault(text, f"dimension {k} of `{names[i] if i < len(names) else f'arg{i}'}`")
        self.at_hand: dict[str, int] | None = None if sizes is None else self.dims(sizes)
        self.facts: list[Fact] = []
        self.known: dict[str, str] = {}  # symbol -> another one, or a number
        self.symbols: dict[str, Any] = {}

    def dims(self, shapes: Sequence[Any]) -> dict[str, int]:
        """The sizes that shapes give the symbols."""
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
        """What the arguments are, with all that is known by now: the dimensions of a new trace."""
        scope = export.SymbolicScope([*self.constraints, *[t for t in self._relations() if "!=" not in t]])
        self.symbols = {n: export.symbolic_shape(n, scope=scope)[0] for n in self.names if n not in self.known}
        values: dict[str, Any] = dict(self.symbols)
        for name in self.known:
            values[name] = self._value(name, values)
        return [
            jax.ShapeDtypeStruct([values[t] if t in values else int(t) for t in row], s.dtype.np)
            for row, s in zip(self.texts, self.specs, strict=True)
        ]

    def _value(self, name: str, values: dict[str, Any]) -> Any:
        while name in self.known:
            name = self.known[name]
        return int(name) if name.isdigit() else values[name]

    def _relations(self) -> list[str]:
        """The facts that are no equality of a symbol."""
        final = {n: str(self._value(n, {m: m for m in self.names})) for n in self.known}
        texts = [f.text for f in self.facts if f.relation != "eq" or f.left not in self.known]
        return [re.sub(r"[A-Za-z_]\w*", lambda m: final.get(m[0], m[0]), t) for t in texts]

    def relations(self) -> list[str]:
        """The facts as constraints between the symbols that are left."""
        return [t for t in dict.fromkeys(self._relations()) if re.search(r"[A-Za-z_]", t)]

    def learn(self, left: Any, relation: str, right: Any) -> None:
        """Note a fact, and begin again."""
        self._note(str(left), relation, str(right))
        raise Learned

    def _note(self, left: str, relation: str, right: str) -> None:
        if len(self.facts) >= MAX_FACTS:
            raise UnknownSizeError(f"the sizes of the arguments are asked for in {MAX_FACTS} ways; declare them")
        if relation == "eq" and right in self.symbols and left not in self.symbols:
            left, right = right, left
        if relation == "eq" and left in self.symbols:
            if right in self.symbols and list(self.names).index(left) < list(self.names).index(right):
                left, right = right, left  # the first one stays
            if right.isdigit() or right in self.symbols:
                self.known[left] = right
        self.facts.append(Fact(left, relation, right, user_frame()))

    # -- what code asks --------------------------------------------------------------------------------------------
    def compare(self, relation: str, a: Any, b: Any) -> bool:
        """Whether a is less than b, or equal, ...; noted where it does not follow."""
        if (found := self._follows(relation, a, b)) is not None:
            return found
        dims = self.at_hand
        if dims is None:
            if relation not in ("eq", "ne"):
                raise self._unknown(a if symbolic.is_symbolic(a) else b, user_frame())
            answer = relation == "ne"  # nothing says that they are equal
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

    def wanted(self, dim: Any) -> int:
        """The value of a dimension that code needs now."""
        if self.at_hand is None:
            raise self._unknown(dim, user_frame())
        for name in self.words(dim):
            self._note(name, "eq", str(self.at_hand[name]))
        raise Learned

    def number(self, dim: Any) -> Any:
        """A dimension as a traced number."""
        builder: Any = state.interpreter
        (value,) = builder.emit(REGISTRY["dimension"].bind((dim,)), (), requires_grad=False)
        value.is_number = True
        return builder.handle(value)

    def words(self, dim: Any) -> list[str]:
        """The symbols that a dimension is made of."""
        return symbols_in(dim, self.symbols)

    # -- what ops want ---------------------------------------------------------------------------------------------
    def refused(self, bound: BoundOp, inputs: tuple[Any, ...], error: Exception) -> None:
        """Learn what an op needs to know, which has failed; return if no size can be the reason."""
        sizes = [n for v in inputs if isinstance(v, Value) for n in v.shape]
        names = list(dict.fromkeys([w for n in (*sizes, *_flat(bound.attrs)) for w in self.words(n)]))
        if not names:
            return
        if (asked := undecided(error)) is not None and self._asked(*asked):
            raise Learned
        known = {f.text for f in self.facts}
        for fact in full_cuts(inputs):
            if fact.text not in known and (self.at_hand is None or fact.holds(self.at_hand)):
                self.facts.append(fact)
                raise Learned
        found = fitting(self.symbols, bound, inputs, self.at_hand)
        for name, other in found or ():
            self._note(name, "eq", str(other))
        if found:
            raise Learned
        if self.at_hand is None:
            raise self._unknown(names[0], user_frame(), error) from None
        for name in names:
            self._note(name, "eq", str(self.at_hand[name]))
        raise Learned

    def _asked(self, left: str, sign: str, right: str) -> bool:
        """Answer a comparison that JAX could not decide: sizes are taken to be larger than a number."""
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
        before = len(self.facts)
        relation = relation if answer else OPPOSITE[relation]
        if (left, relation, right) in {(f.left, f.relation, f.right) for f in self.facts}:
            return False
        self._note(left, relation, right)
        return len(self.facts) > before

    def fixed(self) -> str:
        """The dimensions that must have one size, and the lines that want it, in words; empty if there are none."""
        found = [f for f in self.facts if f.relation == "eq" and f.left in self.names and f.right.isdigit()]
        lines = [f"{self.names[f.left]}, {f.right} now, which {f.where} wants to know" for f in found]
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
        """What a dimension among the results is: a tensor in a file, and the number of this call otherwise."""
        return self.number(plain(dim)) if self.for_file else self.wanted(dim)

    def fix(self) -> bool:
        """Take all sizes for those of the call; False if they are, or if there is none."""
        left = [n for n in self.names if n not in self.known] if self.at_hand is not None else []
        for name in left:
            self._note(name, "eq", str(self.at_hand[name]))  # type: ignore[index]
        return bool(left)

    def _unknown(self, dim: Any, where: Where, cause: Exception | None = None) -> UnknownSizeError:
        words = self.words(dim) or [str(dim)]
        what = " and ".join(self.names.get(w, w) for w in words)
        reason = f" ({str(cause).splitlines()[0]})" if cause else ""
        return UnknownSizeError(
            f"{where} wants to know the size of {what}, which its InputSpec leaves open{reason}: write a number there, "
            "or call the function once with tensors of the sizes meant"
        )


def symbols_in(dim: Any, symbols: Iterable[str]) -> list[str]:
    """The symbols that a dimension is made of."""
    words = re.findall(r"[A-Za-z_]\w*", str(dim)) if symbolic.is_symbolic(dim) or isinstance(dim, str) else []
    return [w for w in dict.fromkeys(words) if w in symbols]


def fitting(
    symbols: dict[str, Any], bound: BoundOp, inputs: tuple[Any, ...], at_hand: dict[str, int] | None = None
) -> tuple[tuple[str, Any], ...] | None:
    """Symbols in the inputs of an op, and what they must be for it to be possible: other ones, a product, a number.

    Arguments:
        at_hand: sizes of a call, which must have those values.
    """
    sizes = [n for v in inputs if isinstance(v, Value) for n in v.shape]
    words = list(dict.fromkeys([w for n in sizes for w in symbols_in(n, symbols)]))[:MAX_SYMBOLS]
    pairs: list[tuple[str, Any]] = [(b, symbols[a]) for a, b in itertools.combinations(words, 2)]
    others = dict.fromkeys([n for n in sizes if symbolic.is_symbolic(n) or n > 1])
    every = pairs + [(a, n) for a in words for n in others if a not in symbols_in(n, symbols)]
    if at_hand is not None:
        pairs, every = (
            [(a, n) for a, n in some if at_hand[a] == symbolic.evaluate(n, at_hand)]
            for some in (pairs, [*every, *[(a, at_hand[a]) for a in words]])
        )
    pool = pairs if at_hand is None else every
    several = [itertools.combinations(pool, n) for n in (2, 3)]
    tries = itertools.chain(((p,) for p in every), _along_axes(symbols, inputs, at_hand), *several)
    for chosen in itertools.islice(tries, MAX_TRIES):
        if len({name for name, _ in chosen}) == len(chosen) and _fits(bound, inputs, symbols | dict(chosen)):
            return chosen
    return None


def _along_axes(
    symbols: dict[str, Any], inputs: tuple[Any, ...], at_hand: dict[str, int] | None
) -> Iterator[tuple[tuple[str, Any], ...]]:
    """For each axis all symbols that stand there made the same: of many inputs, those of one batch."""
    shapes = [v.shape for v in inputs if isinstance(v, Value)]
    for axis in range(max(map(len, shapes), default=0)):
        there = [s[axis] for s in shapes if axis < len(s)]
        words = list(dict.fromkeys([str(n) for n in there if str(n) in symbols]))
        if len(words) > 2 and (at_hand is None or len({at_hand[w] for w in words}) == 1):
            yield tuple([(w, symbols[words[0]]) for w in words[1:]])


def _fits(bound: BoundOp, inputs: tuple[Any, ...], known: dict[str, Any]) -> bool:
    try:
        substituted(bound, known).infer(tuple([_spec(v, known) if isinstance(v, Value) else v for v in inputs]))
    except Exception:  # not with these
        return False
    return True


def substituted(bound: BoundOp, known: dict[str, Any]) -> BoundOp:
    """The bound op with other dimensions in its attributes."""
    if not any(map(symbolic.has_symbolic, bound.attrs)):
        return bound
    return bound.rebound(tuple([symbolic.substitute(a, known) for a in bound.attrs]))


def _spec(value: Value, known: dict[str, Any]) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(symbolic.substitute(tuple(value.shape), known), value.dtype, weak_type=value.weak)


def _flat(value: Any) -> list[Any]:
    return [x for v in value for x in _flat(v)] if isinstance(value, tuple) else [value]


def _symbol(n: Any, position: int, axis: int, specs: Sequence[Any]) -> str:
    """A size as text: a number, the user's name, or a name of ours; the first that leads an argument is `batch`."""
    if isinstance(n, int) and n >= 0:
        return str(n)
    if isinstance(n, str):
        return n
    first = next(i for i, s in enumerate(specs) if s.shape and s.shape[0] == -1) if axis == 0 else -1
    return "batch" if position == first and axis == 0 else f"d{position}_{axis}"
