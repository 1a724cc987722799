"""A group of parameters with settings of its own, and the accumulators that belong to them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ..core.arrays import from_host, is_spread, laid_over
from ..core.interpreter import state
from ..core.versioned import VersionedDict
from ..eager.pending import payload_of
from ..eager.tensor import Parameter, Tensor, wrap
from .shared_numbers import SharedNumbers
from .update import Accumulator

LOW = 4  # bytes of the narrowest dtype that is trained as it is


class ParameterGroup:
    """Parameters and their state; `options` are the settings in which it may differ from the optimizer."""

    def __init__(self, params: list[Parameter], options: dict[str, Any], slots: tuple[Accumulator, ...]) -> None:
        self.params, self.options = params, VersionedDict(options)
        self.masters: list[Tensor | None] = [None] * len(params)
        self.use(slots)

    def use(self, slots: tuple[Accumulator, ...]) -> None:
        """Keep these accumulators, none of them made yet."""
        params, self.slots = self.params, slots
        self.arrays: dict[str, list[Tensor | None]] = {s.name: [None] * len(params) for s in slots if not s.scalar}
        self.scalars: dict[str, Tensor] = {}
        self.started = [False] * len(params)
        self.shared = SharedNumbers(len(params))

    def start(self, indices: list[int], masters: bool) -> None:
        """Make the accumulators of parameters that are updated for the first time, also while a program is traced."""
        if not self.scalars:
            self._start_scalars()
        for i in indices:
            if not self.started[i]:
                self._start(i, masters)

    def _start_scalars(self) -> None:
        wide = any(payload_of(p).dtype == np.float64 for p in self.params)
        for slot in self.slots:
            if slot.scalar:
                name, kind = f"{slot.name}_of_{self.params[0].name}", np.dtype(np.float64 if wide else np.float32)
                self.scalars[slot.name] = handle_of((len(self.params),), kind, slot.fill, name)

    def _start(self, i: int, masters: bool) -> None:
        param = self.params[i]
        kind = np.dtype(np.float32) if param._payload.dtype.itemsize < LOW else np.dtype(param._payload.dtype)
        for slot in self.slots:
            if not slot.scalar and self.arrays[slot.name][i] is None:
                lead = () if slot.lead is None else (slot.lead,)
                shape = (*lead, *param._payload.shape)
                self.arrays[slot.name][i] = handle_of(shape, kind, slot.fill, f"{param.name}_{slot.name}", param)
        if masters:
            self.start_master(i)
        self.started[i] = True

    def start_master(self, i: int) -> None:
        """Make the copy in float32 of a narrow parameter."""
        if self.masters[i] is None and self.params[i]._payload.dtype.itemsize < LOW:
            self.masters[i] = _wide(self.params[i])

    def handles(self, indices: list[int]) -> list[Tensor]:
        """Return all that an update of these parameters changes, in the order of Recipe.split."""
        out: list[Any] = [self.params[i] for i in indices]
        out += [self.masters[i] for i in indices if self.masters[i] is not None]
        for slot in self.slots:
            if not slot.scalar:
                column = self.arrays[slot.name]
                out += [column[i] for i in indices]
        return out + list(self.scalars.values())

    def accumulators(self) -> Iterator[tuple[str, str, Tensor]]:
        """Yield the name of each accumulator, that of its parameter, and its values; of shared numbers a copy."""
        for slot in self.slots:
            for i, param in enumerate(self.params):
                if self.started[i]:
                    own = self.scalars[slot.name][i : i + 1] if slot.scalar else self.arrays[slot.name][i]
                    yield slot.name, param.name, own  # type: ignore[misc]

    # -- saving ----------------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Tensor]:
        """Return the accumulators by name."""
        out: dict[str, Tensor] = {}
        for slot in self.slots:
            values = np.asarray(self.scalars[slot.name].numpy()) if slot.scalar and self.scalars else None
            for i, param in enumerate(self.params):
                if self.started[i]:
                    key = f"{param.name}_{slot.name}_0"
                    if values is None:
                        out[key] = self.arrays[slot.name][i]  # type: ignore[assignment]
                    else:
                        out[key] = _SharedNumber(values[i : i + 1], functools.partial(self._load, i, slot))
        return out

    def plan_load(self, found: dict[str, Any]) -> list[Callable[[], None]]:
        """Return the steps that load accumulators; made only after all of them have been checked.

        Raises:
            ValueError: if a shape does not fit.
        """
        steps: list[Callable[[], None]] = []
        for i, param in enumerate(self.params):
            for slot in self.slots:
                key = f"{param.name}_{slot.name}_0"
                if key in found:
                    value = np.asarray(found[key])
                    self._check(key, value, slot, param)
                    steps.append(lambda i=i, slot=slot, value=value: self._load(i, slot, value))  # type: ignore[misc]
        return steps

    def _check(self, key: str, value: np.ndarray, slot: Accumulator, param: Parameter) -> None:
        lead = () if slot.lead is None else (slot.lead,)
        if not slot.scalar and value.shape != (*lead, *param._payload.shape):
            raise ValueError(
                f"optimizer state '{key}' has the shape {list(value.shape)}, its parameter {[*param.shape]}"
            )
        if slot.scalar and value.size < 1:
            raise ValueError(f"optimizer state '{key}' is empty; one number is expected")

    def _load(self, i: int, slot: Accumulator, value: np.ndarray) -> None:
        self.start([i], False)
        if not slot.scalar:
            handle = self.arrays[slot.name][i]
            assert handle is not None
            handle.set_value(value)
            return
        numbers = self.scalars[slot.name].numpy()
        numbers[i] = value.reshape(-1)[0]
        self.scalars[slot.name].set_value(numbers)
        self.shared.compare([scalar.numpy() for scalar in self.scalars.values()])


class _SharedNumber(Tensor):
    """A copy of a number of one parameter: what it is set to becomes the number, as loaders of a state_dict expect.

    Arguments:
        write: sets the number of the parameter.
    """

    def __init__(self, value: np.ndarray, write: Callable[[np.ndarray], None]) -> None:
        super().__init__(value)
        self._write = write

    def _set_payload(self, data: Any) -> None:
        super()._set_payload(data)
        self._write(np.asarray(data))

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return Tensor(self.numpy())  # on its own, as are those that are pickled

    def __copy__(self) -> Tensor:
        return Tensor(self.numpy())

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor(self.numpy()).__reduce__()


def handle_of(shape: tuple[int, ...], kind: Any, fill: Any, name: str, like: Parameter | None = None) -> Tensor:
    """Return a new accumulator, also while a program is traced; laid as a parameter that it belongs to."""
    data: Any = None if like is None else like._payload
    # Only where the parameter is bound to its device: a bound input binds all results, and so compiles a program twice.
    place = data.sharding if getattr(data, "committed", False) else None
    if place is not None and is_spread(data) and len(shape) > data.ndim:
        place = NamedSharding(place.mesh, PartitionSpec(*[None] * (len(shape) - data.ndim), *place.spec))

    def draw() -> Any:
        if isinstance(data, jax.ShapeDtypeStruct):
            return jax.ShapeDtypeStruct(shape, kind, sharding=data.sharding if len(shape) == data.ndim else None)
        values = np.full(shape, fill, kind)
        if place is None:
            return from_host(values)
        return laid_over(values, place) if is_spread(data) else jax.device_put(values, place)

    return _named_tensor(name, state.interpreter.stored(name, shape, kind, draw, True))


def _wide(param: Parameter) -> Tensor:
    """Return the float32 copy that is trained in the place of a narrow parameter."""
    name, held, kind = f"{param.name}_fp32_master", wrap(param._payload), np.dtype(np.float32)

    def draw() -> Any:
        if isinstance(held._payload, jax.ShapeDtypeStruct):
            return jax.ShapeDtypeStruct(held._payload.shape, kind, sharding=held._payload.sharding)
        return held._payload.astype(kind) if is_spread(held._payload) else held._array("multi_precision").astype(kind)

    return _named_tensor(name, state.interpreter.stored(name, tuple(param.shape), kind, draw, True))


def _named_tensor(name: str, payload: Any) -> Tensor:
    out = wrap(payload)
    out.name, out.persistable = getattr(payload, "name", f"{name}_0"), True
    return out
