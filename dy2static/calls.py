"""Which function a call in converted code really calls."""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import itertools
import os
import re
import sysconfig
import types
from collections.abc import Callable
from typing import Any

from .compiler import convert_tree
from .converted_code import PREFIX, ConvertedCode, copied
from .errors import ConversionError
from .options import Options
from .registry import ByIdentity, is_converted
from .runtime import FIXED, PLAIN
from .trees import room_for_trees

MARK = "__dy2static_do_not_convert__"
LATE = "__dy2static_converts__"  # on a function that calls the converted form of another one: that one
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARY = (_HERE, "<frozen ", *{sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
_THIRD_PARTY = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_BUILTINS = frozenset({types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType,
             types.MethodDescriptorType, types.ClassMethodDescriptorType, type(re.compile("").sub)})  # fmt: skip
_BUILTIN_TYPES = frozenset(
    value for module in (builtins, itertools) for value in vars(module).values() if isinstance(value, type)
)
_OF_ITERTOOLS = {itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.groupby, itertools.starmap,
             itertools.accumulate}  # fmt: skip
_TAKES_FUNCTIONS = frozenset({map, filter, sorted, min, max, functools.reduce, *_OF_ITERTOOLS})
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)
_number = itertools.count()


class _Memo:
    """Kept on a user's function: what to call in its place (None: itself). Pickled and copied empty."""

    __slots__ = ("code", "closure", "defaults", "keywords", "target")

    def __init__(self, f: types.FunctionType | None = None, target: Any = None) -> None:
        self.code: types.CodeType | None = f.__code__ if f else None
        self.closure: tuple[Any, ...] | None = f.__closure__ if f else None
        self.defaults: tuple[Any, ...] | None = f.__defaults__ if f else None
        self.keywords: dict[str, Any] | None = f.__kwdefaults__ if f else None
        self.target = target

    def __reduce__(self) -> Any:
        return _Memo, ()


class Cells(dict[str, types.CellType]):
    """Values shared by converted functions, by the keys of `Namer.helpers`; cells for methods are made on demand."""

    def __missing__(self, key: str) -> types.CellType:
        return self.setdefault(key, types.CellType(None))


class Known(dict[Any, Any]):
    """What to call for a function or class: found once, and remembered until the next `convert`.

    Only what lives as long as its module is remembered. The first function of each name is put into cells too, where
    calls of methods look first.
    """

    def __init__(self, find: Callable[[Any], Any], cells: Cells) -> None:
        self._find, self._cells = find, cells

    def __missing__(self, f: Any) -> Any:
        found = self._find(f)
        if "<locals>" not in getattr(f, "__qualname__", "<locals>") and getattr(f, "__closure__", None) is None:
            self[f] = found
            first = self._cells.get(f"of {f.__name__}")
            if first is not None and first.cell_contents is None:
                self._cells[f"found {f.__name__}"].cell_contents = found
                first.cell_contents = f  # last: who finds it takes the other
        return found

    def clear(self) -> None:
        """Forgets all."""
        for key in {f"of {f.__name__}" for f in self}.intersection(self._cells):
            self._cells[key].cell_contents = None
        super().clear()


class Callees:
    """Finds, for what a user calls, what converted code calls: the converted function, or the thing as it is.

    The code of a conversion lives as long as the user's code object, and is shared by all functions made from that; the
    converted function is kept on the user's function, so that the two die together.

    Arguments:
        operators: what the converted functions call.

    Attributes:
        find: gives, for what a user calls, the converted form, or the thing itself.
        known: the same for functions, faster.
    """

    def __init__(self, operators: Any) -> None:
        self.runtime = operators.runtime
        self.options = Options(
            fast=self.runtime.shortcuts,
            stores=operators.overrides("setattr_", "setitem_", "delattr_", "delitem_"),
            raises=operators.overrides("raise_"),
            calls=operators.overrides("call"),
            builtins=operators.overrides("builtin"),
            texts=operators.overrides("text_"),
            properties=self.runtime.properties,
        )
        self._replaces = self.options.builtins
        self._codes = ByIdentity()
        self._key = f"{PREFIX}{next(_number)}"
        self._find = self._finder()
        watches = self.options.calls
        self.find = self._watching if watches else self._find
        self._cells = Cells()
        self.known = Known(self._find, self._cells)
        kinds = (type, types.BuiltinFunctionType, types.FunctionType, types.MethodType)
        class_, builtin, function, method = (None,) * 4 if watches else kinds
        helpers = {
            "ops": operators,
            "type": type,
            "class": class_,
            "builtin": None if self._replaces else builtin,
            "function": function,
            "method": method,
            "known": self.known,
            "reduce": functools.reduce,
            "plain": PLAIN - {list, tuple} if self.runtime.lists else PLAIN,
            "fixed": FIXED,
            # Containers whose elements are not compared.
            "sets": frozenset() if self._replaces else PLAIN - {list, tuple},
            "native": frozenset() if watches or self._replaces else PLAIN,  # of which methods are called as they are
        }
        self._cells.update({helper: types.CellType(value) for helper, value in helpers.items()})

    def _finder(self) -> Callable[[Any], Any]:
        """`find` for functions, the case that must be fast; its names are all local."""
        key, decide, other, function = self._key, self._decide, self._other, types.FunctionType
        builtin = None if self._replaces else types.BuiltinFunctionType
        takes = frozenset({sorted, min, max, functools.reduce})

        def find(f: Any) -> Any:
            kind = type(f)
            if kind is builtin and f not in takes:
                return f
            if kind is not function:
                return other(f)
            memo = f.__dict__.get(key)
            if (
                memo is None
                or memo.code is not f.__code__
                or memo.closure is not f.__closure__
                or memo.defaults is not f.__defaults__
                or memo.keywords is not f.__kwdefaults__
            ):
                memo = decide(f)
            return memo.target or f

        return find

    def _other(self, f: Any) -> Any:
        """`find` for what is no function."""
        kind = type(f)
        if kind is types.MethodType:
            own = f.__func__
            inner = self.known[own] if type(own) is types.FunctionType else self._find(own)
            return f if inner is own else types.MethodType(inner, f.__self__)
        if kind in _BUILTINS or (isinstance(f, type) and f in _BUILTIN_TYPES):
            return self._builtin(f) if self._replaces or f in _TAKES_FUNCTIONS else f
        return self._object(f, kind)

    def _watching(self, f: Any) -> Any:
        """`find`, for a runtime that watches calls."""
        found = self._find(f)
        if type(f) in _BUILTINS or (isinstance(f, type) and f in _BUILTIN_TYPES):
            return found
        return lambda *args, **kwargs: self.runtime.call(found, args, kwargs)

    def _builtin(self, f: Any) -> Any:
        replacement = self.runtime.builtin(f) if self._replaces else None
        target = f if replacement is None else replacement
        takes = isinstance(f, types.BuiltinFunctionType | type) and (f in _TAKES_FUNCTIONS or _is_pattern(f))
        return self._with_functions(target) if takes else target

    def _with_functions(self, target: Any) -> Callable[..., Any]:
        """Return the builtin `target`, which calls the functions among its arguments: converted, as a call would be."""

        def called(*args: Any, **kwargs: Any) -> Any:
            return target(*map(self._argument, args), **{key: self._argument(value) for key, value in kwargs.items()})

        return called

    def _argument(self, value: Any) -> Any:
        is_type = isinstance(value, type) and value in _BUILTIN_TYPES
        return self.find(value) if is_type or isinstance(value, _FUNCTIONS) else value

    def _object(self, f: Any, kind: type) -> Any:
        """Return a class, a partial, or another callable object."""
        if self.runtime.is_own(f) or MARK in getattr(f, "__dict__", ()):
            return self._builtin(f)
        if kind.__name__ == "cython_function_or_method":  # what a method is in a module that Cython has compiled
            return self._builtin(f)
        if isinstance(f, type):
            return self._class(f)
        if kind is functools.partial:
            inner = self._find(f.func)
            return f if inner is f.func else functools.partial(inner, *f.args, **f.keywords)
        call = getattr(kind, "__call__", None)  # noqa: B004 (the method itself is wanted)
        if type(call) is not types.FunctionType:
            return f
        inner = self._find(call)
        return f if inner is call else types.MethodType(inner, f)

    def _class(self, cls: type) -> Any:
        """Return a user's class: its `__init__` is converted, and the `__post_init__` of a dataclass."""
        init = cls.__init__  # type: ignore[misc]
        if type(init) is not types.FunctionType or type(cls).__call__ is not type.__call__:
            return self._builtin(cls)
        converted, post = self._find(init), getattr(cls, "__post_init__", None)
        if converted is init and type(post) is types.FunctionType and self._find(post) is not post:
            subclass = type(cls.__name__, (cls,), {"__post_init__": self._find(post)})
            return functools.partial(_construct_as, subclass, cls)
        return cls if converted is init else functools.partial(_construct, cls, converted)

    def _decide(self, f: types.FunctionType) -> _Memo:
        target = None
        if self._called_as_it_is(f):
            target = self._rewrap(f)
        else:
            with contextlib.suppress(ConversionError):  # no source: plain Python may do
                target = self.converted(f)
        if target in (None, f) and not is_converted(f.__code__):
            target = self._of_library(f)
        memo = f.__dict__[self._key] = _Memo(f, target)
        return memo

    def _rewrap(self, f: Any) -> Any:
        """A wrapper by others (`contextmanager`, `no_grad`) around a user's function, put around the converted one."""
        if LATE in f.__dict__:
            return self._find(f.__dict__[LATE])
        if f.__code__.co_filename == functools.__file__ and "dispatch" in f.__dict__:  # of singledispatch
            return functools.wraps(f)(lambda *args, **kwargs: self._find(f.dispatch(type(args[0])))(*args, **kwargs))
        inner, closure = f.__dict__.get("__wrapped__"), f.__closure__ or ()
        converted = self._find(inner) if type(inner) is types.FunctionType and MARK not in f.__dict__ else inner
        if converted is inner:
            return None
        cells = tuple([types.CellType(converted) if cell == types.CellType(inner) else cell for cell in closure])
        return copied(f, f.__code__, cells)

    def _of_library(self, f: types.FunctionType) -> Any:
        """Return the runtime's replacement of a function that is called unconverted; callbacks are converted."""
        known = self._replaces and (self.runtime.is_own(f) or f.__code__.co_filename.startswith(_LIBRARY))
        found = (self.runtime.builtin(f) if known else None) or self.runtime.library(f)
        return None if found is None else self._with_functions(found)

    def _called_as_it_is(self, f: types.FunctionType) -> bool:
        filename = f.__code__.co_filename
        third_party = filename.startswith(_LIBRARY) or any(part in filename for part in _THIRD_PARTY)
        return third_party or self.runtime.is_own(f)

    def converted(self, f: types.FunctionType) -> types.FunctionType:
        """A new converted function, with the closure and the globals of `f`; `f` itself if it is not to be converted.

        Raises:
            ConversionError: there is no source.
        """
        code, waits = f.__code__, inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
        if MARK in f.__dict__ or is_converted(code) or code.co_flags & waits:
            return f
        found = self._codes.get(code)
        if found is None:
            with room_for_trees():
                found = ConvertedCode(code, convert_tree(f, self.options))
            self._codes.put(code, found)
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        return found.function(f, cells, self._cells)


def _is_pattern(method: Any) -> bool:
    return type(getattr(method, "__self__", None)) is re.Pattern


def _construct_as(subclass: type, cls: type, *args: Any, **kwargs: Any) -> Any:
    made = subclass(*args, **kwargs)
    object.__setattr__(made, "__class__", cls)
    return made


def _construct(cls: type, init: Callable[..., None], *args: Any, **kwargs: Any) -> Any:
    made = cls.__new__(cls, *args, **kwargs)
    if isinstance(made, cls):
        init(made, *args, **kwargs)
    return made
