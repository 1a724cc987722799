"""Passes note what they know of nodes beside the tree: in it stands syntax alone."""

from __future__ import annotations

import asyncio
import contextlib

import gast
import pytest

from dy2static.compiler import _as_function
from dy2static.names import Namer
from dy2static.options import Options
from dy2static.pipeline import Pipeline
from dy2static.source import find
from programs import compiled, failure, programs

SETTINGS = [Options(), Options(fast=False), Options(*[True] * len(Options._fields))]


def extra(nodes):
    """What nodes hold beside their syntax and its place."""
    places = {"lineno", "col_offset", "end_lineno", "end_col_offset"}
    found = [n for node in nodes for n in gast.walk(node)]
    return {(type(n).__name__, key) for n in found for key in vars(n).keys() - places - set(n._fields)}


class Watched(Pipeline):
    """Looks at the tree after each group of passes."""

    looks = 0

    def _canonical(self, node, globals_):
        super()._canonical(node, globals_)
        self._look(node)

    def _expressions(self, node, *args):
        super()._expressions(node, *args)
        self._look(node)

    def function(self, node, *args, **settings):
        super().function(node, *args, **settings)
        self._look(node)

    def _look(self, node):
        self.looks += 1
        assert not extra([node])


def watched(f, options):
    """The pipeline that has converted a function, what it leaves for later included."""
    node, later = _as_function(find(f), f), []
    pipeline = Watched(node, Namer(node, frozenset(f.__code__.co_freevars)), options)
    pipeline.function(node, False, later if options.fast else None)
    assert not extra([make() for make in later])
    return pipeline


def everything(xs, y, *, flag=None):
    total = 0
    for i, x in enumerate(xs):
        if x > y and not flag or x is None:
            break
        if 0 < x < 10:
            continue
        assert x, f"{x!r} at {i}"
        total += sum(v * 2 for v in [x, y] if v > 0) + y.pop() if x else len([z for z in xs if z != x])
    else:
        while total > 3:
            total -= 1
            if total == y:
                return total, lambda a: a or y
    match total:
        case 0:
            return None
        case _ if y:
            pass
    return total


async def waiting(x):
    if x > 0:
        await asyncio.sleep(0)
    return x


@pytest.mark.parametrize("options", SETTINGS)
def test_a_tree_holds_syntax_alone(options):
    pipeline = watched(everything, options)
    notes = pipeline.notes
    assert pipeline.looks >= 3
    assert notes.guards and notes.jumps and notes.unrolled and notes.masked and notes.lazy and notes.connectives
    assert watched(waiting, options).looks >= 3


def test_a_tree_of_any_program_holds_syntax_alone():
    for text in programs(7, 50, tame=False):
        for options in SETTINGS:
            f = compiled(text, helper=abs, suppress=contextlib.suppress, failure=failure)
            assert watched(f, options).looks >= 3


def test_extra_attributes_are_found():
    node = gast.parse("x = 1").body[0]
    assert not extra([node])
    node.value.guards = []
    assert extra([node]) == {("Constant", "guards")}
