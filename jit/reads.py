"""The Python values that a function may have read while it was traced.

Found in the code of the function and of all that it can call: the globals and closure variables that it names, and of
the objects it can reach, the attributes whose names occur in the code.
"""

from __future__ import annotations

import argparse
import array
import collections
import contextvars
import functools
import logging
import operator
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from paddle_lite_py.core.errors import is_own
from paddle_lite_py.core.param_attr import ParamAttr
from paddle_lite_py.core.traced_number import TracedNumber
from paddle_lite_py.core.versioned import Versioned
from paddle_lite_py.eager.tensor import Parameter, Tensor
from paddle_lite_py.nn import hooks
from paddle_lite_py.nn.base import Layer
from paddle_lite_py.optimizer import Optimizer
from paddle_lite_py.tracing.frame import is_of_each_run
from paddle_lite_py.tracing.owned import SETTINGS, own_names, owned_by
from paddle_lite_py.tracing.places import KINDS, namespace

from .code_facts import Codebase, codes_in, is_called_by_others, is_foreign, is_of_python, slots_of
from .guards import (
    ABSENT,
    BY_VALUE,
    AnyOf,
    Codes,
    Content,
    Guard,
    Items,
    Lacking,
    attribute,
    cell,
    environment,
    held_by,
    kind_of,
    names_of,
    variable,
)
from .library_state import LibraryState, is_container

# Objects looked at before it is taken that the rest is data, not settings.
MAX_OBJECTS = 5_000
MANY = 10**9  # more than can be known of code: no further round
_ENVIRONMENT = frozenset({"environ", "getenv"})
_ASKING = frozenset({"getattr", "hasattr"})
_DYNAMIC = frozenset({"getattr", "setattr", "vars", "__dict__", "__getattribute__", "__setattr__", "attrgetter"})
READ_ALL = frozenset({"vars", "__dict__"})  # by these code reads attributes that it does not name
# Attributes of tensors that are settings, and where they stand.
_OF_TENSORS = {n: n for n in ("stop_gradient", "persistable", "need_clip", "regularizer", "optimize_attr")}
_OF_TENSORS |= {"trainable": "stop_gradient", "name": "_name"}
_OF_ARRAYS = frozenset({"dtype", "shape", "ndim", "size", "numel", "dim"})
# Objects without user state; a traced number must not even be queried for its attributes.
NO_STATE = (type, types.ModuleType, types.FunctionType, types.MethodType, TracedNumber)
_METHODS = (types.FunctionType, classmethod, staticmethod)
# What holds functions of the user, and where.
_HOLDERS: dict[type, tuple[str, ...]] = {
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    functools.partial: ("func", "args", "keywords"),
    functools.partialmethod: ("func", "args", "keywords"),
    functools.cached_property: ("func",),
    functools.singledispatchmethod: ("dispatcher",),
    type(functools.lru_cache(lambda: None)): ("__wrapped__",),
}
# Objects of the standard library that hold what the user puts there: attributes, items in a row, a dict or list.
_RECORDS = (types.SimpleNamespace, argparse.Namespace)
# Where framework objects are defined that steps change, or that must not be queried (traced numbers).
_STATE = ("paddle_lite_py.optimizer.lr.", "paddle_lite_py.compat.optim.", "paddle_lite_py.amp.", "paddle_lite_py.core.")
# Objects of which the framework itself reads all.
_READS_ITSELF = ("paddle_lite_py.distribution.", "paddle_lite_py.vision.transforms.", ParamAttr.__module__)
_OF_BUFFERS = frozenset({"buffers", "named_buffers", "state_dict"})  # what goes over the buffers of a layer
_SEQUENCES = (collections.deque, array.array, bytearray)
_WRAPPERS = (collections.UserDict, collections.UserList, collections.ChainMap)
# Functions that act on the world, or note their queries by themselves.
_WORLD = (logging.Logger, logging.Handler, logging.LoggerAdapter, types.ModuleType)
_WRAPPERS_HOLD = frozenset({"data", "maps"})
Place = tuple[int, Any]


