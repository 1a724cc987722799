"""Program: built once under program_guard(), then run many times by an Executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from ..core import dtypes
from ..core.arrays import as_array
from ..core.errors import user_frame
from ..core.flags import is_earlier_generation
from ..core.no_effect import Immaterial, no_effect
from ..eager.tensor import Tensor, wrap
from ..ir.block import Operator, Value
from ..ir.program import Program as IRProgram
from ..tracing.clone_map import CloneMap
from ..tracing.frame import Capture, Write
from ..tracing.part_texts import parts_text
from ..tracing.parts import PartedBlock
from . import evaluation, serial
from .block import BlockView
from .builder import StaticBuilder
from .deserialize import deserialize
from .program_state import ProgramState
from .restore import rewrite
from .scope import Scope, global_scope
from .scope_variable import ScopeVariable
from .snapshot import snapshot

__all__ = ["Program"]


def _alike(held: Any, shape: list[Any]) -> bool:
    """Whether a feed has the sizes that are declared, as far as both are known."""
    return len(held) == len(shape) and all(
        not isinstance(n, int) if wanted in (None, -1) else n == wanted for n, wanted in zip(held, shape, strict=True)
    )


class Program(ProgramState):
    """Static program: a list of operators on feeds and on variables that live in scopes.

    A new program is empty; ops are appended to the program under construction, see program_guard().

    Examples:
        >>> main = Program()
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.static.data("x", [None, 2]).sum()
        >>> paddle.disable_static()
        >>> [op.type for op in main.global_block().ops], list(main.feeds)
        (['sum'], ['x'])
    """

    def __init__(self) -> None:
        super().__init__(StaticBuilder(self))

    def feed(self, name: str, shape: list[Any], dtype: dtypes.DType) -> Tensor:
        """Return the input with a name, and create it if it does not exist in this shape and dtype.

        A new declaration replaces an earlier one of the same name, whose results can no longer be computed.
        """
        held = self.feeds.get(name)
        if held is not None and held.dtype == dtype.np and _alike(held.shape, shape):
            return wrap(held)
        spec = jax.ShapeDtypeStruct(self.builder.unknown.shape(name, shape), dtype.np)
        value = self.builder.root.new_input(spec)
        value.name, value.where = name, user_frame()
        self.builder.version += 1
        self.feeds[name] = value
        return wrap(value)

    # -- looking inside --------------------------------------------------------------------------------------------
    def global_block(self) -> Any:
        """Return the outermost block, with its operators and variables.

        With FLAGS_enable_pir_api=0 it is a block of PaddlePaddle's earlier generation: operators have slots and the
        reference's attributes, and can be edited, inserted and removed.
        """
        return self.described("views").DescribedBlock(self) if is_earlier_generation() else BlockView(self)

    block = current_block = lambda self, index=0: self.global_block()

    @property
    def blocks(self) -> list[Any]:
        """A list of the outermost block; the blocks of branches and loops are parts of their operators."""
        return [self.global_block()]

    num_blocks = property(lambda self: 1)

    def num_ops(self) -> int:
        """Return the number of operators of the outermost block."""
        return len(self.builder.root.block.ops) + len(self.initials)

    def list_vars(self) -> Iterator[Tensor]:
        """Return the feeds, the state and the outputs of operators."""
        return iter(self.global_block().vars.values())

    @no_effect(
        throw_on_error=Immaterial("nothing that is shown can be missing"),
        with_details=Immaterial("each operator is shown with all that it has"),
    )
    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """Return the program as text: its operators, and the state that it changes."""
        first = [
            f"{i.variable!r}: {i.variable.dtype}{list(i.variable.shape)} gets its first value\n"
            for i in self.initials.values()
        ]
        if first and not self.builder.root.block.ops:
            return "".join(first)
        whole = self.snapshot()
        parted = [p for c in self.compiled.values() if (p := getattr(c.executable, "parts", None)) is not None]
        parted = parted or [PartedBlock(whole.block, whole.measured)]
        return "\n".join(["".join(first) + repr(whole), *map(parts_text, parted)]).rstrip("\n")

    __str__ = __repr__ = to_string

    def snapshot(self) -> IRProgram:
        """It as the program that passes take: feeds and state are inputs; what operators give last and the next values
        of state are outputs."""
        ops = self.builder.root.block.ops
        used = {v for op in ops for v in op.inputs if isinstance(v, Value)}
        used.update(v for _, v in self.builder.finals().values())
        return snapshot(self, [v for op in ops for v in _seen(op) if v not in used], entire=True)[0]

    # -- copies ----------------------------------------------------------------------------------------------------
    def clone(self, for_test: bool = False) -> Program:
        """Return a copy of the program; parameters are shared through the scope.

        Arguments:
            for_test: evaluation mode: no gradients, updates and dropout, and running statistics in normalization.
                Default: False.

        Returns:
            A Program.

        Examples:
            >>> main = Program()
            >>> paddle.enable_static()
            >>> with paddle.static.program_guard(main):
            ...     y = paddle.nn.functional.dropout(paddle.static.data("x", [2, 2]))
            >>> paddle.disable_static()
            >>> [op.type for op in main.clone(for_test=True).global_block().ops]
            ['identity']
        """
        out, _ = Program(), self.builder
        out.parameters = dict(self.parameters)
        out.initials, out._seed, out.optimizers = dict(self.initials), self._seed, list(self.optimizers)
        self._copy_into(out.builder)
        out.feeds = {n: out.builder.clone_map[v] for n, v in self.feeds.items()}
        out.lookups = [k._replace(trained=k.trained and not for_test) for k in self.lookups]
        out.served = None if for_test else self.served
        if for_test:
            evaluation.evaluate(out)
        elif self.description is not None and self.description.version == self.builder.version:
            self.described("views").copied(self, out)
        return out

    def transformed(self, change: Callable[[IRProgram], IRProgram]) -> Program:
        """A program that computes what `change` makes of this one, with weights as they are in the scope in force.

        What is fetched keeps its name, as far as no later operator reads it; see paddle.passes.apply().
        """
        return rewrite(Program(), self, self.snapshot(), change)

    # -- bytes -----------------------------------------------------------------------------------------------------
    def serialize_to_string(self) -> bytes:
        """Serialize operators, gradients, updates and learning rates as JSON; static.save() also writes the state.

        Returns:
            The bytes.

        Raises:
            TypeError: if the program contains Python callbacks or schedules made of functions.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = Program(), Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     loss = paddle.nn.Linear(2, 1)(paddle.static.data("x", [None, 2])).mean()
            ...     _ = paddle.optimizer.Adam(0.1).minimize(loss)
            >>> again = Program.parse_from_string(main.serialize_to_string())
            >>> paddle.disable_static()
            >>> [op.type for op in again.global_block().ops][-1], again.optimizers[0].get_lr()
            ('adam', 0.1)
        """
        return serial.dumps(self)

    @staticmethod
    def parse_from_string(binary_str: bytes) -> Program:
        """Create a program from the bytes of serialize_to_string() or static.serialize_program().

        Returns:
            A Program.

        Raises:
            ArtifactError: if the bytes are damaged, from another source or of a newer version.
        """
        return deserialize(Program(), binary_str)

    @property
    def lr_scheduler(self) -> Any:
        """The learning rate schedule of the optimizers; None if the rate is a number."""
        rates = [getattr(o, "_learning_rate", None) for o in self.optimizers]
        return next((r for r in rates if hasattr(r, "last_lr")), None)

    def _copy_into(self, to: StaticBuilder) -> None:
        mine = self.builder
        clones = CloneMap(to.root)
        block = to.root.block
        block.inputs = [clones(v) for v in mine.root.block.inputs]
        block.ops = [clones.operator(op) for op in mine.root.block.ops]
        to.states = {clones(v): s for v, s in mine.states.items()}
        to.captures = {k: Capture(c.handle, clones(c.value)) for k, c in mine.captures.items()}
        to.providers = [(get, clones(v)) for get, v in mine.providers]
        to.root.leaves = {clones(v): t for v, t in mine.root.leaves.items() if v in clones.made}
        to.checks, to.loop_buffer, to.unknown = mine.checks, mine.loop_buffer, mine.unknown
        to.counts = mine.counts.copy()
        # Those of blocks, which are not copied, stay.
        to.measured = {n: m._replace(value=clones.made.get(m.value, m.value)) for n, m in mine.measured.items()}
        to.clone_map = {old: clones.made.get(v, v) for old, v in mine.clone_map.items()} | clones.made
        to.word_home.home = mine.word_home.home
        to.states = {v: to.word_home if s is mine.word_home else s for v, s in to.states.items()}
        now = {id(w): v for w, v in mine.away}
        for write in mine.root.log.values():
            if isinstance(write.before, ScopeVariable):
                mine_word = write.owner is mine.word
                copy = Write(to.word, "_payload", to.word_home) if mine_word else write._replace()
                to.root.log[id(copy.owner), "_payload", False] = copy
                to.away.append((copy, clones(now[id(write)] if mine.away else write.get())))

    # -- values of its state ---------------------------------------------------------------------------------------
    def state_dict(self, mode: str = "all", scope: Scope | None = None) -> dict[str, Tensor]:
        """Return the values of the state in a scope, by name.

        Arguments:
            mode: "param": parameters; "opt": other state, such as that of optimizers; "all": both. Default: 'all'.
            scope: the scope; None: the current one.

        Returns:
            A dict from names to tensors.
        """
        where = scope or global_scope()
        return {n: wrap(s.find(where)._payload) for n, s in self.states(mode).items()}

    def set_state_dict(self, state_dict: dict[str, Any], scope: Scope | None = None) -> None:
        """Set values of the state in a scope.

        Arguments:
            state_dict: tensors or arrays by name.
            scope: the scope; None: the current one.

        Raises:
            TypeError: if state_dict is not a dict.
            ValueError: if a shape differs, or no name is known; nothing is changed then.
        """
        if not isinstance(state_dict, dict):
            raise TypeError(f"Program.set_state_dict: state_dict is a {type(state_dict).__name__}; expected a dict")
        where, known = scope or global_scope(), self.states()
        arrays: dict[str, Callable[[], None]] = {}
        for name, value in state_dict.items():
            if name in known:
                arrays[name] = _setter(known[name], np.asarray(value), where)
        if state_dict and not arrays:
            raise ValueError(
                f"Program.set_state_dict: none of the {len(state_dict)} names (such as '{next(iter(state_dict))}') is "
                f"state of this program (which has {', '.join(map(repr, list(known)[:3])) or 'none'})"
            )
        for put in arrays.values():
            put()


def _seen(op: Operator) -> tuple[Value, ...]:
    """Return the outputs that users have: of a normalization not the statistics, which only move the running ones."""
    return op.outputs[:1] if op.name == "batch_norm" else op.outputs


def _setter(variable: ScopeVariable, value: np.ndarray, scope: Scope) -> Callable[[], None]:
    if value.shape != variable.shape:
        raise ValueError(f"'{variable.name}': shape {list(variable.shape)} expected, got {list(value.shape)}")
    array = as_array(value, variable.dtype)
    if variable.home is not None:
        return lambda: variable.home._set_payload(array)  # type: ignore[union-attr]
    return lambda: scope.set(variable.name, array)
