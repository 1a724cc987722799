"""Where functions come from, and where converted code says it is."""

# Programs to convert are odd on purpose.
# ruff: noqa: F841, SIM201, UP008, B007, B008, B012, B018, B023, C400, C402, C416, C420, E501, E731, S102, SIM102, SIM108, SIM114, UP028

from __future__ import annotations

import bdb
import doctest
import importlib.util
import linecache
import sys
import textwrap
import traceback

import pytest

import dy2static
from conversions import Short, Staged, Toy
from dy2static import ConversionError, convert
from dy2static.location import Location

EXAMPLE = """
def f(x):
    if x > 0:
        y = 1 // (x - 1)
    else:
        for i in range(3):
            y = {}[i]
    return y
"""


def load(tmp_path, text, name="user_module"):
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines_of(f, *args):
    """The user's file, lines and functions in the traceback of a call."""
    try:
        f(*args)
    except Exception as error:  # noqa: BLE001
        frames = traceback.extract_tb(error.__traceback__)[1:]
        return [(frame.filename, frame.lineno, frame.name) for frame in frames if "dy2static/" not in frame.filename
                or "tests" in frame.filename]  # fmt: skip


@pytest.mark.parametrize("runtime", [None, Short()])
def test_tracebacks_show_the_users_lines(tmp_path, runtime):
    f = load(tmp_path, EXAMPLE).f
    assert lines_of(convert(f, runtime), 1)[-1] == lines_of(f, 1)[-1] == (f.__code__.co_filename, 4, "f")
    assert lines_of(convert(f, runtime), -1)[-1] == (f.__code__.co_filename, 7, "f")


DECORATED = """
def same(*args):
    return lambda f: f

@same(1,
      2)
@same()
def f(
    x,
):
    if x > 0:
        y = 1 // (x - 1)
    return x

g = same()(lambda x:
    1 // (x - 1))
"""


@pytest.mark.parametrize("name", ["f", "g"])
def test_decorators_shift_no_lines(tmp_path, name):
    f = getattr(load(tmp_path, DECORATED), name)
    g = convert(f)
    assert lines_of(g, 1) == lines_of(f, 1) != []
    assert g.__code__.co_firstlineno == f.__code__.co_firstlineno
    lines = [{line for *_, line in h.__code__.co_lines() if line is not None} for h in (f, g)]
    assert lines[0] == lines[1]


def test_tracebacks_of_python_values_are_the_very_same(tmp_path):
    f = load(tmp_path, EXAMPLE).f
    for x in (1, -1):
        assert lines_of(convert(f), x) == lines_of(f, x)


def test_tracebacks_from_staged_branches(tmp_path):
    f = load(tmp_path, EXAMPLE).f
    found = lines_of(convert(f, Toy()), Staged(1))
    assert {frame[2] for frame in found if frame[0] == f.__code__.co_filename} == {"f"}
    assert (f.__code__.co_filename, 3, "f") in found and found[-2][1] in (4, 7)


def test_syntax_caret_points_into_the_expression(tmp_path):
    f = load(tmp_path, EXAMPLE).f
    with pytest.raises(ZeroDivisionError) as caught:
        convert(f)(1)
    text = "".join(traceback.format_exception(caught.value))
    assert "y = 1 // (x - 1)" in text


def test_debuggers_stop_at_the_users_lines(tmp_path):
    f = load(tmp_path, EXAMPLE).f

    class Debugger(bdb.Bdb):
        def __init__(self):
            super().__init__()
            self.lines = []

        def user_line(self, frame):
            if frame.f_code.co_filename == f.__code__.co_filename:
                self.lines.append(frame.f_lineno)

    ours, plain = Debugger(), Debugger()
    old = sys.gettrace()
    try:
        for debugger, function in ((plain, f), (ours, convert(f))):
            debugger.runcall(function, 3)
    finally:
        sys.settrace(old)
    assert ours.lines == plain.lines == [3, 4, 8]


def test_exec_with_linecache_and_without():
    text = "def g(x):\n    return 1 if x > 0 else -1\n"
    namespace = {}
    exec(compile(text, "<cell 1>", "exec"), namespace)  # noqa: S102
    with pytest.raises(ConversionError, match=r"the source of function `g` \(<cell 1>:1\) was not found.*linecache"):
        convert(namespace["g"])
    assert convert(lambda x: namespace["g"](x))(2) == 1
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(True), "<cell 1>")
    g = convert(namespace["g"])
    assert g(2) == 1 and g.__code__.co_filename == "<cell 1>"


def test_doctest_examples_have_source():
    runner = doctest.DocTestRunner(verbose=False)
    text = textwrap.dedent("""
        >>> import dy2static
        >>> def f(x):
        ...     if x > 0:
        ...         return 1
        ...     return -1
        >>> dy2static.convert(f)(-3)
        -1
    """)
    test = doctest.DocTestParser().get_doctest(text, {}, "example", "example.py", 0)
    assert runner.run(test).failed == 0


def test_changed_source_is_noticed(tmp_path):
    module = load(tmp_path, EXAMPLE)
    (tmp_path / "user_module.py").write_text("\n\n\ndef other():\n    pass\n")
    with pytest.raises(ConversionError, match="the file has changed since.*Reload"):
        convert(module.f)


def test_lambdas_on_one_line(tmp_path):
    module = load(tmp_path, "fs = [lambda x: x + 1, lambda x: x * 2 if x > 0 else 0, (lambda x: lambda x: x - 1)]\n")
    assert [convert(f)(5) for f in module.fs[:2]] == [6, 10]
    assert convert(module.fs[2](0))(5) == 4 and convert(module.fs[2])(0)(5) == 4


def test_future_annotations_stay(tmp_path):
    text = """
        from __future__ import annotations
        def f(x: Missing) -> AlsoMissing:
            y: Missing = x
            def g(z: Missing = y) -> Missing:
                return z
            return g(), g.__annotations__
    """
    f = load(tmp_path, text).f
    assert convert(f)(1) == f(1) == (1, {"z": "Missing", "return": "Missing"})


def test_decorators_of_nested_functions_stay():
    def f(x):
        def plus(k):
            def wrap(g):
                return lambda v: g(v) + k

            return wrap

        @plus(1)
        @plus(2)
        def g(v):
            if v > 0:
                return v
            return 0

        return g(x)

    assert convert(f)(1) == f(1) == 4


def test_where():
    where = Location(__file__, 1, "f")
    assert str(where) == "test_source.py:1" and where.source.startswith('"""Where functions come from')
    assert where == Location(__file__, 1, "g") and hash(where) == hash(Location(__file__, 1, "f"))


def test_runtime_is_told_the_place():
    places = []

    class Asking(Toy):
        def if_(self, pred, body, orelse, state, where):
            places.append((where.lineno, where.function, where.source))
            super().if_(pred, body, orelse, state, where)

    def f(x):
        if x > 0:
            x = x + 1
        return x if x > 3 else -x

    convert(f, Asking())(Staged(1))
    assert places == [(f.__code__.co_firstlineno + 1, "f", "if x > 0:")]


def test_to_code():
    def f(x, k=2, *args):
        match x:
            case [a, *b] if a > k:
                return f"{a!r:>{k}}"
        try:
            k = [v for v in x if v > k]
        except* ValueError as e:
            raise e from None
        while x < 3 and not k:
            x += 1

    text = dy2static.to_code(f)
    compile(text, "text", "exec")
    for part in ("def f(x, k=2, *args):", "case [a, *b]:", "except* ValueError as e:", ".while_(", "!r:>{k}}'"):
        assert part in text, part
