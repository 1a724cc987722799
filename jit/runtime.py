"""The meaning of converted Python on traced tensors: the framework's implementation of dy2static's runtime."""

from __future__ import annotations

import collections
import contextlib
import functools
import operator
import os
from collections.abc import Callable
from types import MethodType, MethodWrapperType
from typing import Any

import dy2static
from dy2static.operators import Operators
from paddle_lite_py.core.errors import is_own
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.size import Size
from paddle_lite_py.core.unknown_size import UnknownSize, are_equal
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.ops.search import where
from paddle_lite_py.tracing import places
from paddle_lite_py.tracing.builder import Builder
from paddle_lite_py.tracing.frame import is_of_each_run
from paddle_lite_py.tracing.owned import is_owned
from paddle_lite_py.tracing.size_conditions import SizeCondition, negated
from paddle_lite_py.tracing.traced_scalars import as_number

from . import at_run, attributes, branches, grown, loops, sequences, text, unrolled, watched
from .builtin import replacement
from .catching import SIGNALS, Catching, catcher, leaves_manager
from .errors import StagingError, caught_outside, caught_perhaps, ends_iterator
from .iterables import elements, is_staged, item_of, length_of
from .mutations import WRAPPERS, contents_of
from .operands import Result
from .raising import checked
from .sequences import known_key

_NO_TRACE = contextlib.nullcontext()
_FLAGS = frozenset({"stop_gradient", "trainable"})
OWN = ("paddle_lite_py", "jax", "jaxlib", "numpy", "dy2static")


