"""Boolean operators, comparisons in a chain, `not` and the ternary operator decide by value.

Before:                             After (`v` is a temporary):
    a and b                             b if (v := a) is True or v is not False and (t := ops.test(v)) is True
                                        else v if v is False or t is False else ops.and_(v, lambda: b)
    not a                               not v if (v := a) is True or v is False or ... else ops.not_(v)
    a < f(x) < b                        a < (m := f(x)) and m < b, then as above
    b if a else c                       b if (v := a) is True or ... else c if v is False else ops.if_exp(v, ...)

Most tests are plain booleans: for them, no function is made or called. Operands which are Python booleans by their
form (`x is None`) stay as they are. A lambda is given the variables that it reads, see the lift pass.
"""

from __future__ import annotations

from typing import Any

import gast

from ..facts import Facts
from ..names import Namer
from ..notes import Connective, Notes
from ..options import Options
from ..template import constant, declare, expression, locate, statements
from .decide import is_python
from .hoist import Hoist
from .lift import thunk
from .stores import key_of

_TRUE = "(V := LEFT) is True or V is not False and (T := not not V if TYPE(V) in PLAIN else OPS.test(V)) is True"
_AND = f"RIGHT if {_TRUE} else V if V is False or T is False else OPS.and_(V, THUNK)"
_OR = f"V if {_TRUE} else RIGHT if V is False or T is False else OPS.or_(V, THUNK)"
_NOT = "(not V) if (V := LEFT) is True or V is False or TYPE(V) in PLAIN else OPS.not_(V)"
_IN = "X in V if TYPE(V := C) in SETS else OPS.contains(X, V)"
_IF = f"BODY if {_TRUE.replace('T :', 'V :')} else ORELSE if V is False else OPS.if_exp(V, THUNK, OTHER)"


