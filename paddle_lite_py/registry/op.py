"""The definition of an op: a JAX function with its calling convention and rules.

In the function's signature, tensors (or lists of tensors) stand before `/` and attributes after it. From that one
function come the public function, the Tensor methods, eager execution, shape inference, the Program's operator, its
lowering and its gradient.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core import dtypes, unknown_size
from ..core.interpreter import state
from ..core.jax_compat.threefry import random_key
from ..core.memo import Memo
from ..core.size import Size
from ..core.traced_number import kind, plain
from .bound import BoundOp, Layout
from .open_attributes import OpenAttributes
from .view import ViewRule

REGISTRY: dict[str, Op] = {}
# Imports the parts of the framework that are loaded on demand, with the ops that they define.
LATE: list[Callable[[], None]] = []
SINGLE = -1
# Attribute values that an op keeps compiled code for: `zeros([n])` for ever-changing n must not fill the memory.
MAX_BOUND = 1024
Function = Callable[..., Any]


def _strong(x: Any) -> Any:
    # A weak result would make the next op take it for a Python scalar.
    return jax.lax.convert_element_type(x, x.dtype) if getattr(x, "weak_type", False) else jnp.asarray(x)


def in_tuples(values: Any) -> Any:
    """Return a list of lists of numbers as tuples."""
    return tuple([tuple(v) if isinstance(v, list) else v for v in values])


def unpack(flat: tuple[Any, ...], layout: tuple[Any, ...]) -> list[Any]:
    """Regroup flat arguments: the reverse of Op.pack."""
    it = iter(flat)
    return [None if n is None else next(it) if n == SINGLE else [next(it) for _ in range(n)] for n in layout]


class Op:
    """A named JAX function with its calling convention and rules."""

    custom = False  # it is the user's own
    on_host = False  # Python computes it, on arrays at hand
    broadcasts = False  # it is elementwise, with NumPy's broadcasting, whatever the shapes
    recorded: Any = None  # the steps and numbers that it replays, if it is made of other ops
    # Its result is a view of its first argument; or which attributes make it one.
    views: ViewRule | Callable[[dict[str, Any]], ViewRule | None] | None = None
    # Compiles programs that hold it, in the place of xla_jit(): (function, their operators, **options) -> callable.
    across: Callable[..., Any] | None = None
    # From attributes to what looks at the arrays of an eager call with them, and raises where they do not fit.
    input_check: Callable[[dict[str, Any]], Callable[..., None] | None] | None = None
    # From attributes to a decorator of what runs the op, which looks at the results of eager calls.
    output_check: Callable[[dict[str, Any]], Callable[[Function], Function] | None] | None = None

    def __init__(
        self,
        fn: Callable[..., Any],
        name: str,
        grad: bool = True,
        amp: str | None = "keep",
        random: bool = False,
        effect: bool = False,
        loops: bool = False,
        windows: bool | Callable[[dict[str, Any]], bool] = False,
        keeps: bool = False,
        plain: bool = False,
    ) -> None:
        self.name, self.grad, self.amp, self.random = name, grad, amp, random
        params = list(inspect.signature(fn).parameters.values())
        # The key of a random op is the framework's, not an argument of the user.
        self.tensor_params = [p for p in params if p.kind is p.POSITIONAL_ONLY][random:]
        self.attr_params = [p for p in params if p.kind not in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)]
        self.attr_names = tuple(p.name for p in self.attr_params)
        self.is_list = [str(p.annotation).startswith(("list", "Sequence")) for p in self.tensor_params]
        self.simple = not any(self.is_list) and all(p.default is p.empty for p in self.tensor_params)
        self.loops = loops  # its function holds a JAX loop
        self.windows, self.plain = windows, plain  # see config.compiler_options
        self.keeps = keeps  # see residuals.py
        self.is_operator = False  # it serves an operator of Python
        self.effect = effect  # it acts on the world (prints, checks), so it stays though nothing reads its result
        self.fn = _with_state(fn) if random else fn
        # Key: attributes by kind, how lists are packed, and the default dtype: all that the function may read.
        self.known: Memo[Any, BoundOp] = Memo(f"bound ops of {name}", MAX_BOUND)
        self.open_attributes = OpenAttributes(self)

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def is_builtin(self) -> bool:
        """Whether its name stands for the same function in each process with this version of the package."""
        return REGISTRY.get(self.name) is self and not self.custom

    def bind(self, attrs: tuple[Any, ...], layout: Layout = None) -> BoundOp:
        """Return the bound op for these attributes and the default dtype, from a cache."""
        # A list is no key itself, and a shape mostly comes as one.
        attrs = tuple([tuple(v) if v.__class__ is list or v.__class__ is Size else v for v in attrs])
        try:
            found = self.known.get((attrs, layout, tuple(map(kind, attrs)), dtypes.get_default_dtype()))
        except TypeError:  # unhashable: a list inside a tuple
            found = self._of_nested(attrs, layout)
        return found if found is not None else self._bind_frozen(attrs, layout)

    def _of_nested(self, attrs: tuple[Any, ...], layout: Layout) -> BoundOp | None:
        """Return the bound op for attributes with lists in lists, such as a padding of each side."""
        attrs = tuple([in_tuples(v) if isinstance(v, list | tuple) else v for v in attrs])
        try:
            return self.known.get((attrs, layout, tuple(map(kind, attrs)), dtypes.get_default_dtype()))
        except TypeError:
            return None

    def _bind_frozen(self, attrs: tuple[Any, ...], layout: Layout) -> BoundOp:
        frozen = tuple([freeze(v, n) for v, n in zip(attrs, self.attr_names, strict=True)])
        default = dtypes.default_dtype()
        key = (frozen, layout, tuple(map(kind, frozen)), default.name)
        found = self.known.get(key)
        if found is None:
            found = self.known.put(key, BoundOp(self, self.pure(frozen, layout, default), frozen, layout, default))
        return found

    def pure(self, attrs: tuple[Any, ...], layout: Layout, default: dtypes.DType) -> Callable[..., Any]:
        """Return the op with its attributes as a function of arrays."""
        op_fn, named = self.fn, dict(zip(self.attr_names, attrs, strict=True))

        def fn(*flat: Any) -> Any:
            with dtypes.bound_default(default):
                out = op_fn(*(flat if layout is None else unpack(flat, layout)), **named)
            return tuple(map(_strong, out)) if isinstance(out, tuple | list) else _strong(out)

        fn.__name__ = fn.__qualname__ = self.name
        return fn

    def pack(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Layout]:
        """Flatten list arguments and drop absent ones; the layout says how to undo it."""
        if self.simple:
            return args, None
        flat: list[Any] = []
        layout: list[Any] = []
        for arg, is_list in zip(args, self.is_list, strict=True):
            if arg is None:
                layout.append(None)
            elif is_list and isinstance(arg, list | tuple):
                layout.append(len(arg))
                flat.extend(arg)
            else:
                layout.append(SINGLE)
                flat.append(arg)
        return tuple(flat), tuple(layout)

    def apply(self, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        """Run the op in the current mode."""
        flat, layout = self.pack(args)
        run = state.interpreter.run_random if self.random else state.interpreter.run
        return run(self.bind(attrs, layout), flat)


def find(name: str) -> Op | None:
    """Return the op that a file names, also where the part that defines it is not loaded yet; None if there is none."""
    if name not in REGISTRY:
        for load in LATE:
            load()
    return REGISTRY.get(name)


def freeze(value: Any, name: str = "attribute") -> Any:
    """Return a hashable copy of an attribute; a tensor in it becomes its Python value."""
    value = unknown_size.plain(plain(value))
    if isinstance(value, float) and value != value:
        return math.nan  # each NaN is another key
    if value is None or isinstance(value, int | float | str | complex | dtypes.DType):
        return value
    if isinstance(value, list | tuple):
        return tuple([freeze(v, name) for v in value])
    if isinstance(value, np.ndarray | np.generic):
        return freeze(value.tolist(), name)
    if hasattr(value, "_static_value"):
        found = value._static_value(name)
        return freeze([found] if name == "axes" and value.shape == (1,) else found, name)  # a list of one axis
    try:
        hash(value)
    except TypeError:
        raise TypeError(f"{name} is a {type(value).__name__}; expected a number, a string or a list of them") from None
    return value


def _with_state(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def with_state(word: Any, *args: Any, **attrs: Any) -> Any:
        return fn(draw_key(word), *args, **attrs), next_state(word)

    return with_state


def draw_key(word: Any) -> Any:
    """Return a JAX key from the generator's state, uint32[2]: seed and counter."""
    return jax.random.fold_in(random_key(word[0]), word[1])


def next_state(word: Any) -> Any:
    """Return the generator's state after one draw."""
    return word + jnp.array([0, 1], jnp.uint32)
