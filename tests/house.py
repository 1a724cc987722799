"""Facts about the source tree, read from the text alone: modules, imports, lengths.

Run it for the size report: python tests/house.py
"""

from __future__ import annotations

import ast
import functools
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# Folder at the top of the repository -> the name its package is imported by.
PACKAGES = {"dy2static": "dy2static", "jit": "paddle_lite_py.jit", "paddle_lite_py": "paddle_lite_py"}
# What the Python of the standard library calls so, though it is public.
UNDERSCORED = set("_asdict _attributes _current_frames _fields _getframe _make _replace _Unpickler".split())


class Import(NamedTuple):
    """One arrow: the module `importer` names `target` at `line`."""

    importer: str
    target: str
    line: int


class Function(NamedTuple):
    """Where a function stands, how long it is, and how much of that is its docstring."""

    where: str
    lines: int
    doc: int

    @property
    def code(self) -> int:
        """Lines that a reader must follow: all but the docstring."""
        return self.lines - self.doc


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Every module of the packages, by the name it is imported by."""
    found = {}
    for folder, package in PACKAGES.items():
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root / folder).with_suffix("").parts
            inner = parts[:-1] if parts[-1] == "__init__" else parts
            found[".".join((package, *inner))] = path
    return found


@functools.cache
def imports(root: Path = ROOT) -> list[Import]:
    """Every import: at the top of a module, inside a function, or for types alone."""
    known = modules(root)
    return [found for name, path in known.items() for found in _imports_of(name, path, known)]


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def module_graph(root: Path = ROOT) -> dict[str, set[str]]:
    """Module -> the modules of the house that it imports, at its top or inside of functions."""
    known = modules(root)
    graph: dict[str, set[str]] = {name: set() for name in known}
    for i in imports(root):
        if i.target in known and i.target != i.importer:
            graph[i.importer].add(i.target)
    return graph


def _imports_of(name: str, path: Path, known: dict[str, Path]) -> Iterator[Import]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            yield from (Import(name, alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(node, package)
            for alias in node.names:
                member = f"{source}.{alias.name}"
                yield Import(name, member if member in known else source, node.lineno)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    base = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join(base + ([node.module] if node.module else []))


@functools.cache
def classes(root: Path = ROOT) -> dict[str, list[str]]:
    """The modules in which classes of each name are defined, inside of functions and classes as well."""
    found: dict[str, list[str]] = {}
    for module, path in modules(root).items():
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(module)
    return found


@functools.cache
def dynamic(root: Path = ROOT) -> list[tuple[str, int, str]]:
    """What ties modules together unseen by imports: module, line and text of each place.

    That is: a module imported by a name that is computed, sys.modules, the __getattr__ of a module, and a table of
    another module (a name in capitals) that is changed.
    """
    return [(name, *place) for name, path in modules(root).items() for place in _dynamic_of(_tree(path))]


def _dynamic_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    imported = {a.asname or a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name="__getattr__") if node in tree.body:
                yield node.lineno, "def __getattr__"
            case ast.Call(func=ast.Attribute(attr="import_module")) if not isinstance(node.args[0], ast.Constant):
                yield node.lineno, ast.unparse(node)
            case ast.Attribute(value=ast.Name(id="sys"), attr="modules"):
                yield node.lineno, "sys.modules"
            case ast.Call(func=ast.Attribute(value=table, attr=change)) if change in _CHANGES:
                if _is_table(table, imported):
                    yield node.lineno, ast.unparse(node)
            case ast.Subscript(value=table, ctx=ast.Store()) if _is_table(table, imported):
                yield node.lineno, ast.unparse(node)
            case ast.Attribute(value=ast.Subscript(value=table), ctx=ast.Store()) if _is_table(table, imported):
                yield node.lineno, ast.unparse(node)


_CHANGES = {"append", "extend", "insert", "update", "setdefault", "add", "pop", "clear", "remove"}


def _is_table(node: ast.expr, imported: set[str]) -> bool:
    """Whether it is a name in capitals of another module: `TABLE` that is imported, or `module.TABLE`."""
    if isinstance(node, ast.Attribute):
        return node.attr.isupper() and isinstance(node.value, ast.Name) and node.value.id in imported
    return isinstance(node, ast.Name) and node.id in imported and node.id.strip("_").isupper()


def private_uses(root: Path = ROOT) -> list[str]:
    """Each private name of somebody else: an attribute or module with an underscore that no file here defines."""
    folders = (*PACKAGES, "benchmarks", "docs", "tests", "tutorials")
    trees = {path: _tree(path) for folder in folders for path in sorted((root / folder).rglob("*.py"))}
    own = UNDERSCORED.union(*map(_defined, trees.values()), *[path.with_suffix("").parts for path in trees])
    return [
        f"{path.relative_to(root)}:{line} {name}"
        for path, tree in trees.items()
        for line, name in _private(tree)
        if name not in own
    ]


def _defined(tree: ast.Module) -> set[str]:
    """Every name that the text defines, strings among them: `setattr(x, "_name", ...)`."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.arg(arg=name) | ast.keyword(arg=str(name)):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                found.add(name)
            case ast.Constant(value=str(name)) | ast.alias(asname=str(name)):
                found.add(name)
    return found


def _private(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Load()):
                names = [name]
            case ast.ImportFrom(module=str(module), level=0):
                names = [*module.split("."), *(alias.name for alias in node.names)]
            case ast.Import():
                names = [part for alias in node.names for part in alias.name.split(".")]
            case _:
                continue
        yield from ((node.lineno, n) for n in names if n.startswith("_") and not n.startswith("__"))


