"""Reads the table of names of PyTorch whose place or arguments differ here."""

from __future__ import annotations

import re
from pathlib import Path

import libcst as cst

from .rule import Arguments, Misfit, Rule, code


def read(modules: dict[str, str]) -> tuple[dict[str, Rule], dict[str, str]]:
    """Return the rules by name, and what is to be done by hand for names without one.

    Arguments:
        modules: the modules here of modules there.

    Examples:
        >>> rules, todo = read({"torch": "paddle"})
        >>> rules["torch.fft.fft"].new, rules["torch.relu"].new
        ('paddle.fft.fft', 'paddle.nn.functional.relu')
    """
    rules, todo = {}, {}
    for line in Path(__file__).with_name("torch_table.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        old, _, rest = line.partition(" ")
        head, _, params = rest.partition(": ")
        if head == "None":
            todo[old] = params
        else:
            rules[old] = _rule(old, head, params.split(), modules)
    return rules, todo


def _rule(old: str, head: str, params: list[str], modules: dict[str, str]) -> Rule:
    if "{" in head:
        return Rule(head, " ".join(params), template=True)
    new, _, keep = head.partition(" ")
    if new == "=":
        parent = max((m for m in modules if old.startswith(m + ".")), key=len)
        new = modules[parent] + old[len(parent) :]
    if not params:
        return Rule(new)
    parts = [re.fullmatch(r"(\w+)(>)?(\w*)(!)?(?::(.+))?", p) for p in params]
    found = [(m[1], m[2], m[3], m[4], m[5]) for m in parts if m is not None]
    names = {name: other for name, differs, other, _, _ in found if differs}
    refused = [name for name, *_, refuses, _ in found if refuses]
    written = {name: value for name, *_, value in found if value is not None}

    def edit(args: Arguments) -> None:
        for name in refused:
            if name in args and code(args[name]) not in ("False", "None"):
                raise Misfit(f"{name} is not known here")
        for name, value in written.items():
            args.setdefault(name, cst.parse_expression(value))

    return Rule(
        new, " ".join([name for name, *_ in found]), int(keep or 0), names, edit if refused or written else None
    )