def guards_of(
    function: Callable[..., Any], args: list[Any], layers: list[Layer], written: Iterable[Place], code: Codebase
) -> tuple[list[Any], list[Any], frozenset[str]]:
    """A guard for each value that the function, called with `args`, may have read; those that are to be looked at
    only after the configuration of some layer or parameter changed; and settings of tensors that the code names.

    Arguments:
        function: the user's function or method.
        args: the Python values among its arguments.
        layers: the layers that were called.
        written: the places (id of the owner, name) where each run puts a new tensor.
        code: that earlier walks from the function have found.
    """
    walk = Walk(code, frozenset(written), frozenset(map(id, layers)))
    walk.go(function, args, layers)
    outside = environment(walk.texts) if walk.names & _ENVIRONMENT else []
    codes = [Codes.of(walk.functions)] if walk.functions else []
    return walk.guards + outside + codes, walk.settings, SETTINGS & walk.names


def walk_reads(function: Callable[..., Any], args: list[Any], code: Codebase) -> Walk:
    """Return the walk over what a function called with `args` can reach; it adds the code that it finds."""
    walk = Walk(code)
    walk.go(function, args)
    return walk


class Walk:
    """One walk over what a function can reach."""

    def __init__(
        self, code: Codebase, written: frozenset[Place] = frozenset(), called: frozenset[int] = frozenset()
    ) -> None:
        self.code, self.names, self.texts = code, code.names, code.texts
        self.every = frozenset[str]()  # the names, when they were last looked at
        self.written, self.called = written, called  # called: the layers that others guard
        self.start()

    def go(self, function: Callable[..., Any], args: list[Any], layers: Sequence[Layer] = ()) -> None:
        """Walk until all code is found that leads on; the nearest objects first, since there may be too many."""
        size = -1
        while len(self.code) > size:
            size = len(self.code) if len(self.visited) <= MAX_OBJECTS else MANY
            self.start()
            self.function(function)
            for layer in layers:
                self.function(type(layer).forward, called=True)
                self.visit(layer, type(layer).__name__)
            for value in args:
                self.visit(value, "an argument")
            while self.ahead:
                self.content(*self.ahead.popleft())

    def start(self) -> None:
        """Begin again, with the names found so far."""
        self.ahead = collections.deque[tuple[Any, str]]()  # what is still to be looked at
        self.guards: list[Any] = []
        self.settings: list[Any] = []  # guards on attributes of parameters and layers, which count their changes
        self.visited: dict[int, Any] = {}
        self.growing: dict[int, Any] = {}
        self.functions: list[types.FunctionType] = []
        self.asked: dict[type, tuple[int, frozenset[str]]] = {}
        self.places: dict[Place, tuple[Any, Guard]] = {}  # what holds each, and what it held
        self.library: list[Any] = []  # objects of the standard library that nothing is known of

    @property
    def classes(self) -> list[type]:
        """The user's classes among what was visited."""
        return [v for v in self.visited.values() if isinstance(v, type)]

    def _new(self, value: Any) -> bool:
        if id(value) in self.visited or len(self.visited) > MAX_OBJECTS:
            return False
        self.visited[id(value)] = value
        return True

    # -- functions -------------------------------------------------------------------------------------------------
    def function(self, f: Any, called: bool = False) -> None:
        """A function of the user: the names in its code, and what it reads from outside."""
        if hasattr(type(f), "dygraph_function"):
            self.attributes_of(f, vars(f).keys() - type(f).OWN)
            f = f.dygraph_function
        if isinstance(f, types.MethodType):
            self.visit(f.__self__, type(f.__self__).__name__)
            f = f.__func__
        if not isinstance(f, types.FunctionType) or not self._new(f):
            return
        if is_own(f.__code__.co_filename) or f.__code__.co_filename == functools.__file__:
            self._decorated(f)
        if is_own(f.__code__.co_filename) or (not called and is_foreign(f.__module__ or "")):
            return
        label = f.__name__
        self.functions.append(f)
        codes = list(codes_in(f.__code__))
        self.code.note(codes)
        for name, held in zip(f.__code__.co_freevars, f.__closure__ or (), strict=False):
            self.place(cell(held), held, name, f"closure variable `{name}`")
        named = {n for c in codes for n in c.co_names}
        for name in sorted((named | self.texts if "globals" in named else named) & f.__globals__.keys()):
            self.place(f.__globals__.get, f.__globals__, name, f"global `{name}`")
        for i, value in enumerate((*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())):
            self.visit(value, f"default {i} of `{label}`")
        for name in ("__defaults__", "__kwdefaults__"):
            if held := getattr(f, name):
                self.guards.append(Guard(attribute(f), name, held, f"the defaults of `{label}`"))
        self.attributes_of(f, f.__dict__.keys())
        if f.__kwdefaults__:
            self.guards.append(Items.of(f.__kwdefaults__, f"the defaults of `{label}`"))

    def _decorated(self, f: types.FunctionType) -> None:
        """Return the functions that a decorator of the framework or of functools wraps, as singledispatch does."""
        for value in (cell(held)("", None) for held in f.__closure__ or ()):
            is_function = isinstance(value, types.FunctionType | types.MethodType)
            if is_function or not (is_own(f.__code__.co_filename) or isinstance(value, weakref.WeakKeyDictionary)):
                self.visit(value, f.__name__)

    def attributes_of(self, f: Any, names: Iterable[str]) -> None:
        """The attributes of a function that the user has given it."""
        for name in sorted(self.names.intersection(names)):
            self.place(vars(f).get, f, name, f"`{f.__name__}.{name}`")
        if self.names & _ASKING or "AttributeError" in self.names:
            if len(self.every) != len(self.names):
                self.every = frozenset(self.names)
            own = getattr(type(f), "OWN", None)
            asked = self.every - own if own else self.every
            self.guards.append(Lacking.of(vars(f), asked, f"`{f.__name__}`"))

    def place(self, read: Callable[[Any, Any], Any], owner: Any, key: Any, label: str) -> None:
        """A variable, attribute or item of what holds it: a cell, the dict of a module, an object."""
        value, at = read(key, ABSENT), (id(owner), key)
        if isinstance(value, types.ModuleType):
            self.module(value, label)
        elif at in self.written and isinstance(value, Tensor):
            self.guards.append(Guard(read, key, AnyOf(type(value)), label))
        else:
            self.guards.append(Guard(read, key, value, label))
            self.places[at] = owner, self.guards[-1]
            if isinstance(value, list | set) and self.code.grows(key):
                self.growing[id(value)] = value
            elif value is not ABSENT:
                self.visit(value, label)

    # -- objects ---------------------------------------------------------------------------------------------------
    def visit(self, value: Any, label: str) -> None:
        """Come to an object, whose content is looked at later."""
        if type(value) not in BY_VALUE and self._new(value):
            self.ahead.append((value, label))

    def content(self, value: Any, label: str) -> None:
        """Visit the content of an object."""
        kind = type(value)
        if isinstance(value, Tensor):
            self.tensor(value, label)
        elif isinstance(value, np.ndarray):
            self.guards.append(Content.of(value, label))
            if value.dtype.hasobject:
                self.each(value.flat, label)
        elif isinstance(value, list | dict | set | tuple | frozenset):
            self.container(value, label)
            self.visit(getattr(value, "default_factory", None), label)
        elif isinstance(value, types.FunctionType | types.MethodType) or hasattr(kind, "dygraph_function"):
            self.visited.pop(id(value))
            self.function(value)
        elif isinstance(value, type):
            self.visited.pop(id(value))
            self.klass(value)
            self.klass(type(value))
        elif kind in _HOLDERS:
            for name in _HOLDERS[kind]:
                self.visit(getattr(value, name, None), label)
        elif isinstance(value, _SEQUENCES):
            self.guards.append(Items.of(value, label))
            self.each(value, label)
        elif isinstance(value, threading.local):
            for name in sorted(self.names & vars(value).keys()):
                self.place(attribute(value), value, name, f"{label}.{name}")
        elif isinstance(value, operator.attrgetter | operator.methodcaller):
            found = value.__reduce__()[1]
            self.names.update(*[n.split(".") for n in found if isinstance(n, str)])
            for name in found:
                self.visit(name, label)
        elif isinstance(value, contextvars.ContextVar):
            self.place(variable(value), value, value.name, f"context variable `{value.name}`")
        elif isinstance(value, _WRAPPERS):
            for name in _WRAPPERS_HOLD & vars(value).keys():
                self.place(vars(value).get, value, name, f"{label}.{name}")
        elif isinstance(value, Versioned) and is_foreign(kind.__module__):
            self.settings_of(value, kind.__name__, self.settings)
        elif kind.__module__.startswith("paddle_lite_py.") and (
            not (isinstance(value, Layer) or kind.__module__.startswith(_STATE)) or isinstance(value, ParamAttr)
        ):
            self.settings_of(value, kind.__name__, self.guards)
        elif not is_foreign(kind.__module__) or isinstance(value, (Layer, *_RECORDS)):
            self.object(value, kind.__name__)
        else:
            self.library_object(value, label)
        if isinstance(value, (*KINDS, *_WRAPPERS)) and not is_foreign(kind.__module__):
            self.object(value, kind.__name__)

    def each(self, values: Iterable[Any], label: str) -> None:
        """Visit the items of a sequence."""
        for i, value in enumerate(values):
            self.visit(value, f"{label}[{i}]")

    def library_object(self, value: Any, label: str) -> None:
        """An object of the standard library or of an installed package: what it refers to, and what it holds."""
        kind = type(value)
        if isinstance(value, weakref.ReferenceType):
            self.visit(value(), label)
        elif isinstance(value, weakref.ProxyTypes):
            self.visit(value.__repr__.__self__, label)
        elif isinstance(value, types.BuiltinMethodType | types.MethodWrapperType):
            self.visit(value.__self__, label)
        elif isinstance(value, types.MappingProxyType):
            self.guards += [Guard(value.get, key, held, f"{label}[{key!r}]") for key, held in value.items()]
            self.each(value.values(), label)
        elif not isinstance(value, _WORLD) and (is_container(value) or is_of_python(kind.__module__)):
            self.library.append(value)
            if is_container(value):
                self.guards.append(LibraryState.of(value, label))
                self.each([held for held in namespace(value).values() if isinstance(held, KINDS)], label)

    def settings_of(self, obj: Any, label: str, guards: list[Any]) -> None:
        """The settings of an object of the framework that the code names, and what an optimizer trains.

        Of what the methods read that the code names, plain values count: they change the rest.
        """
        held = getattr(obj, "__dict__", {})
        names = held.keys() if type(obj).__module__.startswith(_READS_ITSELF) else self.names | _read_by_methods(
            obj, self.names
        )  # fmt: skip
        for name in sorted(names & held.keys() - getattr(obj, "inputs", set())):
            guards.append(Guard(held.get, name, held[name], f"{label}.{name}"))
            self.visit(held[name], f"{label}.{name}")
        for parameter in obj._parameter_list if isinstance(obj, Optimizer) else ():
            self.visit(parameter, f"a parameter of {label}")

    def tensor(self, tensor: Tensor, label: str) -> None:
        """The attributes of a tensor that the code names: settings, and those of the user's own."""
        held = tensor.__dict__
        named = self.names & _OF_TENSORS.keys() | {n for n in self.names & held.keys() if n[0] != "_"}
        if self.names & _DYNAMIC:
            named |= {n for n in owned_by(tensor) if n[0] != "_"}
            self.guards.append(Guard(own_names, tensor, own_names(tensor), f"the attributes of {label}"))
        guards = self.settings if isinstance(tensor, Parameter) else self.guards
        for name in named:
            key = _OF_TENSORS.get(name, name)
            value = getattr(tensor, key)
            if (id(tensor), key) in self.written and isinstance(value, Tensor):
                guards.append(Guard(attribute(tensor), key, AnyOf(type(value)), f"{label}.{name}"))
            else:
                guards.append(Guard(attribute(tensor), key, value, f"{label}.{name}"))
                self.visit(value, f"{label}.{name}")
        if self.names & _OF_ARRAYS:
            self.settings.append(Guard(kind_of, tensor, kind_of(tensor), f"the shape and dtype of {label}"))
        if self.names & _ASKING:
            self.guards.append(Lacking.of(held, frozenset(self.texts | self.names) - _OF_TENSORS.keys(), label))

    def container(self, value: Any, label: str) -> None:
        """A list, dict, set or tuple, with all that it holds."""
        if not isinstance(value, tuple | frozenset):
            self.guards.append(Items.of(value, label, {key for owner, key in self.written if owner == id(value)}))
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            if type(item) not in BY_VALUE:
                self.visit(item, f"{label}[{key!r}]")

    def module(self, module: types.ModuleType, _label: str) -> None:
        """The names in a module of the user that occur in the code."""
        if is_foreign(module.__name__) or not self._new(module):
            return
        for name in sorted(self.names & vars(module).keys()):
            self.place(vars(module).get, vars(module), name, f"`{module.__name__}.{name}`")

    def object(self, obj: Any, label: str) -> None:
        """The attributes of an object that the code names, and those of its class."""
        held = getattr(obj, "__dict__", {})
        if dynamic := bool(self.names & _DYNAMIC) and not isinstance(obj, Layer):
            self.guards.append(Guard(names_of(held), "", tuple(held), f"the attributes of {label}"))
        for name in list(held) if dynamic else sorted(self.names & held.keys()):
            if is_of_each_run(obj, name):
                continue
            if not isinstance(obj, Layer) or not isinstance(held[name], BY_VALUE):  # see guards.of_layers
                self.place(held.get, obj, name, f"{label}.{name}")
        if isinstance(obj, Layer):
            if id(obj) not in self.called:
                self.settings += held_by(obj, self.names)
            if self.names & _OF_BUFFERS:
                self.guards.append(Guard(names_of(obj._buffers), "", tuple(obj._buffers), f"the buffers of {label}"))
            for name in sorted(self.names & obj._buffers.keys()):
                self.place(obj._buffers.get, obj, name, f"{label}.{name}")
            for name, tensor in (*obj._parameters.items(), *obj._buffers.items()):
                self.visit(tensor, f"{label}.{name}")
            for name, layer in obj._sub_layers.items():
                self.visit(layer, f"{label}.{name}")
            for hook in (*hooks.listed(obj._forward_pre_hooks), *hooks.listed(obj._forward_post_hooks)):
                self.visit(hook.call, f"a hook of {label}")
        for name in slots_of(obj):
            if name in self.names:
                self.place(attribute(obj), obj, name, f"{label}.{name}")
        self.klass(type(obj))
        if not isinstance(obj, Layer) and hasattr(obj, "__dict__"):
            self.guards.append(Lacking.of(held, self._asked_for(type(obj)), label))

    def _asked_for(self, cls: type) -> frozenset[str]:
        """Names that the code may not find on an object itself: a class has them, or it does without."""
        if (found := self.asked.get(cls)) is None or found[0] != len(self.code):
            names = {n for c in cls.__mro__ for n in vars(c)} & self.names
            if "AttributeError" in self.names or hasattr(cls, "__getattr__"):
                names = self.names
            elif self.names & _ASKING:
                names = names | self.texts
            self.asked[cls] = found = len(self.code), frozenset(names)
        return found[1]

    def klass(self, cls: type) -> None:
        """Visit the content of the user's classes behind a class, under names that occur in the code."""
        own = [c for c in cls.__mro__ if not is_foreign(c.__module__)]
        for i, c in enumerate(own):
            if not self._new(c):
                continue
            if behind := {n for b in own[i + 1 :] for n in vars(b)} & self.names:
                self.guards.append(Lacking.of(vars(c), frozenset(behind), c.__name__))  # type: ignore[arg-type]
            operators = {n for n, f in vars(c).items() if isinstance(f, _METHODS) and is_called_by_others(c, n)}
            for name in sorted(self.names & vars(c).keys() | operators):
                self.place(vars(c).get, c, name, f"{c.__name__}.{name}")


def _read_by_methods(obj: Any, names: set[str]) -> set[str]:
    """Return the names of the plain values that those methods of an object read that have one of the names."""
    methods = [f for n in names if isinstance(f := getattr(type(obj), n, None), types.FunctionType)]
    read = {n for f in methods for n in f.__code__.co_names}
    return {n for n in read if isinstance(vars(obj).get(n), BY_VALUE) and n in vars(obj)}
