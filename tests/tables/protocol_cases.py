"""Code of the user's that Python or a library reaches by itself, and what it leaves behind.

Each case is a module: what stands before the function, the statements that compute `y` from `x`, and an expression
that shows the state. `o` and its like are made once, before the calls.
"""

from __future__ import annotations

import itertools
import linecache
import re
import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

_COUNTER = """
class C:
    def __init__(self):
        self.n = 0
        self.log = []
    def count(self):
        self.n += 1
        self.log.append(self.n)
        return self.n
"""


class Case(NamedTuple):
    """A protocol, as code."""

    name: str
    setup: str
    body: str
    state: str


def _method(name: str, header: str, body: str, use: str, setup: str = "o = C()", state: str = "(o.n, o.log)") -> Case:
    """A case of a class that counts in a method."""
    own, *others = re.split(r"\n(?=def |__)", body)  # more of the class
    methods = "\n".join([f"def {header}:\n" + textwrap.indent(own, "    "), *others])
    return Case(name, f"{_COUNTER}{textwrap.indent(methods, '    ')}\n{setup}", use, state)


def _operators() -> list[Case]:
    made = [
        _method(f"__{op}__", f"__{op}__(self, other)", "return other * self.count()", f"y = o {sign} x")
        for op, sign in [("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("matmul", "@"), ("mod", "%"),
                         ("floordiv", "//"), ("pow", "**"), ("and", "&"), ("or", "|"), ("xor", "^"),
                         ("lshift", "<<"), ("rshift", ">>")]
    ]  # fmt: skip
    made += [
        _method(f"__r{op}__", f"__r{op}__(self, other)", "return other * self.count()", f"y = x * (2 {sign} o)")
        for op, sign in [("add", "+"), ("mul", "*"), ("sub", "-")]
    ]
    made += [
        _method(f"__i{op}__", f"__i{op}__(self, other)", "self.count()\nreturn self", f"o.other = o\no.other {sign}= x\ny = x * o.n")  # fmt: skip
        for op, sign in [("add", "+"), ("mul", "*"), ("or", "|")]
    ]
    made += [
        _method(f"__{op}__", f"__{op}__(self)", "return self.count()", f"y = x * ({sign}(o))")
        for op, sign in [("neg", "-"), ("pos", "+"), ("invert", "~"), ("abs", "abs")]
    ]
    made += [
        _method(f"__{op}__", f"__{op}__(self, other)", "return self.count() % 2 == 0", f"y = x * 2 if o {sign} 3 else x")
        for op, sign in [("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")]
    ]
    return made


def _conversions() -> list[Case]:
    return [
        _method("__bool__", "__bool__(self)", "return self.count() % 2 == 0", "y = x * 2 if o else x"),
        _method("__bool__ not", "__bool__(self)", "return self.count() % 2 == 0", "y = x if not o else x * 3"),
        _method("__len__", "__len__(self)", "return self.count()", "y = x * len(o)"),
        _method("__len__ truth", "__len__(self)", "return self.count() % 2", "y = x\nif o:\n    y = x * 2"),
        _method("__str__", "__str__(self)", "return str(self.count())", "y = x * float(str(o))"),
        _method("__repr__", "__repr__(self)", "return str(self.count())", "y = x * float(f'{o!r}')"),
        _method("__format__", "__format__(self, spec)", "return str(self.count())", "y = x * float(f'{o:3}')"),
        _method("str.format", "__str__(self)", "return str(self.count())", "y = x * float('{}'.format(o))"),
        _method("percent", "__str__(self)", "return str(self.count())", "y = x * float('%s' % o)"),
        _method("join", "__str__(self)", "return str(self.count())", "y = x * float(''.join(map(str, [o])))"),
        _method("__index__", "__index__(self)", "return self.count() % 3", "y = x * [1, 2, 3][o]"),
        _method("__index__ range", "__index__(self)", "return self.count() % 3", "y = x * len(range(o))"),
        _method("__hash__", "__hash__(self)", "return self.count()", "y = x * hash(o)"),
        _method("__hash__ key", "__hash__(self)", "self.count()\nreturn 5", "d = {o: 2}\ny = x * d[o]"),
        _method("__int__", "__int__(self)", "return self.count()", "y = x * int(o)"),
        _method("__float__", "__float__(self)", "return float(self.count())", "y = x * float(o)"),
        _method("__complex__", "__complex__(self)", "return complex(self.count())", "y = x * complex(o).real"),
        _method("__round__", "__round__(self, n=None)", "return self.count()", "y = x * round(o)"),
        _method("__bytes__", "__bytes__(self)", "return bytes([self.count()])", "y = x * bytes(o)[0]"),
        _method("__divmod__", "__divmod__(self, b)", "return self.count(), b", "y = x * divmod(o, 2)[0]"),
        _method("__reversed__", "__reversed__(self)", "return iter([self.count()])", "y = x\nfor i in reversed(o):\n    y = y * i"),  # fmt: skip
        _method("__length_hint__", "__iter__(self)", "self.count()\nreturn iter([1, 2])", "a, b = o\ny = x * a + b"),
    ]


def _containers() -> list[Case]:
    return [
        _method("__getitem__", "__getitem__(self, k)", "return self.count() + k", "y = x * o[1]"),
        _method("__getitem__ loop", "__getitem__(self, k)", "if k > 2:\n    raise IndexError\nreturn self.count() + k", "y = x\nfor i in o:\n    y = y + i"),  # fmt: skip
        _method("__setitem__", "__setitem__(self, k, v)", "self.count()\nself.v = v", "o[0] = 3\ny = x * o.n"),
        _method("__setitem__ tensor", "__setitem__(self, k, v)", "self.count()\nself.v = v", "o[0] = x * 2\ny = o.v * o.n", state="(o.n, o.v.tolist())", setup="o = C()\no.v = paddle.zeros([2])"),  # fmt: skip
        _method("__setitem__ augmented", "__setitem__(self, k, v)", "self.count()\nself.v = v\ndef get(self, k):\n    return self.n\n__getitem__ = get", "o[0] += 3\ny = x * o.v", state="(o.n, o.log, o.v)", setup="o = C()\no.v = 0"),  # fmt: skip
        _method("__delitem__", "__delitem__(self, k)", "self.count()", "del o[0]\ny = x * o.n"),
        _method("__contains__", "__contains__(self, k)", "return self.count() % 2 == 0", "y = x * 2 if 3 in o else x"),
        _method("__contains__ not", "__contains__(self, k)", "return self.count() % 2 == 0", "y = x * 2 if 3 not in o else x"),  # fmt: skip
        _method("__iter__", "__iter__(self)", "yield self.count()\nyield self.count()", "y = x\nfor i in o:\n    y = y + i"),  # fmt: skip
        _method("__iter__ list", "__iter__(self)", "yield self.count()\nyield self.count()", "y = x * sum(list(o))"),
        _method("__iter__ star", "__iter__(self)", "yield self.count()\nyield self.count()", "y = x * max(*o)"),
        _method("__iter__ comprehension", "__iter__(self)", "yield self.count()\nyield self.count()", "y = x * sum([i for i in o])"),  # fmt: skip
        _method("__next__", "__next__(self)", "if self.count() % 3 == 0:\n    raise StopIteration\nreturn self.n\ndef __iter__(self):\n    return self", "y = x\nfor i in o:\n    y = y + i"),  # fmt: skip
        _method("next()", "__next__(self)", "return self.count()", "y = x * next(o)"),
        Case("__missing__", "class D(dict):\n    n = 0\n    def __missing__(self, k):\n        self.n += 1\n        self[k] = self.n\n        return self.n\no = D()\nkeys = []", "keys.append(len(keys))\ny = x * o[len(keys)]", "(o.n, dict(o), keys)"),  # fmt: skip
        Case("dict subclass", "class D(dict):\n    n = 0\n    def __setitem__(self, k, v):\n        self.n += 1\n        super().__setitem__(('k', k), v)\no = D()", "o[o.n] = o.n * 2\ny = x * o.n", "(o.n, dict(o))"),  # fmt: skip
        Case("list subclass", "class L(list):\n    n = 0\n    def append(self, v):\n        self.n += 1\n        super().append(v + self.n)\no = L()", "o.append(1)\ny = x * o[-1]", "(o.n, list(o))"),  # fmt: skip
        Case("dict subclass update", "class D(dict):\n    n = 0\n    def update(self, *a, **k):\n        self.n += 1\n        super().update(*a, **k)\no = D()", "o.update(a=o.n)\ny = x * (o['a'] + 1)", "(o.n, dict(o))"),  # fmt: skip
        Case("set subclass", "class S(set):\n    n = 0\n    def add(self, v):\n        self.n += 1\n        set.add(self, v * self.n)\no = S()", "o.add(2)\ny = x * max(o)", "(o.n, sorted(o))"),  # fmt: skip
        _method("__enter__", "__enter__(self)", "return self.count()\ndef __exit__(self, *e):\n    self.count()", "with o as n:\n    y = x * n"),  # fmt: skip
    ]


def _attributes() -> list[Case]:
    return [
        _method("__getattr__", "__getattr__(self, name)", "if name.startswith('_'):\n    raise AttributeError(name)\nreturn self.count()", "y = x * o.other"),  # fmt: skip
        _method("__getattribute__", "__getattribute__(self, name)", "if name == 'other':\n    return self.count()\nreturn object.__getattribute__(self, name)", "y = x * o.other"),  # fmt: skip
        _method("__setattr__", "__setattr__(self, name, v)", "object.__setattr__(self, name, v)\nif name == 'v':\n    object.__setattr__(self, 'n', self.n + 1)", "o.v = 3\ny = x * (o.v + o.n)"),  # fmt: skip
        _method("__setattr__ super", "__setattr__(self, name, v)", "super().__setattr__(name, v * 2 if name == 'v' else v)", "o.v = o.n + 2\no.n += 1\ny = x * o.v", state="(o.n, o.v)"),  # fmt: skip
        _method("__setattr__ dict", "__setattr__(self, name, v)", "self.__dict__[name] = v\nself.__dict__['m'] = self.__dict__.get('m', 0) + 1", "o.v = 3\ny = x * o.m", state="(o.m, o.v)"),  # fmt: skip
        _method("__setattr__ tensor", "__setattr__(self, name, v)", "object.__setattr__(self, name, v * 2 if name == 'v' else v)", "o.v = x\ny = o.v + 1", setup="o = C()\no.v = paddle.zeros([2])", state="o.v.tolist()"),  # fmt: skip
        _method("__setattr__ other place", "__setattr__(self, name, v)", "object.__setattr__(self, '_' + name, v)\ndef __getattr__(self, name):\n    return object.__getattribute__(self, '_' + name)", "o.v = x * 2\no.k = o.k + 1\ny = o.v * o.k", setup="o = C()\no.k = 0\no.v = paddle.zeros([2])", state="(o._k, o._v.tolist())"),  # fmt: skip
        _method("__delattr__", "__delattr__(self, name)", "self.count()\nobject.__delattr__(self, name)", "o.v = 3\ndel o.v\ny = x * o.n", state="(o.n, o.log, hasattr(o, 'v'))"),  # fmt: skip
        Case("property", "class C:\n    n = 0\n    def get(self):\n        self.n += 1\n        return self.n\n    def put(self, v):\n        self.n += v\n    p = property(get, put)\no = C()", "o.p = 2\ny = x * o.p", "o.n"),  # fmt: skip
        Case("property tensor", "class C:\n    def __init__(self):\n        self._t = paddle.zeros([2])\n        self.n = 0\n    @property\n    def t(self):\n        return self._t\n    @t.setter\n    def t(self, v):\n        self.n += 1\n        self._t = v\no = C()", "o.t = o.t + x\ny = o.t * o.n", "(o.n, o.t.tolist())"),  # fmt: skip
        Case("descriptor __get__", "class G:\n    n = 0\n    def __get__(self, obj, cls):\n        self.n += 1\n        return self.n\ng = G()\nclass C:\n    p = g\no = C()", "y = x * o.p", "g.n"),  # fmt: skip
        Case("descriptor __set__", "class G:\n    n = 0\n    def __get__(self, obj, cls):\n        return self.n\n    def __set__(self, obj, v):\n        self.n += v\n        obj.__dict__['last'] = v\ng = G()\nclass C:\n    p = g\no = C()", "o.p = 2\ny = x * o.p", "(g.n, o.last)"),  # fmt: skip
        Case("descriptor augmented", "class G:\n    def __set_name__(self, cls, name):\n        self.name = '_' + name\n    def __get__(self, obj, cls):\n        return getattr(obj, self.name, 0)\n    def __set__(self, obj, v):\n        setattr(obj, self.name, v)\nclass C:\n    p = G()\no = C()", "o.p += 2\ny = x * o.p", "o._p"),  # fmt: skip
        Case("descriptor tensor", "class G:\n    def __get__(self, obj, cls):\n        return obj._v\n    def __set__(self, obj, v):\n        obj._v = v * 2\n        obj.n += 1\nclass C:\n    p = G()\no = C()\no.n = 0", "o.p = x + 1\ny = o.p * o.n", "(o.n, o._v.tolist() if o.n else 0)"),  # fmt: skip
        Case("descriptor __delete__", "class G:\n    n = 0\n    def __get__(self, obj, cls):\n        return self.n\n    def __set__(self, obj, v):\n        pass\n    def __delete__(self, obj):\n        self.n += 1\nclass C:\n    p = G()\no = C()", "del o.p\ny = x * o.p", "o.p"),  # fmt: skip
        Case("class __get__", "class G:\n    n = 0\n    def __get__(self, obj, cls):\n        self.n += 1\n        return self.n\ng = G()\nclass C:\n    p = g", "y = x * C.p", "g.n"),  # fmt: skip
        Case("slots", "class C:\n    __slots__ = ('n', 't')\n    def __iadd__(self, v):\n        self.n += v\n        return self\no = C()\no.n = 0", "p = o\np += 1\ny = x * o.n", "o.n"),  # fmt: skip
        Case("cached_property", "import functools\nclass C:\n    n = 0\n    @functools.cached_property\n    def p(self):\n        self.n += 1\n        return self.n + 1\no = C()", "y = x * o.p", "(o.n, vars(o))"),  # fmt: skip
        Case("cached_property tensor", "import functools\nclass C:\n    n = 0\n    @functools.cached_property\n    def p(self):\n        self.n += 1\n        return self.w * 2\no = C()\no.w = paddle.ones([2])", "y = x * o.p", "(o.n, o.p.tolist() if 'p' in vars(o) else 0)"),  # fmt: skip
        Case("class attribute", "class C:\n    n = 0\n    def __neg__(self):\n        C.n += 1\n        return C.n\no = C()", "y = x * -o", "C.n"),  # fmt: skip
        Case("setattr()", f"{_COUNTER}\no = C()", "setattr(o, 'n', o.n + 1)\ny = x * o.n", "o.n"),
        Case("setattr() tensor", f"{_COUNTER}\no = C()\no.t = paddle.zeros([2])", "setattr(o, 't', x * 2)\ny = x + 1", "o.t.tolist()"),  # fmt: skip
        Case("setattr() property", "class C:\n    n = 0\n    p = property(lambda self: self.n)\n    @p.setter\n    def p(self, v):\n        self.n += v\no = C()", "setattr(o, 'p', 2)\ny = x * o.n", "o.n"),  # fmt: skip
        Case("getattr() property", "class C:\n    n = 0\n    @property\n    def p(self):\n        self.n += 1\n        return self.n\no = C()", "y = x * getattr(o, 'p')", "o.n"),  # fmt: skip
        Case("getattr() name", f"{_COUNTER}\no = C()\nnames = ['n', 'm']", "name = names[0]\nsetattr(o, name, getattr(o, name, 0) + 1)\ny = x * getattr(o, name)", "o.n"),  # fmt: skip
        Case("delattr()", f"{_COUNTER}\no = C()\no.v = 1", "setattr(o, 'v', 3)\ndelattr(o, 'v')\no.n += 1\ny = x * o.n", "(o.n, hasattr(o, 'v'))"),  # fmt: skip
        Case("vars()", f"{_COUNTER}\no = C()", "vars(o)['n'] += 1\ny = x * o.n", "o.n"),
        Case("__dict__ update", f"{_COUNTER}\no = C()", "o.__dict__.update(n=o.n + 1)\ny = x * o.n", "o.n"),
        Case("object.__setattr__", f"{_COUNTER}\no = C()", "object.__setattr__(o, 'n', o.n + 1)\ny = x * o.n", "o.n"),
    ]


def _classes() -> list[Case]:
    return [
        Case("__new__", "class C:\n    made = 0\n    def __new__(cls, v):\n        cls.made += 1\n        return super().__new__(cls)\n    def __init__(self, v):\n        self.v = v", "y = C(x * 2).v * C.made", "C.made"),  # fmt: skip
        Case("__new__ alone", "made = []\nclass C:\n    def __new__(cls):\n        made.append(len(made))\n        return super().__new__(cls)", "C()\ny = x * len(made)", "made"),  # fmt: skip
        Case("__init__", "class C:\n    made = []\n    def __init__(self, v):\n        self.made.append(1)\n        self.v = v", "y = C(x * 2).v * len(C.made)", "C.made"),  # fmt: skip
        Case("__init__ by map", "class C:\n    made = []\n    def __init__(self, v):\n        self.made.append(v)\n        self.v = v", "y = x * sum(c.v for c in map(C, [1, 2])) * len(C.made)", "C.made"),  # fmt: skip
        Case("__call__", f"{_COUNTER}    def __call__(self, v):\n        return v * self.count()\no = C()", "y = o(x)", "(o.n, o.log)"),  # fmt: skip
        Case("__call__ by map", f"{_COUNTER}    def __call__(self, v):\n        return v * self.count()\no = C()", "y = x * sum(list(map(o, [1, 2])))", "(o.n, o.log)"),  # fmt: skip
        Case("metaclass __call__", "class M(type):\n    made = 0\n    def __call__(cls, *a):\n        M.made += 1\n        return super().__call__(*a)\nclass C(metaclass=M):\n    def __init__(self, v):\n        self.v = v", "y = C(x * 2).v * M.made", "M.made"),  # fmt: skip
        Case("metaclass __getitem__", "class M(type):\n    n = 0\n    def __getitem__(cls, k):\n        M.n += 1\n        return M.n\nclass C(metaclass=M):\n    pass", "y = x * C[0]", "M.n"),  # fmt: skip
        Case("metaclass __instancecheck__", "class M(type):\n    n = 0\n    def __instancecheck__(cls, k):\n        M.n += 1\n        return M.n % 2 == 0\nclass C(metaclass=M):\n    pass", "y = x * 2 if isinstance(3, C) else x", "M.n"),  # fmt: skip
        Case("__class_getitem__", "class C:\n    n = 0\n    def __class_getitem__(cls, k):\n        C.n += 1\n        return C.n", "y = x * C[0]", "C.n"),  # fmt: skip
        Case("__set_name__", "names = []\nclass G:\n    def __set_name__(self, cls, name):\n        names.append(name)", "class C:\n    a = G()\ny = x * len(names)", "names"),  # fmt: skip
        Case("__init_subclass__", "made = []\nclass C:\n    def __init_subclass__(cls, **k):\n        made.append(cls.__name__)", "class D(C):\n    pass\ny = x * len(made)", "made"),  # fmt: skip
        Case("__post_init__", "import dataclasses\nmade = []\n@dataclasses.dataclass\nclass C:\n    v: object\n    def __post_init__(self):\n        made.append(1)", "y = C(x * 2).v * len(made)", "made"),  # fmt: skip
        Case("default_factory of a field", "import dataclasses\nmade = []\ndef new():\n    made.append(1)\n    return len(made)\n@dataclasses.dataclass\nclass C:\n    v: object = dataclasses.field(default_factory=new)", "y = x * C().v", "made"),  # fmt: skip
        Case("singledispatch", "import functools\nlog = []\n@functools.singledispatch\ndef h(v):\n    return v\n@h.register\ndef _(v: int):\n    log.append(v)\n    return len(log)", "y = x * h(3)", "log"),  # fmt: skip
        Case("singledispatchmethod", "import functools\nclass C:\n    n = 0\n    @functools.singledispatchmethod\n    def h(self, v):\n        return v\n    @h.register\n    def _(self, v: int):\n        self.n += v\n        return self.n\no = C()", "y = x * o.h(3)", "o.n"),  # fmt: skip
        Case("partialmethod", "import functools\nclass C:\n    n = 0\n    def add(self, v):\n        self.n += v\n        return self.n\n    two = functools.partialmethod(add, 2)\no = C()", "y = x * o.two()", "o.n"),  # fmt: skip
        Case("total_ordering", "import functools\n@functools.total_ordering\nclass C:\n    n = 0\n    def __eq__(self, b):\n        return False\n    def __lt__(self, b):\n        self.n += 1\n        return self.n % 2 == 0\no = C()", "y = x * 2 if o >= 3 else x", "o.n"),  # fmt: skip
        Case("sorted", "class C:\n    n = 0\n    def __init__(self, v):\n        self.v = v\n    def __lt__(self, b):\n        C.n += 1\n        return self.v < b.v\nos = [C(2), C(1), C(3)]", "y = x * sorted(os)[0].v * C.n", "C.n"),  # fmt: skip
        Case("min with key", f"{_COUNTER}    def key(self, v):\n        self.count()\n        return -v\no = C()", "y = x * min([1, 2], key=o.key)", "(o.n, o.log)"),  # fmt: skip
        Case("Enum", "import enum\nlog = []\nclass E(enum.Enum):\n    A = 1\n    @classmethod\n    def _missing_(cls, v):\n        log.append(v)\n        return cls.A", "y = x * E(7).value * len(log)", "log"),  # fmt: skip
        Case("abstract class", "import abc\nclass B(abc.ABC):\n    n = 0\n    @abc.abstractmethod\n    def __neg__(self):\n        self.n += 1\n        return self.n\nclass C(B):\n    def __neg__(self):\n        return super().__neg__() + 1\no = C()", "y = x * -o", "o.n"),  # fmt: skip
        Case("template", "import abc\nfrom collections.abc import MutableMapping\nclass C(MutableMapping):\n    def __init__(self):\n        self.d = {}\n        self.n = 0\n    def __getitem__(self, k):\n        self.n += 1\n        return self.d[k]\n    def __setitem__(self, k, v):\n        self.d[k] = v\n    def __delitem__(self, k):\n        del self.d[k]\n    def __iter__(self):\n        return iter(self.d)\n    def __len__(self):\n        return len(self.d)\no = C()", "o.update(a=o.n + 1)\no.setdefault('b', 2)\ny = x * o['a']", "(o.n, o.d)"),  # fmt: skip
    ]


def _library() -> list[Case]:
    def row(name: str, setup: str, body: str, state: str) -> Case:
        return Case(name, setup, body, state)

    return [
        _method("operator.add", "__add__(self, v)", "return v * self.count()", "y = operator.add(o, x)", "import operator\no = C()"),  # fmt: skip
        _method("operator.itemgetter", "__getitem__(self, k)", "return self.count()", "y = x * operator.itemgetter(1)(o)", "import operator\no = C()"),  # fmt: skip
        _method("operator.methodcaller", "h(self)", "return self.count()", "y = x * operator.methodcaller('h')(o)", "import operator\no = C()"),  # fmt: skip
        row("operator.attrgetter", "import operator\nclass C:\n    n = 0\n    @property\n    def p(self):\n        self.n += 1\n        return self.n\no = C()", "y = x * operator.attrgetter('p')(o)", "o.n"),  # fmt: skip
        row("operator.setitem", "import operator\no = {'a': 0}", "operator.setitem(o, 'a', o['a'] + 1)\ny = x * o['a']", "o"),  # fmt: skip
        row("operator.iadd", "import operator\no = []", "operator.iadd(o, [len(o)])\ny = x * len(o)", "o"),
        row("list.append", "o = []", "list.append(o, len(o))\ny = x * len(o)", "o"),
        row("dict.update", "o = {}", "dict.update(o, {len(o): 1})\ny = x * len(o)", "o"),
        row("map append", "o = []", "list(map(o.append, [1, 2]))\ny = x * len(o)", "o"),
        row("UserDict", "import collections\no = collections.UserDict(a=0)", "o['a'] += 1\ny = x * o['a']", "dict(o)"),
        row("UserDict subclass", "import collections\nclass D(collections.UserDict):\n    def __setitem__(self, k, v):\n        super().__setitem__(k, v + 1)\no = D(a=0)", "o['a'] += 1\no.update(b=1)\ny = x * o['a']", "dict(o)"),  # fmt: skip
        row("UserList", "import collections\no = collections.UserList()", "o.append(1)\ny = x * len(o)", "list(o)"),
        row("UserList +=", "import collections\no = collections.UserList()", "p = o\np += [1]\ny = x * len(o)", "list(o)"),
        row("ChainMap", "import collections\no = collections.ChainMap({'a': 0}, {'b': 1})", "o['a'] += o['b']\ny = x * o['a']", "dict(o)"),  # fmt: skip
        row("defaultdict append", "import collections\no = collections.defaultdict(list)", "o['a'].append(len(o['a']))\ny = x * len(o['a'])", "dict(o)"),  # fmt: skip
        row("defaultdict +=", "import collections\no = collections.defaultdict(int)", "o['a'] += 1\ny = x * o['a']", "dict(o)"),  # fmt: skip
        row("defaultdict read", "import collections\no = collections.defaultdict(int)\nks = []", "ks.append(1)\ny = x + o[len(ks)]", "dict(o)"),  # fmt: skip
        row("defaultdict factory", "import collections\nlog = []\ndef new():\n    log.append(1)\n    return len(log)\no = collections.defaultdict(new)", "y = x * o[len(o)]", "(log, dict(o))"),  # fmt: skip
        row("OrderedDict move_to_end", "import collections\no = collections.OrderedDict(a=1, b=2, c=3)", "o.move_to_end(next(iter(o)))\ny = x * list(o.values())[0]", "list(o)"),  # fmt: skip
        row("OrderedDict popitem", "import collections\no = collections.OrderedDict((i, i) for i in range(9))", "o.popitem(last=False)\ny = x * len(o)", "list(o)"),  # fmt: skip
        row("Counter", "import collections\no = collections.Counter()", "o['a'] += 1\no.update('ab')\ny = x * o['a']", "dict(o)"),  # fmt: skip
        row("deque", "import collections\no = collections.deque([1, 2, 3], maxlen=3)", "o.append(len(o) + o[0])\no.rotate(1)\ny = x * o[0]", "list(o)"),  # fmt: skip
        row("deque item", "import collections\no = collections.deque([1, 2, 3])", "o[0] += 1\ny = x * o[0]", "list(o)"),
        row("deque del", "import collections\no = collections.deque(range(9))", "del o[0]\np = o\np += [7]\ny = x * o[0]", "list(o)"),  # fmt: skip
        row("bytearray", "o = bytearray(b'\\x01')", "o[0] += 1\no.append(3)\ny = x * o[0]", "list(o)"),
        row("array.array", "import array\no = array.array('i', [1])", "o[0] += 1\no.append(3)\ny = x * len(o)", "list(o)"),
        row("ndarray", "import numpy as np\no = np.zeros(2)", "o[0] += 1\ny = x * float(o[0])", "o.tolist()"),
        row("ndarray fill", "import numpy as np\no = np.zeros(2)", "o.fill(o[0] + 1)\ny = x * float(o[0])", "o.tolist()"),
        row("ndarray +=", "import numpy as np\no = np.zeros(2)", "p = o\np += 1\ny = x * float(o[0])", "o.tolist()"),
        row("np.add.at", "import numpy as np\no = np.zeros(2)", "np.add.at(o, [0, 0], 1)\ny = x * float(o[0])", "o.tolist()"),  # fmt: skip
        row("memoryview", "b = bytearray(b'\\x01')\no = memoryview(b)", "o[0] = o[0] + 1\ny = x * b[0]", "list(b)"),
        row("bisect.insort", "import bisect\no = []", "bisect.insort(o, -len(o))\ny = x * len(o)", "o"),
        row("heapq", "import heapq\no = [5]", "heapq.heappush(o, o[0] - 1)\ny = x * o[0]", "o"),
        row("random.shuffle", "import random\no = [1, 2, 3, 4, 5]\nr = random.Random(3)", "r.shuffle(o)\ny = x * o[0]", "o"),  # fmt: skip
        row("WeakKeyDictionary", "import weakref\nclass K:\n    pass\nk = K()\no = weakref.WeakKeyDictionary({k: 0})", "o[k] += 1\ny = x * o[k]", "o[k]"),  # fmt: skip
        row("queue", "import queue\no = queue.Queue()", "o.put(1)\ny = x * o.qsize()", "list(o.queue)"),
        row("SimpleNamespace", "import types\no = types.SimpleNamespace(n=0)", "o.n += 1\ny = x * o.n", "o.n"),
        row("threading.local", "import threading\no = threading.local()\no.n = 0", "o.n += 1\ny = x * o.n", "o.n"),
        row("ContextVar", "import contextvars\no = contextvars.ContextVar('o', default=0)", "o.set(o.get() + 1)\ny = x * o.get()", "o.get()"),  # fmt: skip
        row("globals()", "n = 0", "globals()['n'] = n + 1\ny = x * n", "n"),
        row("global", "n = 0\ndef add():\n    global n\n    n += 1", "add()\ny = x * n", "n"),
        row("function attribute", "def h(v):\n    h.n += 1\n    return v * h.n\nh.n = 0", "y = h(x)", "h.n"),
        row("function attribute outside", "def h():\n    pass\nh.n = 0", "h.n += 1\ny = x * h.n", "h.n"),
        row("default argument", "def h(v, log=[]):\n    log.append(1)\n    return v * len(log)", "y = h(x)", "h.__defaults__"),
        row("class body", "log = []", "class C:\n    log.append(1)\ny = x * len(log)", "log"),
        row("itertools.count", "import itertools\no = itertools.count(1)", "y = x * next(o)", "next(o)"),
        row("itertools.cycle", "import itertools\no = itertools.cycle([1, 2, 3])", "y = x * next(o)", "next(o)"),
        row("generator", "def g():\n    n = 0\n    while True:\n        n += 1\n        yield n\no = g()", "y = x * next(o)", "next(o)"),  # fmt: skip
        row("list iterator", "o = iter(range(99))", "y = x * next(o)", "next(o)"),
        row("for over iterator", "o = iter(range(99))", "y = x\nfor i in o:\n    y = y + i\n    if i % 3 == 2:\n        break", "next(o)"),  # fmt: skip
        row("zip over iterator", "o = iter(range(99))", "y = x\nfor a, i in zip([1, 2], o):\n    y = y + i * a", "next(o)"),  # fmt: skip
        row("islice", "import itertools\no = iter(range(99))", "y = x + sum(itertools.islice(o, 2))", "next(o)"),
        row("iterator attribute", "class C:\n    pass\no = C()\no.it = iter(range(99))", "y = x * next(o.it)", "next(o.it)"),
        row("generator send", "def g():\n    n = 0\n    while True:\n        n += yield n\no = g()\nnext(o)", "y = x * o.send(2)", "o.send(1)"),  # fmt: skip
        row("iter(callable, end)", f"{_COUNTER}\no = C()", "y = x\nfor i in iter(o.count, o.n + 2):\n    y = y + i", "(o.n, o.log)"),  # fmt: skip
        row("own iterator", "import itertools\no = [0]", "c = itertools.count(1)\no[0] += next(c) + next(c)\ny = x * o[0]", "o"),  # fmt: skip
        row("contextmanager", "import contextlib\nlog = []\n@contextlib.contextmanager\ndef m():\n    log.append(1)\n    yield len(log)\n    log.append(2)", "with m() as n:\n    y = x * n", "log"),  # fmt: skip
        row("ExitStack", "import contextlib\nlog = []\nclass M:\n    def __enter__(self):\n        log.append(1)\n        return len(log)\n    def __exit__(self, *e):\n        log.append(2)", "with contextlib.ExitStack() as s:\n    n = s.enter_context(M())\n    y = x * n", "log"),  # fmt: skip
        row("ExitStack callback", "import contextlib\nlog = []\ndef end(v):\n    log.append(v)", "with contextlib.ExitStack() as s:\n    s.callback(end, 2)\n    y = x * (len(log) + 1)", "log"),  # fmt: skip
        row("ExitStack contextmanager", "import contextlib\nlog = []\n@contextlib.contextmanager\ndef m():\n    log.append(1)\n    yield len(log)\n    log.append(2)", "with contextlib.ExitStack() as s:\n    y = x * s.enter_context(m())", "log"),  # fmt: skip
        row("closing", f"{_COUNTER}    def close(self):\n        self.count()\nimport contextlib\no = C()", "with contextlib.closing(o):\n    y = x * (o.n + 1)", "(o.n, o.log)"),  # fmt: skip
        row("lru_cache", "import functools\nlog = []\n@functools.lru_cache\ndef h(v):\n    log.append(v)\n    return v + 1", "y = x * h(3)", "log"),  # fmt: skip
        row("copy.copy", f"{_COUNTER}    def __copy__(self):\n        self.count()\n        return self\nimport copy\no = C()", "y = x * copy.copy(o).n", "(o.n, o.log)"),  # fmt: skip
        row("reduce", f"{_COUNTER}    def add(self, a, b):\n        return a + b + self.count()\nimport functools\no = C()", "y = x * functools.reduce(o.add, [1, 2, 3])", "(o.n, o.log)"),  # fmt: skip
        row("json default", f"{_COUNTER}    def show(self, v):\n        return self.count()\nimport json\no = C()", "y = x * float(json.dumps(o, default=o.show))", "(o.n, o.log)"),  # fmt: skip
        row("print to object", "log = []\nclass W:\n    def write(self, t):\n        log.append(t)\no = W()", "print('a', file=o)\ny = x * len(log)", "log"),  # fmt: skip
        row("ast visitor", "import ast\nclass V(ast.NodeVisitor):\n    n = 0\n    def visit_Name(self, node):\n        self.n += 1\no = V()\ntree = ast.parse('a + b')", "o.visit(tree)\ny = x * o.n", "o.n"),  # fmt: skip
        row("library class", "import threading\nclass T(threading.Thread):\n    n = 0\n    def run(self):\n        T.n += 1", "t = T()\nt.start()\nt.join()\ny = x * T.n", "T.n"),  # fmt: skip
    ]


CASES = [*_operators(), *_conversions(), *_containers(), *_attributes(), *_classes(), *_library()]
_numbers = itertools.count()

_FORMS = {
    # As it is.
    "plain": "import paddle_lite_py as paddle\n{setup}\ndef f(x):\n{body}\n    return y\ndef state():\n    return {state}\n",
    # Under a condition on a tensor.
    "condition": "import paddle_lite_py as paddle\n{setup}\ndef f(x):\n    y = x\n    if x.sum() > 0:\n{deeper}\n    return y\ndef state():\n    return {state}\n",  # fmt: skip
    # With classes and state in an enclosing function.
    "local": "import paddle_lite_py as paddle\ndef make():\n{inner}\n    def f(x):\n{deeper}\n        return y\n    def state():\n        return {state}\n    return f, state\nf, state = make()\n",  # fmt: skip
}


def compiled(case: Case, form: str) -> tuple[Callable[..., Any], Callable[[], Any]]:
    """The function of a case, and what shows its state, both fresh."""
    setup, body = case.setup.strip("\n"), case.body
    if form == "local" and "global" in setup + body:
        return compiled(case, "plain")
    text = _FORMS[form].format(
        setup=setup,
        inner=textwrap.indent(setup, "    "),
        body=textwrap.indent(body, "    "),
        deeper=textwrap.indent(body, "        "),
        state=case.state,
    )
    filename = f"<protocol {case.name} {form} {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    module: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, filename, "exec"), module)
    return module["f"], module["state"]
