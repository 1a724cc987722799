"""The data of a static Program: what is built, and the state that it reads and changes."""

from __future__ import annotations

import importlib
from typing import Any, NoReturn, TypeVar

from ..core.memo import Memo
from ..eager.random import Generator, default_generator
from ..eager.tensor import Parameter, Tensor
from ..ir.block import Value
from .lookups import Lookup
from .recording import RecordingBuilder
from .scope_variable import Initial, ScopeVariable

MAX_COMPILED = 64
P = TypeVar("P", bound="ProgramState")


class ProgramState:
    """The data of a Program, as the modules read and change it that save, clone, differentiate and run programs."""

    def __init__(self, builder: RecordingBuilder) -> None:
        self.recorder = builder  # what has been recorded, without edits of the description that nobody has used yet
        self.description: Any = None  # of it in the reference's earlier terms, with edits: see model_files.describing
        self.feeds: dict[str, Value] = {}
        self.parameters: dict[str, Parameter] = {}
        self.initials: dict[str, Initial] = {}  # the values that it creates, if it is a startup program
        self.optimizers: list[Any] = []  # that update its parameters
        self.fetches: list[Tensor] = []  # the results that it was loaded with
        self.counters: dict[str, Tensor] = {}  # of its runs, by name
        self.lookups: list[Lookup] = []  # in tables that servers keep
        self.served: Any = None  # how it is trained with servers (served.Served)
        self.pipeline: Any = None  # how it is trained in stages (pipeline.StagedTraining)
        self._fleet_opt: dict[str, Any] | None = None  # what fleet tells programs about the job
        # Kept here by executors, for different fetches.
        # Key: scope, fetches and whether updates run; version of the program; kinds of feeds are looked at in each
        # run.
        self.compiled: Memo[Any, Any] = Memo("compiled programs", MAX_COMPILED)
        self._seed = 0

    @property
    def builder(self) -> Any:
        """What the program has recorded, with all edits of its description."""
        self.settle()
        return self.recorder

    def settle(self) -> None:
        """Record all edits of the description."""
        if self.description is not None and self.description.edited:
            self.described("views").settle(self)

    _sync_with_cpp = settle

    @property
    def desc(self) -> NoReturn:
        """Not available.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(
            "a Program has no desc, of which core.Graph and IrGraph are made: with FLAGS_enable_pir_api=0 edit "
            "program.global_block(), and quantize layers with paddle.quantization",
            name="desc", obj=self,
        )  # fmt: skip

    @staticmethod
    def described(name: str) -> Any:
        """Return a module of model_files.describing, which lies above this one."""
        return importlib.import_module(f"{__package__.rpartition('.')[0]}.model_files.describing.{name}")

    def states(self, mode: str = "all") -> dict[str, ScopeVariable]:
        """Return the state by name: parameters ("param"), other state ("opt"), or both ("all")."""
        if not isinstance(mode, str):
            raise TypeError(f"Program.state_dict: mode is {mode!r}; expected a name: 'all', 'param' or 'opt'")
        if mode not in ("all", "param", "opt"):
            raise ValueError(f"Program.state_dict: mode is {mode!r}; expected 'all', 'param' or 'opt'")
        builders = [self.builder] if self.pipeline is None else self.pipeline.builders  # those of its own stage
        found = {s.name: s for b in builders for s in b.states.values() if isinstance(s, ScopeVariable)}
        found.pop(self.builder.word_home.name, None)
        for name in self.builder.own_names():
            found.pop(name, None)
        kept = {"all": lambda n: True, "param": self.parameters.__contains__,
                "opt": lambda n: n not in self.parameters}[mode]  # fmt: skip
        return {n: s for n, s in found.items() if kept(n)}

    def all_parameters(self) -> list[Parameter]:
        """Return the parameters that were created in the program."""
        return list(self.parameters.values())

    @property
    def random_seed(self) -> int:
        """Seed of its random numbers; 0: they are of the stream of paddle.seed()."""
        return self._seed

    @random_seed.setter
    def random_seed(self, seed: int) -> None:
        if not isinstance(seed, int):
            raise ValueError(f"Program.random_seed is {seed!r}; expected an integer")
        self._seed = seed
        word: Any = self.builder.word_home
        word.home = Generator(seed=seed).state if seed else default_generator.state
        self.compiled.clear()

    def global_seed(self, seed: int = 0) -> None:
        """Set random_seed."""
        self.random_seed = seed
