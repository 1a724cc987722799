"""From a converted tree to a code object that stands in the user's file."""

from __future__ import annotations
import __future__

import types
from typing import Any, NamedTuple

import gast

from .names import Namer
from .options import Options
from .passes.lift import Later
from .passes.mangle import mangle
from .pipeline import Pipeline
from .source import Source, find
from .template import constant, statements
from .trees import to_ast

_FUTURE = sum(getattr(__future__, feature).compiler_flag for feature in __future__.all_feature_names)


class Conversion(NamedTuple):
    """A converted function, without its closure and globals.

    Attributes:
        tree: the converted function.
        namer: made its names; `namer.helpers` are variables that it needs.
        later: makes the functions that it asks for, by number, when a staged value comes along.
    """

    tree: gast.FunctionDef
    namer: Namer
    later: Later


def convert_tree(f: types.FunctionType, options: Options) -> Conversion:
    """Return the converted tree of a function.

    Raises:
        ConversionError: there is no source.
    """
    source = find(f)
    node = _as_function(source, f)
    mangle(node, source.class_name)
    namer = Namer(node, frozenset(f.__code__.co_freevars))
    later: Later = []
    cell = "__class__" in f.__code__.co_freevars
    Pipeline(node, namer, options).function(node, cell, later if options.fast else None)
    return Conversion(node, namer, later)


def compile_tree(code: types.CodeType, conversion: Conversion, number: int | None = None) -> types.CodeType:
    """Return the code of the converted function, under the user's file name and lines.

    Arguments:
        code: the user's.
        conversion: of the same function.
        number: which of the functions in `conversion.later` to compile in place of the whole.
    """
    namer = conversion.namer
    node = conversion.tree if number is None else conversion.later[number]()
    (factory,) = statements("def F():\n    BODY", node, F=namer.new("factory"), BODY=[node])
    factory.args.args = [gast.Name(n, gast.Param(), None, None) for n in (*code.co_freevars, *namer.helpers.values())]
    if number is None and code.co_firstlineno < node.lineno:
        # Python counts the lines of a function from its first decorator.
        first = constant(None, node)
        first.lineno = first.end_lineno = code.co_firstlineno
        node.decorator_list = [first]
    module = to_ast(gast.Module(body=[factory], type_ignores=[]))
    flags = code.co_flags & _FUTURE
    compiled = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    made = _function_code(_function_code(compiled))
    return _rename(made, namer, code.co_name, made.co_qualname, code.co_qualname)


def _as_function(source: Source, f: types.FunctionType) -> Any:
    """The function alone: without decorators, defaults and annotations, which the user's function has evaluated."""
    node: Any = source.tree
    if isinstance(node, gast.Lambda):
        args = node.args
        (node,) = statements("def F():\n    return BODY", node, F="converted", BODY=node.body)
        node.args = args
    node.decorator_list, node.returns, node.name = [], None, "converted"
    node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
    for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg):
        if arg is not None:
            arg.annotation = None
    if getattr(node, "type_params", None):
        node.type_params = []
    return node


def _function_code(code: types.CodeType) -> types.CodeType:
    return next(const for const in code.co_consts if isinstance(const, types.CodeType))


def _rename(code: types.CodeType, namer: Namer, name: str, old: str, new: str) -> types.CodeType:
    """Return the code under the user's names: functions made by the conversion bear the name of the one around them."""

    def renamed(const: Any) -> Any:
        if isinstance(const, types.CodeType):
            return _rename(const, namer, _inner_name(const, namer, name), old, new)
        is_inner = isinstance(const, str) and const.startswith(f"{old}.<locals>.")  # the qualified name of a class
        return new + const[len(old) :] if is_inner else const

    qualname = new + code.co_qualname[len(old) :] if code.co_qualname.startswith(old) else code.co_qualname
    return code.replace(co_consts=tuple(map(renamed, code.co_consts)), co_name=name, co_qualname=qualname)


def _inner_name(code: types.CodeType, namer: Namer, outer: str) -> str:
    if not namer.made(code.co_name):
        return code.co_name
    return "<lambda>" if code.co_name.startswith(namer.prefix + "lambda") else outer
