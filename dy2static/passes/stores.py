"""Stores to attributes and items go through the operators, so that a framework can see them.

Before:                             After:
    self.h = x                          ops.setattr_(self, "h", x)
    a, d["k"] = pair                    a, item = pair; ops.setitem_(d, "k", item)
    l += other                          if type(l) not in fixed: ops.augmenting(l)
                                        l += other
    d[i] += 1                           o = d; k = i; v = ops.augmented(o, k); v += 1; ops.setitem_(o, k, v)
    del d["k"]                          ops.delitem_(d, "k")
    global n; n = x                     ops.setitem_(ops.globals(), "n", x)
    nonlocal n; n = x                   ops.setitem_(later.closure, "n", x)     where `n` is not part of the conversion
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import gast

from ..names import Namer
from ..scope import expressions_within, places
from ..template import constant, expression, locate, name, statements
from .hoist import Statements

_PLACES = (gast.Attribute, gast.Subscript)
# What lists, sets and dicts do in place.
_IN_PLACE = (gast.Add, gast.Sub, gast.Mult, gast.BitOr, gast.BitAnd, gast.BitXor)


class Stores(Statements):
    """Rewrites the stores of one scope.

    Arguments:
        namer: makes names.
        globals_: the names declared global here.
        outer: the variables declared nonlocal here that are not part of the conversion.
    """

    def __init__(self, namer: Namer, globals_: Set[str], outer: Set[str]) -> None:
        super().__init__(namer)
        self.globals, self.outer = globals_, outer

    def _seen(self, target: Any) -> bool:
        """Whether the runtime sees a store to this target."""
        return isinstance(target, _PLACES) or (
            isinstance(target, gast.Name) and (target.id in self.globals or target.id in self.outer)
        )

    def visit_Assign(self, node: gast.Assign) -> Any:
        if not any(self._seen(part) for target in node.targets for part in places(target)):
            return node
        one = node.targets[0]
        if len(node.targets) == 1 and self._seen(one) and not expressions_within(one, (gast.Call,)):
            return [self._store(node.targets[0], node.value)]
        value = self.namer.new("assigned")
        out = statements("V = VALUE", node, V=value, VALUE=node.value)
        for target in node.targets:
            stores: list[gast.stmt] = []
            plain = self._plain(target, stores)
            value_again = name(value, node)
            if self._seen(target):
                out.append(self._store(target, value_again))
                continue
            assign = gast.Assign(targets=[plain], value=value_again, type_comment=None)
            out += [locate(assign, node), *stores]
        return out

    def _plain(self, target: Any, stores: list[gast.stmt]) -> Any:
        """Return the target with a temporary for each place; `stores` moves the temporaries there."""
        if self._seen(target):
            item = self.namer.new("item")
            stores.append(self._store(target, name(item, target)))
            return name(item, target, gast.Store())
        if isinstance(target, (gast.Tuple, gast.List)):
            target.elts = [self._plain(element, stores) for element in target.elts]
        elif isinstance(target, gast.Starred):
            target.value = self._plain(target.value, stores)
        return target

    def visit_AugAssign(self, node: gast.AugAssign) -> Any:
        target = node.target
        if not isinstance(target, _PLACES):
            return [*self._augmenting(target.id, node), node] if not self._seen(target) else self._augment(node)
        obj, key, value = (self.namer.new(purpose) for purpose in ("object", "key", "old"))
        out = statements("O = OBJECT", node, O=obj, OBJECT=target.value)
        if isinstance(target, gast.Subscript):
            out += statements("K = KEY", node, K=key, KEY=key_of(target.slice, self.namer.operators))
            again: Any = gast.Subscript(name(obj, node), name(key, node), gast.Load())
            place = expression("OPS.augmented(O, K)", node, OPS=self.namer.operators, O=obj, K=key)
        else:
            again = place = gast.Attribute(name(obj, node), target.attr, gast.Load())
        out += statements("V = PLACE", node, V=value, PLACE=locate(place, node))
        out += self._augmenting(value, node)
        out.append(locate(gast.AugAssign(name(value, node, gast.Store()), node.op, node.value), node))
        return [*out, self._store(again, name(value, node))]

    def _augment(self, node: gast.AugAssign) -> list[gast.stmt]:
        old = self.namer.new("old")
        out = [*statements("V = X", node, V=old, X=node.target.id), *self._augmenting(old, node)]
        out.append(locate(gast.AugAssign(name(old, node, gast.Store()), node.op, node.value), node))
        return [*out, self._store(node.target, name(old, node))]

    def _augmenting(self, variable: str, node: gast.AugAssign) -> list[gast.stmt]:
        """Tells the runtime of a value that may be changed in place; numbers are not."""
        by_number = isinstance(node.value, gast.Constant) and isinstance(node.op, (gast.Add, gast.Sub))
        if by_number or not isinstance(node.op, _IN_PLACE):
            return []
        helpers = self.namer.helpers
        names = {"TYPE": helpers["type"], "FIXED": helpers["fixed"], "OPS": self.namer.operators}
        return statements("if TYPE(X) not in FIXED:\n    OPS.augmenting(X)", node, X=variable, **names)

    def visit_Delete(self, node: gast.Delete) -> Any:
        return [self._delete(target) for target in node.targets]

    def _delete(self, target: Any) -> gast.stmt:
        if not isinstance(target, _PLACES):
            return locate(gast.Delete(targets=[target]), target)
        return self._call(target, "delattr_", "delitem_")

    def _store(self, target: Any, value: gast.expr) -> gast.stmt:
        return self._call(target, "setattr_", "setitem_", value)

    def _call(self, target: Any, attribute: str, item: str, *value: gast.expr) -> gast.stmt:
        owner: Any
        if isinstance(target, gast.Name):
            form = "OPS.globals()" if target.id in self.globals else "LATER.closure"
            owner = expression(form, target, OPS=self.namer.operators, LATER=self.namer.helpers["later"])
            method, key = item, constant(target.id, target)
        elif isinstance(target, gast.Attribute):
            owner, method, key = target.value, attribute, constant(target.attr, target)
        else:
            owner, method, key = target.value, item, key_of(target.slice, self.namer.operators)
        call = expression(f"OPS.{method}(O, K)", target, OPS=self.namer.operators, O=owner, K=key)
        call.args += value
        return locate(gast.Expr(value=call), target)


def key_of(key: Any, operators: str) -> Any:
    """Return a subscript as a value: `a:b` is `slice(a, b)`."""
    if isinstance(key, gast.Slice):
        none = expression("None", key if hasattr(key, "lineno") else key.lower or key.upper)
        return expression("OPS.slice(A, B, C)", none, OPS=operators, A=key.lower or none, B=key.upper or none,
                          C=key.step or none)  # fmt: skip
    if isinstance(key, gast.Tuple):
        elements = [key_of(element, operators) for element in key.elts]
        return locate(gast.Tuple(elements, gast.Load()), key)
    return key
