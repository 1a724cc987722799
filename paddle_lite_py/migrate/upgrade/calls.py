"""What a call of PyTorch looks like: its arguments, and whether it is one of a tensor's methods."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from .rule import code
from .torch_rules import AS_FUNCTIONS, OF_LAYERS, TENSOR_METHODS

DRAW = "paddle.compat.drawn"


def drawn_with(function: str, made: Any, generator: cst.Arg) -> cst.Call:
    """Return a call that draws random numbers as one with the stream of a generator."""
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    callee = cst.Arg(made.func, comma=comma) if made.args else cst.Arg(made.func)
    return cst.Call(cst.parse_expression(function), [cst.Arg(generator.value, comma=comma), callee, *made.args])


def named(call: cst.Call, name: str) -> cst.Arg | None:
    """Return the argument of a name."""
    return next((a for a in call.args if a.keyword is not None and a.keyword.value == name), None)


def renamed(args: Any, old: str, new: str) -> list[cst.Arg]:
    """Return arguments where one has another name."""
    is_old = [a.keyword is not None and a.keyword.value == old for a in args]
    return [a.with_changes(keyword=cst.Name(new)) if yes else a for a, yes in zip(args, is_old, strict=True)]


def without(call: cst.Call, argument: cst.Arg) -> cst.Call:
    """Return a call without one of its arguments."""
    kept = [a for a in call.args if a is not argument]
    kept[-1:] = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in kept[-1:]]
    return call.with_changes(args=kept)


def is_function(method: str, call: cst.Call, owner: Any) -> bool:
    """Whether a method is one of tensors that is a function here, and not a layer that a module has."""
    alone = AS_FUNCTIONS.get(method, "").startswith("paddle.nn.functional.") and method != "log_softmax"
    return method in AS_FUNCTIONS and (code(owner) != "self" or method in OF_LAYERS) and not (alone and call.args)


def is_of_tensors(method: str, call: cst.Call) -> bool:
    """Whether a call has the arguments of a tensor's method, where other objects may have one of that name."""
    text = ", ".join(code(a.with_changes(comma=cst.MaybeSentinel.DEFAULT)).strip() for a in call.args)
    return method in TENSOR_METHODS and re.fullmatch(TENSOR_METHODS[method], text, re.DOTALL) is not None


def of_sizes(call: cst.Call) -> bool:
    """Whether split() has the arguments of a tensor's, and not those of a text's."""
    named = any(a.keyword is not None and a.keyword.value in ("dim", "split_size") for a in call.args)
    return named or isinstance(call.args[0].value if call.args else None, cst.Integer | cst.List | cst.BinaryOperation)
