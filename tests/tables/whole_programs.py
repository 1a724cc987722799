"""Random programs as engineers write them: layers, training steps, schedules, exceptions, state between calls.

The grammar in `whole_programs/` gives their texts. Each program has a function `step`, what is passed to it in each of
several calls, what happens before these, and objects that stay. `whole_program_runs.py` runs them.

What docs/differences.md names is left out: parameters that a branch does not use in a step, and results of which one
path has a gradient and another has none.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import textwrap
from pathlib import Path

FOLDER = Path(__file__).parent / "whole_programs"
CALLS = 4
FORMS = ("script", "closure", "trainer")
HEADER = """
import collections, contextlib, dataclasses, enum, functools, itertools, math, types
import numpy as np

nn, F = paddle.nn, paddle.nn.functional
"""


# -- texts -------------------------------------------------------------------------------------------------------------
def rules() -> dict[str, list[str]]:
    """The alternatives of each rule of the grammar: after `= name` one on each line, after `== name` between `--`."""
    found = {}
    for part in re.split(r"^(?==+ \w+$)", (FOLDER / "grammar.txt").read_text(), flags=re.M):
        marks, _, rest = part.partition(" ")
        name, _, text = rest.partition("\n")
        if marks == "==":
            found[name] = text.strip("\n").split("\n--\n")
        elif marks == "=":
            found[name] = text.rstrip("\n").split("\n")
    return found


def library() -> dict[str, str]:
    """The definitions that programs may name, by name."""
    parts = re.split(r"\n\n\n(?=\S)", (FOLDER / "library.txt").read_text())
    return {re.search(r"^(?:class |def )?(\w+)", p, re.M)[1]: p.strip("\n") for p in parts if p[0] != "#"}  # type: ignore[index]


def objects() -> dict[str, str]:
    """The statements that make the objects of a program, by name."""
    return {line.partition(" ")[0]: line for line in (FOLDER / "objects.txt").read_text().splitlines()}


RULES, LIBRARY, OBJECTS = rules(), library(), objects()


class Writer:
    """Writes one program.

    Arguments:
        rng: what every choice is drawn from.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def expand(self, text: str) -> str:
        """The text, with what stands in backticks expanded."""
        lines = [
            self._lines(*re.fullmatch(r"(\s*)(?:`([?*]?)(\w+)`)?(.*)", line).groups()) for line in text.split("\n")
        ]
        return "\n".join(itertools.chain(*lines))

    def _lines(self, indent: str, mark: str | None, rule: str | None, rest: str) -> list[str]:
        if rule is None or rest:
            whole = indent + (f"`{mark}{rule}`" if rule else "") + rest
            return [re.sub(r"`([^`]*)`", lambda m: self._inline(m[1]), whole)]
        times = {"?": self.rng.choice([0, 1]), "*": self.rng.choice([1, 1, 2]), "": 1}[mark or ""]
        found = [self.expand(self.rng.choice(RULES[rule])) for _ in range(times)]
        return textwrap.indent("\n".join(found), indent).split("\n") if found else []

    def _inline(self, inner: str) -> str:
        if inner in RULES:
            return self.expand(self.rng.choice(RULES[inner]))
        return self.rng.choice(inner.split("|"))

    def program(self) -> str:
        """The text of a program."""
        step = self.expand("`step`")
        before = [self.expand("`between`") if self.rng.random() < 0.3 else "pass" for _ in range(CALLS)]
        before[0] = "pass"
        calls = [self.expand("`call`") for _ in range(CALLS)]
        made, made_names = self._objects(step)
        before = [b if _words(b) & OBJECTS.keys() <= set(made_names) else "pass" for b in before]
        definitions = self._definitions("\n".join([step, made, *before]))
        form = getattr(self, f"_{self.rng.choice(FORMS)}")
        body = form(step, before, made, made_names)
        return "\n\n\n".join([HEADER.strip("\n"), *definitions, body, f"CALLS = {json.dumps(calls)}"]) + "\n"

    def _objects(self, step: str) -> tuple[str, list[str]]:
        texts: dict[str, str] = {}
        wanted = _words(step)
        while missing := [n for n in OBJECTS if n in wanted and n not in texts]:
            texts[missing[0]] = self.expand(OBJECTS[missing[0]])
            wanted |= _words(texts[missing[0]])
        names = [n for n in OBJECTS if n in texts]
        return "\n".join(texts[n] for n in names), names

    def _definitions(self, text: str) -> list[str]:
        found: dict[str, str] = {}
        text += " batch"
        while missing := [n for n in [*LIBRARY, "Net"] if n in _words(text) and n not in found]:
            found[missing[0]] = self.expand("`net`") if missing[0] == "Net" else LIBRARY[missing[0]]
            text += "\n" + found[missing[0]]
        return [found[n] for n in [*LIBRARY, "Net"] if n in found]

    # -- forms -----------------------------------------------------------------------------------------------------
    def _script(self, step: str, before: list[str], made: str, names: list[str]) -> str:
        functions = [_declared(step, names, "global")]
        functions += [_declared(f"def before_{i}():\n{_indented(b)}", names, "global") for i, b in enumerate(before)]
        return "\n\n\n".join([made, *functions, _ends(names)])

    def _closure(self, step: str, before: list[str], made: str, names: list[str]) -> str:
        functions = [_declared(step, names, "nonlocal")]
        functions += [_declared(f"def before_{i}():\n{_indented(b)}", names, "nonlocal") for i, b in enumerate(before)]
        inner = "\n\n".join([made, *functions, _ends(names), "return step, BEFORE, watched"])
        return f"def build():\n{_indented(inner)}\n\n\nstep, BEFORE, watched = build()"

    def _trainer(self, step: str, before: list[str], made: str, names: list[str]) -> str:
        functions = [step, *[f"def before_{i}():\n{_indented(b)}" for i, b in enumerate(before)]]
        functions += [f"def watched():\n    return {_watched(names)}"]
        owned = [re.sub(r"def (\w+)\((?=(.))", lambda m: f"def {m[1]}(self" + ("" if m[2] == ")" else ", "), f, count=1)
                 for f in (_with_self(f, names) for f in functions)]  # fmt: skip
        init = f"def __init__(self):\n{_indented(_with_self(made, names) or 'pass')}"
        ends = [f"BEFORE = [{', '.join(f'trainer.before_{i}' for i in range(len(before)))}]"]
        ends += ["step, watched = trainer.step, trainer.watched"]
        body = "\n\n".join([init, *owned])
        return f"class Trainer:\n{_indented(body)}\n\n\ntrainer = Trainer()\n" + "\n".join(ends)


