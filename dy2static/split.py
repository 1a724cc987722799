"""Splits a function at one of its statements: what comes before, the statement itself, and what comes after.

Each part is a function of the variables it reads, and gives the variables that are read later:

    def f(x):                   def before(x):           def statement(y):        def after(y, n):
        y = x + 1                   y = x + 1                n = len(y)               return y * n
        n = len(y)        ->        return NEXT, {...}       return NEXT, {...}
        return y * n
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .errors import ConversionError
from .source import MADE, Source, describe, find
from .trees import to_ast

NEXT, RETURN = "next", "return"
_CALL = "__dy2static_call__"


class Part(NamedTuple):
    """A run of statements of a function."""

    statements: list[ast.stmt]
    later: frozenset[str]  # names that are read after it
    last: bool


class Split(NamedTuple):
    """A function in parts."""

    function: types.FunctionType
    parts: list[Part]
    at: int  # the part that is the statement
    line: int


def split(f: types.FunctionType, lines: Iterable[int]) -> Split:
    """Return the function in up to three parts around the first of its statements that one of the lines is in.

    Raises:
        ConversionError: there is no source, no such statement, or the function cannot be taken apart.

    Example:
        >>> split(describe, [describe.__code__.co_firstlineno + 3]).at
        1
    """
    tree = to_ast(find(f).tree)
    if not isinstance(tree, ast.FunctionDef) or _waits(tree):
        raise ConversionError(f"{describe(f)} is a lambda, generator or coroutine, which is not taken apart")
    body = tree.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    wanted = list(lines)
    if not wanted:
        raise ConversionError(f"it is not known which statement of {describe(f)} it is")
    found = [i for i, s in enumerate(body) if any(s.lineno <= n <= (s.end_lineno or s.lineno) for n in wanted)]
    if not found:
        raise ConversionError(f"no statement of {describe(f)} is at line {', '.join(map(str, wanted))}")
    runs = [run for run in (body[: found[0]], [body[found[0]]], body[found[0] + 1 :]) if run]
    parts = [Part(run, frozenset(_reads(runs[i + 1 :])), run is runs[-1]) for i, run in enumerate(runs)]
    _check_closures(f, runs)
    return Split(f, parts, int(found[0] > 0), body[found[0]].lineno)


def cut(part: Part, names: set[str]) -> list[Part]:
    """Return a part up to its last statement that reads or sets one of the names, and the rest if there is one.

    A part is left whole where a function made in the first piece would see variables of the second.
    """
    uses = [_reads([[s]]) | stored(Part([s], part.later, False)) for s in part.statements]
    end = max([i for i, found in enumerate(uses, 1) if found & names], default=0)
    head, rest = part.statements[:end], part.statements[end:]
    if not head or not rest or _seen_early([head, rest]):
        return [part]
    return [Part(head, part.later | _reads([rest]), False), Part(rest, part.later, part.last)]


def build(split: Split, part: Part, names: Iterable[str], call: Callable[[Any], Any] | None) -> types.FunctionType:
    """Return one part as a function.

    Arguments:
        part: one of its parts, or a piece of one.
        names: the variables that have a value before it: its parameters.
        call: for a part that runs as plain Python: called on each function that the part calls; what it returns is
            called instead.

    Returns:
        A function that gives (RETURN, value), or (NEXT, variables); the last part gives its value.
    """
    f: Any = split.function
    first = f.__code__.co_varnames[:1] if "__class__" in f.__code__.co_freevars else ()
    params = [n for n in names if n in first] + [n for n in names if n not in first]
    body = list(part.statements)
    if not part.last:
        body = [*[_Returns().visit(_copy(s)) for s in body], *_return_names(part, set(params))]
    if call is not None:
        body = [_Calls().visit(_copy(s)) for s in body]
    body = [*_declarations(find(f).tree, part), *body]
    return _function(f, split, params, body, call)


def _function(f: Any, split: Split, params: list[str], body: list[Any], call: Any) -> types.FunctionType:
    code, name = f.__code__, f.__name__
    free = [*code.co_freevars, *([_CALL] if call else [])]
    node = _definition(name, params, body, body[0])
    outer = _definition("__factory__", free, [node, ast.Return(ast.Name(name, ast.Load()))], body[0])
    module = ast.fix_missing_locations(ast.Module([outer], []))
    namespace: dict[str, Any] = {}
    exec(compile(module, code.co_filename, "exec"), f.__globals__ | {}, namespace)
    made = namespace["__factory__"](*[None] * len(free))
    cells = dict(zip(code.co_freevars, f.__closure__ or (), strict=True)) | {_CALL: types.CellType(call)}
    closure = tuple([cells[n] for n in made.__code__.co_freevars])
    out = types.FunctionType(made.__code__, f.__globals__, name, None, closure)
    out.__qualname__, out.__module__ = f.__qualname__, f.__module__
    MADE.put(out.__code__, Source(node, find(f).class_name))
    return out


def _definition(name: str, params: list[str], body: list[Any], at: ast.AST) -> ast.FunctionDef:
    args = ast.arguments([], [ast.arg(p) for p in params], None, [], [], None, [])
    node = ast.copy_location(ast.FunctionDef(name, args, body, [], None), at)
    if "type_params" in ast.FunctionDef._fields:
        node.type_params = []  # type: ignore[attr-defined]
    return node


# -- names ---------------------------------------------------------------------------------------------------------
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _names(nodes: Iterable[ast.AST], context: type) -> set[str]:
    """Return the variables in a context; those of a comprehension are its own."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, context):
            found.add(node.id)
        inner = _names(ast.iter_child_nodes(node), context)
        if isinstance(node, _COMPREHENSIONS):
            inner -= _names([g.target for g in node.generators], ast.Store)
            inner |= _names([node.generators[0].iter], context)
        found |= inner
    return found


