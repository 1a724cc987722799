"""`match` becomes an `if` chain: Python matches one pattern at a time, the bodies stand in branches.

Before:                             After:
    match p:                            subject = p
        case (a, b) if a > 0:           match subject:
            x = b                           case (a, b): hit = True
        case _:                             case _: hit = False
            x = 0                       if hit and a > 0:
                                            x = b
                                        else:
                                            x = 0
A value pattern becomes `subject == value`, so that it may be staged.
"""

from __future__ import annotations

from typing import Any

import gast

from ..template import expression, locate, name, statements
from .hoist import Statements


class MatchStatements(Statements):
    """Rewrites the match statements of one function."""

    def visit_Match(self, node: gast.Match) -> list[gast.stmt]:
        self.nested(node)
        subject = self.namer.new("subject")
        chain: list[gast.stmt] = []
        for case in node.cases[::-1]:
            chain = self._case(case, subject, chain)
        return [*statements("S = VALUE", node, S=subject, VALUE=node.subject), *chain]

    def _case(self, case: Any, subject: str, rest: list[gast.stmt]) -> list[gast.stmt]:
        at = case.body[0]
        before, test = self._pattern(case.pattern, subject, at)
        if case.guard is not None:
            test = case.guard if test is None else expression("A and B", case.guard, A=test, B=case.guard)
        if test is None:
            return before + case.body
        branch = gast.If(test=test, body=case.body, orelse=rest)
        return [*before, locate(branch, test if hasattr(test, "lineno") else at)]

    def _pattern(self, pattern: Any, subject: str, at: gast.AST) -> tuple[list[gast.stmt], gast.expr | None]:
        """Statements to run first, and the test; None for a pattern that always matches."""
        values = _values(pattern)
        if values:
            tests = [expression("S == V", v, S=subject, V=v) for v in values]
            return [], tests[0] if len(tests) == 1 else locate(gast.BoolOp(gast.Or(), tests), at)
        if isinstance(pattern, gast.MatchAs) and pattern.pattern is None:
            return ([] if pattern.name is None else statements("X = S", at, X=pattern.name, S=subject)), None
        hit = self.namer.new("hit")
        return [self._native(pattern, subject, hit, at)], name(hit, at)

    def _native(self, pattern: Any, subject: str, hit: str, at: gast.AST) -> gast.stmt:
        (matching,) = statements("match S:\n    case 0:\n        H = True\n    case _:\n        H = False", at,
                                 S=subject, H=hit)  # fmt: skip
        matching.cases[0].pattern = pattern
        matching.subject = name(subject, at)
        return matching


def _values(pattern: Any) -> list[gast.expr]:
    """Return the alternatives of a pattern that only compares with values."""
    if isinstance(pattern, gast.MatchValue):
        return [pattern.value]
    if isinstance(pattern, gast.MatchOr) and all(isinstance(p, gast.MatchValue) for p in pattern.patterns):
        return [p.value for p in pattern.patterns]
    return []
