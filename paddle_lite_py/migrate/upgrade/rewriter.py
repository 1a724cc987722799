"""Rewrites the text of a program; comments and layout stay."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from . import augmented, builtins, methods, names, rates
from .calls import DRAW, drawn_with, is_function, is_of_tensors, named, of_sizes, renamed, without
from .imports import Imports, dotted
from .rule import Misfit, apply_rule, as_function, code, filled
from .torch_rules import (
    AS_CALLED,
    AS_FUNCTIONS,
    CONSTANTS,
    DRAWN,
    DRAWN_METHODS,
    LEFT_OUT,
    LOADED,
    METHODS_TODO,
    NEVER,
    OF_SCRIPTS,
    OTHER_ATTRIBUTES,
    OTHER_METHODS,
    PAIRS,
)

_CLASSES = "torch.serialization.safe_globals"  # which classes a file may hold


class Note(NamedTuple):
    """Something that was changed, or that is left to do."""

    line: int
    old: str
    new: str
    todo: bool = False

    def __str__(self) -> str:
        return (
            f"line {self.line}: {self.old}: {self.new}" if self.todo else f"line {self.line}: {self.old} -> {self.new}"
        )


class Upgraded(NamedTuple):
    """A program that was rewritten."""

    text: str
    notes: list[Note]


def upgrade(text: str, beside: Container[str] = (), of_torch: bool = False) -> Upgraded:
    """Rewrite a program of Paddle 1.x, Paddle 2.x or PyTorch.

    Arguments:
        text: the program.
        beside: names of modules that are rewritten with it, which are no packages of others.
        of_torch: whether some of them import torch: a program that takes names from them has tensors of torch.

    Raises:
        libcst.ParserSyntaxError: if it is no Python.

    Examples:
        >>> print(upgrade("import torch  # numbers\\nx = torch.zeros(2)").text)
        import paddle_lite_py as paddle  # numbers
        x = paddle.zeros(2)
    """
    wrapper = MetadataWrapper(cst.parse_module(text))
    imports = Imports(beside, of_torch)
    wrapper.visit(imports)
    shared = augmented.TensorNames()
    wrapper.visit(shared)
    made = wrapper.visit(Rewriter(imports, shared))
    notes = sorted({*imports.notes})
    return Upgraded(imports.finished(made).code, [Note(*n) for n in notes])


class Rewriter(cst.CSTTransformer):
    """Puts names of this package in the place of others."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, imports: Imports, shared: augmented.TensorNames) -> None:
        super().__init__()
        self.imports = imports
        self._augmented = augmented.Assignments(shared, self.told, imports.reached)
        self._inner: set[cst.CSTNode] = set()  # parts of a longer name
        self._called: set[cst.CSTNode] = set()
        self._named: set[cst.CSTNode] = set()  # classes in annotations and isinstance(), which are not called
        self._callees: set[cst.CSTNode] = set()
        self._aliases: set[cst.CSTNode] = set()  # what gets a name, as a module may: D = torch.distributions
        self.masks: set[cst.CSTNode] = set()  # what is between brackets
        self._targets: set[cst.CSTNode] = set()  # what is assigned to
        self._statements: set[cst.CSTNode] = set()  # calls whose result is not used: list.sort()

    def _line(self, node: cst.CSTNode) -> int:
        return self.get_metadata(PositionProvider, node).start.line

    def told(self, node: cst.CSTNode, old: str, new: str, todo: bool = False) -> None:
        """Note what was changed, or is left to do, and its line."""
        self.imports.notes.add((self._line(node), old, new, todo))

    # -- names -----------------------------------------------------------------------------------------------------
    def visit_Arg(self, node: cst.Arg) -> bool:
        if node.keyword is not None:
            self._inner.add(node.keyword)
        return node.keyword is None or node.keyword.value != "memory_format" or not self.imports.torch

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        name, full = original_node.value, self.imports.bound.get(original_node.value)
        if original_node in self._inner or full is None or name in self.imports.assigned:
            return updated_node
        if full.startswith("torch.optim.") and not {original_node} & (self._called | self._named):
            other = names.in_compat(full)  # a class that something else calls
            return self._written(original_node, updated_node, name, other) if other else updated_node
        if full != name or name not in ("torch", "torchvision"):
            return updated_node
        self.told(original_node, name, "paddle")  # the module itself: hasattr(torch, "compile")
        return cst.parse_expression(self.imports.reached("paddle"))

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self._inner.add(node.attr)
        if node not in self._inner and (name := dotted(node)) and self.imports.full(name):
            part: Any = node.value
            while isinstance(part, cst.Attribute | cst.Name):
                self._inner.add(part)
                part = getattr(part, "value", None)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        if original_node in self._inner or original_node in self._called:
            return updated_node
        if self.imports.torch and original_node.attr.value in NEVER:
            self.told(original_node, f".{original_node.attr.value}", "False")
            return cst.Name("False")
        name = dotted(original_node)
        if self.imports.torch and original_node.attr.value in ("real", "imag") and original_node not in self._callees:
            return self._part(original_node, updated_node)
        if self.imports.torch and (other := OTHER_ATTRIBUTES.get(original_node.attr.value)):
            self.told(original_node, f".{original_node.attr.value}", f".{other}")
            return updated_node.with_changes(attr=cst.Name(other))
        if self.imports.torch and original_node.attr.value == "is_sparse" and original_node not in self._callees:
            self.told(original_node, ".is_sparse", ".is_sparse()")
            return cst.Call(updated_node)
        full = self.imports.full(name) if name else None
        if full in CONSTANTS:
            self.told(original_node, str(name), CONSTANTS[full])
            return cst.Name(CONSTANTS[full])
        return updated_node if full is None else self._renamed(original_node, updated_node, str(name), full)

    def _part(self, node: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        """Return the real or the imaginary part of a tensor."""
        part, function = node.attr.value, self.imports.reached(f"paddle.compat.{node.attr.value}")
        if node in self._targets or str(dotted(node)).partition(".")[0] in self.imports.others:
            return updated
        self.told(node, f".{part}", f"{function}(...)")
        return cst.Call(cst.parse_expression(function), [cst.Arg(updated.value)])

    def _is_other(self, name: str, full: str) -> bool:
        """Whether a name that a module has is one of something else that the program calls by that name."""
        return name.partition(".")[0] in self.imports.assigned and full not in names.TODO and "." in name

    def _renamed(self, node: Any, updated: Any, name: str, full: str) -> Any:
        rule = names.rule_for(full)
        if rule is None and (module := names.MODULES.get(full)) and node in self._aliases:
            return self._written(node, updated, name, module)
        if rule is None and self._is_other(name, full):
            return updated
        if full == "torch.device" and node in self._named:
            return self._written(node, updated, name, "paddle.device.Device")
        if rule is not None and rule.template and node not in self._named:
            made = self.imports.reached(as_function(rule))
            self.told(node, name, made)
            return cst.parse_expression(made)
        if rule is None or not rule.new or rule.template or rule.new.startswith("{"):
            self.told(node, name, names.todo_for(full), True)
            return updated
        if rule.order and node not in self._named and (other := names.in_compat(full)):
            return self._written(node, updated, name, other)  # a class that something else calls
        in_order = not rule.order or rule.names == AS_CALLED
        if (not in_order and node not in self._named) or rule.todo:
            self.told(node, name, rule.todo or "its arguments differ here; it is not called where it is named", True)
        return self._written(node, updated, name, rule.new)

    def _written(self, node: Any, updated: Any, name: str, new: str, tell: bool = True) -> Any:
        text = self.imports.written(name, new)
        if text == name:
            return updated
        if tell:
            self.told(node, name, text)
        return cst.parse_expression(text)

    def visit_Annotation(self, node: cst.Annotation) -> None:
        self._name_parts(node)

    def _name_parts(self, node: cst.CSTNode) -> None:
        self._named.add(node)
        for part in node.children:
            self._name_parts(part)

    # -- imports ---------------------------------------------------------------------------------------------------
    def visit_Import(self, _node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, _node: cst.ImportFrom) -> bool:
        return False

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return not self._is_of_backends(node.body[0])

    def leave_SimpleStatementLine(self, original_node: Any, updated_node: Any) -> Any:
        first = original_node.body[0]
        if checked := builtins.assertion(self.imports, self.told, first, updated_node):
            return checked
        if self._is_of_backends(first):
            self.told(first, code(first), "left out: XLA chooses its kernels and threads")
            return cst.RemoveFromParent()
        return self.imports.replaced(self._line(original_node), original_node, updated_node)

    def leave_Decorator(self, original_node: cst.Decorator, updated_node: cst.Decorator) -> Any:
        node = original_node.decorator
        name = dotted(node.func if isinstance(node, cst.Call) else node)
        if not name or self.imports.full(name) not in OF_SCRIPTS:
            return updated_node
        self.told(original_node, f"@{name}", "left out: there is no TorchScript")
        self._forget(original_node, name)
        return cst.RemoveFromParent()

    def _forget(self, node: cst.CSTNode, name: str) -> None:
        """Remove what was told of a name on a line, which is left out."""
        line = self._line(node)
        self.imports.notes = {n for n in self.imports.notes if n[:2] != (line, name) or not n[3]}

    def _is_of_backends(self, node: Any) -> bool:
        if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call) and (name := dotted(node.value.func)):
            return self.imports.full(name) in LEFT_OUT
        name = dotted(node.targets[0].target) if isinstance(node, cst.Assign) else None
        return name is not None and str(self.imports.full(name)).startswith("torch.backends.")

    # -- rates -----------------------------------------------------------------------------------------------------
    def visit_Assign(self, node: cst.Assign) -> None:
        if isinstance(node.targets[0].target, cst.Name):
            self._aliases.add(node.value)

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> Any:
        call, target = original_node.value, dotted(original_node.targets[0].target)
        name = dotted(call.func) if isinstance(call, cst.Call) else None
        if name and self.imports.full(name) == "torch.load" and target in self.imports.layers:
            self.told(original_node, f"{target} = {name}(...)", LOADED, True)
        return rates.assigned(updated_node, self.told, original_node)

    def leave_AugAssign(self, original_node: cst.AugAssign, updated_node: cst.AugAssign) -> Any:
        made = rates.augmented(updated_node, self.told, original_node)
        if made is not updated_node or not self.imports.torch:
            return made
        return self._augmented.in_place(updated_node, original_node)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._augmented.scopes.append(node)

    def leave_FunctionDef(self, _original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        del self._augmented.scopes[-1]
        return updated_node

    def visit_For(self, node: cst.For) -> None:
        self._augmented.loops += augmented.names_in(node.target)

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> Any:
        loops = self._augmented.loops
        del loops[len(loops) - len(augmented.names_in(original_node.target)) :]
        return rates.looped(updated_node, self.told, original_node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        self.masks.update(e.slice.value for e in node.slice if isinstance(e.slice, cst.Index))

    def leave_Subscript(self, original_node: cst.Subscript, updated_node: cst.Subscript) -> Any:
        return rates.read(updated_node, self.told, original_node)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> bool:
        self._targets.add(node.target)
        return rates.optimizer_of(node.target) is None

    # -- calls -----------------------------------------------------------------------------------------------------
    def visit_Expr(self, node: cst.Expr) -> None:
        self._statements.add(node.value)

    def visit_Call(self, node: cst.Call) -> bool:
        name = dotted(node.func)
        self._callees.add(node.func)
        if name in ("hasattr", "getattr"):  # which ask a module: hasattr(torch.backends, "mps")
            self._aliases.update([a.value for a in node.args[:1]])
        if name in ("isinstance", "issubclass"):
            self._name_parts(node)
        full = self.imports.full(name) if name else None
        if full:
            self._called.add(node.func)
        return full != _CLASSES

    def leave_With(self, original_node: cst.With, updated_node: cst.With) -> Any:
        call = original_node.items[0].item
        name = dotted(call.func) if isinstance(call, cst.Call) else None
        if len(original_node.items) > 1 or not name or self.imports.full(name) != _CLASSES:
            return updated_node
        self.told(original_node, str(name), "left out: files hold no classes")
        return cst.FlattenSentinel(updated_node.body.body)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> Any:
        name = dotted(original_node.func)
        full = self.imports.full(name) if name else None
        updated_node = self._without_layout(original_node, updated_node)
        if full is None:
            if special := {"next": builtins.next_of, "getattr": builtins.getattr_of}.get(str(name)):
                return special(self.imports, self.told, original_node, updated_node)
            return self._method(original_node, updated_node)
        if full == _CLASSES or full == "torch._assert":
            return updated_node  # left out with its block, or written as a statement
        if full in CONSTANTS:
            self.told(original_node, str(name), CONSTANTS[full])
            return cst.Name(CONSTANTS[full])
        rule = names.rule_for("torch.FloatTensor" if full == "torch.Tensor" else full)
        if rule is None and self._is_other(str(name), full):
            return self._method(original_node, updated_node)
        if rule is None:
            self.told(original_node, str(name), names.todo_for(full), True)
            return updated_node
        if rule.new == "{0}" and updated_node.args:
            self.told(original_node, str(name), "its argument")
            return updated_node.args[0].value
        if full == "torch.save" and original_node.args and dotted(original_node.args[0].value) in self.imports.layers:
            layer = updated_node.args[0]
            state = cst.parse_expression(f"{code(layer.value)}.state_dict()")
            self.told(original_node, code(original_node.args[0].value), code(state))
            updated_node = updated_node.with_changes(args=[layer.with_changes(value=state), *updated_node.args[1:]])
        return self._call(original_node, updated_node, str(name), rule)

    def _without_layout(self, node: cst.Call, updated: cst.Call) -> cst.Call:
        """Return a call without memory_format: XLA chooses the layout of arrays."""
        layout = named(updated, "memory_format")
        if not self.imports.torch or layout is None:
            return updated
        self.told(node, "memory_format", "left out: XLA chooses the layout of arrays")
        return without(updated, layout)

    def _call(self, node: cst.Call, updated: cst.Call, name: str, rule: Any) -> cst.BaseExpression:
        full = str(self.imports.full(name))
        if (full in DRAWN or full.startswith("torch.nn.init.")) and (generator := named(updated, "generator")):
            self.told(node, name, "paddle.compat.drawn(...)")
            return drawn_with(
                self.imports.reached(DRAW), self._call(node, without(updated, generator), name, rule), generator
            )
        try:
            if rule.template:
                text = self.imports.reached(filled(rule, updated.args))
                self.told(node, " ".join(code(node).split()), text)
                return cst.parse_expression(f"({text})")
            new, args, after = apply_rule(rule, updated.args)
        except Misfit as e:
            if any(a.star == "*" for a in updated.args) and not any(a.keyword for a in updated.args):
                if names.keeps_order(rule):
                    return self._call(node, updated, name, rule._replace(order="", names={}))
            self.told(node, name, f"{e}; compare with {rule.new or 'its successor'}", True)
            return updated
        if rule.todo:
            self.told(node, name, rule.todo, True)
        same = [code(a) for a in args] == [code(a) for a in updated.args]
        if not same:
            updated = updated.with_changes(args=args)
        made: Any = updated.with_changes(func=self._written(node, updated.func, name, new, same))
        if not same:
            self.told(node, " ".join(code(node).split()), " ".join(code(made).split()))
        if after:
            self.told(node, name, after.format(f"{new}(...)"))
            made = cst.parse_expression(self.imports.reached(after).format(code(made)))
        return made

    def _method(self, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return a method of a tensor or module of PyTorch."""
        if not self.imports.torch or not isinstance(updated.func, cst.Attribute):
            return updated
        method, owner = updated.func.attr.value, updated.func.value
        if str(dotted(owner)).partition(".")[0] in self.imports.others:
            return updated  # a function of another package
        if (
            is_function(method, updated, owner)
            or (method in PAIRS and (updated.args or (method == "sort" and node not in self._statements)))
            or (method == "split" and of_sizes(updated))
            or is_of_tensors(method, updated)
        ):
            return self.as_function(node, updated, AS_FUNCTIONS.get(method, f"paddle.compat.{method}"))
        if method in DRAWN_METHODS and (generator := named(updated, "generator")):
            self.told(node, f".{method}(...)", "paddle.compat.drawn(...)")
            return drawn_with(self.imports.reached(DRAW), self._method(node, without(updated, generator)), generator)
        if method.endswith("_") and isinstance(owner, cst.Attribute) and owner.attr.value == "grad":
            self.told(node, f".grad.{method}(...)", f".grad.detach().{method}(...)")
            detached = cst.Call(cst.Attribute(owner, cst.Name("detach")))
            return updated.with_changes(func=updated.func.with_changes(value=detached))
        if method == "where" and len(updated.args) == 2:
            self.told(node, ".where(...)", "paddle.where(..., ..., ...)")
            condition, other = updated.args
            function = cst.parse_expression(self.imports.reached("paddle.where"))
            comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            return cst.Call(function, [condition.with_changes(keyword=None), cst.Arg(owner, comma=comma), other])
        if method in METHODS_TODO:
            self.told(node, f".{method}(...)", METHODS_TODO[method], True)
            return updated
        if method in OTHER_METHODS:
            self.told(node, f".{method}(...)", f".{OTHER_METHODS[method]}(...)")
            return updated.with_changes(func=updated.func.with_changes(attr=cst.Name(OTHER_METHODS[method])))
        return methods.renamed_method(self, node, updated, method, owner)

    def as_function(self, node: cst.Call, updated: Any, function: str) -> cst.Call:
        """Return a method as a call of a function, whose first argument is the tensor."""
        self.told(node, f".{updated.func.attr.value}(...)", f"{function}(..., ...)")
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")) if updated.args else cst.MaybeSentinel.DEFAULT
        called = cst.parse_expression(self.imports.reached(function))
        args = renamed(updated.args, "split_size", "split_size_or_sections")
        return cst.Call(called, [cst.Arg(updated.func.value, comma=comma), *args])
