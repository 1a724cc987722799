"""Each message of the converter, and of Python's builtins on tensors, is provoked here and has an entry in the docs."""

# Programs to convert are odd on purpose.
# ruff: noqa: B007, B018, E731, S102

from __future__ import annotations

import ast
import itertools
import linecache
import re

import pytest
from paddle_lite_py.jit.iterables import item_of

import dy2static
import house
import paddle_lite_py as paddle
from dy2static.split import split

FILES = [
    *sorted((house.ROOT / "dy2static").rglob("*.py")),
    *[house.ROOT / "jit" / f"{name}.py" for name in ("builtin", "iterables", "sequences", "text")],
]
_number = itertools.count()


def made(text, **names):
    """The function `f` of a text that `linecache` knows."""
    name = f"<errors {next(_number)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), names)
    return names["f"]


def static(text, *numbers, **names):
    """Call the text's function `f`, compiled, with tensors."""
    return paddle.jit.to_static(made(text, paddle=paddle, **names), full_graph=True)(*map(paddle.to_tensor, numbers))


def declared(text):
    """The program of the text's function for an integer that no call has given."""
    spec = [paddle.static.InputSpec([], "int64")]
    return paddle.jit.to_static(made(text), full_graph=True).concrete_program_specify_input_spec(spec)


def without_source():
    names = {}
    exec("def f(x):\n    return x", names)
    return dy2static.convert(names["f"])


def with_changed_source():
    f = made("def f(x):\n    return x\n")
    linecache.cache[f.__code__.co_filename] = (1, None, ["other = 1\n"], f.__code__.co_filename)
    return dy2static.convert(f)


def with_broken_source():
    f = made("def f(x):\n    return x\n")
    linecache.cache[f.__code__.co_filename] = (1, None, ["%magic\n", "def f(x\n"], f.__code__.co_filename)
    return dy2static.convert(f)


def undefined():
    return static("def f(x):\n    if x > 0:\n        t = x\n    return t\n", -1.0)


def endless():
    from toy import Staged, Toy

    f = made("import itertools\ndef f(x):\n    for i in itertools.count():\n        if x > 5:\n            break\n")
    return dy2static.convert(f, Toy())(Staged(1))


def bad_state():
    return dy2static.State(("x", "y"), lambda: (1, 2), lambda values: None, dy2static.Location("m.py", 1, "f")).set(
        (1,)
    )


def raised_number():
    class Seeing(dy2static.Runtime):
        def raise_(self, exc, where):
            raise exc

    return dy2static.convert(made("def f(x):\n    raise 3\n"), Seeing())(1)


def raised_nothing():
    class Seeing(dy2static.Runtime):
        def raise_(self, exc, where):
            raise exc

    return dy2static.convert(made("def f(x):\n    raise\n"), Seeing())(1)


def closure_set_later():
    return split(made("def f(x):\n    g = lambda: y\n    x.numpy()\n    y = 1\n    return g()\n"), [3])


CASES = {
    "not a function": lambda: dy2static.convert(3),
    "a mark on a number": lambda: dy2static.do_not_convert(3),
    "a builtin": lambda: dy2static.convert(len),
    "a class": lambda: dy2static.convert(dict),
    "without source": without_source,
    "changed source": with_changed_source,
    "broken source": with_broken_source,
    "undefined": undefined,
    "endless": endless,
    "state": bad_state,
    "raise 3": raised_number,
    "raise nothing": raised_nothing,
    "a lambda taken apart": lambda: split(lambda x: x, [1]),
    "no line": lambda: split(made("def f(x):\n    return x\n"), []),
    "no such line": lambda: split(made("def f(x):\n    return x\n"), [9]),
    "closure": closure_set_later,
    "int of many": lambda: static("def f(x):\n    return int(x)\n", [1.0, 2.0]),
    "list of range": lambda: declared("def f(n):\n    return list(range(n))\n"),
    "len of range": lambda: static("def f(n):\n    return [0] * range(n).__len__()\n", 2),
    "0-D": lambda: static("def f(x):\n    for v in x:\n        x = x + v\n    return x\n", 2.0),
    "zip with a generator": lambda: static(
        "def f(x):\n    t = 0\n    for a, b in zip(x, (i for i in [1, 2])):\n        t = t + a * b\n    return t\n",
        [1.0, 2.0],
    ),
    "zip strict": lambda: static(
        "def f(x):\n    for a, b in zip(x, [1], strict=True):\n        x = x + a * b\n    return x\n", [1.0, 2.0]
    ),
    "zip strict of a range": lambda: static(
        "def f(x, n):\n    for a, b in zip(x, range(n), strict=True):\n        x = x + a * b\n    return x\n",
        [1.0, 2.0],
        2,
    ),
    "zip with words": lambda: item_of(["u", "v"], paddle.to_tensor(0)),
    "any of vectors": lambda: static("def f(x):\n    return any([x > 0, x < 0])\n", [1.0, 2.0]),
    "max of words": lambda: static("def f(x):\n    return max('u', 'v', key=lambda s: x if s == 'u' else -x)\n", 1.0),
    "sorted words": lambda: static("def f(x):\n    return sorted(['u', 'v'], key=lambda s: x)\n", 1.0),
    "sorted tuples": lambda: static("def f(x):\n    return sorted([(x, 1), (x,)])\n", 1.0),
    "sorted vectors": lambda: static("def f(x):\n    return sorted([x, -x])\n", [1.0, 2.0]),
    "filter": lambda: static("def f(x):\n    return list(filter(lambda v: v > 0, [x, -x]))\n", 1.0),
    "text": lambda: static("def f(x):\n    return f'{x}'.upper()\n", 1.0),
}


@pytest.fixture(scope="module")
def messages():
    return {name: message_of(case) for name, case in CASES.items()}


def message_of(case):
    try:
        case()
    except Exception as error:  # noqa: BLE001 (any error is the answer)
        return str(error)
    return ""


def raised():
    """(file:line, the parts of the message that are fixed) of each error with a message of its own."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            call = node.exc if isinstance(node, ast.Raise) else node.value if isinstance(node, ast.Return) else None
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id.endswith("Error"):
                parts = fixed(call.args[0]) if call.args else []
                if parts:
                    yield f"{path.relative_to(house.ROOT)}:{node.lineno}", parts


def fixed(message: ast.expr) -> list[str]:
    pieces = message.values if isinstance(message, ast.JoinedStr) else [message]
    return [p.value for p in pieces if isinstance(p, ast.Constant) and isinstance(p.value, str) and len(p.value) > 2]


def test_each_case_is_an_explained_error(messages):
    assert not [name for name, message in messages.items() if len(message) < 20]


def test_each_message_is_provoked(messages):
    patterns = {place: ".*".join(map(re.escape, parts)) for place, parts in raised()}
    assert len(patterns) > 20
    assert not [place for place, p in patterns.items() if not any(re.search(p, m, re.S) for m in messages.values())]


def test_each_message_has_an_entry():
    text = " ".join((house.ROOT / "docs" / "errors.md").read_text().replace("\n> ", " ").split())
    missing = {place: part for place, parts in raised() for part in parts if " ".join(part.split()) not in text}
    assert not missing, missing


def test_messages_name_the_users_line(messages):
    for name in ("undefined", "endless"):
        assert re.search(r"<?errors \d+>?:\d+", messages[name]), messages[name]


def test_frames_of_the_framework_are_hidden():
    with pytest.raises(ValueError, match="one element") as caught:
        static("def f(x):\n    return int(x)\n", [1.0, 2.0])
    assert str(caught.traceback[-1].path).startswith("<errors")
