"""The conversion cache: shared by functions of one code, weak, and keyed by identity."""

# Programs to convert are odd on purpose.
# ruff: noqa: F841, SIM201, UP008, B007, B008, B012, B018, B023, C400, C402, C416, C420, E501, E731, S102, SIM102, SIM108, SIM114, UP028

from __future__ import annotations

import gc
import textwrap
import threading
import weakref

from conversions import Toy
from dy2static import Runtime, compiler, convert
from dy2static.operators import Operators
from programs import compiled


def counted(monkeypatch):
    calls = []
    original = compiler.compile_tree
    monkeypatch.setattr("dy2static.converted_code.compile_tree", lambda *args: calls.append(1) or original(*args))
    return calls


def make(n):
    def f(x):
        if x > n:
            return x
        return n

    return f


def test_one_conversion_for_all_functions_of_a_code(monkeypatch):
    calls = counted(monkeypatch)
    runtime = Runtime()
    assert [convert(make(n), runtime)(1) for n in range(5)] == [1, 1, 2, 3, 4]

    def outer(x):
        return [make(n)(x) for n in range(4)] + [make(n)(x) for n in range(4)]

    assert convert(outer, runtime)(2) == outer(2)
    assert len(calls) == 3  # f, outer and make


def test_functions_and_what_they_hold_are_freed():
    class Big:
        pass

    def run(runtime):
        big = Big()

        def recursive(n):
            if n > 0:
                return recursive(n - 1)
            return big

        assert convert(lambda: recursive(3), runtime)() is big
        return weakref.ref(big), weakref.ref(recursive)

    refs = [*run(Runtime()), *run(Toy())]
    gc.collect()
    assert [ref() for ref in refs] == [None] * 4


def test_code_and_runtime_are_freed():
    runtime = Runtime()
    f = compiled("def f(x):\n    return 1 if x > 0 else 2\n")
    assert convert(f, runtime)(1) == 1
    table = Operators.of(runtime).callees._codes
    refs = weakref.ref(f.__code__), weakref.ref(runtime)
    assert len(table) == 1
    del f
    gc.collect()
    assert len(table) == 0 and refs[0]() is None
    del runtime, table
    gc.collect()
    assert refs[1]() is None


def test_a_dropped_function_leaves_nothing_without_the_collector():
    f = compiled("def f(x):\n    return 1 if x > 0 else 2\n")
    g = convert(f)
    ref, code = weakref.ref(g), weakref.ref(g.__code__)
    gc.disable()
    try:
        del g
        assert ref() is None and code() is not None
    finally:
        gc.enable()


def test_equal_text_is_not_the_same_function():
    text = textwrap.dedent("""
        def f(x):
            return x + K if x > 0 else K
    """)
    one, two = compiled(text, K=1), compiled(text, K=2)
    assert (convert(one)(1), convert(two)(1)) == (2, 3)


def test_changed_code_is_converted_anew():
    def f(x):
        return 1 if x > 0 else 2

    def other(x):
        return 3 if x > 0 else 4

    caller = convert(lambda x: f(x), Runtime())
    assert caller(1) == 1
    f.__code__ = other.__code__
    assert caller(1) == 3


def test_threads():
    runtime, results = Runtime(), []
    threads = [threading.Thread(target=lambda: results.append(convert(make(3), runtime)(5))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [5] * 8
