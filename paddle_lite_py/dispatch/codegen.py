"""The public function of an op: generated, so that Python itself binds the arguments, and generated on its first call.

Generating costs about 0.2 ms; for hundreds of ops that would be most of the time of `import paddle_lite_py`.
"""

from __future__ import annotations

import functools
import inspect
import keyword
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes
from ..core.errors import PACKAGE_DIR
from ..core.interpreter import state
from ..core.keywords import other_place
from ..core.size import Size
from ..eager import template
from ..eager.execute import EAGER
from ..registry.op import Op, in_tuples
from ..registry.view import ViewRule
from .wrong_types import of_no_tensor

Function = Callable[..., Any]
Env = dict[str, Any]
ABSENT = object()
# Names in generated code: what makes tuples of lists; the default dtype; attributes that are often a tensor's shape.
LISTS: Env = {"_in_tuples": in_tuples, "_Size": Size, "_default": dtypes.default}
SHAPES = frozenset(("shape", "size", "normalized_shape", "output_size", "repeat_times", "sizes"))


# Keywords that only the slow way knows: where the result goes, and what a new tensor is to be.
_RESULT = frozenset(("out", "device", "requires_grad", "pin_memory"))


class CallSpelling(NamedTuple):
    """How users may spell a call, beyond the op's own parameters."""

    aliases: Mapping[str, str]  # other keywords for parameters; "" drops one
    variadic: str | None = None  # the list parameter that may be spread out
    wider: Function | None = None  # the same function with more keywords, called where one of them is given
    out_first: bool = False  # `out` precedes `name` among the positional parameters
    creates: bool = False  # a new tensor, for which device and requires_grad may be given
    spread: Function | None = None  # what the list is that was spread out, if not itself


def make(op: Op, front: CallSpelling) -> tuple[Function, Function]:
    """Return the user's function: strict, and with other spellings of its keywords and lists."""
    strict = _lazy(op, functools.partial(_strict, op, front), front)
    if not (front.aliases or front.wider or front.variadic):
        return strict, strict
    at = None if front.variadic is None else [p.name for p in _params(op)].index(front.variadic)
    slow = accepting(front.wider or strict, front.aliases, at, spread=front.spread)
    return strict, _lazy(op, functools.partial(_with_aliases, op, slow, front), front)


def accepting(
    fn: Function,
    aliases: Mapping[str, str],
    at: int | None = None,
    creates: bool = False,
    spread: Function | None = None,
) -> Function:
    """The function with other keywords for its parameters ("" drops one), and a list at `at` that may be spread out."""
    code = fn.__code__
    own = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    result = frozenset() if "__op__" in fn.__dict__ else _RESULT - own
    most = code.co_argcount + 1 if result and "name" not in own else -1

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        wanted = None
        if kwargs and not own.issuperset(kwargs):
            kwargs = spelt(kwargs, aliases)
            if not result.isdisjoint(kwargs):
                wanted = {k: kwargs.pop(k) for k in result & kwargs.keys()}
        if at is not None and len(args) > at + 1 and _is_spread(args[at:]):
            args = (*args[:at], args[at:] if spread is None else spread(*args))
        elif len(args) == most and (args[-1] is None or isinstance(args[-1], str)):
            args = args[:-1]  # a name
        try:
            made = fn(*args, **kwargs)
        except AttributeError as e:
            if (told := of_no_tensor(fn, args, kwargs, e)) is None:
                raise
            raise told from None
        return made if wanted is None else _as_wanted(made, **wanted)

    wrapper.__dict__["__aliases__"] = aliases
    if result:
        wrapper.__dict__["__wrapped__"] = Signature(functools.partial(_of_composite, fn, creates), fn.__doc__)
    return wrapper


def spelt(given: Mapping[str, Any], aliases: Mapping[str, str]) -> dict[str, Any]:
    """Keywords as the parameters that they stand for; "" drops one.

    Raises:
        TypeError: a parameter is given twice.
    """
    found: dict[str, Any] = {}
    for key, value in given.items():
        name = aliases.get(key, key)
        if name in found:
            raise given_twice(name, key)
        if name:
            found[name] = value
    return found


def given_twice(name: str, key: str) -> TypeError:
    """Return the error for a parameter that is given under both its keywords."""
    return TypeError(f"{name} is given twice, as {key} as well")


def one_of(default: Any, value: Any, name: str, key: str, other: Any) -> Any:
    """Return the value given by either of two keywords."""
    if value is not default:
        raise given_twice(name, key)
    return other


