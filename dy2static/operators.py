"""The operators that converted code calls: each decides by value, and uses the runtime only for staged values."""

from __future__ import annotations

import contextlib
import operator
import sys
from collections.abc import Callable
from functools import cached_property
from types import FunctionType, MemberDescriptorType
from typing import Any

from . import exceptions, managers, percent
from .calls import Callees
from .errors import ConversionError
from .location import Location
from .runtime import Runtime
from .state import Slot, State
from .undefined import Undefined

Thunk = Callable[[], Any]
Getter = Callable[[], tuple[Any, ...]]
Setter = Callable[[tuple[Any, ...]], None]
Facts = tuple[tuple[str, ...], tuple[bool, ...], tuple[bool, ...], tuple[bool, ...]]
_UNTESTED = object()
_EMPTY = ((sum, 0), (any, False), (all, True))  # what changes nothing among the elements
_SEARCHED = (list, tuple, dict, set, frozenset, range)
_UNROLLED = 10_000


class Operators:
    """The operators of one runtime, which converted functions hold in a closure cell.

    Arguments:
        runtime: the meaning of staged values.

    Example:
        >>> from dy2static.operators import Operators
        >>> Operators(Runtime()).and_(0, lambda: 1 / 0)
        0
    """

    untested, anything = _UNTESTED, BaseException
    slice, iter, locals, globals = slice, iter, locals, globals

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.staged = runtime.is_staged
        self.staged_iterable = runtime.is_staged_iterable
        self.callees = Callees(self)
        self.callee = self.callees.find
        self.elements, self.augmented = runtime.elements, runtime.augmented
        self.augmenting, self.catching, self.signals = runtime.augmenting, runtime.catching, runtime.signals
        stores = (self.store, self.remove) if runtime.properties else (runtime.setattr_, runtime.delattr_)
        self.setattr_, self.delattr_ = stores
        self.setitem_, self.delitem_ = runtime.setitem_, runtime.delitem_

    @classmethod
    def of(cls, runtime: Runtime) -> Operators:
        """Return the operators of this runtime, made once."""
        made = runtime.__dict__.get("_operators")
        if made is None:
            made = runtime.__dict__["_operators"] = cls(runtime)
        return made

    def overrides(self, *methods: str) -> bool:
        """Whether the framework gives one of these methods a meaning of its own."""
        return any(getattr(type(self.runtime), name) is not getattr(Runtime, name) for name in methods)

    # Statements

    def test(self, value: Any) -> Any:
        """A test that is no plain boolean: its truth, or a staged value."""
        if type(value) is list or type(value) is tuple:
            value = self.runtime.tested(value)
        if self.staged(value) or value is _UNTESTED:
            return value
        return self._asked(value, "__bool__", lambda: bool(value))

    def _asked(self, obj: Any, name: str, python: Thunk, *args: Any) -> Any:
        """Return the answer of a user class's method, which Python would make a boolean of; it may be staged."""
        method = getattr(type(obj), name, None) if self.runtime.properties else None
        if type(method) is not FunctionType or (found := self.callee(method)) is method:
            return python()
        answer = found(obj, *args)
        return answer if self.staged(answer) else bool(answer)

    def if_(
        self, test: Any, body: Thunk, orelse: Thunk, get: Getter, set: Setter, facts: Facts, slots: Thunk | None = None
    ) -> None:
        """`if test`, whose branches have become functions."""
        if not self.staged(test):
            return (body if test else orelse)()
        where = Location.of_caller()
        self.runtime.if_(test, body, orelse, self._state(get, set, facts, slots, where), where)

    def while_(
        self,
        test: Thunk,
        body: Thunk,
        get: Getter,
        set: Setter,
        facts: Facts,
        slots: Thunk | None = None,
        first: Any = _UNTESTED,
    ) -> None:
        """`while test`; Python until the test returns a staged value."""
        where = Location.of_caller()
        value = test() if first is _UNTESTED else first
        while not self.staged(value):
            if not value:
                return
            body()
            value = test()
        self.runtime.while_(test, body, self._state(get, set, facts, slots, where), where, value)

    def for_(
        self,
        iterable: Any,
        body: Callable[[Any], None],
        extra_test: Thunk | None,
        get: Getter,
        set: Setter,
        facts: Facts,
        slots: Thunk | None = None,
    ) -> None:
        """`for item in iterable`; a Python iterable is unrolled, under a guard once a break flag is staged."""
        where = Location.of_caller()
        if self.staged_iterable(iterable):
            state = self._state(get, set, facts, slots, where)
            return self.runtime.for_(iterable, body, extra_test, state, where)
        going: Any = True if extra_test is None else extra_test()
        iterator, rounds = iter(iterable), 0
        while self.staged(going) or going:
            try:
                item = next(iterator)
            except StopIteration:
                return
            if self.staged(going):
                rounds += 1
                self._bounded(iterator, rounds, where)
                state = self._state(get, set, (*facts[:2], facts[3], facts[3]), slots, where)  # live: the next round
                self.runtime.if_(going, lambda item=item: body(item), _nothing, state, where)  # type: ignore[misc]
            else:
                body(item)
            going = True if extra_test is None else extra_test()

    def _bounded(self, iterator: Any, rounds: int, where: Location) -> None:
        if rounds > _UNROLLED and operator.length_hint(iterator, -1) < 0:
            raise ConversionError(
                f"the loop at {where} ends by a staged `break` or `return`, but goes over a Python "
                f"{type(iterator).__name__} that has not ended after {_UNROLLED} rounds: `{where.source}`. Python must "
                "unroll it; loop over a range, or use `while`"
            )

    def _state(self, get: Getter, set: Setter, facts: Facts, slots: Thunk | None, where: Location) -> State:
        names, internal, live_out, carried = facts
        found = [] if slots is None else [slot for slot in slots() if slot is not None]
        return State(names, get, set, where, internal=internal, live_out=live_out, carried=carried, slots=found,
                     runtime=self.runtime)  # fmt: skip

    def assert_(self, test: Any, message: Thunk | None) -> None:
        """`assert test, message()` for a staged test."""
        self.runtime.assert_(test, message, Location.of_caller())

    def raise_(self, exc: BaseException | type[BaseException], cause: Any = Undefined) -> Any:
        """`raise exc from cause`."""
        try:
            return self.runtime.raise_(exceptions.made(exc, cause), Location.of_caller())
        finally:
            del exc  # its traceback has this frame: a circle would keep alive what all frames hold

    def packed(self, exc: Any, cause: Any = Undefined) -> Any:
        """`exc from cause` as plain values, which a variable of a staged statement can hold."""
        found = exceptions.made(exc, cause)
        self.runtime.jumped(found, Location.of_caller())
        return exceptions.packed(found)

    unpacked = staticmethod(exceptions.unpacked)

    def current(self) -> BaseException:
        """Return the exception that is being handled, for a `raise` that names none."""
        found = sys.exc_info()[1]
        return RuntimeError("No active exception to reraise") if found is None else found

    # Expressions

    def and_(self, left: Any, right: Thunk) -> Any:
        """`left and right()`."""
        if self.staged(left):
            return self.runtime.and_(left, right)
        if self.staged(truth := self.test(left)):
            return self.runtime.if_exp(truth, right, lambda: left, Location.of_caller())
        return right() if truth else left

    def or_(self, left: Any, right: Thunk) -> Any:
        """`left or right()`."""
        if self.staged(left):
            return self.runtime.or_(left, right)
        if self.staged(truth := self.test(left)):
            return self.runtime.if_exp(truth, lambda: left, right, Location.of_caller())
        return left if truth else right()

    def not_(self, value: Any) -> Any:
        """`not value`."""
        truth = self.test(value)
        return self.runtime.not_(truth) if self.staged(truth) else not truth

    def if_exp(self, test: Any, body: Thunk, orelse: Thunk) -> Any:
        """`body() if test else orelse()`."""
        if self.staged(truth := self.test(test)):
            return self.runtime.if_exp(truth, body, orelse, Location.of_caller())
        return body() if truth else orelse()

    def contains(self, item: Any, container: Any) -> Any:
        """`item in container`."""
        holds = isinstance(container, (list, tuple)) and any(map(self._is_unknown, container))
        if self._is_unknown(item) and isinstance(container, _SEARCHED) or holds or self.staged(container):
            return self.runtime.in_(item, container)
        return self._asked(container, "__contains__", lambda: item in container, item)

    def equal(self, left: Any, right: Any) -> Any:
        """`left == right`, one of which is written as a list or tuple."""
        of_items = isinstance(left, (list, tuple)) and isinstance(right, (list, tuple))
        if of_items and any(map(self.runtime.is_open, (*left, *right))):
            return self.runtime.equal(left, right)
        return left == right

    def _is_unknown(self, value: Any) -> bool:
        return self.staged(value) or self.runtime.is_open(value)

    def text(self, *parts: str | tuple[Any, int, str]) -> Any:
        """Return an f-string of these parts."""
        return self.runtime.text_(list(parts))

    def percent(self, template: str, values: Any) -> Any:
        """`template % values`."""
        given = values.values() if isinstance(values, dict) else values if isinstance(values, tuple) else (values,)
        if not any(map(self.staged, given)):
            return template % values
        return self.runtime.text_(percent.parts_of(template, values, self.callee(int)))

    def attr(self, obj: Any, name: str) -> Any:
        """`obj.name`, where the getter of a property is converted."""
        found = _of_class(obj, name)
        if type(found) is not property or found.fget is None or type(type(obj).__getattribute__) is FunctionType:
            return getattr(obj, name)
        return self.callee(found.fget)(obj)

    def store(self, obj: Any, name: str, value: Any) -> None:
        """`obj.name = value`, where what a class of the user's does for it is converted."""
        if (method := self._users(type(obj).__setattr__)) is not None:
            return method(obj, name, value)
        return self.put(obj, name, value)

    def put(self, obj: Any, name: str, value: Any) -> None:
        """The same past a `__setattr__` of the class: `object.__setattr__(obj, name, value)`."""
        found = _of_class(obj, name)
        if type(found) is property and found.fset is not None:
            return self.callee(found.fset)(obj, value)
        if (method := self._users(getattr(type(found), "__set__", None))) is not None:
            return method(found, obj, value)
        return self.runtime.setattr_(obj, name, value)

    def remove(self, obj: Any, name: str) -> None:
        """`del obj.name`, likewise."""
        if (method := self._users(type(obj).__delattr__)) is not None:
            return method(obj, name)
        return self.take(obj, name)

    def take(self, obj: Any, name: str) -> None:
        """The same past a `__delattr__` of the class."""
        found = _of_class(obj, name)
        if type(found) is property and found.fdel is not None:
            return self.callee(found.fdel)(obj)
        if (method := self._users(getattr(type(found), "__delete__", None))) is not None:
            return method(found, obj)
        return self.runtime.delattr_(obj, name)

    def _users(self, method: Any) -> Any:
        """Return what to call for a method of a user's class; None for any other."""
        is_own = type(method) is not FunctionType or self.runtime.is_own(getattr(method, "__wrapped__", method))
        return None if is_own else self.callee(method)

    def class_(self, cls: type) -> type:
        """Return a class that has just been made."""
        self.runtime.class_made(cls)
        return cls

    def subscript(self, obj: Any, key: Any) -> Any:
        """`obj[key]`, where the method behind it is converted."""
        method = getattr(type(obj), "__getitem__", None)
        return self.callee(method)(obj, key) if type(method) is FunctionType else self.runtime.getitem_(obj, key)

    def context(self, manager: Any) -> Any:
        """Return the context manager that a `with` enters: methods of a user's class are converted."""
        methods = [getattr(type(manager), name, None) for name in ("__enter__", "__exit__")]
        enter, leave = (self.callee(m) if type(m) is FunctionType else m for m in methods)
        kinds, sees = managers.caught(manager), managers.is_python(manager)
        sees = sees and not self.runtime.is_own(managers.maker_of(manager))
        if kinds or sees or [enter, leave] != methods:
            return managers.Manager(self, manager, enter, leave, kinds if kinds or sees else None)
        return manager

    @staticmethod
    def entered(manager: Any) -> Any:
        """Return what a `with` enters if a `try` does the rest: nothing, if that is all that the manager does."""
        return contextlib.nullcontext() if type(manager) is contextlib.suppress else manager

    @staticmethod
    def suppressed(manager: Any) -> Any:
        """Return what that `try` catches."""
        return managers.suppressed(manager) if type(manager) is contextlib.suppress else ()

    def generator(
        self, eager: Callable[[Any], Any], lazy: Callable[[Any, Any], Any], iterable: Any, consumer: Any = None
    ) -> Any:
        """Return a generator expression; a list where its consumer makes one, and where the iterable is staged."""
        iterable = self.runtime.elements(iterable) if self.staged_iterable(iterable) else iterable
        if consumer is list or consumer is tuple or consumer is sorted or self.staged_iterable(iterable):
            return eager(iterable)
        empty = next((value for function, value in _EMPTY if consumer is function), _UNTESTED)
        return lazy(iter(iterable), empty)

    def masking(self, value: Any, empty: Any) -> Any:
        """Return the condition of a generator expression; staged only where an element may count for nothing."""
        found = self.test(value)
        if empty is not _UNTESTED or not self.staged(found):
            return found
        where = Location.of_caller()
        error = ConversionError(
            f"the condition of the generator expression at {where} depends on a staged value, so that Python "
            f"cannot leave elements out: `{where.source}`. Use a list comprehension, or give it to `sum`, `any` "
            "or `all`"
        )
        return self.runtime.decided(found, "if", error, where)

    def masked(self, test: Any, element: Thunk, empty: Any) -> Any:
        """An element of a generator expression under a staged condition: it counts for nothing where that is false."""
        return self.runtime.if_exp(test, element, lambda: empty, Location.of_caller())

    # Variables

    def load(self, value: Any) -> Any:
        """Return the value of a variable which may be undefined."""
        if value.__class__ is Undefined:
            raise value.error()
        return value

    def peek(self, read: Thunk) -> Any:
        """Return the value of a variable for the state of a statement: `Undefined` where it has none."""
        try:
            return read()
        except NameError:
            return Undefined

    def attribute(self, name: str, read: Thunk, key: str) -> Slot | None:
        """The variable `obj.key`, unless code of the user's computes it, or does something where it is set."""
        obj = self.peek(read)
        if _is_undefined(obj) or self.staged(obj) or self._is_computed(obj, key):
            return None
        return Slot(name, obj, key, False)

    def item(self, name: str, read: Thunk, read_key: Thunk) -> Slot | None:
        """Return the variable `obj[key]` of a builtin container."""
        obj, key = self.peek(read), self.peek(read_key)
        if not isinstance(obj, (dict, list)) or key is Undefined or self.staged(key):
            return None
        methods = [getattr(type(obj), name, None) for name in ("__getitem__", "__setitem__")]
        if any(type(m) is FunctionType for m in methods) or hasattr(type(obj), "__missing__"):
            return None  # code of the user's does something there
        return Slot(name, obj, key, True)

    def _is_computed(self, obj: Any, key: str) -> bool:
        found, kind = _of_class(obj, key), type(obj)
        if isinstance(found, cached_property) or hasattr(type(found), "__set__"):
            return type(found) is not MemberDescriptorType
        methods = [getattr(kind, name, None) for name in ("__getattribute__", "__getattr__", "__setattr__")]
        return any(self._users(method) is not None for method in methods)

    def bound(self, values: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        """Return the variables to hand to a function; `Undefined` for each that has no value."""
        return {name: values[name] if name in values else Undefined(name) for name in names}

    def user_locals(self, names: dict[str, Any], prefix: str) -> dict[str, Any]:
        """`locals()` without what the conversion added."""
        return {k: v for k, v in names.items() if not k.startswith(prefix) and not isinstance(v, Undefined)}

    # Python alone: inside generators, where a staged statement cannot be paused

    def python(self, value: Any, what: str) -> Any:
        """Return a test or an iterable that only Python can drive: as the runtime decides, if it is staged."""
        if self.staged(value) or (what == "for" and self.staged_iterable(value)):
            where = Location.of_caller()
            error = ConversionError(
                f"the `{what}` statement at {where}, in `{where.function}`, depends on a staged value, but it holds "
                f"a `yield` (or a `return` in a `finally`), which only Python can drive: `{where.source}`. "
                "Collect the results in a list and return it, or make the value a Python one"
            )
            return self.runtime.decided(value, what, error, where)
        return value


def _of_class(obj: Any, name: str) -> Any:
    """Return the raw attribute of an object's class."""
    return next((vars(kind)[name] for kind in type(obj).__mro__ if name in vars(kind)), None)


def _is_undefined(value: Any) -> bool:
    return value is Undefined or type(value) is Undefined


def _nothing() -> None:
    return None
