"""Running an exchange: XLA's program over the devices of a group, begun only when all members begin the same."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core.memo import once
from ..core.processes import World, all_have_joined, world
from ..host.tier import xla_jit
from . import axis, kernels
from .messenger import Messenger, PeerGone, Question

# Seconds that members may be apart before an exchange fails; groups may have their own.
PATIENCE = float(os.environ.get("PADDLE_EXCHANGE_TIMEOUT", 1800))
# Ask the others before every exchange, not only the first of its kind: to find where processes part.
ASKS_ALWAYS = os.environ.get("PADDLE_CHECK_EXCHANGES", "0") == "1"
# Seconds after which an exchange that is not over is looked into.
SLOW = 5.0
# Seconds that the first process, which has JAX's coordinator, waits at its end for the others to end.
FAREWELL = 10.0
# Seconds after which a member that has ended in peace, and may have done its part before, counts as missing.
PEACE = 20.0
# Seconds after which a process that waits for others reports it, once.
LATE = 25.0


class UnderWay(NamedTuple):
    """The exchange that this process waits for, by its number, or (None) a program that others began with it."""

    group: Any
    number: int | None
    what: str
    since: float

    @property
    def seconds(self) -> float:
        """For how long it has waited."""
        return time.monotonic() - self.since


class Exchanges:
    """The exchanges of this process with others."""

    def __init__(self, here: World) -> None:
        self.here = here
        self.devices = [next(d for d in jax.devices() if d.process_index == r) for r in range(here.size)]
        self.messenger = Messenger(here.rank, here.host)
        self.under_way: UnderWay | None = None
        self.traffic = 0  # bytes that this process has given to exchanges
        self._introduce()
        all_have_joined()
        threading.Thread(target=self._watch, daemon=True, name="exchange watch").start()
        if here.rank:
            threading.Thread(target=self._watch_first, daemon=True, name="exchange watch of rank 0").start()
        atexit.register(self.leave)

    def _introduce(self) -> None:
        """Tell all where this process listens, and hear where they do."""
        mesh = self.mesh(tuple(range(self.here.size)))
        word = np.zeros(72, np.uint8)
        text = f"{self.here.host}:{self.messenger.port}".encode()
        word[: len(text)] = np.frombuffer(text, np.uint8)
        found = ExchangeProgram(mesh, kernels.all_gather, [word])(word)
        for rank, row in enumerate(np.asarray(found)):
            host, _, port = bytes(row).rstrip(b"\0").decode().rpartition(":")
            self.messenger.peers[rank] = (host, int(port))

    def mesh(self, ranks: tuple[int, ...]) -> jax.sharding.Mesh:
        """Return the devices of some processes, each at its place along one axis."""
        return jax.sharding.Mesh(np.array([self.devices[r] for r in ranks]), (axis.AXIS,))

    # -- one exchange ----------------------------------------------------------------------------------------------
    def run(
        self, group: Any, kind: str, fn: Callable[..., Any], how: tuple[Any, ...], *arrays: Any,
        donated: tuple[int, ...] = (),
    ) -> Any:  # fmt: skip
        """Exchange arrays with the other members of a group.

        Arguments:
            group: who takes part.
            kind: what messages call the exchange.
            fn: of the arrays and `how`, along axis.AXIS.
            how: what all processes must agree on besides shapes and dtypes: hashable.
            arrays: those of this process.
            donated: which of them the results may be written over.

        Raises:
            RuntimeError: if members do different things, or one has ended.
        """
        key = (kind, fn, how, donated, *[(a.shape, a.dtype) for a in arrays])
        program = group.programs.get(key)
        what = program.what if program is not None else _describe(kind, how, arrays)
        with self.watched(group, what, program is None):
            if program is None:
                mesh, own = self.mesh(tuple(group.ranks)), lambda *parts: fn(*parts, *how)
                program = group.programs.put(key, ExchangeProgram(mesh, own, arrays, what, donated))
            self.traffic += program.bytes
            return program(*arrays)

    @contextmanager
    def watched(self, group: Any, what: str, is_new: bool) -> Iterator[None]:
        """A block in which all members of a group do the same; it fails where one does something else, or has ended.

        Arguments:
            group: who takes part.
            what: what they do, as messages call it.
            is_new: it is the first time, so that the members compare before they begin.
        """
        now = UnderWay(group, self.messenger.journal(group.id).begin(what), what, time.monotonic())
        if is_new or ASKS_ALWAYS:
            self._agree(now)
        with self._waiting(now._replace(since=time.monotonic())):
            yield

    def waiting(self, group: Any, what: str) -> AbstractContextManager[None]:
        """Return a block that waits for a program which members of a group run together, and began before it."""
        return self._waiting(UnderWay(group, None, what, time.monotonic()))

    @contextmanager
    def _waiting(self, now: UnderWay) -> Iterator[None]:
        self.under_way = now
        try:
            yield
        except Exception as e:
            reason = self._looked_into(now, patience=2.0) or f"{self._where(now)}: {str(e).splitlines()[0]}"
            raise RuntimeError(reason) from None
        finally:
            self.under_way = None

    def note(self, group: Any, what: str, is_new: bool) -> None:
        """Compare something that all members of a group do, each for itself, with those that have done it already.

        Raises:
            RuntimeError: if one does something else.
        """
        now = UnderWay(group, self.messenger.journal(group.id).begin(what), what, time.monotonic())
        if (is_new or ASKS_ALWAYS) and (wrong := self._looked_into(now)):
            raise RuntimeError(wrong)

    def lost(self, group: Any, what: str) -> str:
        """Which member has ended, in words, where a program of all has failed; empty if none has."""
        return self._looked_into(UnderWay(group, None, what, 0.0), patience=2.0)

    def _others(self, group: Any) -> list[int]:
        return [r for r in group.ranks if r != self.here.rank]

    def _agree(self, now: UnderWay) -> None:
        """Wait until all members have begun their exchange of that number, and see that it is the same."""
        try:
            asked = [self._ask(now, rank, now=False) for rank in self._others(now.group)]
            for question in asked:
                if not question.answered(min(LATE, now.group.patience)):
                    self._tell_late(now, [q.rank for q in asked if not q.answered(0)])
                if not question.answered(max(now.group.patience - now.seconds, 0)):
                    raise RuntimeError(
                        f"{self._where(now)}: rank {question.rank} has not come to it within {now.group.patience:g} s; "
                        "give new_group(timeout=...) or PADDLE_EXCHANGE_TIMEOUT more seconds if it does more before"
                    )
                self._compare(now, question.rank, question.answer())
        except PeerGone as e:
            raise RuntimeError(f"{self._where(now)}: {e}; see its log for the reason") from None

    def _tell_late(self, now: UnderWay, ranks: list[int]) -> None:
        print(f"{self._where(now)}: waits for the ranks {ranks} since {now.seconds:.0f} s", file=sys.stderr, flush=True)

    def _ask(self, question: UnderWay, rank: int, now: bool) -> Question:
        assert question.number is not None
        return self.messenger.ask(rank, question.group.id, question.number, now)

    def _compare(self, now: UnderWay, rank: int, theirs: str | None) -> None:
        if theirs not in (None, now.what):
            raise RuntimeError(
                f"{self._where(now)}: rank {rank} does {theirs} at this point; all members must make the same "
                "exchanges in the same order, of the same shapes and dtypes"
            )

    def _where(self, now: UnderWay) -> str:
        place = "" if now.number is None else f"exchange {now.number} there, "
        return f"{now.what} in group {now.group.id} of ranks {now.group.ranks} ({place}rank {self.here.rank})"

    def _looked_into(self, now: UnderWay, patience: float = 0.0) -> str:
        """Describe what is wrong with the members of an exchange; empty if nothing is."""
        end = time.monotonic() + patience
        while True:
            for rank in self._others(now.group):
                try:
                    self._look_at(rank, now)
                except PeerGone as e:
                    return f"{self._where(now)}: {e}; see its log for the reason"
                except RuntimeError as e:
                    return str(e)
            if time.monotonic() >= end:
                return ""
            time.sleep(0.1)

    def _look_at(self, rank: int, now: UnderWay) -> None:
        if now.number is not None:
            question = self._ask(now, rank, now=True)
            return self._compare(now, rank, question.answer() if question.answered(SLOW) else None)
        try:
            self.messenger.reach(rank)
        except PeerGone:
            if now.seconds > PEACE or self.messenger.left.get(rank) != "":
                raise

    # -- what takes long, and the end ------------------------------------------------------------------------------
    def _watch(self) -> None:
        """End this process where an exchange cannot end: XLA gives no way to leave it."""
        told = None
        while True:
            time.sleep(1.0)
            now = self.under_way
            if now is None or now.seconds < SLOW:
                continue
            wrong = self._looked_into(now)
            if now.seconds > LATE and told is not now:
                self._tell_late(now, self._others(now.group))
                told = now
            if not wrong and now.seconds > now.group.patience:
                wrong = f"{self._where(now)}: not over after {now.group.patience:g} s"
            if wrong and self.under_way is now:
                print(f"RuntimeError: {wrong}", file=sys.stderr, flush=True)
                self.messenger.bye(wrong[:500])
                os.kill(os.getpid(), signal.SIGKILL)

    def _watch_first(self) -> None:
        """Name the first process where it is killed: JAX's runtime of all ends with it, and aborts the others."""
        with suppress(EOFError, OSError):
            self.messenger.connect(0).recv_bytes()
        if 0 not in self.messenger.left:
            reason = self.messenger.gone(0)
            print(f"rank {self.here.rank}: {reason}; see its log for the reason", file=sys.stderr, flush=True)

    @property
    def failed(self) -> str:
        """The error that ends this process; empty if none does. Python keeps it whatever `sys.excepthook` is."""
        error = getattr(sys, "last_value", None)
        return "" if error is None else f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"

    def leave(self, why: str = "") -> None:
        """Say goodbye; the first process, which the runtime of the others hangs on, waits until they have gone."""
        self.messenger.bye(why := why or self.failed)
        if self.here.rank:
            return
        end = time.monotonic() + (FAREWELL if why else PATIENCE)
        waiting = set(range(1, self.here.size))
        while waiting and time.monotonic() < end:
            for rank in list(waiting):
                try:
                    self.messenger.connect(rank).close()
                except PeerGone:
                    waiting.discard(rank)
            time.sleep(0.05)


