"""The search for an architecture: draw choices, score them, let the policy learn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .policy import RandomPolicy, ReinforcePolicy

MAX_KNOWN_BATCHES = 20  # in a row that hold nothing new: the policy has settled


class ScoredArchitecture(NamedTuple):
    """One architecture that was tried.

    Arguments:
        choices: the option of each decision, by name.
        score: what it reached; the higher, the better.

    Examples:
        >>> ScoredArchitecture({"width": 8}, 0.75).choices
        {'width': 8}
    """

    choices: dict[str, Any]
    score: float


class ArchitectureSearch:
    """Search a space of architectures for the one with the highest score.

    A policy proposes batches of architectures, each new one is scored by a function of yours, and the policy learns
    from the scores. An architecture that is proposed again keeps its score and costs no trial.

    Arguments:
        space: the options of each decision, by its name.
        policy: makes the policy from the numbers of options and a seed: ReinforcePolicy, RandomPolicy, or a function
            that returns an object with their `draw` and `learn`.
        batch_size: how many architectures are drawn before the policy learns.
        seed: of the policy.

    Attributes:
        history: the trials so far, in their order.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> space = {"layers": [1, 2, 3], "width": [8, 16, 32], "activation": ["relu", "tanh"]}
        >>> search = paddle.incubate.autodl.ArchitectureSearch(space, seed=1)
        >>> best = search.run(lambda c: -abs(c["layers"] * c["width"] - 48), trials=12)
        >>> best.score, best.choices["layers"] * best.choices["width"]
        (0.0, 48)

    References:
        PaddlePaddle's AutoDL Design: https://github.com/PaddlePaddle/AutoDL
    """

    def __init__(
        self,
        space: Mapping[str, Sequence[Any]],
        policy: Callable[[list[int], int], RandomPolicy] = ReinforcePolicy,
        batch_size: int = 4,
        seed: int = 0,
    ) -> None:
        empty = [name for name, options in space.items() if not len(options)]
        if empty or not space:
            raise ValueError(f"space: {f'`{empty[0]}` has no options' if empty else 'there are no decisions in it'}")
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; expected at least 1")
        self.space = {name: list(options) for name, options in space.items()}
        self.policy = policy([len(options) for options in self.space.values()], seed)
        self.batch_size = batch_size
        self.history: list[ScoredArchitecture] = []
        self._scores: dict[tuple[int, ...], float] = {}

    def run(self, score: Callable[[dict[str, Any]], float], trials: int) -> ScoredArchitecture:
        """Try architectures until so many are scored, or the policy proposes no new ones; return the best so far.

        Arguments:
            score: from the choices, by name, to a number: the higher, the better. NaN is for what cannot be scored; the
                policy does not learn from it.
            trials: how many architectures to score, in addition to those of earlier calls.

        Raises:
            ValueError: no architecture has a score.
        """
        end, known = len(self.history) + trials, 0
        while len(self.history) < end and known < MAX_KNOWN_BATCHES:
            before = len(self.history)
            batch = [tuple(map(int, row)) for row in self.policy.draw(self.batch_size)]
            rows = [row for row in batch if self._try(row, score, end)]
            known = 0 if len(self.history) > before else known + 1
            if rows:
                self.policy.learn(np.array(rows), np.array([self._scores[row] for row in rows]))
        return self.best

    @property
    def best(self) -> ScoredArchitecture:
        """The trial with the highest score so far."""
        scored = [t for t in self.history if not math.isnan(t.score)]
        if not scored:
            raise ValueError(f"no architecture has a score; {len(self.history)} were tried, all of them gave NaN")
        return max(scored, key=lambda t: t.score)

    def _try(self, row: tuple[int, ...], score: Callable[[dict[str, Any]], float], end: int) -> bool:
        """Score an architecture that is new, as long as there are trials left; True if it has a score."""
        if row not in self._scores and len(self.history) < end:
            choices = {name: self.space[name][i] for name, i in zip(self.space, row, strict=True)}
            try:
                self._scores[row] = float(score(dict(choices)))
            except Exception as e:
                e.add_note(f"while ArchitectureSearch.run() scored {choices}")
                raise
            self.history.append(ScoredArchitecture(choices, self._scores[row]))
        return not math.isnan(self._scores.get(row, math.nan))
