"""The recording side of static mode's interpreter: a builder that lives as long as its program.

What it captures it captures by name, since the values of its state are in scopes. Handles that it rebinds (parameters
under an optimizer, running statistics) hold values of the program only while it is the one under construction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core.arrays import is_array
from ..core.errors import TracedValueError, user_frame
from ..core.interpreter import Observer
from ..eager.random import default_generator
from ..eager.tensor import Parameter, Tensor, wrap
from ..ir.block import Operator, Value
from ..nn import unique_name
from ..registry.bound import BoundOp
from ..tracing.builder import Builder
from ..tracing.fitting import inferred_by_samples
from ..tracing.frame import Capture, Frame, TracedValue, Write
from .current import current
from .scope import global_scope
from .scope_variable import Initial, ScopeVariable
from .unknown import Unknown

_NUMBERED = re.compile(r"(.+)_(\d{1,9})\.tmp_\d+")


class RecordingBuilder(Builder):
    """Appends ops to one static Program, and knows its state."""

    has_placements = False

    def __init__(self, program: Any) -> None:
        super().__init__()
        self.program = program  # a ProgramState
        self.version = 0  # grows with each change
        self.unknown = self.size_answers = Unknown()
        self.counts: Counter[str] = Counter()  # of names of ops
        # Values of the program that this one is a clone of, and those here.
        self.clone_map: dict[Value, TracedValue] = {}
        self.states: dict[Value, ScopeVariable | Tensor] = {}  # the state behind inputs that are not feeds
        self.away: list[tuple[Write, Any]] = []  # what handles hold while this program is under construction
        self.word_home = ScopeVariable("random_state", (2,), "uint32", default_generator.state)
        self.word = wrap(self.word_home)
        self.change_gradients: Callable[[list[Any]], list[Any]] | None = None  # what an optimizer is given of them
        self.tables: set[str] = set()  # parameters whose gradients are row-wise
        self.devices: dict[Operator, str] = {}  # that operators were named for
        self.checkpoints: Any = None  # tensors that are kept; values between them are recomputed

    # -- coming and going ------------------------------------------------------------------------------------------
    def enter(self) -> None:
        """Give handles the values that they have in this program."""
        self.read_handles()
        for write, now in self.away:
            write.put(now)
        self.away = []

    def leave(self) -> None:
        """Give handles back what they held before this program."""
        self.away = [(w, w.get()) for w in self.root.log.values()]
        for write, _ in reversed(self.away):
            write.put(write.before)
        self.tell_handles()

    def adopted(self) -> list[tuple[Tensor, Tensor]]:
        """Return tensors of dynamic mode that the program changes, with what holds their values meanwhile."""
        held = [(w.owner, w.before) for w in self.root.log.values() if isinstance(w.before, ScopeVariable)]
        return [(owner, v.home) for owner, v in held if v.home is not None and owner is not self.word]

    def read_handles(self) -> None:
        """Take over what eager code has put into tensors that the program changes."""
        for handle, home in self.adopted():
            if is_array(handle._payload):
                home._payload = handle._payload

    def tell_handles(self) -> None:
        """Give such tensors the values that they now have, which eager code reads."""
        for handle, home in self.adopted():
            if not isinstance(handle._payload, TracedValue):
                handle._payload = home._payload

    def finals(self) -> dict[str, tuple[ScopeVariable, Any]]:
        """State that a run changes, by name, with its last value."""
        now = {id(w): v for w, v in self.away}
        out = {}
        for write in self.root.log.values():
            if write.key == "_payload" and isinstance(write.before, ScopeVariable):
                value = now[id(write)] if self.away else write.get()
                if isinstance(value, TracedValue):
                    out[write.before.name] = write.before, value
        return out

    def variable_of(self, tensor: Tensor) -> ScopeVariable | None:
        """Return the state that a handle stands for, whatever it holds just now; None if it stands for none."""
        write = self.root.log.get((id(tensor), "_payload", False))
        held = tensor._payload if write is None else write.before
        return held if isinstance(held, ScopeVariable) else None

    def own_names(self) -> list[str]:
        """Return the names of what a run must check afterwards: whether a check failed, whether loops had room."""
        own = [
            h for h in (self.checks and self.checks.code, self.loop_buffer and self.loop_buffer.needed) if h is not None
        ]
        written = [self.root.log.get((id(h), "_payload", False)) for h in own]
        return [w.before.name for w in written if w is not None]

    def captured(self, tensor: Tensor) -> TracedValue | None:
        """Return the input that a tensor's state is."""
        variable = self.variable_of(tensor)
        found = self.captures.get(id(tensor) if variable is None else variable.name)
        return None if found is None else found.value

    def data_of(self, tensor: Any, what: str) -> Any:
        """Return the value of state in the scope in force.

        Raises:
            TracedValueError: for what an operator gives, which has a value only in a run.
        """
        variable = self.variable_of(tensor)
        if variable is not None:
            return variable.concrete(what)
        raise TracedValueError(
            f"{what} at {user_frame()} needs the value of '{tensor.name}', {tensor.dtype.name}{[*tensor.shape]}, which "
            "it has only when the program runs: fetch it, exe.run(feed=..., fetch_list=[x]), or write the `if` or "
            "`while` that asks as paddle.static.nn.cond or while_loop"
        )

    # -- state -----------------------------------------------------------------------------------------------------
    def stored(self, name: str, shape: tuple[int, ...], dtype: Any, draw: Any, own: bool = False) -> ScopeVariable:
        """State in a scope; the startup program draws it."""
        name = unique_name.generate(name) if own else name
        made = ScopeVariable(name, shape, dtype)
        held = current.startup.initials.get(name)
        if held is None or (held.variable.shape, held.variable.dtype) != (made.shape, made.dtype):
            current.startup.initials[name] = Initial(made, draw)
            current.startup.builder.version += 1
        return made

    def created(self, parameter: Parameter) -> Parameter:
        """Return the parameter, or the one of the same name that the program has already.

        Raises:
            ValueError: if that has another shape or dtype.
        """
        held = self.program.parameters.setdefault(parameter.name, parameter)
        if (tuple(held.shape), held.dtype) != (tuple(parameter.shape), parameter.dtype):
            raise ValueError(
                f"parameter '{parameter.name}' is shared by name: it is {held.dtype.name}{[*held.shape]}, and "
                f"{parameter.dtype.name}{[*parameter.shape]} is requested; give one of them another name"
            )
        return held

    def _capture(self, tensor: Tensor, held: Any = None) -> TracedValue:
        data = tensor._payload if held is None else held
        key: Any = data.name if isinstance(data, ScopeVariable) else id(tensor)
        found = self.captures.get(key)
        if found is None:
            value = self.root.new_input(data, not tensor.stop_gradient)
            in_scope = isinstance(data, ScopeVariable)
            value.name = data.name if in_scope else tensor._name or unique_name.generate("constant")
            found = self.captures[key] = Capture(tensor, value)
            self.states[value] = data if in_scope else tensor
            self.version += 1
            if not tensor.stop_gradient:
                self.root.leaves[value] = tensor
        return found.value

    def _inferred_otherwise(self, bound: BoundOp, inputs: tuple[Any, ...]) -> Any:
        symbols = self.unknown.symbols
        if not self.unknown.serves_any_size:
            return super()._inferred_otherwise(bound, inputs)
        return inferred_by_samples(bound, inputs, symbols, symbols, alike=False)

    def rebind(self, tensor: Tensor, data: Any) -> None:
        """Give a tensor another payload: in the program for one of its values, now and in the scope for an array."""
        held = self.variable_of(tensor) or tensor._payload
        if is_array(data):
            if not isinstance(held, ScopeVariable):
                tensor._payload = data
            elif held.home is None:
                self._set(held, data)
            else:
                held.home._payload = data
            return
        if is_array(held):
            held = self._adopt(tensor)
        if isinstance(held, ScopeVariable) and (held.shape, held.dtype) != (data.shape, data.dtype):
            raise ValueError(
                f"'{held.name}' is {held.dtype}{list(held.shape)} and cannot become {data.dtype}{list(data.shape)} in "
                "a program: shape and dtype of state stay; cast or reshape what is assigned to it"
            )
        if isinstance(tensor._payload, ScopeVariable):
            self._capture(tensor)  # a tensor that is only written is an input as well
        self.version += 1
        super().rebind(tensor, data)

    def _set(self, variable: ScopeVariable, data: Any) -> None:
        """Set a value in the scope in force; before there is a first one, it is what the startup program makes."""
        initials, scope = current.startup.initials, global_scope()
        if variable.name not in scope.homes and variable.name in initials:
            initials[variable.name] = Initial(variable, lambda: data)
        scope.set(variable.name, data)

    def _adopt(self, tensor: Tensor) -> ScopeVariable:
        """Make a tensor of dynamic mode state of the program."""
        home = wrap(tensor._payload)
        held = self.captures.pop(id(tensor), None)
        name = tensor._name or (held.value.name if held else None) or unique_name.generate("state")
        tensor._payload = made = ScopeVariable(str(name), home.shape, home._payload.dtype, home)
        if held is not None:
            held.value.name, self.states[held.value] = made.name, made
            self.captures[made.name] = held
        return made

    # -- values ----------------------------------------------------------------------------------------------------
    def value_of(self, tensor: Tensor) -> TracedValue:
        """Return the value of a tensor in the current frame; of one of the cloned program, its clone."""
        self.program.settle()
        data = tensor._payload
        if isinstance(data, TracedValue) and (data in self.clone_map or not self._knows(data.frame)):
            return super().value_of(self.handle(self.clone_of(data)))
        return super().value_of(tensor)

    def _knows(self, frame: Frame | None) -> bool:
        return frame is not None and self.frame.inside(frame)

    def shown(self, value: Value) -> Tensor | None:
        """Return a handle on an input; None for what Python provides."""
        if value in self.states:
            return next(c.handle for c in self.captures.values() if c.value is value)
        return None if any(v is value for _, v in self.providers) else self.handle(value)

    def clone_of(self, value: Value) -> TracedValue:
        """Return this program's counterpart of a value of the program that it was cloned from.

        Raises:
            ValueError: if it is of another program.
        """
        if value in self.clone_map:
            return self.clone_map[value]
        if isinstance(value, TracedValue) and value.frame is self.root:
            return value
        raise ValueError(
            f"'{value.name}' (made at {value.where}) is of another Program than the one under construction: build both "
            "in the same paddle.static.program_guard(), or fetch it from its own program"
        )

    def emit(self, bound: BoundOp, inputs: tuple[Any, ...], requires_grad: bool) -> tuple[TracedValue, ...]:
        """Append an operator, whose outputs get names."""
        self.program.settle()
        values = self.unknown.settled(self, lambda op: super(RecordingBuilder, self).emit(op, inputs, requires_grad),
                                      bound, inputs)  # fmt: skip
        self.appended(bound, values)
        return values

    def appended(self, bound: BoundOp, values: Sequence[Value]) -> None:
        """Note that the program has changed, and name what a new operator gives."""
        self.version += 1
        if self.frame is self.root:
            stem = f"{current.prefix}{bound.op.name}"
            for i, value in enumerate(values):
                value.name = f"{stem}_{self.counts[stem]}.tmp_{i}"
            self.counts[stem] += 1  # not from unique_name: parameters have the names that they have in dynamic mode

    def name_values(self) -> None:
        """Name the values that have no name yet: they are fetched by name. Later operators get other names."""
        for value in [v for op in self.root.block.ops for v in op.outputs]:
            if value.name and (found := _NUMBERED.fullmatch(value.name)):
                stem, number = found.groups()
                self.counts[stem] = max(self.counts[stem], int(number) + 1)
        for op in self.root.block.ops:
            if any(v.name is None for v in op.outputs):
                for i, value in enumerate(op.outputs):
                    value.name = value.name or f"{op.name}_{self.counts[op.name]}.tmp_{i}"
                self.counts[op.name] += 1

    def run_random(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Append a random op, on the program's own stream."""
        out, following = self.run(bound, (self.word, *args))
        self.word._set_payload(following._payload)
        return out

    # Python between runs, such as the step of a schedule, is no part of the program.
    made_schedule, advance, after_run = Observer.made_schedule, Observer.advance, Observer.after_run
    number, set_number = Observer.number, Observer.set_number
    has_advanced, is_set = Observer.has_advanced, Observer.is_set
    attribute, set_attribute = Observer.attribute, Observer.set_attribute

    def entered(self, layer: Any) -> None:
        """Nothing to note: a change of a layer's settings does not change what has been built."""

    def assumes(self, _fact: Any) -> bool:
        """No: scopes may hold anything."""
        return False

    def is_leaf(self, tensor: Tensor) -> bool:
        """True for what no operator has made; what one has made without a gradient is no leaf here."""
        value = tensor._payload
        return not isinstance(value, TracedValue) or tensor.stop_gradient or value in value.frame.leaves

    @contextmanager
    def gradients_changed(self, change: Callable[[list[Any]], list[Any]], checkpoints: Any = None) -> Iterator[None]:
        """While gradients that are appended for an optimizer pass a function of (parameter, gradient) pairs."""
        before = self.change_gradients, self.checkpoints
        self.change_gradients, self.checkpoints = change, checkpoints
        try:
            yield
        finally:
            self.change_gradients, self.checkpoints = before

    @contextmanager
    def starting(self, program: Any) -> Iterator[None]:
        """While first values of new state go to this startup program; to the one in force for None."""
        before, current.startup = current.startup, program or current.startup
        try:
            yield
        finally:
            current.startup = before
