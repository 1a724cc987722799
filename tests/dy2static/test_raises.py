"""A `raise` in a `try`, with and without a runtime that wants to see it: plain Python does the same."""

from __future__ import annotations

import contextlib

import pytest

import dy2static


class Watching(dy2static.Runtime):
    """Sees each `raise`, as a framework does that stages some."""

    signals = (KeyboardInterrupt,)

    def __init__(self):
        self.seen = []

    def raise_(self, exc, where):
        self.seen.append(type(exc))
        raise exc


class Stop(Exception):
    def __init__(self, value):
        super().__init__("stop")
        self.value = value


def handlers(x):
    try:
        if x > 2:
            raise Stop(x)
        if x > 1:
            raise KeyError("k")
        out = "none"
    except KeyError as e:
        out = e.args
    except Stop as e:
        out = e.value, e.args
    else:
        out = "else"
    finally:
        out = [out]
    return out


def returns(x):
    try:
        if x > 1:
            raise Stop(x)
        return "done"
    except Stop:
        return "caught"


def loops(x):
    log = []
    for i in range(5):
        try:
            if i == x:
                raise Stop(i)
            if i > 3:
                break
        except Stop:
            log.append("s")
            continue
        log.append(i)
    return log


def raised_again(x):
    try:
        try:
            if x > 1:
                raise Stop(x)
        except Stop as e:
            if x > 2:
                raise KeyError(e.value) from e
            raise
    except Stop:
        return "stop"
    except KeyError as e:
        return e.args, type(e.__cause__)
    return "nothing"


def suppressed(x):
    out = 0
    with contextlib.suppress(Stop):
        if x > 1:
            raise Stop(x)
        out = 1
    return out


def asserted(x):
    try:
        assert x > 1, "small"
    except AssertionError as e:
        return str(e).split("\n")[0]
    return "large"


@pytest.mark.parametrize("f", [handlers, returns, loops, raised_again, suppressed, asserted], ids=lambda f: f.__name__)
@pytest.mark.parametrize("runtime", [None, Watching()], ids=["plain", "watching"])
def test_python_values_raise_as_they_are_written(f, runtime):
    converted = dy2static.convert(f, runtime=runtime) if runtime else dy2static.convert(f)
    assert [converted(x) for x in range(5)] == [f(x) for x in range(5)]


def test_no_handler_catches_a_signal():
    def f(x):
        try:
            raise KeyboardInterrupt
        except BaseException:
            return "caught"

    converted = dy2static.convert(f, runtime=Watching())
    with pytest.raises(KeyboardInterrupt):
        converted(1)
    assert f(1) == "caught"


def test_no_manager_catches_a_signal():
    class Everything:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            return True

    class Properties(Watching):
        properties = True

    def f(x):
        with Everything():
            raise KeyboardInterrupt
        return "caught"

    with pytest.raises(KeyboardInterrupt):
        dy2static.convert(f, runtime=Properties())(1)
    assert f(1) == "caught"


def test_exceptions_as_values():
    from dy2static.exceptions import packed, unpacked

    error = Stop(3)
    error.__cause__ = KeyError("k")
    made = unpacked(packed(error))
    assert (type(made), made.value, made.args, made.__cause__.args) == (Stop, 3, ("stop",), ("k",))