def _words(text: str) -> set[str]:
    return set(re.findall(r"(?<![.'\w])[A-Za-z_]\w*", text))


def _indented(text: str) -> str:
    return textwrap.indent(text, "    ")


def _watched(names: list[str]) -> str:
    return "{" + ", ".join(f"'{n}': {n}" for n in names) + "}"


def _ends(names: list[str]) -> str:
    before = f"BEFORE = [{', '.join(f'before_{i}' for i in range(CALLS))}]"
    return f"def watched():\n    return {_watched(names)}\n\n\n{before}"


def _declared(function: str, names: list[str], word: str) -> str:
    """A function that says which of the names it sets."""
    found = [n for n in names if re.search(rf"^\s*{n} (?:[-+*/]?)= ", function, re.M)]
    if not found:
        return function
    return re.sub(r"(def [^\n]*\n)", rf"\1    {word} {', '.join(found)}\n", function, count=1)


def _with_self(text: str, names: list[str]) -> str:
    """The names as attributes of `self`."""
    return re.sub(rf"(?<![.'\w])({'|'.join(names)})\b(?!')", r"self.\1", text) if names else text


def program(seed: int) -> str:
    """The text of one program."""
    text = Writer(random.Random(f"whole {seed}")).program()
    if "ReduceOnPlateau" in text:
        text = text.replace("sched.step()", "sched.step(loss)").replace(", sched.get_lr()", "")
    return text
