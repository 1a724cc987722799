"""A runtime that stages numbers: it hides their truth from Python, runs both branches, and picks afterwards."""

from __future__ import annotations

import operator
from typing import Any

from dy2static import Runtime, Undefined


class Staged:
    """A number whose truth Python cannot ask for."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __bool__(self) -> bool:
        raise TypeError("the truth of a staged value is not known")

    def __index__(self) -> int:
        raise TypeError("the value of a staged value is not known")

    def __repr__(self) -> str:
        return f"Staged({self.value!r})"

    __hash__ = None  # type: ignore[assignment]


def plain(value: Any) -> Any:
    """The value with nothing staged in it."""
    if isinstance(value, Staged):
        return value.value
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def _method(function: Any, swap: bool) -> Any:
    def method(self: Staged, *others: Any) -> Staged:
        operands = [plain(x) for x in (self, *others)]
        return Staged(function(*(operands[::-1] if swap else operands)))

    return method


_METHODS = "add sub mul truediv floordiv mod pow and or xor lt le gt ge eq ne neg pos abs invert"
for _name in _METHODS.split():
    _function = getattr(operator, {"and": "and_", "or": "or_"}.get(_name, _name))
    setattr(Staged, f"__{_name}__", _method(_function, False))
    setattr(Staged, f"__r{_name}__", _method(_function, True))


class StagedRange:
    """`range` of staged numbers."""

    def __init__(self, *args: Any) -> None:
        self.values = range(*map(plain, args))


class Toy(Runtime):
    """Counts what is staged in `seen`."""

    def __init__(self, shortcuts: bool = True) -> None:
        self.shortcuts = shortcuts
        self.seen: list[str] = []

    def is_staged(self, value: Any) -> bool:
        return isinstance(value, Staged)

    def is_staged_iterable(self, value: Any) -> bool:
        return isinstance(value, StagedRange)

    def builtin(self, f: Any) -> Any:
        return {"range": self._range, "print": None}.get(getattr(f, "__name__", "")) if f in (range, print) else None

    def _range(self, *args: Any) -> Any:
        return (StagedRange if any(isinstance(arg, Staged) for arg in args) else range)(*args)

    def if_(self, pred: Any, body: Any, orelse: Any, state: Any, where: Any) -> None:
        self.seen.append(f"if {where.lineno}")
        before = state.get()
        body()
        true = state.get()
        state.set(before)
        orelse()
        false = state.get()
        chosen = true if pred.value else false
        state.set([self._merged(state, i, chosen[i], true[i], false[i]) for i in range(len(state.names))])

    def _merged(self, state: Any, i: int, value: Any, true: Any, false: Any) -> Any:
        if not state.live_out[i]:
            return Undefined(state.names[i])
        if isinstance(value, Undefined):
            other = false if value is true else true
            return Staged(0) if state.is_internal(i) or isinstance(other, (int, float, Staged)) else value
        return value if true is false else self._lifted(value)

    def _lifted(self, value: Any) -> Any:
        return Staged(value) if isinstance(value, (int, float)) else value

    def _lift(self, state: Any) -> None:
        values = state.get()
        for i, value in enumerate(values):
            if isinstance(value, Undefined) and state.is_internal(i) and state.carried[i]:
                values = (*values[:i], Staged(0), *values[i + 1 :])
            elif not state.carried[i]:
                values = (*values[:i], Undefined(state.names[i]), *values[i + 1 :])
        state.set([self._lifted(value) for value in values])

    def while_(self, test: Any, body: Any, state: Any, where: Any, first_test: Any) -> None:
        self.seen.append(f"while {where.lineno}")
        self._lift(state)
        while plain(test()):
            body()
            self._lift(state)
        self._forget(state)

    def for_(self, iterable: Any, body: Any, extra_test: Any, state: Any, where: Any) -> None:
        self.seen.append(f"for {where.lineno}")
        self._lift(state)
        for item in iterable.values:
            if extra_test is not None and not plain(extra_test()):
                break
            body(Staged(item))
            self._lift(state)
        self._forget(state)

    def _forget(self, state: Any) -> None:
        values = zip(state.names, state.get(), state.live_out, strict=True)
        state.set([value if live else Undefined(name) for name, value, live in values])

    def and_(self, left: Any, right: Any) -> Any:
        self.seen.append("and")
        value = right()
        return Staged(left.value and plain(value))

    def or_(self, left: Any, right: Any) -> Any:
        self.seen.append("or")
        value = right()
        return Staged(left.value or plain(value))

    def in_(self, item: Any, container: Any) -> Any:
        self.seen.append("in")
        return Staged(plain(item) in plain(container))

    def not_(self, value: Any) -> Any:
        self.seen.append("not")
        return Staged(not value.value)

    def if_exp(self, pred: Any, body: Any, orelse: Any, where: Any) -> Any:
        self.seen.append("if_exp")
        true, false = body(), orelse()
        return Staged(plain(true if pred.value else false))

    def assert_(self, test: Any, message: Any, where: Any) -> None:
        self.seen.append(f"assert {where.lineno}")
        if not test.value:
            raise AssertionError(*([message()] if message else []))


class Logging(Toy):
    """Sees stores and raises too."""

    def setattr_(self, obj: Any, name: str, value: Any) -> None:
        self.seen.append(f"setattr {name}")
        setattr(obj, name, value)

    def setitem_(self, obj: Any, key: Any, value: Any) -> None:
        self.seen.append("setitem")
        obj[key] = value

    def raise_(self, exc: Any, where: Any) -> Any:
        self.seen.append(f"raise {where.lineno}")
        raise exc
