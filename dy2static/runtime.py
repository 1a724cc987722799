"""The interface that a framework implements: the meaning of control flow on staged values."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .location import Location
    from .state import State

# The types whose values never change in place.
FIXED = frozenset({bool, int, float, complex, str, bytes, tuple, frozenset, range, type(None)})
# The types whose values are never staged.
PLAIN = frozenset({bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, range, type(None)})


class Runtime:
    """The meaning of Python for values that are not known yet; this base class is plain Python.

    A framework derives from it. Converted code decides by value: it runs Python for Python values and asks the runtime
    only when `is_staged` or `is_staged_iterable` says that a value is staged.

    Example:
        >>> import dy2static
        >>> dy2static.Runtime().is_staged(3)
        False

    Attributes:
        shortcuts: whether Python values get code of their own, which runs at plain speed; without it the code is
            smaller, and quicker to convert.
        signals: what it raises to steer the conversion: no handler of the user's catches them.
        lists: whether a list or tuple may be staged: one of which only a run knows the length.
        properties: whether the getters of properties are converted; a read of an attribute is then a call.
    """

    shortcuts = True
    lists = False
    properties = False
    signals: tuple[type[BaseException], ...] = ()

    def is_staged(self, value: Any) -> bool:
        """Whether the value is a traced tensor, whose truth Python cannot know; not called for plain values."""
        return False

    def is_staged_iterable(self, value: Any) -> bool:
        """Whether a loop over the value is staged: a tensor, or a range, enumerate or zip made of tensors."""
        return False

    def tested(self, value: Any) -> Any:
        """Return what a test of a list or tuple asks for: itself, or a staged value."""
        return value

    # Statements. `state` gets and sets the variables which the bodies change.

    def if_(
        self, pred: Any, body: Callable[[], None], orelse: Callable[[], None], state: State, where: Location
    ) -> None:
        """An `if` on a staged `pred`; `body` and `orelse` act on the variables through `state`."""
        raise NotImplementedError(_missing("if_"))

    def while_(
        self, test: Callable[[], Any], body: Callable[[], None], state: State, where: Location, first_test: Any
    ) -> None:
        """A `while` whose test has just returned the staged value `first_test`."""
        raise NotImplementedError(_missing("while_"))

    def for_(
        self,
        iterable: Any,
        body: Callable[[Any], None],
        extra_test: Callable[[], Any] | None,
        state: State,
        where: Location,
    ) -> None:
        """A `for` over a staged iterable; `extra_test` is evaluated before each iteration (break and return flags)."""
        raise NotImplementedError(_missing("for_"))

    def assert_(self, test: Any, message: Callable[[], Any] | None, where: Location) -> None:
        """An `assert` of a staged test."""
        raise NotImplementedError(_missing("assert_"))

    def raise_(self, exc: BaseException | type[BaseException], where: Location) -> Any:
        """Return a `raise`; where it returns instead of raising, the innermost function or staged body is left."""
        try:
            raise exc
        finally:
            del exc

    def catching(self, kinds: Callable[[], Any], manager: bool = False) -> Any:
        """Return a context manager, in which the body of each `try` runs whose handlers catch what `kinds` gives.

        The body of a `with` too, with `manager`, if the user's code sees how it ends.
        """
        return contextlib.nullcontext()

    def jumped(self, exc: BaseException, where: Location) -> None:
        """Called for a `raise` in a `try` that has become a jump to its handlers."""

    def decided(self, value: Any, statement: str, error: Exception, where: Location) -> Any:
        """A staged test as a bool, or what a `for` runs over as a list, where only Python can drive the statement.

        Raises:
            error: there is none.
        """
        raise error

    # Expressions. The left operand is a value, the others are thunks.

    def and_(self, left: Any, right: Callable[[], Any]) -> Any:
        """`left and right()` for a staged left operand."""
        raise NotImplementedError(_missing("and_"))

    def or_(self, left: Any, right: Callable[[], Any]) -> Any:
        """`left or right()` for a staged left operand."""
        raise NotImplementedError(_missing("or_"))

    def not_(self, value: Any) -> Any:
        """`not value` for a staged value."""
        raise NotImplementedError(_missing("not_"))

    def if_exp(self, pred: Any, body: Callable[[], Any], orelse: Callable[[], Any], where: Location) -> Any:
        """`body() if pred else orelse()` for a staged `pred`."""
        raise NotImplementedError(_missing("if_exp"))

    def is_open(self, value: Any) -> bool:
        """Whether a value that is not staged gives staged booleans where it is compared, as a size may."""
        return False

    def equal(self, left: Any, right: Any) -> Any:
        """`left == right` of two lists or tuples, an item of which is open."""
        raise NotImplementedError(_missing("equal"))

    def in_(self, item: Any, container: Any) -> Any:
        """`item in container`, where one of them or an element of a list or tuple is staged."""
        raise NotImplementedError(_missing("in_"))

    def text_(self, parts: list[str | tuple[Any, int, str]]) -> Any:
        """Return an f-string; a part is text or a value with its conversion (as in `ast.FormattedValue`) and format."""
        return "".join(part if isinstance(part, str) else formatted(*part) for part in parts)

    def elements(self, iterable: Any) -> Any:
        """Return the items of a comprehension's staged iterable as a list, if their number is known."""
        return iterable

    # Calls.

    def builtin(self, f: Any) -> Any | None:
        """Return what to call in place of a Python builtin, or None for the builtin itself.

        Asked for builtin functions and types (len, range, int, ...), for bound methods of builtin containers
        (`outs.append`, whose `__self__` is the list), for classes without an `__init__` in Python, for functions of
        Python's library (`Counter.update`) and of the framework, and for functions and methods of modules compiled by
        Cython.
        """
        return None

    def library(self, f: Any) -> Any | None:
        """Return what to call in place of an unconverted Python function, or None for the function itself.

        Asked for functions of the standard library, of installed packages, and without a source.
        """
        return None

    def is_own(self, f: Any) -> bool:
        """Whether `f` belongs to the framework and is called as it is."""
        return False

    def call(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return a call of `f`, already converted; override it to watch the calls."""
        return f(*args, **kwargs)

    # State on objects. Loads are plain Python; a composite variable such as `self.h` is read with `getattr_`.

    def getattr_(self, obj: Any, name: str) -> Any:
        """`obj.name`, read as part of the state of a statement."""
        return getattr(obj, name)

    def setattr_(self, obj: Any, name: str, value: Any) -> None:
        """`obj.name = value`."""
        setattr(obj, name, value)

    def delattr_(self, obj: Any, name: str) -> None:
        """`del obj.name`."""
        delattr(obj, name)

    def class_made(self, cls: type) -> None:
        """A class was made, if `properties` is set."""

    def getitem_(self, obj: Any, key: Any) -> Any:
        """`obj[key]`, read as part of the state of a statement."""
        return obj[key]

    def augmented(self, obj: Any, key: Any) -> Any:
        """`obj[key]`, read in order to be changed and stored again."""
        return obj[key]

    def augmenting(self, value: Any) -> None:
        """Called with the value of a variable before `+=` and its like, which may change it in place."""

    def setitem_(self, obj: Any, key: Any, value: Any) -> None:
        """`obj[key] = value`."""
        obj[key] = value

    def delitem_(self, obj: Any, key: Any) -> None:
        """`del obj[key]`."""
        del obj[key]


def _missing(method: str) -> str:
    return f"the runtime calls a value staged, but does not define `Runtime.{method}`: define it"


def formatted(value: Any, conversion: int, spec: str) -> str:
    """Return a value as an f-string shows it."""
    convert: dict[int, Callable[[Any], str]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}
    return format(convert[conversion](value) if conversion in convert else value, spec)
