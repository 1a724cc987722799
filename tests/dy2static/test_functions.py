"""What can be converted, and what stays of it: signature, closure, globals, methods, third-party code."""

# Programs to convert are odd on purpose.
# ruff: noqa: F841, SIM201, UP008, B007, B008, B012, B018, B023, C400, C402, C416, C420, E501, E731, S102, SIM102, SIM108, SIM114, UP028

from __future__ import annotations

import asyncio
import copy
import dataclasses
import functools
import inspect
import pickle
import textwrap
import warnings

import pytest

from conversions import Logging, Staged, Toy, plain, same, staged
from dy2static import ConversionError, Runtime, convert, do_not_convert
from dy2static.operators import Operators

SCALE = 3


def relu(x):
    if x > 0:
        return x
    return x * 0


def signature(a, /, b=2, *args: int, c, d: str = "d", **kwargs) -> int:
    """Adds."""
    if a > b:
        return a, args, c, d, kwargs
    return b


def test_signature_stays():
    g = convert(signature)
    assert inspect.signature(g) == inspect.signature(signature)
    for name in (
        "__name__",
        "__qualname__",
        "__doc__",
        "__module__",
        "__defaults__",
        "__kwdefaults__",
        "__annotations__",
    ):
        assert getattr(g, name) == getattr(signature, name), name
    assert g(3, 1, 4, 5, c=6, e=7) == (3, (4, 5), 6, "d", {"e": 7})
    assert g(1, c=0) == 2
    assert inspect.getsource(g) == inspect.getsource(signature)
    with pytest.raises(TypeError, match=r"signature\(\) missing 1 required keyword-only argument"):
        g(1)


def test_globals_and_cells_are_live(monkeypatch):
    k = 1

    def f(x):
        return x * SCALE + k if x > 0 else k

    g = convert(f)
    assert g(1) == 4
    monkeypatch.setitem(globals(), "SCALE", 10)
    k = 5
    assert g(1) == 15
    assert g.__globals__ is f.__globals__
    assert set(globals()) == set(g.__globals__)


def test_classes_inside_keep_their_names():
    def f(x):
        class Inner:
            class Deep:
                pass

        return Inner if x else Inner.Deep

    same(lambda x: (f(x).__qualname__, f(x).__module__, f(x).__name__), True, False)
    assert convert(f)(1).__qualname__ == f(1).__qualname__


class Circle:
    def area(self, n):
        return n if n > 0 else 1


class Square:
    def area(self, n):
        return 10 * n if n > 0 else 10


def total(shapes, n):
    s = 0
    for shape in shapes:
        s += shape.area(n)
    return s


def test_methods_of_one_name_are_told_apart(monkeypatch):
    """A call looks first at the method that was called first, which need not be the one."""
    g, circle, square = convert(total), Circle(), Square()
    assert g([circle, square, circle], 2) == 24
    lent = Square()
    lent.area = circle.area
    assert g([lent, square], 2) == 22
    monkeypatch.setattr(Circle, "area", lambda self, n: 100 * n)
    assert g([circle, square], 2) == 220
    monkeypatch.undo()
    assert convert(total)([square, circle], 2) == 22
    assert g([circle], 2) == 2


def test_if_without_else():
    def f(x):
        found = 1
        if x:
            found = 2
        if not x:
            found += 10
        return found

    same(f, True, False, 1, 0, [[]], [[1]], None, "", "a")
    assert staged(f, 3, 0)


def test_functions_of_one_code_share_it_and_keep_their_cells():
    made = [convert(functools.partial(lambda n: lambda x: x + n if x > 0 else n)(n)) for n in range(3)]
    assert [g(1) for g in made] == [1, 2, 3]
    assert made[0].__code__ is made[1].__code__


def test_lambdas():
    fs = (lambda x: x + 1 if x > 0 else x - 1), (lambda y: y * 2 if y > 0 else -y)
    h = lambda x: [v for v in range(x) if v > 1]  # noqa: E501, E702, E731
    for f in (*fs, h):
        same(f, 3, -3)
        assert convert(f).__name__ == "<lambda>"
    assert staged(fs[0], 3, -3) and staged(fs[1], 3, -3)
    nested = lambda x: lambda y: y if y > x else x  # noqa: E731
    assert convert(nested)(2)(5) == 5 and convert(nested(2))(1) == 2


def test_partial_and_callable_object():
    class Times:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            if x > 0:
                return x * self.k
            return x

    assert convert(functools.partial(signature, 5, c=1))(4) == signature(5, 4, c=1)
    assert convert(Times(3))(2) == 6
    assert plain(convert(Times(3), Toy())(Staged(2))) == 6


class Base:
    scale = 2

    def __init__(self, k):
        if k > 5:
            k = 5
        self.k = k
        self.__hidden = k + 1

    def forward(self, x):
        if x > 0:
            return x * self.k
        return x

    def hidden(self, x):
        self.__hidden = self.__hidden + x if x > 0 else self.__hidden
        return self.__hidden, self.__twice(x)

    def __twice(self, __x):
        if __x > 1:
            return __x * 2
        return __x

    @staticmethod
    def clip(x):
        if x > 10:
            return 10
        return x

    @classmethod
    def shift(cls, x):
        if x > 0:
            return x + cls.scale
        return x - cls.scale


