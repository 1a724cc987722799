"""Patterns of operators: what a rewrite looks for, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ir.block import Operator, Value
from ..registry.op import unpack


class Call:
    """A pattern: an application of an op.

    Arguments:
        op: name of the op, several names, or a function of the Operator.
        args: for each tensor argument a name, which binds it (None where it is absent; the same name twice: the same
            tensor), or the call that made it; further arguments may be anything.
        bind: a name for the call itself.
        attrs: attributes that it must have: values, or functions that tell.
        shared: whether others may read its result too; of a call inside a pattern only, which is replaced as a whole.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> @paddle.passes.rewrite(paddle.passes.Call("matmul", "a", "b"))
        ... def doubled(m):
        ...     return m.a * 2
        >>> f = paddle.jit.to_static(lambda x: paddle.matmul(x, x), passes=[doubled])
        >>> f(paddle.ones([2, 2])).tolist()
        [[2.0, 2.0], [2.0, 2.0]]
    """

    def __init__(
        self,
        op: str | Sequence[str] | Callable[[Operator], bool],
        *args: Any,
        bind: str | None = None,
        attrs: Mapping[str, Any] | None = None,
        shared: bool = False,
    ) -> None:
        self.op = (op,) if isinstance(op, str) else op if callable(op) else tuple(op)
        self.args, self.bind, self.attrs, self.shared = args, bind, dict(attrs or {}), shared

    @property
    def names(self) -> tuple[str, ...] | None:
        """The ops that it can be; None if a function tells."""
        return None if callable(self.op) else self.op

    def accepts(self, op: Operator) -> bool:
        """Whether an operator is the op with the attributes, whatever it is applied to."""
        if not (self.op(op) if callable(self.op) else op.name in self.op):
            return False
        held = attributes(op)
        return all(k in held and (v(held[k]) if callable(v) else held[k] == v) for k, v in self.attrs.items())


class Called:
    """An operator that a pattern found: its op's name and its attributes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> seen = []
        >>> def look(program):
        ...     seen.extend(paddle.passes.Called(op).name for op in program.block.ops if op.name == "matmul")
        ...     return program
        >>> _ = paddle.jit.to_static(lambda x: paddle.matmul(x, x), passes=[look])(paddle.ones([2, 2]))
        >>> seen
        ['matmul']
    """

    def __init__(self, op: Operator) -> None:
        self.name, self.attrs, self.where = op.name, attributes(op), op.where

    def __getitem__(self, attribute: str) -> Any:
        return self.attrs[attribute]


def attributes(op: Operator) -> dict[str, Any]:
    """Return the attributes of an operator by name.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> seen = []
        >>> def look(program):
        ...     seen.extend(paddle.passes.attributes(op) for op in program.block.ops if op.name == "matmul")
        ...     return program
        >>> _ = paddle.jit.to_static(lambda x: paddle.matmul(x, x), passes=[look])(paddle.ones([2, 2]))
        >>> seen
        [{'transpose_x': False, 'transpose_y': False}]
    """
    return dict(zip(op.bound.op.attr_names, op.bound.attrs, strict=True))


def arguments(op: Operator) -> list[Any]:
    """Return the arguments of an operator by parameter: a list where the parameter is one, None where it is absent.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> seen = []
        >>> def look(program):
        ...     seen.extend(len(paddle.passes.arguments(op)) for op in program.block.ops if op.name == "matmul")
        ...     return program
        >>> _ = paddle.jit.to_static(lambda x: paddle.matmul(x, x), passes=[look])(paddle.ones([2, 2]))
        >>> seen
        [2]
    """
    return list(op.inputs) if op.bound.layout is None else unpack(op.inputs, op.bound.layout)


class Matcher:
    """Matches patterns in one block, against the operators seen so far."""

    def __init__(self, uses: dict[Value, int]) -> None:
        self.uses = uses
        self.producers: dict[Value, Operator] = {}

    def add(self, op: Operator) -> None:
        """An operator that patterns may meet as an argument."""
        self.producers.update(dict.fromkeys(op.outputs, op))

    def match(self, pattern: Call, op: Operator) -> dict[str, Any] | None:
        """Match a pattern that ends at an operator; returns what its names stand for."""
        found: dict[str, Any] = {}
        return found if self._call(pattern, op, found) else None

    def _call(self, pattern: Call, op: Operator, found: dict[str, Any]) -> bool:
        if not pattern.accepts(op):
            return False
        if pattern.bind is not None:
            found[pattern.bind] = Called(op)
        args = arguments(op)
        if len(pattern.args) > len(args):
            return False
        return all(self._part(p, a, found) for p, a in zip(pattern.args, args, strict=False))

    def _part(self, part: Any, arg: Any, found: dict[str, Any]) -> bool:
        if isinstance(part, str):
            return _same(found.setdefault(part, arg), arg)
        maker = self.producers.get(arg) if isinstance(arg, Value) else None
        if maker is None or maker.outputs[0] is not arg or not (part.shared or self.uses.get(arg, 0) <= 1):
            return False
        return self._call(part, maker, found)


def _same(a: Any, b: Any) -> bool:
    return a is b or (not isinstance(a, Value) and type(a) is type(b) and bool(a == b))
