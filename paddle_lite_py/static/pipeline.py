"""A program trained in stages, one in each process: parts of a batch go through them one behind the other.

A stage computes its forward pass again for its backward pass, so that of each part of a batch that is under way it
keeps only what came from the stage before.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..core.interpreter import use
from ..distributed.collective import all_reduce
from ..distributed.exchange import exchanges
from ..distributed.group import Group, ReduceOp, new_group
from ..distributed.messenger import PeerGone
from ..eager.execute import EAGER
from ..eager.tensor import Tensor, wrap
from ..ir.block import Value
from ..nn.clip import ClipGradByGlobalNorm
from .differentiation import append_gradients
from .mode import data, program_guard
from .program import Program
from .scope import Scope
from .stages import ProgramStage, program_of, stages_of

if TYPE_CHECKING:
    from .builder import StaticBuilder
    from .executor import Executor


class Stages(NamedTuple):
    """The processes of a pipeline, of which there may be several side by side, each with its own data."""

    stage: int  # of this process
    stages: int
    before: int  # ranks of the processes of the stages around this one
    after: int
    all: Group
    copies: Group  # the processes of the same stage
    line: Group  # the processes of this pipeline

    @classmethod
    def among(cls, group: Group, count: int) -> Stages:
        """Return those of a group: neighbours are stages that follow each other.

        Raises:
            ValueError: if the processes cannot be divided so.
        """
        n = group.nranks
        if n % count:
            raise ValueError(
                f"DistributedStrategy: pipeline is on, and the program names {count} devices; {n} processes cannot be "
                f"divided into pipelines of {count}: start a multiple of it"
            )
        copies = [new_group([group.ranks[i] for i in range(k, n, count)]) for k in range(count)]
        lines = [new_group(group.ranks[i : i + count]) for i in range(0, n, count)]
        at, ranks = group.rank, group.ranks
        stage = at % count
        return cls(stage, count, ranks[at - 1], ranks[(at + 1) % n], group, copies[stage], lines[at // count])


class StagedTraining:
    """How a process trains its stage of a program.

    Arguments:
        main: the program, forward pass only.
        loss: that it makes in its last stage.
        optimizer: updates the parameters of the stage.
        group: all processes that train.
        parts: in how many parts a batch goes through the stages.
        schedule: "1F1B" or "F-then-B".
        startup: makes the parameters of this stage only.

    Raises:
        ValueError: if the program cannot be divided, or shares a parameter between stages.
    """

    def __init__(
        self, main: Program, loss: Tensor, optimizer: Any, group: Group, parts: int, schedule: str, startup: Program
    ) -> None:
        self.main, self.parts, self.schedule = main, parts, schedule
        found = stages_of(main)
        read = _read_by(main, found)
        self.who = Stages.among(group, len(found))
        self.here: ProgramStage = found[self.who.stage]
        self.last = self.who.stage == self.who.stages - 1
        self.names = read[self.who.stage]
        for name in set().union(*read) - self.names:  # other stages make them
            startup.initials.pop(name, None)
        startup.builder.version += 1
        # A gradient includes the operators that it differentiates, so the forward pass is a separate program.
        self.forward, self.backward, self.update = Program(), Program(), Program()
        results: list[Value] = [main.builder.value_of(loss)] if self.last else self.here.gives
        self.outs = program_of(main, self.here, results, self.forward)
        self._differentiate(program_of(main, self.here, results, self.backward), startup)
        self._append_update(optimizer, startup)

    def _differentiate(self, outs: list[Tensor], startup: Program) -> None:
        """Append the gradients of what the stage trains and takes, for those of what it gives."""
        builder = self.backward.builder
        with program_guard(self.backward, startup):
            flows = [t for t, v in zip(outs, self.here.gives, strict=False) if v.requires_grad]
            self.asked = [f"{t.name}@GRAD" for t in flows]
            starts = [data(n, _sizes(t), t.dtype) for n, t in zip(self.asked, flows, strict=True)]
            self.taken = [builder.handle(builder.clone_map[v]) for v in self.here.takes if v.requires_grad]
            trained = [p for p in self.backward.all_parameters() if not p.stop_gradient and p.name in self.names]
            targets, begun = (outs, None) if self.last else (flows, starts)
            found = append_gradients(builder, targets, [*trained, *self.taken], begun) if targets else []
        pairs = zip(trained, found, strict=False)
        self.trained: list[tuple[Any, Tensor]] = [(p, g) for p, g in pairs if g is not None]
        self.given = found[len(trained) :]  # gradients for the stage before; None where nothing depends on it

    def _append_update(self, optimizer: Any, startup: Program) -> None:
        clip = optimizer._grad_clip
        self.clip = clip if isinstance(clip, ClipGradByGlobalNorm) else None
        if self.clip is not None:  # by the norm over all stages
            optimizer._grad_clip = None
        with program_guard(self.update, startup):
            grads = [data(f"{p.name}@GRAD", list(p.shape), p.dtype) for p, _ in self.trained]
            if grads:
                optimizer.apply_gradients([(p, g) for (p, _), g in zip(self.trained, grads, strict=True)])
        self.main.optimizers.append(optimizer)

    @property
    def builders(self) -> list[StaticBuilder]:
        """Those of the programs that have the state of this stage."""
        return [self.forward.builder, self.update.builder]

    # -- a run -----------------------------------------------------------------------------------------------------
    def run(self, executor: Executor, feed: Any, fetch_list: Sequence[Any], scope: Scope, as_numpy: bool) -> list[Any]:
        """Train on a batch: what is fetched of this stage, of all parts; other stages have the rest."""
        fed = self._parts_of(dict(feed or {}))
        fetches = [t for f in fetch_list if (t := self._fetched(f)) is not None]
        came: dict[int, dict[str, Any]] = {}
        words: dict[int, Any] = {}
        found: list[list[Any]] = []
        totals: list[Any] = [None] * len(self.trained)
        for kind, i in order(self.schedule, self.who.stage, self.who.stages, self.parts):
            if kind == "F":
                came[i] = fed[i] | self._received(self.who.before, [str(v.name) for v in self.here.takes], "values")
                words[i] = self._word(scope)._payload
                outs = executor._run_alone(self.forward, came[i], [*self.outs, *fetches], scope, False)
                if not self.last:
                    self._send(self.who.after, outs[: len(self.outs)])
                found.append(outs[len(self.outs) :])
            else:
                starts = self._received(self.who.after, [] if self.last else self.asked, "gradients")
                grads = self._backward(executor, came.pop(i) | starts, words.pop(i), scope)
                totals = [g if t is None else t + g for t, g in zip(totals, grads, strict=True)]
        self._step(executor, totals, scope)
        joined = [_joined(t, [part[k] for part in found]) for k, t in enumerate(fetches)]
        return [np.asarray(a) if as_numpy else wrap(a) for a in joined]

    def _parts_of(self, feed: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the feeds of each part of a batch, of those that this stage reads."""
        known = {n: np.asarray(a) for n, a in feed.items() if n in self.forward.feeds and n in self.main.feeds}
        for name, array in known.items():
            if not array.ndim or array.shape[0] % self.parts:
                raise ValueError(
                    f"feed '{name}' has the shape {list(array.shape)}, and a batch goes through the pipeline in "
                    f"{self.parts} parts (pipeline_configs accumulate_steps): feed a multiple of {self.parts} rows"
                )
        cut = {n: np.split(a, self.parts) for n, a in known.items()}
        return [{n: pieces[i] for n, pieces in cut.items()} for i in range(self.parts)]

    def _fetched(self, wanted: Any) -> Tensor | None:
        """Return the fetched values, if this stage makes them."""
        builder = self.main.builder
        if isinstance(wanted, str):
            made = {v.name: v for op in builder.root.block.ops for v in op.outputs}
            value = made.get(wanted)
        else:
            value = builder.value_of(wanted)
        if value is None:
            raise ValueError(f"fetch: the program makes no '{wanted}'")
        if not any(value in op.outputs for op in self.here.ops):
            return None
        return self.forward.builder.handle(self.forward.builder.clone_map[value])

    def _word(self, scope: Scope) -> Tensor:
        return self.backward.builder.word_home.find(scope)

    def _backward(self, executor: Executor, feed: dict[str, Any], word: Any, scope: Scope) -> list[Any]:
        """Return the gradients of the parameters for a part of a batch, with the random numbers of its forward pass."""
        wanted = [g for _, g in self.trained] + [g for g in self.given if g is not None]
        home = self._word(scope)
        now, home._payload = home._payload, word
        try:
            outs = [t._payload for t in executor.computed(self.backward, feed, wanted, scope)]
        finally:
            home._payload = now
        made = iter(outs[len(self.trained) :])
        if self.taken:
            shapes = [feed[str(t.name)] for t in self.taken]
            self._send(
                self.who.before,
                [next(made) if g is not None else jnp.zeros_like(x) for g, x in zip(self.given, shapes, strict=True)],
            )
        return outs[: len(self.trained)]

    def _step(self, executor: Executor, totals: list[Any], scope: Scope) -> None:
        """Update by the means over the parts and the copies of this stage."""
        means = [np.asarray(t) / self.parts for t in totals]
        with use(EAGER):
            if self.who.copies.nranks > 1:
                held = [wrap(jnp.asarray(m)) for m in means]
                for t in held:
                    all_reduce(t, ReduceOp.AVG, self.who.copies)
                means = [t.numpy() for t in held]
            means = self._clipped(means)
        feed = {f"{p.name}@GRAD": m for (p, _), m in zip(self.trained, means, strict=True)}
        executor._run_alone(self.update, feed, [], scope, False)

    def _clipped(self, grads: list[np.ndarray]) -> list[np.ndarray]:
        if self.clip is None:
            return grads
        counted = [getattr(p, "need_clip", True) for p, _ in self.trained]
        square = sum(float(np.square(g, dtype=np.float64).sum()) for g, c in zip(grads, counted, strict=True) if c)
        total = wrap(jnp.asarray([square]))
        all_reduce(total, ReduceOp.SUM, self.who.line)
        most = float(self.clip.clip_norm)
        factor = most / max(float(np.sqrt(total.item())), most)
        return [(g * factor).astype(g.dtype) if c else g for g, c in zip(grads, counted, strict=True)]

    # -- neighbours ------------------------------------------------------------------------------------------------
    def _send(self, rank: int, arrays: Sequence[Any]) -> None:
        for a in arrays:
            held = a._payload if isinstance(a, Tensor) else a
            try:
                exchanges().messenger.send(rank, self.who.all.id, np.asarray(held))
            except PeerGone as e:
                raise RuntimeError(f"pipeline: stage {self.who.stage} sends to rank {rank}: {e}") from None

    def _received(self, rank: int, names: Sequence[str], what: str) -> dict[str, Any]:
        try:
            group = self.who.all
            return {n: exchanges().messenger.receive(rank, group.id, group.patience) for n in names}
        except (PeerGone, TimeoutError) as e:
            raise RuntimeError(f"pipeline: stage {self.who.stage} waits for {what} of rank {rank}: {e}") from None


