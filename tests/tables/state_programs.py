"""Random programs that change state under conditions: tensors, a list, a dict and an object, in-place writes, aliases.

Each is a text that defines `f(x, y, z, n)`, and runs here, in a static function, and in the reference. What it gives
(`outcome`) are the numbers it returns, those of its arguments afterwards, or the name of the error it raises.
"""

from __future__ import annotations

import itertools
import linecache
import random
from typing import Any

_number = itertools.count()
INPUTS = [
    ([1.0, -2.0, 3.0], [0.5, 2.0, -1.0], [-1.5, 0.25, 2.0], 2),
    ([-1.0, 0.5, -2.5], [2.0, 1.0, 1.5], [3.0, -0.5, 1.0], 1),
    ([-0.5, -3.0, 1.0], [-2.0, -1.0, 0.5], [-1.0, -2.0, -0.75], 3),
]
# Programs of each kind whose outcomes in the reference are recorded. `views` make tensors that share elements, those
# `outside` have a list, a dict and an object that were there before, and stay.
RECORDED = [(200, "plain"), (60, "views"), (40, "outside")]
# How many of these are compared as static functions as well, with every run of the tests.
TRIED_STATIC = {"plain": 130, "views": 40, "outside": 30}
SETUP = """
class Box:
    pass


def helper(p, q):
    if p.sum() > q.sum():
        p.add_(q)
        return p
    return q * 0.5
"""
# How a program begins: with state of its own (of which gradients are asked), or with its arguments themselves.
OWN = "x, y, z = x * 1.0, y * 1.0, z * 1.0"
RESULT = """
    return [x, y, z], list(l), d, {"v": o.v, "w": getattr(o, "w", None)}
"""


