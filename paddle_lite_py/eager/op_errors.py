"""Errors of ops in the user's terms: the op, its arguments, what was found and what was expected.

Ops are JAX functions, so that most of what they refuse is refused by JAX or NumPy, in words about their own functions.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.errors import DivisorError, SparseError, original
from ..core.nan_checks import NonFiniteError
from ..registry.bound import BoundOp
from .pending import payload_of
from .tensor import Tensor

KINDS = (ValueError, TypeError, SparseError, IndexError, NotImplementedError, MemoryError, DivisorError, NonFiniteError)


class _Refused(NamedTuple):
    """The arguments of an op that failed, by name, and its attributes."""

    args: list[tuple[str, Any]]
    attrs: dict[str, Any]

    @property
    def tensors(self) -> list[tuple[str, Tensor]]:
        return [(n, a) for n, a in self.args if isinstance(a, Tensor)]


Words = Callable[[_Refused, "re.Match[str]"], str]


def explain(bound: BoundOp, args: tuple[Any, ...], error: Exception) -> Exception:
    """Return the error of an op in the user's terms: the op, its arguments, and what JAX found."""
    if (raised := original(error)) is not error:
        return raised  # type: ignore[return-value]
    args = args[bound.op.random :]  # not the generator's state
    attrs = dict(zip(bound.op.attr_names, bound.attrs, strict=False))
    call = _Refused(list(zip(_names(bound, len(args)), args, strict=True)), attrs)
    said = [f"{n}={_describe(a)}" for n, a in call.args] + [f"{k}={_describe(v)}" for k, v in attrs.items()]
    kind = type(error) if type(error) in KINDS else ValueError
    text = str(error).strip().split("\n")[0]
    if isinstance(error, ZeroDivisionError) and not isinstance(error, DivisorError):
        kind, text = ValueError, _zeros(attrs) or _lacking(call) or text
    for pattern, other, words in _IN_OTHER_WORDS:
        if found := pattern.search(text):
            kind, text = other or kind, words(call, found) or text
            break
    return kind(f"{bound.op.name.lstrip('_')}({', '.join(said)}): {text}")


def _names(bound: BoundOp, count: int) -> list[str]:
    if bound.layout is None:
        names = [p.name for p in bound.op.tensor_params]
    else:
        names = []
        for p, n in zip(bound.op.tensor_params, bound.layout, strict=True):
            names += [] if n is None else [p.name] if n < 0 else [f"{p.name}[{i}]" for i in range(n)]
    return names if len(names) == count else [f"arg{i}" for i in range(count)]


def _describe(arg: Any) -> str:
    if isinstance(arg, Tensor):
        return f"{'' if arg._dense else 'sparse '}{arg.dtype.name}{[*arg.shape]}"
    if hasattr(arg, "shape") and arg.shape:
        return f"{arg.dtype}{[*arg.shape]}"
    return repr(arg)[:40]


# -- in other words: of what JAX and NumPy say to what the user gave ------------------------------------------------
def _device(call: _Refused, _: re.Match[str]) -> str:
    """On which devices the arguments lie."""
    arrays = {n: payload_of(a) for n, a in call.tensors}
    found = {n: ", ".join(sorted(map(str, a.devices()))) for n, a in arrays.items() if hasattr(a, "devices")}
    where = " and ".join(f"{n} on {d}" for n, d in found.items())
    return f"{where}: move them to one device, as by x.to(y.place)" if len(set(found.values())) > 1 else ""


def _unfit(call: _Refused, _: re.Match[str]) -> str:
    """What is wrong with an axis or shape among the attributes, or that there are no elements; empty if nothing is."""
    ndim = next((t.ndim for _, t in call.tensors), 0)
    for name, value in call.attrs.items():
        each = value if isinstance(value, tuple) else (value,)
        if name in ("axis", "axes", "dim", "axis1", "axis2", "source", "destination", "perm") and value is not None:
            if not all(isinstance(a, int) and -ndim <= a < ndim for a in each):
                expected = f"expected {-ndim} to {ndim - 1}, since the tensor has {ndim} dimensions"
                return f"{name} is {value!r}; {expected if ndim else 'the tensor has no dimensions'}"
        elif name in ("shape", "repeat_times", "num", "rows", "columns", "repeats"):
            if not all(isinstance(n, int) and n >= 0 for n in each):
                return f"{name} is {value!r}; expected integers of at least 0"
    return _lacking(call)


def _lacking(call: _Refused) -> str:
    """Which argument has no elements."""
    found = ((n, [*t.shape]) for n, t in call.tensors if 0 in t.shape)
    return next((f"{n} has the shape {shape}, so that there are no elements to choose from" for n, shape in found), "")


def _empty(call: _Refused, found: re.Match[str]) -> str:
    return _unfit(call, found) or "there are no elements to choose from"


def _too_few(call: _Refused, found: re.Match[str]) -> str:
    return _unfit(call, found) or "the arguments have too few dimensions for this"


