"""Random programs, drawn without shrinking in view: a failing one is seldom made shorter in minutes."""

from __future__ import annotations

import itertools
import linecache
import random
from typing import Any

_number = itertools.count()
NAMES = "abc"


class Writer:
    """Writes one program.

    Arguments:
        rng: what every choice is drawn from.
        tame: whether the program must run with staged numbers too: no errors, no unbound names.
        alike: whether all that the program returns has one structure.
    """

    def __init__(self, rng: random.Random, tame: bool, alike: bool = False) -> None:
        self.rng, self.tame, self.alike = rng, tame, alike
        self.lines: list[str] = []
        self.loops = 0

    def pick(self, *choices: Any) -> Any:
        return self.rng.choice(choices)

    def program(self) -> str:
        self.lines = ["def f(a, b):", "    c = a - b" if self.tame else "    pass", "    log = []"]
        self.block(1, 4, in_loop=False)
        ending = "return a, b, c, log" if self.pick(True, True, False) else "log.append(c)"
        self.lines.append("    return a, b, c" if self.alike else f"    {ending}")
        return "\n".join(self.lines) + "\n"

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int, most: int, in_loop: bool) -> None:
        for _ in range(self.rng.randint(1, most)):
            self.statement(depth, in_loop)

    def statement(self, depth: int, in_loop: bool) -> None:
        kinds = ["assign", "augment", "if", "if", "call", *(["inner"] if depth < 3 else [])]
        kinds += ["return"] if self.pick(True, False) else []
        kinds += ["break", "continue", "break"] if in_loop else []
        kinds += ["while", "for"] if depth < 4 else []
        kinds += [] if self.tame else ["try", "with", "raise", "del", "log", "log", "match", "comprehension"]
        kind = self.pick(*kinds)
        if depth > 4 and kind in ("if", "try", "with", "match"):
            kind = "assign"
        getattr(self, f"_{kind}")(depth, in_loop)

    def atom(self) -> str:
        return self.pick(*NAMES, "1", "2", "-3", "7")

    def value(self) -> str:
        shape = self.pick(
            "{} + {}", "{} - {}", "({} * {}) % 11", "{}", "({1} if {2} else {0})", "(lambda v: v + {1})({0})"
        )
        return shape.format(self.atom(), self.atom(), self.test(1))

    def test(self, depth: int = 0) -> str:
        shapes = ["{0} < {1}", "{0} % 3 == {1} % 2", "{0} > {1}", "{0} < {1} <= {2}"]
        shapes += ["helper({0}, {1}) > {2}", "{0} in (1, {1}, {2})", "{0} not in [{1}, 7]"]
        shapes += [] if self.tame else ["({0}).bit_length() > 1", "[{0}, {1}].count({0}) > 1", "{0}", "{0} or {1}"]
        if depth < 2:
            first, second = self.test(depth + 1), self.test(depth + 1)
            shapes += [f"({first}) and ({second})", f"not ({first})", f"({first}) or ({second})"]
        return self.pick(*shapes).format(self.atom(), self.atom(), self.atom())

    def _assign(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"{self.pick(*NAMES)} = {self.value()}")

    def _augment(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"{self.pick(*NAMES)} += {self.atom()}")

    def _call(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"{self.pick(*NAMES)} = helper({self.atom()}, {self.atom()})")

    def _if(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"if {self.test()}:")
        self.block(depth + 1, 2, in_loop)
        if self.pick(True, False):
            self.emit(depth, f"elif {self.test()}:")
            self.block(depth + 1, 2, in_loop)
        if self.pick(True, False):
            self.emit(depth, "else:")
            self.block(depth + 1, 2, in_loop)

    def _while(self, depth: int, in_loop: bool) -> None:
        self.loops += 1
        k = f"k{self.loops}"
        self.emit(depth, f"{k} = 0")
        self.emit(depth, f"while {k} < 3 and ({self.test()}):" if self.pick(True, False) else f"while {k} < 3:")
        self.emit(depth + 1, f"{k} += 1")
        self._loop_body(depth, in_loop)

    def _for(self, depth: int, in_loop: bool) -> None:
        self.loops += 1
        i = f"i{self.loops}"
        iterable = self.pick("range(3)", f"range({self.pick(*NAMES)} % 4)", "(1, 5, 2)")
        self.emit(depth, f"for {i} in {iterable}:")
        self.emit(depth + 1, f"c = c + {i}")
        self._loop_body(depth, in_loop)

    def _loop_body(self, depth: int, in_loop: bool) -> None:
        self.block(depth + 1, 3, in_loop=True)
        if self.pick(True, False, False):
            self.emit(depth, "else:")
            self.block(depth + 1, 2, in_loop)

    def _return(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"return a, b, {self.value()}" if self.alike else f"return {self.value()}")

    def _break(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, "break")

    def _continue(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, "continue")

    def _inner(self, depth: int, in_loop: bool) -> None:
        self.loops += 1
        g = f"g{self.loops}"
        self.emit(depth, f"def {g}(x):")
        if shares := self.pick(True, False):
            self.emit(depth + 1, "nonlocal a")
        self.emit(depth + 1, f"if {self.test()}:")
        self.emit(depth + 2, f"return x + {self.pick('a', 'b', '2')}")
        if shares:
            self.emit(depth + 1, f"a = {self.value()}")
        self.emit(depth + 1, f"return x - {self.pick('a', 'b', '2')}")
        self.emit(depth, f"{self.pick(*NAMES)} = {g}({self.atom()})")

    def _try(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, "try:")
        self.block(depth + 1, 2, in_loop)
        if self.pick(True, True, False):
            self.emit(depth, f"except {self.pick('ZeroDivisionError', 'KeyError', 'Exception')} as e:")
            self.emit(depth + 1, "log.append(failure(e))")
            self.block(depth + 1, 2, in_loop)
            if self.pick(True, False):
                self.emit(depth, "else:")
                self.block(depth + 1, 2, in_loop)
        self.emit(depth, "finally:")
        self.block(depth + 1, 1, in_loop)

    def _with(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"with suppress({self.pick('KeyError', 'ZeroDivisionError')}):")
        self.block(depth + 1, 2, in_loop)

    def _raise(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, self.pick("raise KeyError(a)", "c = a // b", "assert a > 0, b"))

    def _del(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"del {self.pick('c', 'c', 'b')}")

    def _log(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"log.append({self.value()})")

    def _match(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"match ({self.atom()}, {self.atom()}):")
        for pattern in ("(1, c)", f"(7 | 2, _) if {self.test()}", "(b, 2)"):
            self.emit(depth + 1, f"case {pattern}:")
            self.block(depth + 2, 1, in_loop)

    def _comprehension(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"log += [{self.value()} for c in range(3) if {self.test()}]")


def programs(seed: int, count: int, tame: bool, alike: bool = False) -> list[str]:
    """The texts of functions `f(a, b)`, all different."""
    rng, found = random.Random(seed), dict[str, None]()
    while len(found) < count:
        found[Writer(rng, tame, alike).program()] = None
    return list(found)


def failure(error: Exception) -> str:
    """The error as a value; it is told differently whether a local or an inner function's variable has no value."""
    return "NameError" if isinstance(error, NameError) else repr(error)


def compiled(text: str, **names: Any) -> Any:
    """The function of the text, whose source `linecache` knows."""
    filename = f"<program {next(_number)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace: dict[str, Any] = dict(names)
    exec(compile(text, filename, "exec"), namespace)  # noqa: S102
    return namespace["f"]
