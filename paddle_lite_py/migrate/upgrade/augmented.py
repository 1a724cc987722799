"""Assignments such as `p -= step`: PyTorch changes the tensor, which here would be replaced by another one."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from .rule import code

_TEXTS = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)
_OF_PYTHON = (*_TEXTS, cst.Integer, cst.Float, cst.List, cst.Dict, cst.Set, cst.ListComp, cst.DictComp, cst.SetComp,
              cst.Comparison, cst.BooleanOperation)  # fmt: skip
_PYTHON_TYPES = {"int", "float", "str", "bool", "list", "dict", "List", "Dict", "List[int]", "List[str]"}
# Methods whose result may be their tensor, or a part of it.
_VIEWS = frozenset(
    "contiguous cpu cuda detach double expand expand_as flatten float half movedim narrow permute "
    "requires_grad_ reshape select squeeze swapaxes t to transpose type_as unfold unsqueeze view view_as".split()
)  # fmt: skip
_COPIED = frozenset(["chunk", "split", "tensor_split", "unbind"])  # views there, copies here
_HOLDERS = ("add", "append", "appendleft", "extend", "insert", "put", "register_buffer")


def names_in(target: cst.BaseExpression) -> list[str]:
    """Return the names that a loop binds."""
    if isinstance(target, cst.Tuple | cst.List):
        return [name for e in target.elements for name in names_in(e.value)]
    return [target.value] if isinstance(target, cst.Name) else []


class TensorNames(cst.CSTVisitor):
    """The names of each function, and of the program outside of them, whose tensors may have other names too.

    These are arguments, what is assigned from a name, an attribute or an element, parts of other tensors, and what
    something else was made to hold.
    """

    def __init__(self) -> None:
        self.names: dict[cst.CSTNode | None, set[str]] = {}
        self.copies: dict[cst.CSTNode | None, set[str]] = {}  # names of parts that are no views here
        self._inside: list[cst.CSTNode | None] = [None]
        self._scopes: list[tuple[set[str], set[str]]] = [(set(), set())]  # shared names, and those of Python's values

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._inside.append(node)
        self._scopes.append((set(), set()))
        shared, plain = self._scopes[-1]
        given = node.params
        for p in (*given.posonly_params, *given.params, *given.kwonly_params):
            hint = code(p.annotation.annotation) if p.annotation is not None else ""
            is_plain = hint in _PYTHON_TYPES or isinstance(p.default, _OF_PYTHON)
            (plain if is_plain else shared).add(p.name.value)

    def leave_FunctionDef(self, original_node: cst.FunctionDef) -> None:
        del self._inside[-1]
        shared, plain = self._scopes.pop()
        self.names[original_node] = shared - plain

    def leave_Module(self, _node: cst.Module) -> None:
        shared, plain = self._scopes[0]
        self.names[None] = shared - plain

    def visit_Assign(self, node: cst.Assign) -> None:
        targets = [t.target for t in node.targets]
        for target in targets:
            self._assign(target, node.value)
        if len(targets) > 1 and not isinstance(node.value, _OF_PYTHON):
            self._scopes[-1][0].update(t.value for t in targets if isinstance(t, cst.Name))

    def _assign(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        if isinstance(target, cst.Tuple | cst.List):
            of_each = value.elements if isinstance(value, cst.Tuple | cst.List) else ()
            if len(of_each) == len(target.elements):
                for t, v in zip(target.elements, of_each, strict=True):
                    self._assign(t.value, v.value)
            elif isinstance(value, cst.Call) and code(value.func).rpartition(".")[2] in _COPIED:
                self.copies.setdefault(self._inside[-1], set()).update(names_in(target))
            return
        shared, plain = self._scopes[-1]
        self._hold(value)
        if isinstance(target, cst.Name) and isinstance(value, _OF_PYTHON):
            plain.add(target.value)
        elif isinstance(target, cst.Name) and _may_be_part(value):
            shared.add(target.value)

    def _hold(self, value: cst.BaseExpression) -> None:
        """Note the names whose tensors a value is, or holds."""
        if isinstance(value, cst.Name):
            self._scopes[-1][0].add(value.value)
        elif isinstance(value, cst.Tuple | cst.List):
            for element in value.elements:
                self._hold(element.value)

    def visit_Call(self, node: cst.Call) -> None:
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in _HOLDERS:
            for arg in node.args:
                self._hold(arg.value)


def _may_be_part(value: cst.BaseExpression) -> bool:
    """Return whether the tensor that an expression gives may have another name, or share its elements."""
    if isinstance(value, cst.IfExp):
        return _may_be_part(value.body) or _may_be_part(value.orelse)
    if isinstance(value, cst.Call):
        method = value.func.attr.value if isinstance(value.func, cst.Attribute) else ""
        return method in _VIEWS or (method.endswith("_") and not method.endswith("__"))
    return isinstance(value, cst.Name | cst.Attribute | cst.Subscript)


class Assignments:
    """Rewrites the augmented assignments of a program."""

    def __init__(self, shared: TensorNames, told: Callable[..., None], reached: Callable[[str], str]) -> None:
        self._shared, self._told, self._reached = shared, told, reached
        self.scopes: list[cst.CSTNode | None] = [None]  # the functions around a place
        self.loops: list[str] = []  # names that the loops around a place bind

    def in_place(self, updated: cst.AugAssign, node: cst.CSTNode) -> cst.AugAssign | cst.Assign:
        """Rewrite the assignment if its tensor is known by other names, or a step of a parameter."""
        scope, target = self.scopes[-1], code(updated.target)
        of_parameter = ".grad" in code(node.value) and isinstance(updated.target, cst.Name)  # type: ignore[attr-defined]
        operation = code(updated.operator).strip()
        if target in self._shared.copies.get(scope, ()):
            advice = "the parts that chunk(), split() and unbind() return are copies here: write into the whole tensor"
            self._told(node, f"{target} {operation} ...", advice, True)
        held = target in self.loops or target in self._shared.names[scope] or of_parameter
        if not held or isinstance(updated.value, _TEXTS):
            return updated
        made = self._reached(f'paddle.compat.augmented({target}, "{operation}", {code(updated.value)})')
        self._told(node, f"{target} {operation} ...", f"{target} = {made}")
        return cst.Assign([cst.AssignTarget(updated.target)], cst.parse_expression(made))
