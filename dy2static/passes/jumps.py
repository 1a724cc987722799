"""`return`, `break`, `continue` and the `else` of loops become assignments and branches.

Before:                             After:
    for v in xs:                        stop = returned = False
        if v > 3:                       for v in xs:                # guards: returned, stop
            return v                        if v > 3:
        if v < 0:                               value = v; returned = True
            break                           elif v < 0:
    else:                                       stop = True
        v = 7                           if not (returned or stop):
    return -v                               v = 7
                                        if not returned:
                                            value = -v
                                        return value

What follows an `if` of which one branch jumps moves into the other branch; a flag is made only where that does not do.
A loop leaves when one of its guards is set. Which jump an assignment stands for is noted, so that code for Python
values can take it. Jumps out of a `finally` stay, as do the returns of generators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import gast

from ..cfg import LOOPS, TRIES
from ..names import Namer
from ..notes import Notes
from ..scope import blocks, statements_in, within
from ..template import expression, locate, name, statements
from .hoist import Statements
from .raises import RaisingTry, Site, again, asserted, copied, raised

WITHS = (gast.With, gast.AsyncWith)


class LoopFlags(NamedTuple):
    """The flags of the loop around."""

    stop: str
    skip: str


class Rewritten(NamedTuple):
    """Rewritten statements.

    Attributes:
        body: the statements.
        ends: whether control never reaches what follows, other than by a jump.
        flags: the flags that a jump may have set.
    """

    body: list[gast.stmt]
    ends: bool
    flags: set[str]


class Jumps:
    """Rewrites the jumps of one function, in place.

    Arguments:
        namer: makes the flags.
        notes: where guards and jumps are noted.
        returns: whether to rewrite returns too; those of a generator stay.
        raises: whether a `raise` in a `try` is a jump; see the raises pass.
    """

    def __init__(self, namer: Namer, notes: Notes, returns: bool = True, raises: bool = False) -> None:
        self.namer, self.notes = namer, notes
        self.returns, self.raises = returns, raises and returns
        self._catching: RaisingTry | None = None
        self.returned, self.value = namer.new("returned"), namer.new("return")
        self._guarding: set[str] = set()  # the flags that guard something
        self._flags: set[str] = set()

    def function(self, node: gast.FunctionDef) -> None:
        """Rewrites the body of a function."""
        self.returns = self.returns and (_nested_return(node.body) or (self.raises and _raising_try(node.body)))
        body = [*node.body, *statements("return None", node.body[-1])] if self.returns else node.body
        new = self._block(body, None).body
        if self.returns:
            new = [
                *self._reset(self.returned, node.body[0]),
                *new,
                *statements("return V", node.body[-1], V=self.value),
            ]
        node.body = self._pruned(new)

    def _block(self, body: list[gast.stmt], loop: LoopFlags | None) -> Rewritten:
        out: list[gast.stmt] = []
        flags: set[str] = set()
        for i, stmt in enumerate(body):
            if isinstance(stmt, gast.Assert) and self._catching is not None:
                stmt = asserted(stmt)
            if isinstance(stmt, (gast.Return, gast.Break, gast.Continue, gast.Raise)):
                new, flag = self._jump(stmt, loop)
                return Rewritten(out + new, True, flags | flag)
            if not self._concerns(stmt):
                out.append(stmt)
                continue
            done, rest = self._compound(stmt, body[i + 1 :], loop)
            out += done.body
            flags |= done.flags
            if done.ends or not rest:
                return Rewritten(out, done.ends, flags)
            if done.flags:
                tail = self._block(rest, loop)
                return Rewritten(out + self._guard(done.flags, tail.body, rest[0]), tail.ends, flags | tail.flags)
        return Rewritten(out, False, flags)

    def _jump(self, stmt: gast.stmt, loop: LoopFlags | None) -> tuple[list[gast.stmt], set[str]]:
        if isinstance(stmt, gast.Return) and self.returns:
            value = stmt.value or expression("None", stmt)
            keep = statements("X = V", stmt, X=self.value, V=value)
            self.notes.jumps[keep[0]] = gast.Return
            return [*keep, *self._set(self.returned, stmt)], {self.returned}
        if isinstance(stmt, (gast.Break, gast.Continue)) and loop is not None:
            flag = loop.stop if isinstance(stmt, gast.Break) else loop.skip
            new = self._set(flag, stmt)
            self.notes.jumps[new[0]] = type(stmt)
            return new, {flag}
        if isinstance(stmt, gast.Raise) and self._catching is not None and self._catching.depth:
            site = Site(self.namer.new("raised"), self.namer.new("error"), stmt)
            self._catching.sites.append(site)
            return [raised(stmt, site, self.namer, self.notes), *self._set(site.flag, stmt)], {site.flag}
        return [stmt], set()

    def _concerns(self, stmt: gast.stmt) -> bool:
        if isinstance(stmt, LOOPS) and stmt.orelse:
            return True
        kinds = (gast.Break, gast.Continue, *((gast.Return,) if self.returns else ()), *LOOPS)
        if self.raises and (self._catching is not None or within([stmt], TRIES)):
            kinds += (gast.Raise, gast.Assert)
        return isinstance(stmt, (gast.If, *WITHS, *TRIES, *LOOPS)) and within([stmt], kinds)

    def _compound(self, stmt: Any, rest: list[gast.stmt], loop: LoopFlags | None) -> tuple[Rewritten, list[gast.stmt]]:
        """Return the statement rewritten, and what is left of the statements after it."""
        if isinstance(stmt, gast.If):
            return self._if(stmt, rest, loop)
        if isinstance(stmt, LOOPS):
            return self._loop(stmt, loop), rest
        if isinstance(stmt, WITHS):
            body = self._block(stmt.body, loop)
            stmt.body = body.body
            return Rewritten([stmt], False, body.flags), rest
        return self._try(stmt, loop), rest

    def _if(self, stmt: gast.If, rest: list[gast.stmt], loop: LoopFlags | None) -> tuple[Rewritten, list[gast.stmt]]:
        jumps = within([stmt], (gast.Return, *((gast.Raise,) if self._catching else ()))) or _leads_out([stmt])
        body_ends, else_ends = self._ends(stmt.body), self._ends(stmt.orelse)
        if jumps and rest and body_ends != else_ends:
            stmt.body, stmt.orelse = (stmt.body, stmt.orelse + rest) if body_ends else (stmt.body + rest, stmt.orelse)
            rest = []
        with self._inside():
            body, orelse = self._block(stmt.body, loop), self._block(stmt.orelse, loop)
        stmt.body, stmt.orelse = body.body, orelse.body
        return Rewritten([stmt], body.ends and orelse.ends, body.flags | orelse.flags), rest

    def _ends(self, body: list[gast.stmt]) -> bool:
        """Whether control never gets to what follows the statements."""
        for stmt in body:
            if isinstance(stmt, (gast.Return, gast.Break, gast.Continue, gast.Raise)):
                return True
            if isinstance(stmt, gast.If) and self._ends(stmt.body) and self._ends(stmt.orelse):
                return True
        return False

    def _loop(self, stmt: Any, outer: LoopFlags | None) -> Rewritten:
        loop = LoopFlags(self.namer.new("stop"), self.namer.new("skip"))
        with self._inside():
            body = self._block(stmt.body, loop)
        reset = self._reset(loop.skip, stmt) if loop.skip in body.flags else []
        stmt.body = reset + body.body
        guards = self.notes.guards[stmt] = sorted(body.flags - {loop.skip})
        self._guarding.update(guards)
        flags = body.flags - {loop.skip, loop.stop}
        out = [*(self._reset(loop.stop, stmt) if loop.stop in body.flags else []), stmt]
        endless = isinstance(stmt, gast.While) and isinstance(stmt.test, gast.Constant) and bool(stmt.test.value)
        ends = endless and loop.stop not in body.flags
        if stmt.orelse:
            orelse = self._block(stmt.orelse, outer)
            flags = flags | orelse.flags
            if within(stmt.body, (gast.Break,)):  # one that stays, in a `finally`: only Python can drive this loop
                stmt.orelse = orelse.body
            else:
                stmt.orelse = []
                out += self._guard(guards, orelse.body, stmt) if guards else orelse.body
        return Rewritten(out, ends, flags)

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """In a branch or loop."""
        around = self._catching
        if around is not None:
            around.depth += 1
        yield
        if around is not None:
            around.depth -= 1

    def _try(self, stmt: Any, loop: LoopFlags | None) -> Rewritten:
        outer = self._catching
        if stmt.handlers:  # Python alone sorts groups of exceptions
            self._catching = RaisingTry() if self.raises and isinstance(stmt, gast.Try) else None
        body = self._block(stmt.body, loop)
        sites = [] if self._catching is None or self._catching is outer else self._catching.sites
        self._catching = outer
        later = [again(site, copied(stmt.handlers, self.notes), self.namer) for site in sites]
        orelse, handlers = self._block(stmt.orelse, loop), [self._block(h.body, loop) for h in stmt.handlers]
        stmt.body, stmt.orelse = body.body, orelse.body
        if body.flags and stmt.orelse:
            stmt.orelse = self._guard(body.flags, orelse.body, stmt.orelse[0])
        for handler, new in zip(stmt.handlers, handlers, strict=True):
            handler.body = new.body
        final = self._final(stmt.finalbody)
        caught = self._block(later, loop)
        ends = (body.ends or orelse.ends) and all(new.ends for new in handlers)
        flags = body.flags.union(orelse.flags, caught.flags, *(new.flags for new in handlers))
        self._guarding.update(site.flag for site in sites)
        resets = [reset for site in sites for reset in self._reset(site.flag, stmt)]
        flags -= {site.flag for site in sites}
        return Rewritten([*resets, *_closed(stmt, caught.body, final)], ends, flags)

    def _final(self, body: list[gast.stmt]) -> list[gast.stmt]:
        """Return the statements of a `finally`, of which a jump out of it stays: it ends what is being raised."""
        before = self.returns, self._catching
        self.returns, self._catching = False, None
        new = self._block(body, None).body
        self.returns, self._catching = before
        return new

    def _guard(self, flags: Sequence[str] | set[str], body: list[gast.stmt], at: gast.stmt) -> list[gast.stmt]:
        if not body:
            return []
        ordered = sorted(flags)
        self._guarding.update(ordered)
        guard = locate(gast.If(test=not_set(ordered, at), body=body, orelse=[]), at)
        self.notes.guards[guard] = ordered
        return [guard]

    def _set(self, flag: str, at: gast.AST) -> list[gast.stmt]:
        self._flags.add(flag)
        return statements("F = True", at, F=flag)

    def _reset(self, flag: str, at: gast.AST) -> list[gast.stmt]:
        self._flags.add(flag)
        return statements("F = False", at, F=flag)

    def _pruned(self, body: list[gast.stmt]) -> list[gast.stmt]:
        """Return the statements without the flags that nothing asks for."""
        return _Prune(self.namer, self._flags - self._guarding).block(body)


class _Prune(Statements):
    def __init__(self, namer: Namer, unused: set[str]) -> None:
        super().__init__(namer)
        self.unused = unused

    def visit_Assign(self, node: gast.Assign) -> Any:
        target = node.targets[0]
        return [] if isinstance(target, gast.Name) and target.id in self.unused else node

    def nested(self, stmt: Any) -> Any:
        super().nested(stmt)
        for part in (stmt, *stmt.__dict__.get("handlers", ())):
            if part.__dict__.get("body") == []:
                part.body = [locate(gast.Pass(), stmt)]
        return stmt


def _closed(stmt: Any, later: list[gast.stmt], final: list[gast.stmt]) -> list[gast.stmt]:
    """Return a `try` and what stands after its handlers, with a `finally` around both."""
    if not later:
        stmt.finalbody = final
        return [stmt]
    stmt.finalbody = []
    if not final:
        return [stmt, *later]
    return [locate(gast.Try(body=[stmt, *later], handlers=[], orelse=[], finalbody=final), stmt)]


def not_set(flags: list[str], at: gast.AST) -> gast.expr:
    """`not (flag or ...)`"""
    values = [name(flag, at) for flag in flags]
    union = values[0] if len(values) == 1 else locate(gast.BoolOp(gast.Or(), values), at)
    return locate(gast.UnaryOp(gast.Not(), union), at)


def _nested_return(body: list[gast.stmt]) -> bool:
    """Whether a return stands inside a branch or a loop."""
    branches = [stmt for stmt in statements_in(body) if isinstance(stmt, (gast.If, *LOOPS))]
    return any(isinstance(stmt, gast.Return) for branch in branches for stmt in statements_in([branch]))


def _raising_try(body: list[gast.stmt]) -> bool:
    """Whether a `try` holds a return, which may come to stand in a branch with what follows a `raise`."""
    tries = [stmt for stmt in statements_in(body) if isinstance(stmt, TRIES)]
    return any(within([stmt], (gast.Return,)) and within([stmt], (gast.Raise, gast.Assert)) for stmt in tries)


def _leads_out(body: list[Any]) -> bool:
    """Whether statements hold a `break` or `continue` of a loop around them, and not of one among them."""
    for stmt in body:
        if isinstance(stmt, (gast.Break, gast.Continue)):
            return True
        if any(map(_leads_out, [stmt.orelse] if isinstance(stmt, LOOPS) else blocks(stmt))):
            return True
    return False