class Child(Base):
    def __init__(self, k):
        super().__init__(k)
        self.name = __class__.__name__

    def forward(self, x):
        y = super().forward(x)
        if y > 4:
            y = super(Child, self).forward(y) + len([super(Child, self) for _ in range(2)])
        return y

    @classmethod
    def shift(cls, x):
        if x > 3:
            return super().shift(x) * 2
        return super().shift(x)


def uses_objects(x):
    child = Child(7)
    out = [child.forward(x), child.hidden(x), child.clip(x * 4), Child.shift(x), child.k, child.name]
    if x > 2:
        child.k = x
        child.log = [1, 2]
        child.log[0] += x
        del child.log[1]
    return out, child.k, getattr(child, "log", None)


@pytest.mark.parametrize("runtime", [Toy, Logging])
def test_methods(runtime):
    same(uses_objects, 1, 3, -1)
    assert len(staged(uses_objects, 1, 3, -1, runtime=runtime)) > 40
    child = Child(1)
    for method in (child.forward, child.shift, Child.shift, child.clip):
        assert convert(method)(3) == method(3)
        assert plain(convert(method, Toy())(Staged(7))) == method(7)
    assert convert(child.forward).__self__ is child
    assert convert(Base.__dict__["clip"]).__func__(11) == 10
    assert convert(Base.__dict__["shift"]).__get__(None, Base)(1) == 3


def test_super_in_nested_function():
    def call(x):
        class Local(Base):
            def forward(self, x):
                def inner(self):
                    return super().forward(x)

                return inner(self) + 1 if x > 0 else 0

        return Local(3).forward(x)

    same(call, 2, -2)


def decorated(factor):
    def wrap(f):
        @functools.wraps(f)
        def inner(*args):
            return f(*args) * factor

        return inner

    return wrap


@decorated(3)
@decorated(2)
def twice_decorated(x):
    if x > 0:
        return x
    return -1


def test_decorated():
    same(twice_decorated, 2, -2)
    assert staged(twice_decorated, 2, -2)


def higher_order(x):
    rows = list(map(relu, [x, -x, x + 1]))
    total = functools.reduce(lambda a, b: a + b if b > 0 else a - b, rows, 0)
    pairs = sorted([(2, x), (1, x)], key=lambda p: p[0])
    return total, pairs[0][1], functools.partial(relu)(x), {"relu": relu}["relu"](x)


def test_higher_order_builtins():
    same(higher_order, 3, -3)
    assert staged(higher_order, 3, -3)


@dataclasses.dataclass
class Batch:
    x: int
    k: int = 2


def test_dataclass_in_converted_code():
    def f(x):
        b = Batch(x)
        if b.x > 0:
            b.k = 5
            b = dataclasses.replace(b, x=1)
        return b.x * b.k

    same(f, 1, -1)
    assert staged(f, 1, -1, runtime=Logging)


def test_third_party_is_called_as_it_is():
    find = Operators.of(Toy()).callee
    for f in (textwrap.dedent, len, dict, [].append, ValueError, functools.lru_cache(relu), print):
        assert find(f) == f
    assert find(relu) is not relu and find(relu) is find(relu)
    assert find(find(relu)) is find(relu)


def test_do_not_convert():
    @do_not_convert
    def marked(x):
        return "yes" if isinstance(x, Staged) else "no"

    assert convert(marked) is marked
    assert convert(lambda x: marked(x), Toy())(Staged(1)) == "yes"


def test_own_functions_and_call_hook():
    class Watching(Runtime):
        def __init__(self):
            self.called = []

        def is_own(self, f):
            return f is relu

        def call(self, f, args, kwargs):
            self.called.append(f.__name__)
            return f(*args, **kwargs)

    watching = Watching()
    assert convert(lambda x: relu(x) + twice_decorated(x), watching)(2) == 14
    assert watching.called[:2] == ["relu", "twice_decorated"]


def test_builtin_hook_sees_container_methods():
    class Lists(Runtime):
        def builtin(self, f):
            if getattr(f, "__name__", "") == "append" and isinstance(getattr(f, "__self__", None), list):
                return lambda item: f.__self__.extend([item, item])
            return None

    def f(x):
        xs = []
        xs.append(x)
        return xs, [v for v in (1, 2)]

    assert convert(f, Lists())(1) == ([1, 1], [1, 1, 2, 2])


def test_frames_are_the_users():
    def f(x):
        if x > 0:
            warnings.warn("careful", stacklevel=2)
        y = eval("x + 1")
        return sorted(locals()), y, sorted(vars()), "SCALE" in globals()

    g = convert(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        expected, found = f(1), g(1)
    assert found == expected
    assert [w.filename for w in caught] == [__file__, __file__]


def test_coroutines_stay():
    async def f(x):
        if x > 0:
            await asyncio.sleep(0)
        return [v async for v in agen(x)]

    async def agen(x):
        for i in range(x):
            yield i

    assert convert(f) is f and convert(agen) is agen
    assert asyncio.run(convert(lambda x: f(x))(2)) == [0, 1]


def test_not_functions():
    with pytest.raises(TypeError, match="expected a function to convert, got 3 of type int"):
        convert(3)
    for f in (Base, len, functools.lru_cache(relu)):
        with pytest.raises(ConversionError, match="without Python code"):
            convert(f)


def test_user_functions_can_be_pickled_and_copied():
    assert convert(lambda x: relu(x), Toy())(1) == 1
    assert pickle.loads(pickle.dumps(relu)) is relu and copy.deepcopy(relu) is relu
    memo = next(value for key, value in vars(relu).items() if "dy2static" in key)
    assert pickle.loads(pickle.dumps(memo)).target is None
