"""Arguments that a function takes and never looks at, found in the source text."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import house
from paddle_lite_py.core.no_effect import EXEMPT

Definition = ast.FunctionDef | ast.AsyncFunctionDef
CALLED = ("__init__", "__new__", "__call__")  # of the methods that Python calls, those with arguments of the user
PUBLISHING = {"methods", "operators", "inplace"}  # arguments of a decorator that give a function a public name


class Found(NamedTuple):
    """A function at the top of a module, or a method."""

    where: str
    node: Definition
    owner: ast.ClassDef | None

    @property
    def title(self) -> str:
        """Its name, with that of its class."""
        return f"{self.owner.name}.{self.node.name}" if self.owner else self.node.name

    @property
    def parameters(self) -> set[str]:
        """The names that it gives its arguments, but for those that nobody has to read."""
        a = self.node.args
        listed = [*a.posonlyargs, *a.args, *a.kwonlyargs, *[v for v in (a.vararg, a.kwarg) if v is not None]]
        return {p.arg for p in listed if not p.arg.startswith("_")} - {"self", "cls"} - EXEMPT.keys()

    @property
    def read(self) -> set[str]:
        """The arguments that it looks at, or hands on."""
        nodes = [n for part in self.node.body for n in ast.walk(part)]
        names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        return self.parameters if "locals" in names else names & self.parameters

    @property
    def declared(self) -> set[str]:
        """The arguments that no_effect() speaks of; all, where it speaks of the whole call."""
        calls = [d for d in self.node.decorator_list if isinstance(d, ast.Call) and ast.unparse(d.func) == "no_effect"]
        return self.parameters if any(d.args for d in calls) else {k.arg for d in calls for k in d.keywords if k.arg}

    @property
    def body(self) -> list[ast.stmt]:
        """Its statements, but for the docstring."""
        return self.node.body[ast.get_docstring(self.node) is not None :]

    @property
    def refuses(self) -> bool:
        """True where no call returns."""
        never = self.node.returns is not None and ast.unparse(self.node.returns) == "NoReturn"
        return never or (bool(self.body) and isinstance(self.body[0], ast.Raise))

    @property
    def is_open(self) -> bool:
        """True for what users call."""
        name = self.node.name
        given = {k.arg for d in self.node.decorator_list if isinstance(d, ast.Call) for k in d.keywords}
        return name in CALLED or not name.startswith("_") or bool(given & PUBLISHING)


def functions(root: Path = house.ROOT) -> list[Found]:
    """Every function and method of the packages, but for those inside of functions."""
    return [
        Found(f"{path.relative_to(root)}:{node.lineno}", node, owner)
        for path in house.modules(root).values()
        for node, owner in _defined(ast.parse(path.read_text()), None)
    ]


def _defined(tree: ast.AST, owner: ast.ClassDef | None) -> Iterator[tuple[Definition, ast.ClassDef | None]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Definition):
            yield node, owner
        elif not isinstance(node, ast.expr):
            yield from _defined(node, node if isinstance(node, ast.ClassDef) else owner)


def dropped(found: list[Found]) -> list[str]:
    """A line for each argument that is neither read nor declared, nor there for the sake of an interface."""
    shared = Interfaces(found)
    return [
        f"{f.where} {f.title}: {name}"
        for f in found
        if f.is_open and not f.refuses
        for name in sorted(f.parameters - f.read - f.declared)
        if not shared.has(f, name)
    ]


class Interfaces:
    """Methods that take arguments for the sake of others: of the class that says what is called, or of subclasses."""

    def __init__(self, found: list[Found]) -> None:
        self.bases: dict[str, set[str]] = defaultdict(set)
        self.asked: dict[tuple[str, str], set[str]] = defaultdict(set)  # classes whose method only says what is given
        self.readers: dict[tuple[str, str], set[str]] = defaultdict(set)  # classes whose method reads the argument
        methods = [f for f in found if f.owner]
        for f in methods:
            self.bases[f.owner.name] |= {ast.unparse(b).rpartition(".")[2] for b in f.owner.bases}
        inherited = set().union(*self.bases.values())
        for f in methods:
            asks = f.owner.name in inherited and (not f.body or f.refuses)
            for name in f.parameters:
                if asks or "Protocol" in self.bases[f.owner.name]:
                    self.asked[f.node.name, name].add(f.owner.name)
                if name in f.read:
                    self.readers[f.node.name, name].add(f.owner.name)

    def has(self, f: Found, argument: str) -> bool:
        """True if the argument of a method belongs to an interface."""
        if f.owner is None or f.node.name == "__init__":
            return False
        key, own = (f.node.name, argument), f.owner.name
        asked = any("Protocol" in self.bases[c] or c == own or c in self._above(own) for c in self.asked[key])
        return asked or any(own in self._above(reader) for reader in self.readers[key])

    def _above(self, name: str) -> set[str]:
        direct = self.bases.get(name, set())
        return direct.union(*[self._above(base) for base in direct if base != name])