class Expressions(Hoist):
    """Rewrites the expressions of one scope.

    Arguments:
        namer: makes temporaries.
        notes: on the nodes.
        facts: on the function.
        uncertain: the identities of the names whose reads are checked.
        options: what the code is made for.
    """

    def __init__(self, namer: Namer, notes: Notes, facts: Facts, uncertain: set[int], options: Options) -> None:
        super().__init__(namer, facts.globals)
        self.notes = notes
        self.fast, self.texts, self.properties = options.fast, options.texts, options.properties
        self.plain = set(facts.plain)  # what a thunk may be given by value
        self.uncertain = uncertain
        self._short: dict[gast.expr, gast.expr] = {}  # for an expression made here, the form for use in a thunk

    def visit_Name(self, node: gast.Name) -> Any:
        if id(node) in self.uncertain:
            return expression("OPS.load(X)", node, OPS=self.namer.operators, X=node)
        return node

    def visit_If(self, node: Any) -> Any:
        if self.notes.guards.get(node):
            node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            return node
        return self.generic_visit(node)

    def visit_BoolOp(self, node: gast.BoolOp) -> Any:
        if all(map(self._is_python, node.values[:-1])) or not self._movable(node.values[1:]):
            return self.generic_visit(node)
        template = _AND if isinstance(node.op, gast.And) else _OR
        values = [self.visit(value) for value in node.values]
        result = values[-1]
        for value in values[-2::-1]:
            result = self._binary(template, value, result, node)
        return result

    def _binary(self, template: str, left: gast.expr, right: gast.expr, at: gast.AST) -> gast.expr:
        thunk, handed = self._thunk(right)
        call = "OPS.and_(LEFT, THUNK)" if template is _AND else "OPS.or_(LEFT, THUNK)"
        short = expression(call, at, OPS=self.namer.operators, LEFT=self.short(left), THUNK=thunk)
        long = self._make(template, at, LEFT=left, RIGHT=right, THUNK=handed)
        self.notes.connectives[long] = Connective("and" if template is _AND else "or", left, right, handed)
        return self._both(long, short)

    def visit_UnaryOp(self, node: gast.UnaryOp) -> Any:
        if not isinstance(node.op, gast.Not) or self._is_python(node):
            return self.generic_visit(node)
        operand = self.visit(node.operand)
        short = expression("OPS.not_(X)", node, OPS=self.namer.operators, X=self.short(operand))
        long = self._make(_NOT, node, LEFT=operand)
        self.notes.connectives[long] = Connective("not", operand)
        return self._both(long, short)

    def visit_IfExp(self, node: gast.IfExp) -> Any:
        if self._is_python(node.test) or not self._movable([node.body, node.orelse]):
            return self.generic_visit(node)
        test, body, orelse = self.visit(node.test), self.visit(node.body), self.visit(node.orelse)
        (thunk, handed), (other, other_handed) = self._thunk(body), self._thunk(orelse)
        short = expression("OPS.if_exp(TEST, THUNK, OTHER)", node, OPS=self.namer.operators, TEST=self.short(test),
                           THUNK=thunk, OTHER=other)  # fmt: skip
        long = self._make(_IF, node, LEFT=test, BODY=body, ORELSE=orelse, THUNK=handed, OTHER=other_handed)
        return self._both(long, short)

    def visit_Compare(self, node: gast.Compare) -> Any:
        if self._is_python(node):
            return self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], gast.NotIn):
            node.ops = [gast.In()]
            return self.visit(locate(gast.UnaryOp(gast.Not(), node), node))
        if len(node.ops) == 1 and isinstance(node.ops[0], gast.In):
            return self._contains(self.generic_visit(node))
        if len(node.ops) == 1 and isinstance(node.ops[0], (gast.Eq, gast.NotEq)) and _are_listed(node):
            return self._equal(self.generic_visit(node))
        if len(node.ops) == 1 or not self._movable(node.comparators):
            return self.generic_visit(node)
        left, links = self.visit(node.left), []
        for op, operand in zip(node.ops, node.comparators, strict=True):
            right, again = self._twice(self.visit(operand), operand is node.comparators[-1])
            links.append(self._link(locate(gast.Compare(left=left, ops=[op], comparators=[right]), node)))
            left = again
        result: gast.expr = links[-1]
        for link in links[-2::-1]:
            result = self._binary(_AND, link, result, node)
        return result

    def _equal(self, node: gast.Compare) -> gast.expr:
        """Return a comparison of what is written as a list or tuple, whose items may be unknown sizes."""
        found = expression("OPS.equal(X, Y)", node, OPS=self.namer.operators, X=node.left, Y=node.comparators[0])
        if isinstance(node.ops[0], gast.Eq):
            return found
        return expression("OPS.not_(X)", node, OPS=self.namer.operators, X=found)

    def _link(self, node: gast.Compare) -> gast.expr:
        """Return one comparison of a chain, whose operands have been rewritten."""
        if not isinstance(node.ops[0], (gast.In, gast.NotIn)):
            return node
        found = self._contains(node)
        return found if isinstance(node.ops[0], gast.In) else expression("OPS.not_(X)", node, OPS=self.namer.operators,
                                                                         X=found)  # fmt: skip

    def _contains(self, node: gast.Compare) -> gast.expr:
        item, (container,) = node.left, node.comparators
        short = expression("OPS.contains(X, C)", node, OPS=self.namer.operators, X=item, C=container)
        if not isinstance(item, (gast.Name, gast.Constant)):
            return short
        return self._both(self._make(_IN, node, X=item, C=container), short)

    def visit_JoinedStr(self, node: gast.JoinedStr) -> Any:
        if not self.texts:
            return self.generic_visit(node)
        text: Any = expression("OPS.text()", node, OPS=self.namer.operators)
        text.args = [self._text_part(part) for part in node.values]
        return text

    def visit_BinOp(self, node: gast.BinOp) -> Any:
        self.generic_visit(node)
        text = isinstance(node.left, gast.Constant) and isinstance(node.left.value, str)
        if not self.texts or not text or not isinstance(node.op, gast.Mod):
            return node
        return expression("OPS.percent(T, X)", node, OPS=self.namer.operators, T=node.left, X=node.right)

    def _text_part(self, part: Any) -> Any:
        if not isinstance(part, gast.FormattedValue):
            return part
        spec = constant("", part) if part.format_spec is None else self.visit(part.format_spec)
        value = self.visit(part.value)
        return locate(gast.Tuple([value, constant(part.conversion, value), spec], gast.Load()), value)

    def visit_Attribute(self, node: gast.Attribute) -> Any:
        self.generic_visit(node)
        if not self.properties or not isinstance(node.ctx, gast.Load) or self._is_operators(node.value):
            return node
        return expression("OPS.attr(X, NAME)", node, OPS=self.namer.operators, X=node.value,
                          NAME=constant(node.attr, node))  # fmt: skip

    def visit_Subscript(self, node: gast.Subscript) -> Any:
        self.generic_visit(node)
        if not self.properties or not isinstance(node.ctx, gast.Load):
            return node
        return expression("OPS.subscript(X, K)", node, OPS=self.namer.operators, X=node.value,
                          K=key_of(node.slice, self.namer.operators))  # fmt: skip

    def visit_With(self, node: Any) -> Any:
        self.generic_visit(node)
        for item in node.items if self.properties else ():
            manager = item.context_expr
            item.context_expr = expression("OPS.context(X)", manager, OPS=self.namer.operators, X=manager)
        return node

    def _is_python(self, node: gast.expr) -> bool:
        return is_python(node, self.notes)

    def _is_operators(self, node: gast.expr) -> bool:
        return isinstance(node, gast.Name) and self.namer.made(node.id)

    def _twice(self, value: gast.expr, last: bool) -> tuple[gast.expr, gast.expr]:
        """Return the value, and an expression that gives it again."""
        if last or isinstance(value, (gast.Name, gast.Constant)):
            return value, value
        temporary = self.namer.new("middle")
        self.plain.add(temporary)
        return (expression("(M := X)", value, M=temporary, X=value), expression("M", value, M=temporary))

    def short(self, node: gast.expr) -> gast.expr:
        """Return the form of a rewritten expression that calls the operators at once: smaller, for staged code."""
        return self._short.get(node, node)

    def _both(self, long: gast.expr, short: gast.expr) -> gast.expr:
        if not self.fast:
            return short
        self._short[long] = short
        return long

    def _make(self, template: str, at: gast.AST, **holes: gast.expr) -> gast.expr:
        helpers = {key: self.namer.helpers[key.lower()] for key in ("OPS", "TYPE", "PLAIN", "SETS")}
        return expression(template, at, V=self.namer.value, T=self.namer.truth, **helpers, **holes)

    def _thunk(self, node: gast.expr) -> tuple[gast.expr, gast.expr]:
        """Return the operand as a function, and the same function, given the variables that it reads."""
        short = self.short(node)
        written = sorted(_user_walrus(short, self.namer))
        if not written:
            unsure = {n.id for n in gast.walk(short) if id(n) in self.uncertain}
            return expression("lambda: X", node, X=short), thunk(short, self.plain - unsure)
        (made,) = statements("def F():\n    DECLARE\n    return X", node, F=self.namer.new("operand"), X=short,
                             DECLARE=declare(written, self.globals, node))  # fmt: skip
        self.before.append(made)
        operand = expression("F", node, F=made.name)
        return operand, operand

    def _movable(self, operands: list[gast.expr]) -> bool:
        """Whether the operands can become thunks: no `yield`, and no name of the user's bound in a lambda."""
        nodes = [part for operand in operands for part in gast.walk(operand)]
        if any(isinstance(part, (gast.Yield, gast.YieldFrom, gast.Await)) for part in nodes):
            return False
        return not self.lambdas or not any(_user_walrus(operand, self.namer) for operand in operands)


def _user_walrus(node: gast.AST, namer: Namer) -> set[str]:
    """Return the names that an expression binds in its own scope: those in a lambda are the lambda's."""
    if isinstance(node, gast.Lambda):
        return set()
    own = {node.target.id} if isinstance(node, gast.NamedExpr) and not namer.made(node.target.id) else set()
    return own.union(*[_user_walrus(part, namer) for part in gast.iter_child_nodes(node)])


def _are_listed(node: gast.Compare) -> bool:
    """Whether one of two operands is written as a list or tuple, or as a call that makes one."""
    for operand in (node.left, *node.comparators):
        called = operand.func if isinstance(operand, gast.Call) else None
        if isinstance(operand, (gast.List, gast.Tuple)):
            return True
        if isinstance(called, gast.Name) and called.id in ("list", "tuple"):
            return True
    return False