# The room that reads what JAX does not document, and a script that runs without the package.
_OF_JAX = ("paddle_lite_py.core.jax_compat", "paddle_lite_py.targets.compiler")
_UNDOCUMENTED = (
    "jax.extend",
    "jax.experimental",
    "jax.interpreters",
    "jax.lib",
    "jax.version",
    "jax.__version__",
    "jaxlib",
)
_DOCUMENTED = ("jax.experimental.io_callback",)
_FLAG = re.compile(r"\bxla_(cpu|gpu|backend|force|llvm)_|^/jax/|LIBRARY_FUSION_TYPE")
_PARAMETERS = frozenset(
    "bwd call_jaxpr donated_invars ft_in ft_out fwd_jaxpr_thunk inline jvp_jaxpr_fun out_trees".split()
)


def undocumented_uses(root: Path = ROOT) -> list[str]:
    """Each use of what JAX does not document, in modules that are not there for it."""
    return [
        f"{name}:{line} {text}"
        for name, path in modules(root).items()
        if not name.startswith(_OF_JAX)
        for line, text in _undocumented(_tree(path))
    ]


def _undocumented(tree: ast.Module) -> Iterator[tuple[int, str]]:
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), level=0):
                names = [f"{module}.{alias.name}" for alias in node.names]
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.Attribute():
                names = [ast.unparse(node)]
            case ast.Constant(value=str(text)) if id(node) not in docs and (_FLAG.search(text) or text in _PARAMETERS):
                yield node.lineno, text
                continue
            case _:
                continue
        yield from ((node.lineno, n) for n in names if _is_undocumented(n))


def _is_undocumented(name: str) -> bool:
    if name.startswith("jax.lax.") and name.endswith("_p"):  # a primitive
        return True
    return name not in _DOCUMENTED and any(name == n or name.startswith(f"{n}.") for n in _UNDOCUMENTED)


_WEAK, _CACHING = {"WeakKeyDictionary", "WeakValueDictionary"}, {"cache", "lru_cache"}
_TABLES = {"dict", "set", "defaultdict", "OrderedDict"}


def keeping(root: Path = ROOT) -> list[tuple[str, int, str]]:
    """What may keep computed values beside core.memo: module, line and name of each place.

    That is: caches of functools, dictionaries with weak keys or values, and a dictionary or set of a module that its
    functions put something into.
    """
    return [(name, *place) for name, path in modules(root).items() for place in _keeping(_tree(path))]


def _keeping(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="functools"), attr=name) if name in _CACHING:
                yield node.lineno, name
            case ast.ImportFrom(module="functools", names=names) if found := _CACHING & {a.name for a in names}:
                yield node.lineno, found.pop()
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _WEAK:
                yield node.lineno, name
    tables = {name for node in tree.body for name in _tables_of(node)}
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    first = {name: line for f in reversed(functions) for line, name in _put(f) if name in tables}
    yield from ((line, name) for name, line in first.items())


def _tables_of(node: ast.stmt) -> Iterator[str]:
    """The names that a statement gives to dictionaries and sets."""
    match node:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=value)
        ):
            made = isinstance(value, ast.Call) and getattr(value.func, "id", getattr(value.func, "attr", "")) in _TABLES
            if made or isinstance(value, ast.Dict | ast.Set | ast.DictComp | ast.SetComp):
                yield name


def _put(function: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    """The names that something is put into."""
    for node in ast.walk(function):
        match node:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                yield node.lineno, name
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="setdefault" | "update" | "add")):
                yield node.lineno, name


def functions(root: Path = ROOT) -> list[Function]:
    """Every function of the packages; a nested one also counts within the one around it."""
    return [f for path in modules(root).values() for f in _functions_of(path, root)]


def _functions_of(path: Path, root: Path) -> Iterator[Function]:
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            doc = node.body[0] if ast.get_docstring(node, clean=False) is not None else None
            doc_lines = (doc.end_lineno or 0) - doc.lineno + 1 if doc else 0
            where = f"{path.relative_to(root)}:{node.lineno} {node.name}"
            yield Function(where, (node.end_lineno or 0) - node.lineno + 1, doc_lines)


def files(root: Path = ROOT) -> dict[str, int]:
    """Lines of each file of the packages, but for the docstrings of its functions and classes."""
    return {str(path.relative_to(root)): _lines(path.read_text()) for path in modules(root).values()}


def _lines(text: str) -> int:
    """All lines but those of docstrings below the module's."""
    count = len(text.splitlines())
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
            count -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
    return count


def percentile(values: list[int], percent: int) -> int:
    """The value that `percent` of the values do not exceed."""
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)]


def _report() -> str:
    found, sizes = functions(), files()
    lines = [f"{'package':16}{'files':>8}{'lines':>8}"]
    for folder in PACKAGES:
        own = [n for f, n in sizes.items() if f.split("/")[0] == folder]
        lines.append(f"{folder:16}{len(own):8}{sum(own):8}")
    for title, lengths in (("code", [f.code for f in found]), ("with docstring", [f.lines for f in found])):
        if lengths:
            median, high = statistics.median(lengths), percentile(lengths, 95)
            lines.append(f"functions, {title}: {len(lengths)}, median {median:g}, p95 {high}, max {max(lengths)}")
    lines += [f"{f.code:6}  {f.where}" for f in sorted(found, key=lambda f: -f.code)[:8]]
    lines += [f"{n:6}  {f}" for f, n in sorted(sizes.items(), key=lambda item: -item[1])[:8]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(print(_report()))