class StagedRuntime(dy2static.Runtime):
    """Python control flow on tensors becomes operators with blocks."""

    properties = lists = True

    def __init__(self) -> None:
        self.ignored: set[str] = set()  # modules that the user wants left alone
        self.on_class: Callable[[type], Any] | None = None

    @property
    def builder(self) -> Builder:
        """The builder of the trace under way."""
        return mode.interpreter  # type: ignore[return-value]

    def is_staged(self, value: Any) -> bool:
        """True for every tensor while a program is traced: the content of one made outside may change too."""
        return isinstance(value, Tensor) and mode.interpreter.is_tracing

    def is_staged_iterable(self, value: Any) -> bool:
        """True for a tensor, and for range, enumerate and zip of tensors."""
        return is_staged(value) and mode.interpreter.is_tracing

    def tested(self, value: Any) -> Any:
        """Return whether there are items in a list that has grown in a staged loop; another one itself."""
        return grown.length(value) > 0 if grown.holds(value) else value

    def if_(self, pred: Any, body: Any, orelse: Any, state: Any, where: Any) -> None:
        """A cond operator; or the branch that is taken, where the two leave things of different kinds."""
        condition, state.bodies = truth(pred, where), (body, orelse)
        unrolled.if_(self.builder, condition, lambda: branches.if_(self.builder, condition, body, orelse, state, where),
                     body, orelse, where)  # fmt: skip

    def while_(self, test: Any, body: Any, state: Any, where: Any, first_test: Any) -> None:
        """A while operator; or iteration by iteration, where each changes the kinds of things."""

        state.bodies = (body,)

        def staged() -> None:
            with at_run.repeated():
                loops.while_(self.builder, lambda: truth(test(), where), body, state, where)

        def going(value: Any) -> Any:
            return truth(value, where) if self.is_staged(value) else bool(value)

        unrolled.while_(self.builder, going(first_test), lambda: going(test()), staged, body, where)

    def for_(self, iterable: Any, body: Any, extra_test: Any, state: Any, where: Any) -> None:
        """A for operator where the number of iterations is known, a while operator where it is not; or unrolled."""

        state.bodies = (body,)

        if extra_test is None and unrolled.takes_sizes(iterable):
            error = StagingError(f"the loop at {where} needs all its items")
            for item in unrolled.items(self.builder, iterable, error, where):
                body(item)
            return

        def staged(items: Any) -> None:
            length = length_of(items)
            with at_run.repeated():
                if not isinstance(length, int) or extra_test is not None:
                    loops.counted(self.builder, length, lambda i: item_of(items, i), body, extra_test, state, where)
                elif length:
                    loops.for_(self.builder, length, lambda i: item_of(items, i), body, state, where)

        def going() -> Any:
            more = True if extra_test is None else extra_test()
            return truth(more, where) if self.is_staged(more) else bool(more)

        unrolled.for_(self.builder, iterable, going, staged, body, where)

    def decided(self, value: Any, statement: str, error: Exception, where: Any) -> Any:
        """Return the decision by the data of this call, as for a statement that cannot be staged."""
        because = StagingError(str(error))
        if statement == "for" and not (isinstance(value, Tensor) and not value.ndim):
            return unrolled.items(self.builder, value, because, where)
        return unrolled.value_in_this_call(self.builder, truth(value, where), because, where)

    def and_(self, left: Any, right: Any) -> Any:
        """Python's `and`: the left value if it is false, else the right one."""
        return self._either(left, right, True)

    def or_(self, left: Any, right: Any) -> Any:
        """Python's `or`: the left value if it is true, else the right one."""
        return self._either(left, right, False)

    def _either(self, left: Any, right: Callable[[], Any], on: bool) -> Any:
        where = dy2static.Location.of_caller(3)
        if left.dtype == "bool" and left.size == 1:
            box = Result()
            yes, no = (lambda: box.put(right())), (lambda: box.put(left))
            self.if_(left, yes if on else no, no if on else yes, box.state(where, right), where)
            return box.value
        return self.if_exp(truth(left, where), right if on else lambda: left, (lambda: left) if on else right, where)

    def not_(self, value: Any) -> Any:
        """Logical not of the truth of a tensor."""
        if isinstance(value, SizeCondition):
            return negated(value)
        return as_number(truth(value, None).logical_not())

    def if_exp(self, pred: Any, body: Any, orelse: Any, where: Any) -> Any:
        """Return a cond operator that gives one value."""
        box = Result()
        state = box.state(where, body, orelse)
        self.if_(pred, lambda: box.put(body()), lambda: box.put(orelse()), state, where)
        return box.value

    def is_open(self, value: Any) -> bool:
        """Whether it is a size that the program of a file serves in any number."""
        return isinstance(value, UnknownSize) and mode.interpreter.size_answers.for_file

    def equal(self, left: Any, right: Any) -> Any:
        """Whether two lists or tuples of sizes are the same."""
        of_one_kind = isinstance(left, list) == isinstance(right, list) or Size in (type(left), type(right))
        return of_one_kind and are_equal(list(left), right)

    def in_(self, item: Any, container: Any) -> Any:
        """Whether one of the elements is, or is equal to, the item."""
        return sequences.contains(item, container)

    def text_(self, parts: Any) -> Any:
        """Text that is filled in when the program runs."""
        return text.text(parts)

    def elements(self, iterable: Any) -> Any:
        """Return the items of a tensor in a list, so that a comprehension can collect what it makes of them."""
        return elements(iterable)

    def assert_(self, test: Any, message: Any, where: Any) -> None:
        """A check, whose failure is raised after the run."""
        error = AssertionError(*() if message is None else (message(),))
        if catcher(self.builder, error) is not None:
            return self._assert_now(truth(test, where), error, where)
        checked(self.builder, truth(test, where), error, where)

    def _assert_now(self, test: Tensor, error: AssertionError, where: Any) -> None:
        """Inside of a `try`, which may catch it: data decide."""
        if not unrolled.value_in_this_call(self.builder, test, caught_perhaps(where), where):
            raise error

    signals = SIGNALS

    def catching(self, kinds: Callable[[], Any], manager: bool = False) -> Any:
        """Notes what the code may catch of what it raises."""
        return Catching(kinds, manager) if mode.interpreter.is_tracing else _NO_TRACE

    def jumped(self, exc: BaseException, where: Any) -> None:
        """Raises after all what a manager of a `with` would see."""
        if isinstance(mode.interpreter, Builder) and leaves_manager(mode.interpreter):
            self.raise_(exc, where)

    def raise_(self, exc: Any, where: Any) -> Any:
        """A check that fails in the staged branch that raises; a plain raise where that is caught, or is no branch."""
        builder = mode.interpreter
        frame = catcher(builder, exc) if isinstance(builder, Builder) else None
        if not isinstance(builder, Builder) or builder.frame is (frame or builder.root):
            try:
                raise exc
            finally:
                del exc  # see Operators.raise_
        if frame is not None:
            raise caught_outside(type(exc).__name__, where)
        if isinstance(exc, StopIteration):
            raise ends_iterator(where)
        return checked(builder, None, exc, where)

    def builtin(self, f: Any) -> Any:
        """Return the form of a Python builtin that takes tensors, or notes what it changes."""
        if type(f) is MethodWrapperType and (found := self._attributes.get(attributes.of_method(f))) is not None:
            return functools.partial(found, f.__self__)
        return replacement(f) if type(f).__hash__ is None else self._attributes.get(f) or replacement(f)

    @functools.cached_property
    def _attributes(self) -> dict[Any, Callable[..., Any]]:
        return attributes.functions(Operators.of(self))

    def library(self, f: Any) -> Any:
        """Return the form of a function of others that acts where each run does, or says that it cannot."""
        return replacement(f) or (None if self.is_own(f) else watched.form_of(f))

    def is_own(self, f: Any) -> bool:
        """True for this framework, JAX and NumPy: called as they are. A user's Layer is called by its own __call__."""
        module = getattr(f, "__module__", None) or ""
        if any(m == module or module.startswith(f"{m}.") for m in self.ignored):
            return True
        inner = f.__func__ if isinstance(f, MethodType) else f
        code = None if hasattr(type(inner), "__getattr__") else getattr(inner, "__code__", None)
        return is_own(code.co_filename) if code is not None else module.partition(".")[0] in OWN

    def class_made(self, cls: type) -> None:
        """Tell the trace under way."""
        if self.on_class is not None:
            self.on_class(cls)

    def setattr_(self, obj: Any, name: str, value: Any) -> None:
        """Note what the attribute held, then set it."""
        notes_itself = (isinstance(obj, Tensor) and not is_owned(obj, name)) or is_of_each_run(obj, name)
        if isinstance(mode.interpreter, Builder) and not notes_itself:
            mode.interpreter.rebound(obj, name)
        elif isinstance(mode.interpreter, Builder) and name in _FLAGS and not obj.stop_gradient:
            mode.interpreter.frozen[id(obj)] = obj
        (places.set_attribute if places.is_users(type(obj).__setattr__) else setattr)(obj, name, value)

    def delattr_(self, obj: Any, name: str) -> None:
        """Note what the attribute held, then remove it."""
        if mode.interpreter.is_tracing:
            mode.interpreter.rebound(obj, name)
        (places.delete_attribute if places.is_users(type(obj).__delattr__) else delattr)(obj, name)

    def getitem_(self, obj: Any, key: Any) -> Any:
        """Return the item, which a defaultdict may have to make."""
        if grown.holds(obj) or grown.is_index(obj, key):
            return grown.item(obj, key)
        key = known_key(obj, key)
        if isinstance(obj, collections.defaultdict) and obj.default_factory is not None and key not in obj:
            if type(obj).__missing__ is collections.defaultdict.__missing__:
                self.setitem_(obj, key, callee(obj.default_factory)())
        return obj[key]

    def setitem_(self, obj: Any, key: Any, value: Any) -> None:
        """Note what the item was, then set it."""
        key = known_key(obj, key)
        if obj is os.environ:
            return at_run.environment("__setitem__", key, value)
        if isinstance(mode.interpreter, Builder) and not _notes_itself(obj, "__setitem__"):
            _note(mode.interpreter, obj, key)
        if _is_mask(obj, key) and isinstance(value, Tensor) and value.shape == obj.shape:
            obj[...] = where(key, value, obj)  # from augmented()
        elif grown.holds(obj):
            grown.put(obj, key, value)
        else:
            obj[key] = value

    def delitem_(self, obj: Any, key: Any) -> None:
        """Note what there was, then remove the item."""
        key = known_key(obj, key)
        if obj is os.environ:
            return at_run.environment("__delitem__", key)
        if not _notes_itself(obj, "__delitem__"):
            self.augmenting(obj)
        del obj[key]

    def augmenting(self, value: Any) -> None:
        """Note what a list or its like holds, before `+=` changes it."""
        builder = mode.interpreter
        if isinstance(builder, Builder):
            for container in contents_of([value]):
                builder.contents_written(container)

    def augmented(self, obj: Any, key: Any) -> Any:
        """For a mask, all elements: how many it has is not known; setitem_ takes those that it has."""
        return obj.clone() if _is_mask(obj, key) else self.getitem_(obj, key)