def order(schedule: str, stage: int, stages: int, parts: int) -> Iterator[tuple[str, int]]:
    """Yield the forward and backward passes of a stage, in order.

    Examples:
        >>> [kind + str(i) for kind, i in order("1F1B", 0, 2, 3)]
        ['F0', 'F1', 'B0', 'F2', 'B1', 'B2']
    """
    early = parts if schedule == "F-then-B" else min(parts, stages - 1 - stage)
    yield from (("F", i) for i in range(early))
    for i in range(parts - early):
        yield "F", early + i
        yield "B", i
    yield from (("B", i) for i in range(parts - early, parts))


def _read_by(main: Program, stages: list[ProgramStage]) -> list[set[str]]:
    """Return the names of the state that each stage reads."""
    states = main.builder.states
    read = [
        {getattr(states[v], "name", "") for op in s.ops for v in op.inputs if isinstance(v, Value) and v in states}
        for s in stages
    ]
    for (i, a), (j, b) in itertools.combinations(enumerate(read), 2):
        if shared := sorted((a & b) & set(main.parameters)):
            raise ValueError(
                f"DistributedStrategy: pipeline is on, and the parameter '{shared[0]}' is read by the stages {i} and "
                f"{j}; give each stage its own, or train with fleet's PipelineLayer and SharedLayerDesc"
            )
    return read


def _sizes(tensor: Tensor) -> list[Any]:
    return [n if isinstance(n, int) else -1 for n in tensor.shape]


def _joined(fetched: Tensor, parts: list[Any]) -> Any:
    """The results of all parts: rows behind each other; the mean of numbers that are not by row, as losses are."""
    arrays = [np.asarray(p._payload) for p in parts]
    if fetched.shape and not isinstance(fetched.shape[0], int):
        return np.concatenate(arrays)
    return np.mean(arrays, axis=0, dtype=arrays[0].dtype) if arrays[0].dtype.kind in "fc" else arrays[-1]
