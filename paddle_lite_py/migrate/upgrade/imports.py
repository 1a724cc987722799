"""The names that a program's imports bind, and their replacements."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import libcst as cst
from libcst.metadata import PositionProvider

from . import names

OWN = "paddle_lite_py"
_OF_LAYERS = ("parameters", "named_parameters", "state_dict", "load_state_dict", "train", "eval")


def dotted(node: Any) -> str | None:
    """Return the text of a dotted name, else None."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        head = dotted(node.value)
        return None if head is None else f"{head}.{node.attr.value}"
    return None


def own(new: str) -> str:
    """Return a name as this package is imported."""
    return OWN + new.removeprefix("paddle")


class Imports(cst.CSTVisitor):
    """The names that imports bind, and the statements that bind them from now on."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, beside: Container[str] = (), of_torch: bool = False) -> None:
        super().__init__()
        self._beside, self._of_torch = beside, of_torch  # modules that are rewritten as well, some of them of torch
        self.bound: dict[str, str] = {}  # a local name: its former meaning
        self.modules: dict[str, str] = {}  # a local name of a module: the module here
        self.others: set[str] = set()  # local names that other imports bind
        self.packages: set[str] = set()  # other packages that are imported
        self.layers: set[str] = set()  # what has parameters
        self.assigned: set[str] = set()  # local names that are also given to something else
        self.notes: set[tuple[int, str, str, bool]] = set()
        self.torch = self.static = self.dynamic = self.programs = self.switched = False
        self._statements: dict[int, list[str]] = {}  # by line
        self._absent: dict[int, list[str]] = {}  # in the place of packages that need torch, if the program does
        self._tries = 0  # bodies of try statements around a place, which find out what can be imported
        self._needed = False  # `paddle` itself, which no import of the program binds

    # -- reading ---------------------------------------------------------------------------------------------------
    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        line = self.get_metadata(PositionProvider, node).start.line
        made = [self._import(part, line) for part in node.body]
        if any(m is not None for m in made):
            kept = [
                cst.Module([]).code_for_node(p).strip("; ") for p, m in zip(node.body, made, strict=True) if m is None
            ]
            self._statements[line] = [*dict.fromkeys(text for m in made if m for text in m), *kept]

    def visit_Try_body(self, _node: cst.Try) -> None:
        self._tries += 1

    def leave_Try_body(self, _node: cst.Try) -> None:
        self._tries -= 1

    def visit_Call(self, node: cst.Call) -> None:
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in _OF_LAYERS:
            self.layers.add(str(dotted(node.func.value)))

    def visit_Assign(self, node: cst.Assign) -> None:
        """Take `D = torch.distributions` as the import of a module by this name."""
        name, target = dotted(node.value), node.targets[0].target
        full = self.full(name) if name else None
        if full in names.MODULES and "." in full and isinstance(target, cst.Name):
            self.bound[target.value], self.modules[target.value] = full, names.MODULES[full]

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._assign(node.target)

    def visit_Param(self, node: cst.Param) -> None:
        self._assign(node.name)

    def visit_For(self, node: cst.For) -> None:
        self._assign(node.target)

    def _assign(self, target: Any) -> None:
        for part in target.elements if isinstance(target, cst.Tuple | cst.List) else [target]:
            found = getattr(part, "value", None) if isinstance(part, cst.Element) else part
            if isinstance(found, cst.Name):
                self.assigned.add(found.value)

    def _import(self, part: Any, line: int) -> list[str] | None:
        """Return the statements in the place of one; None if it is not of a framework."""
        if isinstance(part, cst.Import):
            found = [(str(dotted(a.name)), a.asname) for a in part.names]
            if not any(names.is_foreign(n) for n, _ in found):
                self.others |= {str(dotted(a.name)) if a else n.split(".")[0] for n, a in found}
                for name, asname in found:
                    bound = (str(dotted(asname.name)), name) if asname else (name.split(".")[0],) * 2
                    self._other_package(name, line, [bound])
                return None
            return [text for name, asname in found for text in self._module(name, asname, line)]
        if isinstance(part, cst.ImportFrom) and part.relative:
            self.torch |= self._of_torch
            if self._of_torch and isinstance(part.names, cst.ImportStar):  # which gives the names of torch on
                self.bound = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", **self.bound}
        if isinstance(part, cst.ImportFrom) and not part.relative and part.module is not None:
            source = str(dotted(part.module))
            if names.is_foreign(source):
                return self._names(source, part.names, line)
            named: Any = () if isinstance(part.names, cst.ImportStar) else part.names
            of_names = [
                (str(dotted(a.asname.name if a.asname else a.name)), f"{source}.{dotted(a.name)}") for a in named
            ]
            self._other_package(source, line, of_names)
            if named:
                self.others |= {str(dotted(a.asname.name if a.asname else a.name)) for a in named}
            if source in names.PACKAGES:
                self.notes.add((line, source, names.PACKAGES[source], False))
                what = cst.Module([]).code_for_node(part).partition(" import ")[2]
                return [f"from {names.PACKAGES[source]} import {what}"]
        return None

    def _other_package(self, name: str, line: int, bound: list[tuple[str, str]]) -> None:
        """Note a package, which may find its framework by name or need PyTorch itself, and the names it binds."""
        package = name.partition(".")[0]
        self.packages.add(package)
        self.torch |= self._of_torch and package in self._beside
        if name in names.PACKAGES or package in names.BY_NAME or package in self._beside:
            return
        if todo := names.needs_torch(package):
            self.notes.add((line, f"import {name}", todo, True))
            if not self._tries and package not in names.START_WITHOUT_TORCH:
                made = [f'{local} = paddle.compat.missing("{full}", "{todo}")' for local, full in bound]
                self._absent.setdefault(line, []).extend(made)

    def _module(self, name: str, asname: Any, line: int) -> list[str]:
        if not names.is_foreign(name):
            return [f"import {name}" + (f" as {dotted(asname.name)}" if asname else "")]
        self.torch |= name.startswith("torch")
        local = str(dotted(asname.name)) if asname else name.split(".")[0]
        new = names.module_here(name) if asname else "paddle"
        self.bound[local] = name if asname else local
        if new is None and (rule := names.rule_for(name)) is not None and rule.new:
            self.modules[local], self._needed = rule.new, True
            return [f"{local} = {rule.new}"] if asname else [f"import {OWN} as paddle"]
        if new is None:
            self.notes.add((line, f"import {name}", names.todo_for(name), True))
            return [self._missing(local, name)] if asname else [f"import {OWN} as paddle"]
        if local in ("torch", "torchvision", "paddle"):
            return [f"import {OWN} as paddle"]
        self.modules[local] = new
        return [f"import {own(new)} as {local}"]

    def _names(self, source: str, imported: Any, line: int) -> list[str]:
        self.torch |= source.startswith("torch")
        if isinstance(imported, cst.ImportStar):
            self.notes.add((line, f"from {source} import *", "name what is imported", True))
            return [f"from {own(names.module_here(source) or source)} import *"]
        return _join_imports([self._name(source, a, line) for a in imported])

    def _name(self, source: str, alias: Any, line: int) -> str:
        name = alias.name.value
        local, full = str(dotted(alias.asname.name)) if alias.asname else name, f"{source}.{name}"
        self.bound[local] = full
        module = names.MODULES.get(full)
        rule = names.rule_for(full)
        if module is None and (rule is None or not rule.new or rule.new.startswith("{")):
            if full not in names.RULES:
                self.notes.add((line, full, names.todo_for(full), True))
                return self._missing(local, full)
            return f"import {OWN} as paddle"  # each call site says which name it is
        new = module or rule.new  # type: ignore[union-attr]
        if module or names.module_here(full):
            self.modules[local] = new
        parent, _, leaf = new.rpartition(".")
        self.notes.add((line, full, new, False))
        if names.module_here(parent) is None:  # a class, or an object with the names of a module
            self._needed = True
            return f"{local} = {new}"
        return f"from {own(parent)} import {leaf}" + (f" as {local}" if leaf != local else "")

    def _missing(self, local: str, full: str) -> str:
        """Return the statement in the place of the import of a name without counterpart, which may not be used."""
        if self._tries:
            return f'raise ImportError("there is no {full} here")'
        self._needed = True
        return f'{local} = paddle.compat.missing("{full}", "{names.todo_for(full)}")'

    def _is_static(self) -> bool:
        """Whether ops outside of fluid.dygraph.guard() make programs, as those of Paddle 1.x did."""
        return not self.switched and self.static and (self.programs or not self.dynamic)

    # -- asking ----------------------------------------------------------------------------------------------------
    def full(self, name: str) -> str | None:
        """Return the full name that a dotted name of the program refers to, if it is of a framework."""
        root, _, rest = name.partition(".")
        if root not in self.bound:
            return None
        full = self.bound[root] + (f".{rest}" if rest else "")
        self.static |= full.startswith("paddle.fluid.") and full.split(".")[2] in ("layers", "Executor", "data")
        self.programs |= full in ("paddle.fluid.Executor", "paddle.fluid.data", "paddle.fluid.layers.data")
        self.switched |= full == "paddle.enable_static"
        self.dynamic |= full.startswith("paddle.fluid.dygraph.guard")
        return full

    def written(self, name: str, new: str) -> str:
        """How the program reaches a name here, where it has written another one."""
        root, _, rest = name.partition(".")
        module = self.modules.get(root)
        if module is not None and new.startswith(module + "."):
            return root + new[len(module) :]
        if not rest and names.rule_for(self.bound[root]) is not None and names.rule_for(self.bound[root]).new == new:  # type: ignore[union-attr]
            return root  # its import gives it this name
        return self.reached(new)

    def reached(self, text: str) -> str:
        """Return a text that needs the name `paddle`."""
        self._needed = True
        return text

    # -- writing ---------------------------------------------------------------------------------------------------
    def replaced(self, line: int, original: Any, updated: Any) -> Any:
        """Return the statements in the place of an import, with its comments."""
        if self.torch and (texts := self._absent.pop(line, None)):
            self._statements[line], self._needed = texts, True
        if line not in self._statements or original.body != updated.body:
            return updated
        made: list[Any] = [cst.parse_statement(text) for text in self._statements.pop(line)]
        if not made:
            return cst.RemoveFromParent()
        if [m.body[0].deep_equals(u) for m, u in zip(made, updated.body, strict=False)] == [True] * len(made):
            return updated
        made[0] = made[0].with_changes(leading_lines=updated.leading_lines)
        made[-1] = made[-1].with_changes(trailing_whitespace=updated.trailing_whitespace)
        return cst.FlattenSentinel(made)

    def finished(self, module: cst.Module) -> cst.Module:
        """With what the program needs besides: `paddle` by that name, and static mode."""
        bound = f"import {OWN} as paddle" in module.code
        added = [f"import {OWN} as paddle"] if self._needed and not bound else []
        if self.torch and self.packages & names.BY_NAME:
            added = [f"import {OWN} as paddle", "paddle.install_as_paddle()  # by which other packages find it"]
        static = ["paddle.enable_static()"] if self._is_static() else []
        if static and not bound and not added:
            added = [f"import {OWN} as paddle"]
        body = list(module.body)
        last = max((i for i, s in enumerate(body) if _is_import(s)), default=-1)
        first = next(
            (i for i, s in enumerate(body) if _is_import(s) and "__future__" not in module.code_for_node(s)), 0
        )
        body[last + 1 : last + 1] = [cst.parse_statement(t) for t in static]
        body[first:first] = [cst.parse_statement(t) for t in added]
        return _without_repeats(module.with_changes(body=body))


def _join_imports(statements: list[str]) -> list[str]:
    """Imports from one module as one."""
    groups: dict[str, list[str]] = {}
    for text in statements:
        head, _, what = text.partition(" import ")
        groups.setdefault(head, []).append(what)
    return [f"{head} import {', '.join(dict.fromkeys(w))}" if w[0] else head for head, w in groups.items()]


def _is_import(statement: Any) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], cst.Import | cst.ImportFrom)


def _without_repeats(module: cst.Module) -> cst.Module:
    """Return each import of this package once."""
    seen: set[str] = set()
    body = []
    for s in module.body:
        text = module.code_for_node(s).strip() if _is_import(s) else ""
        if not (OWN in text and text in seen):
            body.append(s)
        seen.add(text)
    return module.with_changes(body=body)
