"""From a jaxpr to a NumPy function: a line for each step, what is constant computed beforehand, broadcasts left out.

What is computed twice, or changes nothing, has one line or none, as XLA would do it.
"""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core import symbolic
from ..core.errors import PACKAGE_DIR
from ..core.small import DTYPES
from ..core.symbolic import has_symbolic, python_text
from . import complex_numbers, draws, elementwise, folds, indexing, low_precision, movement  # noqa: F401  (their rules)
from .elementwise import CHOICE
from .late_rules import LateRule, is_open_step, late_rule
from .rules import AS_THEY_ARE, ELEMENTWISE, MOVES, RULES, Rule, turns
from .steps import HostStep, Steps, UnknownStepError

Array = Any
_BROADCAST = "broadcast_in_dim"


class HeldValue(NamedTuple):
    """The value that a name of the generated code holds."""

    name: str
    shape: tuple[int, ...]  # of the array, which may have fewer elements than the value, if it can be broadcast to it
    array: Any = None  # of a constant


def _full(x: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    out = np.empty(shape, dtype)
    out[...] = x
    return out


def _warning_switch() -> dict[str, Any]:
    """The variable that tells NumPy what to warn of, and its value when that is nothing; no names if there is none.

    To set it takes a tenth of what np.errstate() takes.
    """
    context = contextvars.copy_context()
    before = dict(context)
    context.run(np.seterr, all="ignore")
    changed = [(v, value) for v, value in context.items() if before.get(v) is not value]
    return {"_warnings": changed[0][0], "_nothing": changed[0][1]} if len(changed) == 1 else {}


# Among the names of generated code: CPython refuses to note a warning of it there, which raises TypeError instead.
WARNINGS_RAISE = {"__warningregistry__": ()}

_NAMES: dict[str, Any] = {
    **{f"_{kind.name}": kind for kind in DTYPES},
    **{f"_one_{kind.name}": np.ones((), kind) for kind in DTYPES},
    **{f"_{name}_of": fold.reduce for name, fold in folds.FOLDS.items()},
    **_warning_switch(),
    "_putmask": np.putmask,
    "_aligned": movement.aligned,
    **{"_asarray": np.asarray, "_filled": _full, "_concatenate": np.concatenate, "_stack": np.stack},
    **{"_minimum": np.minimum, "_maximum": np.maximum, "_where": np.where, "_exp": np.exp, "_sqrt": np.sqrt},
    **{"_reciprocal": np.reciprocal, "_empty": np.empty, "_in_blocks": folds.in_blocks},
    **{"_index": np.s_, "_replaced": indexing.replace_window},
    **low_precision.NAMES,
    **symbolic.NAMES,
    "_wide": low_precision.wide,
}


# Functions that Python's operators do the same as, of numbers in a tenth of the time.
_OPERATORS: dict[Any, str] = {np.add: "+", np.subtract: "-", np.multiply: "*", np.divide: "/"}
_OPERATORS |= {np.less: "<", np.less_equal: "<=", np.greater: ">", np.greater_equal: ">="}
_OPERATORS |= {np.equal: "==", np.not_equal: "!=", np.bitwise_and: "&", np.bitwise_or: "|"}  # ^ is a power in sizes
# By the name of a step the constant that changes nothing, and whether it may come first.
_NEUTRAL = {"add": (0, True), "sub": (0, False), "mul": (1, True), "div": (1, False)}
_NEUTRAL |= {"and": (-1, True), "or": (0, True), "xor": (0, True)}
_FLOATS = frozenset(d for d in DTYPES if d.kind == "f")
# Constants up to this size are compared.
_FEW = 64
# Steps whose rules give a tuple, even of one result.
_SEVERAL = frozenset(("sort", "split", "unstack", "scan", "cond", "while"))


class FunctionWriter:
    """Writes the function.

    Arguments:
        steps: what it does.
        result: the text that makes of the results, {0}, {1}, ..., what the function returns.
        numbers: which of its arguments are Python numbers.
        rules: the table of rules.
        sizes: by the names of open sizes, the text that reads them off the arguments, or off `numbers`.
    """

    def __init__(
        self,
        steps: Steps,
        result: str,
        numbers: frozenset[int] = frozenset(),
        rules: Mapping[str, Rule] = RULES,
        sizes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.steps, self.types, self.rules = steps, steps.types, rules
        self.env: dict[str, Any] = dict(_NAMES)
        self.sizes = tuple(sizes)
        self.lines: list[str] = [f"{name} = {text}" for name, text in sizes.items()]
        self.quiet = True  # nothing in it can make NumPy warn
        self.fixed = set(steps.constants)  # what depends on nothing but sizes
        self.turns = 0  # steps that it takes for others, those of loops in each of their turns
        self.known: dict[Any, tuple[HeldValue, ...]] = {}  # results by what makes them
        self.held: dict[int, HeldValue] = {n: self._constant(c) for n, c in steps.constants.items()}
        names = [f"a{i}" for i in range(len(steps.inputs))]
        for i, (n, a) in enumerate(zip(steps.inputs, names, strict=True)):
            self.held[n] = HeldValue(a, self.types[n].shape)
            if i in numbers:
                self.lines.append(f"{a} = _asarray({a}, {self._name(self.types[n].dtype, 'd')})")
        for step in steps.list:
            self._add_once(step)
        given = [self._result(n) for n in steps.outputs]
        self.lines.append(f"return {result.format(*given)}")
        self.head = f"def call({', '.join([*names, *['numbers=()'] * bool(sizes)])}):\n"

    def function(self) -> Callable[..., Any]:
        """Return the function; like XLA, it emits no NumPy warnings."""
        if self.quiet:
            return self.plain_function()
        if "_warnings" not in self.env:  # NumPy keeps it otherwise
            return np.errstate(all="ignore")(self.plain_function())
        first, last = "    old = _warnings.set(_nothing)\n    try:\n", "    finally:\n        _warnings.reset(old)\n"
        return self._compiled(first + self._body(8) + last)

    def ufunc(self) -> np.ufunc | None:
        """Return the ufunc that is all of it, for floats of one dtype: of other dtypes it may be another one."""
        steps = [s for s in self.steps.list if s.name not in AS_THEY_ARE]
        given, dtypes = [self.held[n].name for s in steps for n in s.reads], {a.dtype for s in steps for a in s.given}
        if given != [f"a{i}" for i in range(len(self.steps.inputs))] or len(dtypes) != 1 or not dtypes <= _FLOATS:
            return None
        found = self.rules[steps[0].name](steps[0]) if steps[0].name in ELEMENTWISE else None
        return found if isinstance(found, np.ufunc) else None

    def plain_function(self) -> Callable[..., Any]:
        """Return the function as a part of another one."""
        return self._compiled(self._body(4))

    def _body(self, indent: int) -> str:
        return "".join([f"{' ' * indent}{python_text(line) if self.sizes else line}\n" for line in self.lines])

    def _compiled(self, body: str) -> Callable[..., Any]:
        exec(compile(self.head + body, f"{PACKAGE_DIR}<host tier>", "exec"), self.env)
        return self.env["call"]

    def _name(self, value: Any, kind: str) -> str:
        name = f"{kind}{len(self.env)}"
        self.env[name] = value
        return name

    def _constant(self, array: np.ndarray) -> HeldValue:
        if array.size > _FEW:
            return HeldValue(self._name(array, "k"), array.shape, array)
        key = array.tobytes(), array.shape, array.dtype
        if key not in self.known:
            self.known[key] = (HeldValue(self._name(array, "k"), array.shape, array),)
        return self.known[key][0]

    def _add_once(self, step: HostStep) -> None:
        """Add a step, unless its results are there."""
        if self.fixed.issuperset(step.reads):
            self.fixed.update(step.makes)
        if step.name in _SEVERAL:  # functions among its parameters
            self._add(step)
            return
        reads = [(self.held[n].name, aval.shape) for n, aval in zip(step.reads, step.given, strict=True)]
        key = (step.name, *reads, *[(k, str(v)) for k, v in step.params.items()])
        if key in self.known:
            self.held |= zip(step.makes, self.known[key], strict=True)
            return
        self._add(step)
        self.known[key] = tuple([self.held[n] for n in step.makes])

    def _add(self, step: HostStep) -> None:
        values = [self.held[n] for n in step.reads]
        if step.name == _BROADCAST:
            self.held[step.makes[0]] = self._broadcast(step, values[0])
            return
        if step.name in AS_THEY_ARE:
            self.held |= zip(step.makes, values, strict=True)
            return
        if step.name not in self.rules:
            raise UnknownStepError(step.name)
        if step.name not in ELEMENTWISE:
            values = [self._full(v, t) for v, t in zip(values, step.given, strict=True)]
        step = step._replace(known=tuple([v.array for v in values]))
        is_low = low_precision.is_low(step)
        of = low_precision.in_float32(step) if is_low else step
        is_open = bool(self.sizes) and is_open_step(of)
        found = late_rule(of, self.rules[step.name], self.sizes, _NAMES) if is_open else self.rules[step.name](of)
        text, names = self._call(found, len(values)), [v.name for v in values]
        if is_low:
            text = self._rounding(step, text, len(values))
        elif found in _OPERATORS and not step.made[0].shape:
            text = f"{{0}} {_OPERATORS[found]} {{1}}"
            names = [v.name if v.array is None else self._name(v.array[()], "c") for v in values]
        made = text.format(*names)
        if not is_open and all(v.array is not None for v in values):
            self._fold(step, made)
        elif len(step.makes) == 1 and step.name in ELEMENTWISE:
            self._elementwise(step, text, made, values)
        else:
            self._line(step, made)

    def _rounding(self, step: HostStep, text: str, n: int) -> str:
        """Return the text of a step in float32 as that of one in low precision."""
        several = step.name in _SEVERAL or len(step.made) > 1
        rounded = self._name(low_precision.rounded(step, several), "f")
        return f"{rounded}({text.format(*[f'_wide({{{i}}})' for i in range(n)])})"

    def _call(self, found: Any, n: int) -> str:
        """Return the text of what a rule gives."""
        if isinstance(found, str):
            return found
        if isinstance(found, LateRule):
            return f"{self._name(found, 'f')}(({', '.join(self.sizes)},), {', '.join(f'{{{i}}}' for i in range(n))})"
        return f"{self._name(found, 'f')}({', '.join(f'{{{i}}}' for i in range(n))})"

    def _elementwise(self, step: HostStep, text: str, made: str, values: list[HeldValue]) -> None:
        same = int(text[1]) if text in ("{0}", "{1}") else _unchanged(step, values)
        if same is not None:
            self.held[step.makes[0]] = values[same]
            return
        shapes = [v.shape for v in values]
        shape = _broadcast_shape(shapes) if self.sizes else np.broadcast_shapes(*shapes)
        if text == CHOICE and shape and values[0].shape == values[1].shape == shape and values[2].shape in ((), shape):
            which, no, yes = [v.name for v in values]  # a third of the time less than where() takes
            self._line(step, f"{no}.copy()")
            self.lines.append(f"_putmask(v{step.makes[0]}, {which}, {yes})")
        else:
            self._line(step, made)
        self.held[step.makes[0]] = HeldValue(self.held[step.makes[0]].name, shape)

    def _line(self, step: HostStep, made: str) -> None:
        self.quiet = self.quiet and (step.name in MOVES or ".dot(" in made)
        self.turns += 0 if self.fixed.issuperset(step.makes) else turns(step)
        names = [f"v{n}" for n in step.makes]
        several = "," if step.name in _SEVERAL else ""
        self.lines.append(f"{', '.join(names)}{several} = {made}" if names else made)
        self.held |= {n: HeldValue(f"v{n}", self.types[n].shape) for n in step.makes}

    def _fold(self, step: HostStep, made: str) -> None:
        """Compute what depends on constants alone."""
        with np.errstate(all="ignore"):
            found = eval(made, self.env)
        arrays = found if isinstance(found, tuple) else (found,)
        for n, array in zip(step.makes, arrays, strict=True):
            self.held[n] = self._constant(np.asarray(array))

    def _broadcast(self, step: HostStep, value: HeldValue) -> HeldValue:
        """Left to NumPy's own broadcasting; only the axes are brought in their places."""
        if not value.shape:
            return value
        shape = [1] * len(step.params["shape"])
        for axis, n in zip(step.params["broadcast_dimensions"], value.shape, strict=True):
            shape[axis] = n
        if value.array is not None:
            return self._constant(value.array.reshape(shape))
        if tuple(shape) == value.shape:
            return value
        name = f"v{step.makes[0]}"
        self.lines.append(f"{name} = {value.name}.reshape({tuple(shape)})")
        return HeldValue(name, tuple(shape))

    def _full(self, value: HeldValue, aval: Any) -> HeldValue:
        """Return the value with all its elements."""
        if value.shape == aval.shape:
            return value
        if value.array is not None and not has_symbolic(aval.shape):
            return self._constant(np.ascontiguousarray(np.broadcast_to(value.array, aval.shape)))
        name = f"w{len(self.lines)}"
        kind = self._name(aval.dtype, "d")
        self.lines.append(f"{name} = _filled({value.name}, {aval.shape}, {kind})")
        return HeldValue(name, aval.shape)

    def _result(self, number: int) -> str:
        aval, value = self.types[number], self.held[number]
        value = self._full(value, aval)
        if value.array is not None:
            value.array.setflags(write=False)
            return value.name
        # NumPy operations on 0-d arrays return scalars.
        return f"_asarray({value.name})" if not aval.shape else value.name


def _broadcast_shape(shapes: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the shape that some have together; sizes may be open."""
    rank = max(map(len, shapes), default=0)
    columns = zip(*[(1,) * (rank - len(shape)) + shape for shape in shapes], strict=True)
    return tuple([functools.reduce(_common_size, column) for column in columns])


def _common_size(a: Any, b: Any) -> Any:
    if a != b and 1 not in (a, b):
        raise UnknownStepError(f"{a} elements with {b}")
    return b if a == 1 else a


def _unchanged(step: HostStep, values: list[HeldValue]) -> int | None:
    """Which argument a step gives back, because the other is a constant that changes nothing; None: neither."""
    neutral, either = _NEUTRAL.get(step.name, (None, False))
    if neutral is None or (step.name == "add" and step.given[0].dtype.kind == "f"):  # -0.0 + 0.0 is 0.0
        return None
    for at in (1, 0) if either else (1,):
        array = values[at].array
        if array is not None and (array == np.asarray(neutral).astype(array.dtype)).all():
            return 1 - at
    return None


def write_function(
    steps: Steps,
    info: Any,
    numbers: frozenset[int] = frozenset(),
    sizes: Mapping[str, str] = MappingProxyType({}),
    rules: Mapping[str, Rule] = RULES,
) -> FunctionWriter:
    """Return the text of the NumPy function of some steps, which gives results structured like `info`.

    Arguments:
        numbers: which of its arguments are Python numbers. sizes, rules: see FunctionWriter.
    """
    text, names = write_return(jax.tree.structure(info))
    writer = FunctionWriter(steps, text, numbers, rules, sizes)
    writer.env |= names
    return writer


def write_return(tree: Any) -> tuple[str, dict[str, Any]]:
    """Return the text that puts results into a structure, and the names in it."""
    n = tree.num_leaves
    nested = jax.tree.unflatten(tree, [f"{{{i}}}" for i in range(n)])
    try:
        return _text(nested), {}
    except TypeError:
        return f"_tree({returning_list(n)})", {"_tree": tree.unflatten}


def returning_list(n: int) -> str:
    """Return the same for a list of n results."""
    return "[" + ", ".join([f"{{{i}}}" for i in range(n)]) + "]"


def _text(nested: Any) -> str:
    if nested is None or nested.__class__ is str:
        return str(nested)
    if nested.__class__ is tuple:
        return "(" + "".join([f"{_text(x)}, " for x in nested]) + ")"
    if nested.__class__ is list:
        return "[" + ", ".join(map(_text, nested)) + "]"
    raise TypeError(f"no text for {type(nested)}")