class Writer:
    """Writes one program.

    Arguments:
        rng: what every choice is drawn from.
        kind: see RECORDED.
    """

    def __init__(self, rng: random.Random, kind: str) -> None:
        self.rng, self.views, self.outside = rng, kind == "views", kind == "outside"
        self.lines: list[str] = []
        self.names = itertools.count(1)

    def pick(self, *choices: Any) -> Any:
        return self.rng.choice(choices)

    def chance(self, part: float) -> bool:
        return self.rng.random() < part

    def program(self) -> str:
        own = self.chance(0.5) and not self.outside
        self.lines = ["def f(x, y, z, n):", f"    {OWN}" if own else "    pass"]
        first, second, third = (self.pick("x", "y", "z", "x * 0.5", "y + 1.0") for _ in range(3))
        self.lines += [
            f"    l = [{first}, {second}, z - 1.0]",
            f'    d = {{"a": {third}, "b": {self.pick("y", "z * 2.0")}}}',
        ]
        self.lines += ["    o = Box()", f"    o.v = {self.pick('x', 'z', 'x - y')}"]
        if self.outside:
            self.lines[2:] = ["    l, d, o = L, D, O"]
        if self.views:
            self.lines += [f"    v = {self.view()}", f"    w = {self.view()}"]
        for _ in range(self.rng.randint(2, 4)):
            self.statement(1, False)
        if not any("if" in line or "while" in line for line in self.lines):
            self._if(1, False)
        return SETUP + "\n\n" + "\n".join(self.lines) + RESULT

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int, most: int, in_loop: bool) -> None:
        for _ in range(self.rng.randint(1, most)):
            self.statement(depth, in_loop)

    def statement(self, depth: int, in_loop: bool) -> None:
        kinds = ["write", "write", "assign", "assign", "list", "dict", "attribute"]
        kinds += ["if", "if", "if"] if depth < 3 else []
        kinds += ["loop", "loop"] if depth < 2 else ["loop"] if depth < 3 else []
        kinds += ["try"] if depth < 2 else []
        kinds += ["leave"] if depth > 1 and self.chance(0.4) else []
        getattr(self, f"_{self.pick(*kinds)}")(depth, in_loop)

    # -- parts -----------------------------------------------------------------------------------------------------
    def place(self) -> str:
        """What holds a tensor in every program."""
        more = ["v", "w"] * 2 if self.views else []
        return self.pick("x", "y", "z", "x", "y", "z", "l[0]", "l[-1]", 'd["a"]', "o.v", *more)

    def view(self) -> str:
        return self.pick("{}[:]", "{}.reshape([3])", "{}[0:3]", "{}.detach()").format(self.pick("x", "y", "z"))

    def value(self) -> str:
        shape = self.pick("{} * 0.5", "{} + {}", "{} - {}", "{}.clip(-4.0, 4.0)", "{} + 1.0", "{} * {} * 0.25")
        return shape.format(self.place(), self.place())

    def alias(self) -> str:
        return self.view() if self.views and self.chance(0.5) else self.place()

    def condition(self) -> str:
        return self.pick(
            "{0}.sum() > 0", "{0}[0] > {1}[1]", "{0}.mean() < {1}.max()", "{0}[-1] < 0.5", "n > 1", "n == 2",
            "{0}.sum() > 0 and {1}[0] < 1", "not {0}[1] > 0", "{0}.min() < -1 or n > 2",
        ).format(self.place(), self.place())  # fmt: skip

    # -- statements ------------------------------------------------------------------------------------------------
    def _write(self, depth: int, in_loop: bool) -> None:
        place = self.place()
        forms = ["{0}.add_({1})", "{0}.scale_(0.5)", "{0}[0] = 2.0", "{0}[1:] = {1}[:2]", "{0}[{0} > 0] = 1.0"]
        forms += ["{0} += {1}", "{0}.set_value({1} * 0.5)", "{0}.clip_(-2.0, 2.0)", "{2} = helper({0}, {1})"]
        forms += ["{0}[1] += 1.0", "{0} *= 0.5"]
        forms += ["{0}[1:].add_({1}[:2])", "{0}.reshape([3, 1])[1].fill_(0.5)"] if self.views else []
        self.emit(depth, self.pick(*forms).format(place, self.place(), self.place()))

    def _assign(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"{self.place()} = {self.pick(self.value(), self.alias())}")

    def _list(self, depth: int, in_loop: bool) -> None:
        forms = ["l.append({1})", "l[1] = {0}", "l += [{0}]", "l[1:] = [{0}, {1}]", "del l[0]", "l = l + [{0}]"]
        forms += ["{2} = {2} + len(l)", "l[-1] = l[-1] + 1.0", "l = [h * 0.5 for h in l]", "{2} = sum(l)"]
        forms += ["l.insert(0, {0})", "{2} = l.pop()", "k = l\n{i}k[0] = {1}", "l[n - 1] = {0}"]
        text = self.pick(*forms).format(self.place(), self.value(), self.pick("x", "y", "z"), i="    " * depth)
        self.emit(depth, text)

    def _dict(self, depth: int, in_loop: bool) -> None:
        key = self.pick("b", "c")
        forms = [
            'd["{3}"] = {1}',
            'd["{3}"] = {0}',
            '{2} = d.get("{3}", {0})',
            'd.pop("{3}", None)',
            "{2} = {2} + len(d)",
        ]
        forms += ['d.setdefault("{3}", {0}).add_({1})', 'd = {{**d, "{3}": {0}}}', "{2} = sum(d.values())"]
        forms += ['if "{3}" in d:\n{i}    del d["{3}"]', 'if "{3}" in d:\n{i}    d["{3}"].scale_(0.5)']
        forms += ['e = d\n{i}e["a"] = {1}', "for key in list(d):\n{i}    d[key] = d[key] * 0.5"]
        text = self.pick(*forms).format(self.place(), self.value(), self.pick("x", "y", "z"), key, i="    " * depth)
        self.emit(depth, text)

    def _attribute(self, depth: int, in_loop: bool) -> None:
        forms = ["o.w = {1}", "o.w = {0}", "o.v = {0}", 'if hasattr(o, "w"):\n{i}    o.w.add_({0})']
        forms += ['{2} = getattr(o, "w", {0})', 'if hasattr(o, "w"):\n{i}    del o.w', "{2} = {2} + len(vars(o))"]
        text = self.pick(*forms).format(self.place(), self.value(), self.pick("x", "y", "z"), i="    " * depth)
        self.emit(depth, text)

    def _if(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, f"if {self.condition()}:")
        self.block(depth + 1, 2, in_loop)
        if self.chance(0.2):
            self.emit(depth, f"elif {self.condition()}:")
            self.block(depth + 1, 2, in_loop)
        if self.chance(0.5):
            self.emit(depth, "else:")
            self.block(depth + 1, 2, in_loop)

    def _loop(self, depth: int, in_loop: bool) -> None:
        k = f"k{next(self.names)}"
        form = self.pick("n", "n", "two", "while", "while")
        if form == "while":
            start = self.pick("0", "n * 0")
            self.emit(depth, f"{k} = {start}")
            self.emit(depth, f"while {k} < 2 and ({self.condition()}):" if self.chance(0.5) else f"while {k} < n:")
            self.emit(depth + 1, f"{k} = {k} + 1")
        else:
            self.emit(depth, f"for {k} in range({'n' if form == 'n' else '2'}):")
        if self.chance(0.2):
            self.emit(depth + 1, "for j in range(2):")
            self.emit(depth + 2, f"l[j] = l[j] * 0.5 + {self.pick('x', 'y', 'z')}")
        self.block(depth + 1, 2, True)

    def _leave(self, depth: int, in_loop: bool) -> None:
        forms = ["return {0}, {1}", "return {0}, {1}", 'raise ValueError("bad")', "assert {2}, 'no'"]
        forms += ["break", "break", "continue"] if in_loop else []
        self.emit(depth, self.pick(*forms).format(self.place(), self.value(), self.condition()))

    def _try(self, depth: int, in_loop: bool) -> None:
        self.emit(depth, "try:")
        self.block(depth + 1, 2, in_loop)
        if self.chance(0.7):
            self.emit(depth + 1, f"if {self.condition()}:")
            self.emit(depth + 2, self.pick('raise ValueError("bad")', "del d['zz']"))
            self.block(depth + 1, 1, in_loop)
        self.emit(depth, f"except {self.pick('ValueError', 'LookupError', 'Exception')}:")
        self.block(depth + 1, 1, in_loop)


