"""Which names a piece of code reads and writes, in the scope it stands in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import gast

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


class Access(gast.NodeVisitor):
    """The names that code reads, writes and deletes; the names of nested scopes count only where they are free there.

    Arguments:
        code: a node, or nodes.
        functions: for functions made by the conversion, the names each reads: a use of the function reads them.

    Example:
        >>> access = Access(gast.parse("y = x + 1").body)
        >>> access.read, access.written
        ({'x'}, {'y'})
    """

    def __init__(self, code: Any, functions: dict[str, set[str]] | None = None) -> None:
        self.read: set[str] = set()
        self.written: set[str] = set()
        self.deleted: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.captured: set[str] = set()  # read or written by nested functions
        self.rebound: set[str] = set()  # written by nested functions, through nonlocal
        self.calls = False
        self.functions = functions or {}
        for node in code if isinstance(code, list) else [code]:
            if node is not None:
                self.visit(node)

    def add(self, other: Access) -> None:
        """Takes over what other code does."""
        for kind in ("read", "written", "deleted", "captured", "rebound"):
            getattr(self, kind).update(getattr(other, kind))
        self.calls = self.calls or other.calls

    @property
    def bound(self) -> set[str]:
        """The names that are local here, declarations apart."""
        return (self.written | self.deleted) - self.globals - self.nonlocals

    def visit_Name(self, node: gast.Name) -> None:
        if isinstance(node.ctx, gast.Load):
            self.read.add(node.id)
            self.read |= self.functions.get(node.id, set())
        elif isinstance(node.ctx, gast.Del):
            self.deleted.add(node.id)
        else:
            self.written.add(node.id)

    def visit_AugAssign(self, node: gast.AugAssign) -> None:
        if isinstance(node.target, gast.Name):
            self.read.add(node.target.id)
        self.generic_visit(node)

    def visit_Call(self, node: gast.Call) -> None:
        self.calls = True
        self.generic_visit(node)

    def visit_Global(self, node: gast.Global) -> None:
        self.globals.update(node.names)

    def visit_Nonlocal(self, node: gast.Nonlocal) -> None:
        self.nonlocals.update(node.names)

    def visit_alias(self, node: gast.alias) -> None:
        self.written.add((node.asname or node.name).split(".")[0])

    def visit_ExceptHandler(self, node: gast.ExceptHandler) -> None:
        if isinstance(node.name, gast.Name):
            self.deleted.add(node.name.id)
        self.generic_visit(node)

    def visit_MatchAs(self, node: Any) -> None:
        self.written.update({node.name} - {None})
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: gast.MatchMapping) -> None:
        self.written.update({node.rest} - {None})
        self.generic_visit(node)

    def visit_FunctionDef(self, node: Any) -> None:
        self.written.add(node.name)
        for part in (*node.decorator_list, *defaults(node.args), *evaluated_annotations(node)):
            self.visit(part)
        self._nested(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: gast.Lambda) -> None:
        for part in defaults(node.args):
            self.visit(part)
        self._nested(node)

    def _nested(self, node: Any) -> None:
        inner = function_access(node, self.functions)
        if node.__dict__.get("name") in self.functions:
            self.rebound |= inner.nonlocals
            return  # read where it is used
        self.read |= free(inner)
        self.captured |= free(inner) | inner.nonlocals
        self.rebound |= inner.nonlocals

    def visit_ClassDef(self, node: gast.ClassDef) -> None:
        self.written.add(node.name)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        inner = Access(node.body, self.functions)
        self.read |= inner.read
        self.captured |= inner.captured | inner.read
        self.rebound |= inner.rebound | inner.nonlocals

    def visit_ListComp(self, node: Any) -> None:
        inner = Access(list(gast.iter_child_nodes(node)), self.functions)
        targets = Access([generator.target for generator in node.generators]).written
        self.read |= inner.read - targets
        self.written |= inner.written - targets
        self.captured |= inner.captured - targets
        self.rebound |= inner.rebound - targets
        self.calls |= inner.calls

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp


def parameters(args: gast.arguments) -> set[str]:
    """Return the names of all parameters."""
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    return {arg.id for arg in every if arg is not None}


def defaults(args: gast.arguments) -> list[gast.expr]:
    """Return the default values, which are evaluated in the scope around the function."""
    return [value for value in (*args.defaults, *args.kw_defaults) if value is not None]


def evaluated_annotations(node: Any) -> Iterable[gast.expr]:
    """Return the annotations of a function, evaluated like defaults."""
    args = node.args
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    found = [getattr(arg, "annotation", None) for arg in every if arg is not None]
    return [note for note in (*found, node.returns) if note is not None]


def function_access(node: Any, functions: dict[str, set[str]] | None = None) -> Access:
    """Return the accesses of a function's or lambda's body, with its parameters written."""
    access = Access(node.body, functions)
    access.written |= parameters(node.args)
    return access


def free(access: Access) -> set[str]:
    """Return the names that a function with this body takes from the scopes around it."""
    return ((access.read | access.captured) - access.bound - access.globals) | access.nonlocals


def places(target: Any) -> list[Any]:
    """Return the single targets of an assignment target."""
    if isinstance(target, (gast.Tuple, gast.List)):
        return [part for element in target.elts for part in places(element)]
    return places(target.value) if isinstance(target, gast.Starred) else [target]


def blocks(stmt: Any) -> list[list[Any]]:
    """Return the lists of statements in a compound statement."""
    fields = stmt.__dict__
    found = [fields[name] for name in ("body", "orelse", "finalbody") if isinstance(fields.get(name), list)]
    return found + [part.body for name in ("handlers", "cases") for part in fields.get(name, ())]


def statements_in(body: list[Any]) -> Iterator[Any]:
    """Yield all statements of a scope, nested ones included, but not those of nested functions and classes."""
    stack = list(body)
    while stack:
        stmt = stack.pop()
        yield stmt
        if not isinstance(stmt, SCOPES):
            for block in blocks(stmt):
                stack += block


def within(body: list[Any], kinds: tuple[type, ...]) -> bool:
    """Whether a statement of one of the kinds is there, in this scope."""
    return any(isinstance(stmt, kinds) for stmt in statements_in(body))


def expressions_within(node: Any, kinds: tuple[type, ...]) -> bool:
    """Whether an expression of one of the kinds is there, in this scope."""
    stack = list(node) if isinstance(node, list) else [node]
    while stack:
        item = stack.pop()
        if isinstance(item, kinds):
            return True
        if not isinstance(item, (*FUNCTIONS, gast.ClassDef, gast.Name, gast.Constant)):
            stack += gast.iter_child_nodes(item)
    return False