def reads(part: Part) -> set[str]:
    """Return the names that a part reads."""
    return _reads([part.statements])


def _reads(runs: list[list[ast.stmt]]) -> set[str]:
    statements = [s for run in runs for s in run]
    changed = {s.target.id for r in statements for s in ast.walk(r)
               if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name)}  # fmt: skip
    return (
        _names(statements, ast.Load)
        | changed
        | ({"self", "cls"} if _names(statements, ast.Load) & {"super"} else set())
    )


def stored(part: Part) -> set[str]:
    """Return the variables that a part may set."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    defined = {n.name for s in part.statements for n in ast.walk(s) if isinstance(n, kinds)}
    imported = {(a.asname or a.name).partition(".")[0] for s in part.statements for n in ast.walk(s)
                if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names}  # fmt: skip
    return _names(part.statements, ast.Store) | defined | imported


def _surely(part: Part) -> set[str]:
    """Return the variables that a part sets whatever happens in it."""
    simple = [s for s in part.statements if not isinstance(s, ast.If | ast.For | ast.While | ast.Try | ast.Match)]
    return stored(Part(simple, part.later, part.last))


def _return_names(part: Part, known: set[str]) -> list[ast.stmt]:
    """Statements that give the variables read later; one that may have no value is left out then."""
    names = sorted((stored(part) | known) & part.later)
    sure = [n for n in names if n in known | _surely(part)]
    text = [f"__out__ = {{{', '.join(f'{n!r}: {n}' for n in sure)}}}"]
    for n in names:
        if n not in sure:
            text.append(f"try:\n    __out__[{n!r}] = {n}\nexcept UnboundLocalError:\n    pass")
    out = ast.parse("\n".join([*text, f"return {NEXT!r}, __out__"])).body
    last = part.statements[-1]
    for node in (n for s in out for n in ast.walk(s)):
        ast.copy_location(node, last)
    return out


def _declarations(tree: Any, part: Part) -> list[ast.stmt]:
    """Return the `global` and `nonlocal` statements of the whole function, for a part."""
    held = [s for s in to_ast(tree).body if isinstance(s, ast.Global | ast.Nonlocal)]
    return [s for s in held if not any(s.lineno == p.lineno for p in part.statements)]


def _check_closures(f: Any, runs: list[list[ast.stmt]]) -> None:
    if found := _seen_early(runs):
        raise ConversionError(
            f"{describe(f)} is not taken apart: a function in it reads `{min(found)}`, which is set later"
        )


def _seen_early(runs: list[list[ast.stmt]]) -> set[str]:
    """Return the variables of later parts that functions made in an earlier one read: they would not see them."""
    found: set[str] = set()
    for i, run in enumerate(runs):
        inner = [
            n for s in run for n in ast.walk(s) if isinstance(n, ast.FunctionDef | ast.Lambda | ast.AsyncFunctionDef)
        ]
        later = {n for r in runs[i + 1 :] for n in stored(Part(r, frozenset(), False))}
        found |= _names(inner, ast.Load) & later
    return found


def _waits(tree: ast.FunctionDef) -> bool:
    kinds = (ast.Yield, ast.YieldFrom, ast.Await)
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, kinds):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            stack += ast.iter_child_nodes(node)
    return False


# -- rewriting -----------------------------------------------------------------------------------------------------
def _copy(node: Any) -> Any:
    if isinstance(node, list):
        return [_copy(n) for n in node]
    if not isinstance(node, ast.AST):
        return node
    made = type(node)(**{k: _copy(v) for k, v in ast.iter_fields(node)})
    return ast.copy_location(made, node)


class _Skip(ast.NodeTransformer):
    """Leaves functions inside alone."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]


class _Returns(_Skip):
    """`return x` -> `return RETURN, x`."""

    def visit_Return(self, node: ast.Return) -> ast.AST:
        value = node.value or ast.Constant(None)
        return ast.copy_location(ast.Return(ast.Tuple([ast.Constant(RETURN), value], ast.Load())), node)


class _Calls(_Skip):
    """`f(x)` -> `CALL(f)(x)`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return node
        node.func = ast.copy_location(ast.Call(ast.Name(_CALL, ast.Load()), [node.func], []), node.func)
        return node
