"""Rules for rewriting a call of another framework."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import libcst as cst

Arguments = dict[str, cst.BaseExpression]


class Rule(NamedTuple):
    """The name here, and how the arguments differ.

    Arguments:
        new: the name here, `paddle....`.
        order: names of the parameters there, in order, if they differ from those here.
        keep: how many of the first arguments may stay without a name.
        names: names here of parameters there; the empty name leaves an argument out.
        edit: changes the arguments by name further; gives the name here.
        listed: the arguments are one list here.
        todo: what is left to do by hand.
        after: what a call is put into, as text with {} for the call: a function of the arguments by name.
        template: `new` is an expression with {a} for the argument a, or {a:1} where it may be left out.
        unpacks: ** arguments stay, though edit() knows some of them.
    """

    new: str
    order: str = ""
    keep: int = 0
    names: dict[str, str] = {}
    edit: Callable[[Arguments], str | None] | None = None
    listed: bool = False
    todo: str = ""
    after: Callable[[Arguments], str] | None = None
    template: bool = False
    unpacks: bool = False


class Misfit(Exception):
    """A call whose arguments a rule does not know; it is left to the user."""


def by_old_names(rule: Rule, args: Any) -> dict[str, cst.Arg]:
    """Return the arguments by their old names."""
    order = rule.order.split()
    found: dict[str, cst.Arg] = {}
    for i, arg in enumerate(args):
        if arg.star:
            raise Misfit(f"the call has {arg.star} arguments")
        if arg.keyword is None and i >= len(order):
            raise Misfit("there are more arguments than are known")
        found[arg.keyword.value if arg.keyword is not None else order[i]] = arg
    return found


def apply_rule(rule: Rule, args: Any) -> tuple[str, list[cst.Arg], str]:
    """Return the new name, the new arguments, and the text that the call is put into."""
    if rule.listed and not any(a.keyword for a in args):
        elements = [cst.StarredElement(a.value) if a.star else cst.Element(a.value) for a in args]
        return rule.new, [cst.Arg(cst.List(elements))], ""
    if not (rule.order or rule.names or rule.edit):
        return rule.new, list(args), ""
    given = by_old_names(rule, [a for a in args if a.star != "**"])
    unpacked = [_unpacked(rule, a) for a in args if a.star == "**"]
    old: Arguments = {k: a.value for k, a in given.items()}
    unnamed = {k for i, (k, a) in enumerate(given.items()) if a.keyword is None and i < rule.keep}
    values = dict(old)
    new = (rule.edit(values) if rule.edit else None) or rule.new
    made = [
        _write_argument(given.get(k, cst.Arg(v)).with_changes(value=v), None if k in unnamed else rule.names.get(k, k))
        for k, v in values.items()
        if rule.names.get(k, k)
    ]
    made = _with_commas([*made, *unpacked], args[-1].comma if args else None)
    return new, made, rule.after(old) if rule.after else ""


_HOLE = r"\{(\w+)(?::(\w+))?\}"


def as_function(rule: Rule) -> str:
    """Return the text of a function that gives the expression of a rule, where the name is not called."""
    defaults = {name: default for name, default in re.findall(_HOLE, rule.new) if default}
    names = [n for n in rule.order.split() if f"{{{n}}}" in rule.new or n in defaults]
    given = ", ".join(f"{n}={defaults[n]}" if n in defaults else n for n in names)
    return f"(lambda {given}: {re.sub(_HOLE, lambda found: found[1], rule.new)})"


def filled(rule: Rule, args: Any) -> str:
    """Return the expression of a rule with its arguments.

    Raises:
        Misfit: an argument is missing, or not known.
    """
    given = {k: a.value for k, a in by_old_names(rule, args).items()}
    if unknown := sorted({*given} - {*rule.order.split()}):
        raise Misfit(f"{unknown[0]} is not known here")

    def value(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if name not in given and default is None:
            raise Misfit(f"{name} is not given")
        text = code(given[name]) if name in given else default
        return text if re.fullmatch(r"[\w.]+", text) else f"({text})"

    return re.sub(_HOLE, value, rule.new)


def _unpacked(rule: Rule, arg: cst.Arg) -> cst.Arg:
    """Return a dictionary of arguments by their names here, without those that are left out."""
    left_out = [old for old, new in rule.names.items() if not new]
    renamed = {old: new for old, new in rule.names.items() if new and new != old}
    if rule.edit and not rule.unpacks:
        raise Misfit("the call has ** arguments, some of which have other names here")
    names = ", ".join(f'"{name}"' for name in left_out)
    condition = f"k != {names}" if len(left_out) == 1 else f"k not in ({names})"
    pairs = ", ".join(f'"{old}": "{new}"' for old, new in renamed.items())
    key = f"{{{pairs}}}.get(k, k)" if renamed else "k"
    kept = f"{{{key}: v for k, v in {code(arg.value)}.items(){f' if {condition}' * bool(left_out)}}}"
    return arg.with_changes(value=cst.parse_expression(kept) if rule.names else arg.value)


def _write_argument(arg: cst.Arg, name: str | None) -> cst.Arg:
    if name is None:
        return arg
    tight = cst.SimpleWhitespace("")
    equal = arg.equal if arg.keyword is not None else cst.AssignEqual(tight, tight)
    return arg.with_changes(keyword=cst.Name(name), equal=equal)


def _with_commas(args: list[cst.Arg], last: Any) -> list[cst.Arg]:
    """Arguments with commas between them, as they were where there were any."""
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    out = [a if isinstance(a.comma, cst.Comma) else a.with_changes(comma=comma) for a in args[:-1]]
    return out + [a.with_changes(comma=cst.MaybeSentinel.DEFAULT if last is None else last) for a in args[-1:]]


def text_of(value: cst.BaseExpression | None) -> str | None:
    """Return the text of a literal string, else None."""
    return str(value.evaluated_value) if isinstance(value, cst.SimpleString) else None


def code(value: cst.CSTNode) -> str:
    """Return an expression as it is written."""
    return cst.Module([]).code_for_node(value)