def _other_dimensions(call: _Refused, found: re.Match[str]) -> str:
    dims = ", ".join(f"{n} has {t.ndim}" for n, t in call.tensors)
    return _unfit(call, found) or f"the numbers of dimensions do not fit: {dims}"


def _number_of_dimensions(call: _Refused, found: re.Match[str]) -> str:
    """Which argument has more or fewer dimensions than an op unpacks."""
    expected, got = int(found[1]), found[2]
    others = [(n, t.ndim) for n, t in call.tensors if (t.ndim == int(got) if got else t.ndim > expected)]
    return next((f"{n} has {ndim} dimensions; expected {expected}" for n, ndim in others), "")


def _at_most(call: _Refused, found: re.Match[str]) -> str:
    name, tensor = call.tensors[0]
    return f"{name} has {tensor.ndim} dimensions; expected at most {found[1]}"


def _shapes(call: _Refused, _: re.Match[str]) -> str:
    return f"the shapes do not fit: {', '.join(f'{n} is {[*t.shape]}' for n, t in call.tensors)}"


def _permutation(call: _Refused, _: re.Match[str]) -> str:
    if "axis1" in call.attrs:
        return f"axis1 is {call.attrs['axis1']} and axis2 is {call.attrs['axis2']}; expected two axes"
    name, value = next(iter(call.attrs.items()))
    return f"{name} is {value!r}; expected each of the {call.tensors[0][1].ndim} dimensions once"


def _two_dtypes(call: _Refused, _: re.Match[str]) -> str:
    return f"{', '.join(f'{n} is {t.dtype.name}' for n, t in call.tensors)}; expected one dtype"


def _no_tensor(call: _Refused, _: re.Match[str]) -> str:
    return next((f"{n} is {a!r:.40}; expected a tensor" for n, a in call.args if not isinstance(a, Tensor)), "")


def _no_number(call: _Refused, _: re.Match[str]) -> str:
    return _is_not(call, "bool", "numbers")


def _zeros(attrs: dict[str, Any]) -> str:
    """Which attributes are 0, or have a 0, where something is divided by them; empty if none is."""
    zeros = [
        f"{name} is {value!r}"
        for name, value in attrs.items()
        if any(type(n) in (int, float) and not n for n in (value if isinstance(value, tuple) else (value,)))
        and not name.startswith("pad")
        and not name.endswith(("_id", "axis", "offset"))
    ]
    return f"{' and '.join(zeros)}; expected numbers of at least 1" if zeros else ""


def _unlike(call: _Refused, found: re.Match[str]) -> str:
    """Which two shapes do not broadcast, and where."""
    named = [(n, [*t.shape]) for n, t in call.tensors]
    if isinstance(wanted := call.attrs.get("shape"), tuple):
        named.append(("shape", [*wanted]))
    for (a, left), (b, right) in itertools.combinations(named, 2):
        for axis, (m, n) in enumerate(zip(left[::-1], right[::-1], strict=False), 1):
            if m != n and m != 1 and (n != 1 or b == "shape"):
                return f"{a} {left} and {b} {right} do not broadcast: sizes {m} and {n} in axis -{axis}"
    shapes = [f"[{s}]" for s in re.findall(r"[\[(]([\d, ]*?),?[\])]", found.string)]
    return f"{' and '.join(shapes)} do not broadcast"


def _fewer_dimensions(call: _Refused, found: re.Match[str]) -> str:
    left, right = (f"[{s}]" for s in found.groups())
    name = next((n for n, t in call.tensors if str([*t.shape]) == left), "")
    return f"{f'{name} {left}'.strip()} does not broadcast to {right}, which has fewer dimensions"


def _contracted(call: _Refused, found: re.Match[str]) -> str:
    (a, left), (b, right) = call.tensors[-2:] if len(call.tensors) > 1 else [("x", call.tensors[0][1])] * 2
    m, n = found.groups()
    return f"{a} {[*left.shape]} and {b} {[*right.shape]} do not fit: sizes {m} and {n} of axes that are summed over"


def _batches(call: _Refused, found: re.Match[str]) -> str:
    (a, left), (b, right) = call.tensors[-2:] if len(call.tensors) > 1 else [("x", call.tensors[0][1])] * 2
    return f"{a} {[*left.shape]} and {b} {[*right.shape]} are no matrices, or batches of them, that can be multiplied"


def _size(call: _Refused, found: re.Match[str]) -> str:
    left, right = (f"[{s}]" for s in found.groups())
    return f"the elements of the shape {left} do not fit into the shape {right}"


_NUMBERS = {"integer": "integers", "floating": "floating point numbers", "inexact": "floating point or complex numbers"}
_NUMBERS |= {"complexfloating": "complex numbers", "bool": "booleans", "number": "numbers"}


def _dtype(call: _Refused, found: re.Match[str]) -> str:
    """Which argument has a dtype that is not taken."""
    taken = [_NUMBERS.get(k, k) for k in found["taken"].split(", ")]
    return _is_not(call, found["dtype"], " or ".join([", ".join(taken[:-1]), taken[-1]] if taken[1:] else taken))