def _describe(kind: str, how: tuple[Any, ...], arrays: tuple[Any, ...]) -> str:
    """Return an exchange as messages have it: all_reduce(float32[2, 3], 0)."""
    shown = [f"{a.dtype.name}{[*a.shape]}" for a in arrays]
    if len(shown) > 4:
        shown = [*shown[:3], f"... {len(shown)} arrays, {sum(a.nbytes for a in arrays)} bytes"]
    return f"{kind}({', '.join([*shown, *map(str, how)])})"


class ExchangeProgram:
    """An exchange, compiled: from the arrays of this process to its own results.

    Arguments:
        mesh: a device of each member.
        fn: of arrays like the examples.
        examples: arrays, or their specs.
        what: what messages call it.
        donated: which arrays the results may be written over.
    """

    def __init__(
        self, mesh: Any, fn: Callable[..., Any], examples: Sequence[Any], what: str = "", donated: tuple[int, ...] = ()
    ) -> None:
        self.what, self.size, self.fn = what, mesh.devices.size, fn
        self.bytes = sum(a.size * a.dtype.itemsize for a in examples)
        self.sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(axis.AXIS))
        self.numbers = [i for i, a in enumerate(examples) if not a.shape]  # they travel as one element
        self.made_numbers: list[int] = []
        self.jitted = xla_jit(kernels.over(mesh, self._of_parts), donate_argnums=donated)

    def _of_parts(self, *parts: Any) -> Any:
        outs = self.fn(*[p.reshape(()) if i in self.numbers else p for i, p in enumerate(parts)])
        several = outs if isinstance(outs, tuple | list) else (outs,)
        self.made_numbers = [i for i, o in enumerate(several) if not o.shape]
        shaped = tuple([o.reshape(1) if not o.shape else o for o in several])
        return shaped if isinstance(outs, tuple | list) else shaped[0]

    def __call__(self, *arrays: Any) -> Any:
        """Return the results of this process."""
        if self.numbers:
            arrays = tuple([a if a.shape else a.reshape(1) for a in arrays])
        outs = self.jitted(*[self._part_of_all(a) for a in arrays])
        if outs.__class__ is not tuple:
            mine = outs.addressable_data(0)
            return mine.reshape(()) if self.made_numbers else mine
        own = [o.addressable_data(0) for o in outs]
        return tuple([o.reshape(()) if i in self.made_numbers else o for i, o in enumerate(own)])

    def _part_of_all(self, array: Any) -> Any:
        if not isinstance(array, jax.Array):
            array = jax.numpy.asarray(array)
        shape = (array.shape[0] * self.size, *array.shape[1:])
        return jax.make_array_from_single_device_arrays(shape, self.sharding, [array])


def leave(why: str = "") -> None:
    """Say goodbye to the other processes, if there are some; `why`, where this one has failed."""
    if exchanges.cache_info().currsize:  # type: ignore[attr-defined]
        exchanges().leave(why)


@once
def exchanges() -> Exchanges:
    """The exchanges of this process, created on first use."""
    return Exchanges(world())
