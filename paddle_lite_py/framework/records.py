"""Pickles with objects of classes, which are read as records: no class is imported, and no code of theirs is run."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any, ClassVar

from .unpickle import KNOWN, Bounded, Finished, RefusedError, Unpickler


class SavedObject:
    """Record of an object in a saved file: its attributes, or the arguments of its class, without the class itself.

    Examples:
        >>> SavedObject.named("settings", "Arguments")()
        <saved settings.Arguments: >
    """

    _type = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__dict__.update(kwargs, **({"args": args} if args else {}))

    def __new__(cls, *args: Any, **kwargs: Any) -> SavedObject:
        """Return one of the class; `copyreg` makes those without arguments."""
        made = super().__new__(cls)
        made.__init__(*args, **kwargs)  # type: ignore[misc]  # pickle does not call it
        return made

    def __setstate__(self, state: Any) -> None:
        parts = state if isinstance(state, tuple) else (state,)  # slots have a dict of their own
        for part in filter(None, parts):
            if not isinstance(part, dict) or not all(isinstance(k, str) for k in part):
                raise RefusedError(f"an object of the type '{self._type}' in a form that is no attributes")
            self.__dict__.update(part)

    # The elements of a container of a user-defined class.
    def append(self, value: Any) -> None:
        """One more element."""
        self.extend([value])

    def extend(self, values: Iterable[Any]) -> None:
        """More elements."""
        self.__dict__.setdefault("items", []).extend(values)

    def update(self, pairs: Iterable[Any]) -> None:
        """More items."""
        self.__dict__.setdefault("items", {}).update(pairs)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.update([(key, value)])

    def __repr__(self) -> str:
        return f"<saved {self._type}: {', '.join(f'{k}={v!r}' for k, v in vars(self).items())}>"

    @staticmethod
    def named(module: str, name: str) -> type[SavedObject]:
        """Return the record class that stands for a class."""
        return type(name.rpartition(".")[2], (SavedObject,), {"_type": f"{module}.{name}"})


class _RecordUnpickler(Unpickler):
    dispatch: ClassVar[dict[int, Any]] = dict(Unpickler.dispatch)

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in KNOWN:
            return super().find_class(module, name)
        if (module, name) == ("copyreg", "_reconstructor"):  # protocols 0 and 1
            return lambda cls, base, state: cls()
        return SavedObject.named(module, name)

    def of_type(self, kind: type) -> Any:
        return self.stack[-1] if isinstance(self.stack[-1], SavedObject) else super().of_type(kind)

    def step_newobj(self) -> None:
        if not _is_record(self.stack[-2]):
            return super().step_newobj()
        args = self.stack.pop()
        self.append(self.called(self.stack.pop(), args))

    def step_build(self) -> None:
        if not isinstance(self.stack[-2], SavedObject):
            return super().step_build()
        state = self.stack.pop()
        self.stack[-1].__setstate__(state)


_RecordUnpickler.dispatch[pickle.NEWOBJ[0]] = _RecordUnpickler.step_newobj
_RecordUnpickler.dispatch[pickle.BUILD[0]] = _RecordUnpickler.step_build


class _FinishedRecords(Finished):
    """The objects read so far; a record may contain itself."""

    def __call__(self, value: Any) -> Any:
        if _is_record(value):
            return value
        if not isinstance(value, SavedObject):
            return super().__call__(value)
        if id(value) not in self.made:
            self.made[id(value)] = value
            value.__dict__.update(self(dict(vars(value))))
        return value


def _is_record(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, SavedObject)


def read_records(file: Any) -> Any:
    """As read(), and objects of classes as SavedObject."""
    return _FinishedRecords()(_RecordUnpickler(Bounded(file), "ASCII", {}).load())
