"""The public function of an op: generated, so that Python itself binds the arguments, and generated on its first call.

Generating costs about 0.2 ms; for hundreds of ops that would be most of the time of `import paddle_lite_py`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes
from .errors import PACKAGE_DIR
from .interpreter import state

if TYPE_CHECKING:
    from .op import Op

Function = Callable[..., Any]
Env = dict[str, Any]
_ABSENT = object()


def make(op: Op, aliases: Mapping[str, str], variadic: str | None) -> tuple[Function, Function]:
    """The user's function: strict, and with other spellings of its keywords (`aliases`) and lists (`variadic`)."""
    strict = _lazy(op, functools.partial(_strict, op))
    if variadic is not None:
        return strict, accepting(strict, aliases, [p.name for p in _params(op)].index(variadic))
    return strict, _lazy(op, functools.partial(_with_aliases, op, strict, aliases)) if aliases else strict


def accepting(fn: Function, aliases: Mapping[str, str], at: int | None = None) -> Function:
    """The function with other keywords for its parameters ("" drops one), and a list at `at` that may be spread out."""

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = {n: v for k, v in kwargs.items() if (n := aliases.get(k, k))}
        if at is not None and len(args) > at + 1 and _is_spread(args[at:]):
            args = (*args[:at], args[at:])
        return fn(*args, **kwargs)

    return wrapper


def _is_spread(args: tuple[Any, ...]) -> bool:
    return not any(a is None or isinstance(a, list | tuple | str | type | dtypes.DType | np.dtype) for a in args)


def _stub(*args: Any, **kwargs: Any) -> Any:
    return _materialise()(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821  (in the globals of each stub)


class _Signature:
    """Stands behind a public function for `inspect.signature`, which is seldom asked."""

    def __init__(self, op: Op) -> None:
        self._op = op
        self.__doc__ = op.fn.__doc__

    @property
    def __signature__(self) -> inspect.Signature:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        params = [p if p.kind is p.KEYWORD_ONLY else p.replace(kind=kind) for p in _params(self._op)]
        name = inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY if _star(params) else kind, default=None)
        return inspect.Signature([*params, name])


def _lazy(op: Op, text: Callable[[Env], str]) -> Function:
    """A function whose code is generated, by `text`, when it is called first."""
    env: Env = {}
    public = FunctionType(_stub.__code__, env, op.name)

    def materialise() -> Function:
        exec(compile(f"def {op.name}{text(env)}", f"{PACKAGE_DIR}<{op.name}>", "exec"), env)
        made = env[op.name]
        public.__kwdefaults__ = made.__kwdefaults__
        public.__code__ = made.__code__
        public.__defaults__ = made.__defaults__
        return made

    env["_materialise"] = materialise
    public.__qualname__, public.__doc__, public.__module__ = op.name, op.fn.__doc__, op.fn.__module__
    public.__dict__.update(__op__=op, __wrapped__=_Signature(op))
    return public


def _params(op: Op) -> list[inspect.Parameter]:
    return op.tensor_params + op.attr_params


def _star(params: Iterable[inspect.Parameter]) -> bool:
    return any(p.kind is p.KEYWORD_ONLY for p in params)


def _heads(op: Op, env: Env, required: str = "") -> list[str]:
    """The parameters as text; their defaults go into `env`."""
    heads = []
    for p in _params(op):
        if p.kind is p.KEYWORD_ONLY and "*" not in heads:
            heads.append("*")
        env[f"_d_{p.name}"] = p.default
        heads.append(p.name + (required if p.default is p.empty else f"=_d_{p.name}"))
    return [*heads, "name=None"]


def _body(op: Op, env: Env) -> str:
    """The call of the interpreter."""
    env |= {"_state": state, "_op": op}
    tensors = _tuple([p.name for p in op.tensor_params])
    # A shape mostly comes as a list, which no cache key may hold.
    listed = {p.name for p in op.attr_params if str(p.annotation).startswith("Sequence")}
    attrs = _tuple([f"tuple({n}) if {n}.__class__ is list else {n}" if n in listed else n for n in op.attr_names])
    run = "run_random" if op.random else "run"
    if not op.simple:
        return f"_op.apply({tensors}, {attrs})"
    if any(p.default is p.empty for p in op.attr_params):
        return f"_state.interpreter.{run}(_op.bind({attrs}), {tensors})"
    # The bound op of the default attributes is at hand; `is` costs nothing next to a cache key.
    env["_bare"] = op.bind(tuple([p.default for p in op.attr_params]))
    same = " and ".join(f"{n} is _d_{n}" for n in op.attr_names)
    return f"_state.interpreter.{run}({f'_bare if {same} else _op.bind({attrs})' if same else '_bare'}, {tensors})"


def _strict(op: Op, env: Env) -> str:
    return f"({', '.join(_heads(op, env))}):\n    return {_body(op, env)}"


def _with_aliases(op: Op, strict: Function, aliases: Mapping[str, str], env: Env) -> str:
    """Other keywords cost nothing where none is given: they land in `_more`, and only then is the slow way taken."""
    names = [p.name for p in _params(op)]
    lacks = " or ".join(["_more", *[f"{p.name} is _absent" for p in _params(op) if p.default is p.empty]])
    again = f"_respelt({{{', '.join(f'{n!r}: {n}' for n in names)}}} | _more)"
    env |= {"_absent": _ABSENT, "_respelt": functools.partial(_respelt, accepting(strict, aliases))}
    heads = ", ".join([*_heads(op, env, "=_absent"), "**_more"])
    return f"({heads}):\n    return {again} if {lacks} else {_body(op, env)}"


def _respelt(function: Function, kwargs: dict[str, Any]) -> Any:
    return function(**{k: v for k, v in kwargs.items() if v is not _ABSENT})


def _tuple(names: Iterable[str]) -> str:
    return "(" + "".join(f"{n}, " for n in names) + ")"
