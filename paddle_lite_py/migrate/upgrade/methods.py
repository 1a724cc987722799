"""Methods of PyTorch's tensors that are written otherwise here."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from .imports import dotted
from .rule import code

_SIZE = r"(\bshape|\.size\(\)|Size\(.*\))$"  # whose numel() is a method here too
_CASTS = {"half": "float16", "double": "float64"}


def renamed_method(program: Any, node: cst.Call, updated: Any, method: str, owner: Any) -> cst.BaseExpression:
    """Return a call of a method as it is written here.

    Arguments:
        program: the Rewriter.
        node, updated: the call, and the call whose parts have been rewritten.
        method, owner: the name of the method, and the expression before it.
    """
    told, args = program.told, updated.args

    def under(name: str, given: Any) -> cst.Call:
        return updated.with_changes(func=updated.func.with_changes(attr=cst.Name(name)), args=given)

    if method == "size" and len(args) <= 1:
        told(node, ".size()", ".shape")
        shape = cst.Attribute(owner, cst.Name("shape"))
        at = [cst.SubscriptElement(cst.Index(a.value)) for a in args]
        return cst.Subscript(shape, at) if at else shape
    if method == "split" and args and code(owner) != "self" and not isinstance(args[0].value, cst.SimpleString):
        told(node, ".split(...)", "of a tensor: write paddle.compat.split(tensor, ...)", True)
    if method in ("numel", "nelement") and not args and not re.search(_SIZE, code(owner)):
        told(node, f".{method}()", ".size")
        return cst.Attribute(owner, cst.Name("size"))
    if method in ("clamp_min", "clamp_max", "clamp_min_", "clamp_max_") and len(args) == 1:
        clipped = f"clip{'_' * method.endswith('_')}"
        told(node, f".{method}(...)", f".{clipped}({method[6:9]}=...)")
        limit = cst.Arg(args[0].value, cst.Name(method[6:9]), cst.AssignEqual(*[cst.SimpleWhitespace("")] * 2))
        return under(clipped, [limit])
    if method == "type" and len(args) <= 1:
        full = program.imports.full(str(dotted(node.args[0].value))) if node.args else None
        if full is None or full.endswith("Tensor"):  # not a dtype by its name
            return program.as_function(node, updated, "paddle.compat.to_type")
        told(node, ".type(...)", ".astype(...)")
        return under("astype", args)
    if method == "byte" and node in program.masks:  # a mask in PyTorch, numbers of elements here
        told(node, ".byte()", ".bool()")
        return under("bool", args)
    if method in _CASTS and not args:  # which cast the integers of a layer too, here
        dtype = program.imports.reached(f"paddle.{_CASTS[method]}")
        told(node, f".{method}()", f".to({dtype})")
        return under("to", [cst.Arg(cst.parse_expression(dtype))])
    if method == "cuda" and not args:
        told(node, ".cuda()", "left out: tensors are made where they are needed")
        return owner
    return owner if method == "to" and not args and node.args else updated