def in_place_of(name: str, given: Any, other: str, default: Any, value: Any) -> Any:
    """Return what stands in the place of a parameter that is a keyword, as the value of another parameter.

    Raises:
        TypeError: it cannot be that value.
    """
    if not isinstance(given, int) or value is not default:
        raise TypeError(f"{name} is given by position and as a keyword; {other} in its place is an int or a bool")
    return given


def _as_wanted(
    made: Any, out: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Any:
    """Return a result put where it is wanted."""
    if device is not None:
        made = made.to(device)
    if requires_grad:
        made.stop_gradient = False
    return made if out is None else into(out, made)


def into(out: Any, made: Any) -> Any:
    """Rebind the tensors of `out` to results."""
    if not isinstance(made, tuple | list):
        return out._rebind(made, True)
    if len(out) != len(made):
        raise ValueError(f"out has {len(out)} tensors for {len(made)} results")
    return remade(type(made), [o._rebind(m, True) if o is not None else m for o, m in zip(out, made, strict=True)])


def remade(kind: type, results: Iterable[Any]) -> Any:
    """Results as the list, the tuple or the named tuple that a function gives."""
    return kind(results) if kind in (list, tuple) else kind(*results)


def _is_spread(args: tuple[Any, ...]) -> bool:
    return not any(a is None or isinstance(a, list | tuple | str | type | dtypes.DType | np.dtype) for a in args)


def _stub(*args: Any, **kwargs: Any) -> Any:
    return _materialise()(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821  (in the globals of each stub)


class Signature:
    """The signature of a public function for `inspect.signature`, made on first use."""

    def __init__(self, make: Callable[[], inspect.Signature], doc: str | None) -> None:
        self._make = make
        self.__doc__ = doc

    @property
    def __signature__(self) -> inspect.Signature:
        return self._make()


_BOTH, _KEYWORD = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


def _of_op(op: Op, front: CallSpelling) -> inspect.Signature:
    if front.wider is not None:
        return _of_composite(front.wider, False)
    params = [p if p.kind is _KEYWORD else p.replace(kind=_BOTH) for p in _params(op)]
    return _with_results(params, ["out"], front.out_first)


def _of_composite(fn: Function, creates: bool) -> inspect.Signature:
    found = list(inspect.signature(fn).parameters.values())
    names = ["out", "device", "requires_grad", "pin_memory"] if creates else ["out"]
    return _with_results(found, [n for n in names if n not in {p.name for p in found}], False)


def _with_results(params: list[inspect.Parameter], names: list[str], out_first: bool) -> inspect.Signature:
    """Return the parameters with `name` after the positional ones, and more keywords at the end."""
    first = [p for p in params if p.kind is not _KEYWORD]
    if out_first:
        first, names = [*first, inspect.Parameter("out", _BOTH, default=None)], []
    rest = [inspect.Parameter(n, _KEYWORD, default=None if n in ("out", "device") else False) for n in names]
    if "name" not in {p.name for p in params}:
        spread = any(p.kind is p.VAR_POSITIONAL for p in params)
        (rest if spread else first).append(inspect.Parameter("name", _KEYWORD if spread else _BOTH, default=None))
    return inspect.Signature([*first, *[p for p in params if p.kind is _KEYWORD], *rest])


def without_out(fn: Function) -> inspect.Signature:
    """Return the signature of the in-place form of a function: that has its result already."""
    found = inspect.signature(fn)
    return found.replace(parameters=[p for n, p in found.parameters.items() if n != "out"])


def deferred(name: str, text: Callable[[Env], str]) -> Function:
    """Return a function whose code is generated, by `text`, when it is called first."""
    env: Env = {}
    public = FunctionType(_stub.__code__, env, name)

    def materialise() -> Function:
        exec(compile(f"def {name}{text(env)}", f"{PACKAGE_DIR}<{name}>", "exec"), env)
        made = env[name]
        public.__kwdefaults__ = made.__kwdefaults__
        public.__code__ = made.__code__
        public.__defaults__ = made.__defaults__
        return made

    env["_materialise"] = materialise
    return public


def _lazy(op: Op, text: Callable[[Env], str], front: CallSpelling) -> Function:
    public = deferred(op.name, text)
    public.__qualname__, public.__doc__, public.__module__ = op.name, op.fn.__doc__, op.fn.__module__
    signature = Signature(functools.partial(_of_op, op, front), op.fn.__doc__)
    public.__dict__.update(__op__=op, __wrapped__=signature, __aliases__=front.aliases)
    return public


def _params(op: Op) -> list[inspect.Parameter]:
    return op.tensor_params + op.attr_params


def _heads(op: Op, env: Env, front: CallSpelling, required: str = "") -> tuple[list[str], list[str]]:
    """Return the parameters as text, and those that are keywords only; their defaults go into `env`."""
    heads: dict[bool, list[str]] = {False: [], True: []}
    for p in _params(op):
        env[f"_d_{p.name}"] = ABSENT if p.default is p.empty else p.default
        default = required if p.default is p.empty else f"=_d_{p.name}"
        heads[p.kind is p.KEYWORD_ONLY].append(p.name + default)
    return [*heads[False], *["out=None"] * front.out_first, "name=None"], heads[True]


def _body(op: Op, env: Env, last: str) -> str:
    """Return the lines that find the bound op and call the interpreter. Each step here shows in the time of an op."""
    env |= {"_state": state, "_op": op, "_known": op.known, "_into": into}
    env |= LISTS
    env |= {"_eager": EAGER, **template.NAMES}
    layout, flat, lists = _pack(op)
    run = f"_mode.{'run_random' if op.random else 'run'}(_bound, {flat})"
    calls = _at_once(op, run) if op.simple and not (op.random or op.effect) else [f"_made = {run}"]
    lines = [*_find(op, env, layout), "_mode = _state.interpreter", *calls]
    if lists:
        given = _tuple([p.name for p in op.tensor_params]), _tuple(op.attr_names)
        lines = [
            f"if {lists}:",
            *["    " + line for line in lines],
            "else:",
            f"    _made = _op.apply({', '.join(given)})",
        ]
    lines.append(f"return {last}")
    return indented(lines)


def indented(lines: Iterable[str]) -> str:
    """Return the lines as the text of a body."""
    return "".join([f"    {line}\n" for line in lines])


def _at_once(op: Op, run: str) -> list[str]:
    names = [p.name for p in op.tensor_params]
    call = f"_bound.jitted({', '.join([f'{n}._payload' for n in names])})"
    viewed: list[str] = []
    if isinstance(op.views, ViewRule):
        viewed = template.view_lines(names[0]) if op.views.each is None else [f"_link({names[0]}, _made, _bound, ())"]
    return template.at_once("_mode is _eager" + template.still(names), call, run, viewed=viewed)


def _pack(op: Op) -> tuple[str, str, str]:
    """Op.pack(), written out: the layout, the tensors, and that lists are lists."""
    if op.simple:
        return "None", _tuple([p.name for p in op.tensor_params]), ""
    layout, flat, lists = [], [], []
    for p, is_list in zip(op.tensor_params, op.is_list, strict=True):
        n = p.name
        if is_list:
            layout.append(f"len({n})")
            flat.append(f"*{n}")
            lists.append(f"({n}.__class__ is list or {n}.__class__ is tuple)")
        elif p.default is p.empty:
            layout.append("-1")
            flat.append(n)
        else:
            layout.append(f"None if {n} is None else -1")
            flat.append(f"*(() if {n} is None else ({n},))")
    return _tuple(layout), _tuple(flat), " and ".join(lists)


def _find(op: Op, env: Env, layout: str) -> list[str]:
    """Op.bind(), written out as far as the bound op is known."""
    if op.custom:  # its tuples may hold what the quick key does not tell apart
        return [f"_layout = {layout}", f"_bound = _op.bind({_tuple(op.attr_names)}, _layout)"]
    attrs, kinds = _tuple(op.attr_names), _tuple([quick_kind(p) for p in op.attr_params])
    # A shape mostly comes as a list, which no key may hold.
    listed = [p.name for p in op.attr_params if not isinstance(p.default, bool | str)]
    at = "None" if op.simple else "_layout"
    found = [
        *[f"if {is_listed(n)}: {n} = {as_tuple(n)}" for n in listed],
        "try:",
        f"    _bound = _known[{attrs}, {at}, {kinds}, _default.name]",
        "except (KeyError, TypeError):",
        "    _bound = None",
        "if _bound is None:",
        f"    _bound = _op.bind({attrs}, {at})",
    ]
    if op.simple and not any(p.default is p.empty for p in op.attr_params):
        # The bound op of the default attributes is at hand; `is` costs nothing next to a key.
        env["_bare"] = op.bind(tuple([p.default for p in op.attr_params]))
        env["_under"] = env["_bare"].default
        same = " and ".join(["_default.dtype is _under", *[f"{n} is _d_{n}" for n in op.attr_names]])
        found = [f"if {same}:", "    _bound = _bare", "else:", *["    " + line for line in found]]
    return found if op.simple else [f"_layout = {layout}", *found]


def _strict(op: Op, front: CallSpelling, env: Env) -> str:
    first, keywords = _heads(op, env, front)
    keywords += ["out=None"] * (not front.out_first)
    heads = [*first, *["*"] * bool(keywords), *keywords]
    return f"({', '.join(heads)}):\n{_body(op, env, '_made if out is None else _into(out, _made)')}"


def _with_aliases(op: Op, slow: Function, front: CallSpelling, env: Env) -> str:
    """Other spellings cost nothing where none is given: they land in `_more` and `_rest`, and only then is the slow way
    taken."""
    names = [p.name for p in _params(op)] + ["out"] * front.out_first
    lacks = " or ".join(["_more", *[f"{p.name} is _absent" for p in _params(op) if p.default is p.empty]])
    lacks += " or out is not None" if front.out_first else ""
    first, keywords = _heads(op, env, front, "=_absent")
    others, lines = respelling(front.aliases, names)
    first, moved, placed = placing(op.name, first, env)
    star, rest = ["*"] * bool(others or keywords or moved), "()"
    if front.variadic is not None:
        star, rest, lacks = ["*_rest"], "(name, *_rest)", f"{lacks} or _rest or name is not None"
    env |= {"_absent": ABSENT, "_one_of": one_of, "_respelt": functools.partial(_respelt, slow)}
    again = f"_respelt({{{', '.join(f'{n!r}: {n}' for n in names)}}}, {rest}, _more)"
    heads = ", ".join([*first, *star, *moved, *others, *keywords, "**_more"])
    return f"({heads}):\n{placed}{lines}    if {lacks}:\n        return {again}\n{_body(op, env, '_made')}"


def respelling(aliases: Mapping[str, str], names: Iterable[str]) -> tuple[list[str], str]:
    """Other keywords for parameters as parameters, and the lines that give those their values."""
    known = {k: n for k, n in aliases.items() if n and k not in names and not keyword.iskeyword(k)}
    lines = [
        f"    if {k} is not _absent:\n        {n} = _one_of(_d_{n}, {n}, {n!r}, {k!r}, {k})\n" for k, n in known.items()
    ]
    return [f"{k}=_absent" for k in known], "".join(lines)


def placing(name: str, heads: list[str], env: Env) -> tuple[list[str], list[str], str]:
    """Parameters where one changes its place (see `core.keywords.other_place`): those by position, the one that is a
    keyword then, and the lines that give both their values."""
    if (pair := other_place(name)) is None:
        return heads, [], ""
    n, other = pair
    env.update(_absent=ABSENT, _in_place_of=in_place_of)
    lines = [
        f"if {n} is _absent:",
        f"    {n} = _at_{n}",
        f"elif _at_{n} is not _d_{n}:",
        f"    {other} = _in_place_of({n!r}, _at_{n}, {other!r}, _d_{other}, {other})",
    ]
    return [f"_at_{h}" if h.partition("=")[0] == n else h for h in heads], [f"{n}=_absent"], indented(lines)


def quick_kind(p: inspect.Parameter) -> str:
    """Return the text of number.kind() of a parameter, but for what tuples hold."""
    if isinstance(p.default, bool | str):
        return f"{p.name}.__class__"
    return f"{p.name}.__class__ if {p.name}.__class__ is not float or {p.name} else {p.name}.hex()"


def is_listed(n: str) -> str:
    """Return the test whether `n` is a list; where shapes are common, they are tested for too."""
    return f"{n}.__class__ is list" + (f" or {n}.__class__ is _Size" if n in SHAPES else "")


def as_tuple(n: str) -> str:
    """Return the text that makes a tuple of the list `n`, which may hold lists."""
    return f"tuple({n}) if not {n} or {n}[0].__class__ is not list else _in_tuples({n})"


def _respelt(function: Function, given: dict[str, Any], rest: tuple[Any, ...], more: dict[str, Any]) -> Any:
    """Call the function as it was called; `rest` follows the parameters, if it is more than a name that is None."""
    if rest and rest != (None,):
        return function(*given.values(), *rest, **more)
    return function(**{k: v for k, v in given.items() if v is not ABSENT}, **more)


def _tuple(names: Iterable[str]) -> str:
    return "(" + "".join(f"{n}, " for n in names) + ")"