def has_gradients(text: str) -> bool:
    """Whether gradients can be asked of a program: it changes no arguments."""
    return OWN in text


def close(a: Any, b: Any) -> bool:
    """Whether two outcomes are the same."""
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(close(a[k], b[k]) for k in a)
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= 1e-5 + 1e-4 * abs(b) or (a != a and b != b)
    return type(a) is type(b) and a == b


def program(seed: int, kind: str = "plain") -> str:
    """The text of one program."""
    return Writer(random.Random(f"{seed} {kind}"), kind).program()


def compiled(text: str, paddle: Any) -> Any:
    """The function of a program, whose source `linecache` knows, with state of its own outside."""
    filename = f"<state program {next(_number)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    a, b, c = [paddle.to_tensor(i) for i in INPUTS[0][:3]]
    namespace: dict[str, Any] = {"__name__": "state_program", "L": [a, b, a * 0.5], "D": {"a": b, "b": c}}
    exec(compile(text, filename, "exec"), namespace)  # noqa: S102
    namespace["O"] = namespace["Box"]()
    namespace["O"].v = c
    return namespace["f"]


def outcome(paddle: Any, f: Any, inputs: Any, with_grad: bool = False) -> Any:
    """What a program gives for some numbers: results, what it has changed, and gradients; or the name of an error."""
    tensors = [paddle.to_tensor(i) for i in inputs[:3]] + [paddle.to_tensor(inputs[3], dtype="int64")]
    for t in tensors[:3]:
        t.stop_gradient = not with_grad
    try:
        result = f(*tensors)
    except Exception as e:
        return {"error": type(e).__name__, "arguments": numbers(tensors), "outside": outside(f)}
    found = {"result": numbers(result), "arguments": numbers(tensors), "outside": outside(f)}
    if with_grad:
        parts = [((i + 1.0) * t * t).sum() for i, t in enumerate(floating(result)) if not t.stop_gradient]
        if parts:
            sum(parts).backward()
        found["gradients"] = [[0.0] * 3 if t.grad is None else numbers(t.grad) for t in tensors[:3]]
    return found


def outside(f: Any) -> Any:
    """The state outside of a program that has some, as numbers."""
    plain = getattr(f, "dygraph_function", f)
    names = plain.__globals__
    return numbers([names["L"], names["D"], vars(names["O"])]) if "L" in plain.__code__.co_names else []


def floating(value: Any) -> list[Any]:
    """The tensors in a result."""
    if isinstance(value, list | tuple | dict):
        parts = value.values() if isinstance(value, dict) else value
        return [t for part in parts for t in floating(part)]
    return [value] if hasattr(value, "numpy") else []


def numbers(value: Any) -> Any:
    """Tensors as numbers, in lists and dicts."""
    if isinstance(value, list | tuple):
        return [numbers(v) for v in value]
    if isinstance(value, dict):
        return {k: numbers(v) for k, v in value.items()}
    return value.numpy().tolist() if hasattr(value, "numpy") else value


def record(paddle: Any) -> dict[str, Any]:
    """The outcomes of programs, by kind and seed."""
    found = {}
    for count, kind in RECORDED:
        for seed in range(count):
            f = compiled(program(seed, kind), paddle)
            found[f"{kind} {seed}"] = [rounded(outcome(paddle, f, inputs)) for inputs in INPUTS]
    return found


def rounded(value: Any) -> Any:
    """Numbers with so many digits as are compared."""
    if isinstance(value, list):
        return [rounded(v) for v in value]
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return float(f"{value:.5g}") if isinstance(value, float) else value