def _is_not(call: _Refused, dtype: str, expected: str) -> str:
    names = [n for n, a in call.args if (a.dtype.name if isinstance(a, Tensor) else type(a).__name__) == dtype]
    return (
        f"{' and '.join(names)} is {dtype}; expected {expected}" if names else f"{dtype} is not taken: {expected} are"
    )


def _too_many(_: _Refused, found: re.Match[str]) -> str:
    return f"there are {found[2]} indices for a tensor of {found[1]} dimensions"


def _no_index(call: _Refused, found: re.Match[str]) -> str:
    named = [(n, t) for n, t in call.tensors if "ind" in n] or call.tensors[:1]
    return _no_integers(call._replace(args=named), found)


def _no_integers(call: _Refused, _: re.Match[str]) -> str:
    found = [f"{n} is {t.dtype.name}" for n, t in call.tensors if not t.dtype.name.startswith(("int", "uint"))]
    return f"{' and '.join(found)}; expected integers" if found else ""


def _complex(call: _Refused, _: re.Match[str]) -> str:
    found = [f"{n} is {t.dtype.name}" for n, t in call.tensors if t.is_complex()]
    return f"{' and '.join(found)}; expected real numbers" if found else ""


def _plainly(_: _Refused, found: re.Match[str]) -> str:
    """The same, without names of JAX's."""
    text = re.sub(r"JitTracer\((.*?)\)", r"\1", found.string)
    return re.sub(r"\b(jax\.|jnp\.|numpy\.|scipy\.|linalg\.)+(?=\w)", "", text)


# What is looked for, the error in its place (None: of the same kind), and the words.
_IN_OTHER_WORDS: list[tuple[re.Pattern[str], type[Exception] | None, Words]] = [
    (re.compile(pattern), kind, words)
    for pattern, kind, words in [
        ("RESOURCE_EXHAUSTED", MemoryError, lambda _, m: f"the result needs more memory than there is ({m.string})"),
        (r"does not accept dtype (?P<dtype>\w+).* subtypes of (?P<taken>[\w, ]+)\.", None, _dtype),
        (r"arr_shape=\(([\d, ]*?),?\) shape=\(([\d, ]*?),?\)", ValueError, _fewer_dimensions),
        ("ncompatible (shapes|types) for broadcasting|cannot be broadcast to a single shape", ValueError, _unlike),
        (r"contracting dimensions .* got \((\d+)[^)]*\) and \((\d+)[^)]*\)", ValueError, _contracted),
        ("Incompatible types for matmul", ValueError, _batches),
        (r"cannot reshape array of shape \(([\d, ]*?),?\).* into shape \(([-\d, ]*?),?\)", ValueError, _size),
        (
            "No FFI handler registered",
            NotImplementedError,
            lambda _, m: f"it has no kernel for this device; give it tensors on the CPU ({m.string})",
        ),
        ("ncompatible devices", ValueError, _device),
        ("^Negative padding|^zero-size array|of an empty sequence|from an empty axis", ValueError, _empty),
        (r"is out of bounds for axis \d+ with size 0", ValueError, _empty),
        ("^tuple index|^list index|^diagonal requires|is at least one dimensional", ValueError, _too_few),
        ("requires its first argument to have ndim at least|^list assignment", ValueError, _too_few),
        (r"has more than (\d) dimensions", ValueError, _at_most),
        (r"values to unpack \(expected (\d+)(?:, got (\d+))?", ValueError, _number_of_dimensions),
        ("^vmap got|^scan got|^Einstein sum|^Size of label", ValueError, _shapes),
        ("squeeze out which has size|should be .-dimensional", ValueError, _shapes),
        ("isn't a permutation", ValueError, _permutation),
        ("requires arguments to have the same dtypes", None, _two_dtypes),
        ("Invalid integer data type 'b'|must have a number dtype, got bool|bool'> not inexact", TypeError, _no_number),
        (r"^Too many indices: array is (\d+)-dimensional, but (\d+)", IndexError, _too_many),
        ("^zip\\(\\) argument|same number of dimensions", ValueError, _other_dimensions),
        (r"axis (-?\d+) is out of bounds|index -?\d+ is out of bounds for axis 0", ValueError, _other_dimensions),
        (
            "^Indexer must have|must be of integer type|indices must have an integer|indices must be concr",
            None,
            _no_index,
        ),
        ("object has no attribute '(ndim|shape|dtype|size)'", TypeError, _no_tensor),
        ("must be integers", None, _no_integers),
        ("complex.valued|complex input|for complex|received a complex value", None, _complex),
        ("out of bounds for array|^Invalid type|^broadcast_in_dim shape", ValueError, _unfit),
        ("^Shapes must be|^Found an unbound axis|^negative dimensions|^Slice size at index", ValueError, _unfit),
        (r"JitTracer|\b(jax|jnp|numpy)\.", None, _plainly),
    ]
]