def _notes_itself(obj: Any, method: str) -> bool:
    """Whether a method of the user's decides what changes, which is converted."""
    return not isinstance(obj, WRAPPERS) and places.is_users(getattr(type(obj), method, None))


def _note(builder: Builder, container: Any, key: Any) -> None:
    """Note what an item holds that is about to be set."""
    if isinstance(container, dict):
        builder.item_written(container, key)
    elif not isinstance(container, list | collections.deque) or not hasattr(key, "__index__") or grown.holds(container):
        for held in contents_of([container]):
            builder.contents_written(held)
    elif -len(container) <= (at := operator.index(key)) < len(container):
        builder.item_written(container, at % len(container))


def _is_mask(obj: Any, key: Any) -> bool:
    masks = isinstance(obj, Tensor) and isinstance(key, Tensor) and key.dtype == "bool" and bool(key.shape)
    return masks and key.shape == obj.shape and mode.interpreter.is_tracing


def truth(value: Any, where: Any) -> Tensor:
    """Return a tensor as one boolean."""
    if value.size != 1:
        place = f" at {where}" if where else ""
        raise ValueError(
            f"the condition{place} is a {value.dtype.name}{[*value.shape]} tensor, whose truth is not defined; "
            "use .any(), .all() or index it"
        )
    value = value if not value.shape else value.reshape([])
    return value if value.dtype == "bool" else value != 0


def convert(f: Callable[..., Any]) -> Callable[..., Any]:
    """Convert a user's function for tracing; the framework's own is called as it is."""
    return callee(f) if RUNTIME.is_own(f) else dy2static.convert(f, runtime=RUNTIME)


RUNTIME = StagedRuntime()
callee = Operators.of(RUNTIME).callee  # what to call for what converted code calls
