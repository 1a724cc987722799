"""Policies of an architecture search: how the next choices are drawn, and what is learned from their scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...autograd.mode import no_grad
from ...eager.tensor import Tensor
from ...nn import functional as F
from ...nn.base import Layer
from ...nn.common import Embedding, Linear
from ...nn.container import LayerList
from ...nn.rnn_cells import LSTMCell
from ...ops.convert import to_tensor
from ...optimizer.adam import Adam


class RandomPolicy:
    """Draw each choice with equal probability: the baseline of every search.

    Arguments:
        counts: how many options each decision has.
        seed: of the draws.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> policy = paddle.incubate.autodl.RandomPolicy([2, 3], seed=0)
        >>> policy.draw(4).shape
        (4, 2)
    """

    def __init__(self, counts: Sequence[int], seed: int = 0) -> None:
        self.counts = list(counts)
        self.random = np.random.default_rng(seed)

    def draw(self, n: int) -> np.ndarray:
        """Draw n architectures: the index of an option for each decision, int64 [n, decisions]."""
        return self.random.integers(0, self.counts, [n, len(self.counts)])

    def learn(self, choices: np.ndarray, scores: np.ndarray) -> None:
        """Take note of the scores [n] of the choices [n, decisions]: here nothing is learned."""


class ReinforcePolicy(RandomPolicy):
    """Learn with REINFORCE what to draw: an LSTM makes one decision after the other, each given those before it.

    Scores are compared with a moving average, in units of their moving deviation, so that neither their scale nor
    their offset matters.

    Arguments:
        counts: how many options each decision has.
        seed: of the draws and of the initial weights.
        hidden_size: units of the LSTM.
        learning_rate: of Adam.
        decay: of the moving average and deviation.
        entropy: weight of the policy's entropy, which keeps it from settling too early.

    Examples:
        >>> import numpy as np
        >>> import paddle_lite_py as paddle
        >>> policy = paddle.incubate.autodl.ReinforcePolicy([2] * 4, seed=0)
        >>> for _ in range(40):
        ...     choices = policy.draw(8)
        ...     policy.learn(choices, choices.sum(1))  # the more ones, the better
        >>> bool(policy.draw(8).mean() > 0.9)
        True

    References:
        Zoph and Le: Neural Architecture Search with Reinforcement Learning, arXiv:1611.01578.
    """

    def __init__(
        self,
        counts: Sequence[int],
        seed: int = 0,
        hidden_size: int = 32,
        learning_rate: float = 0.03,
        decay: float = 0.8,
        entropy: float = 0.1,
    ) -> None:
        super().__init__(counts, seed)
        self.net = _Controller(self.counts, hidden_size)
        for p in self.net.parameters():
            p.set_value(self.random.uniform(-0.1, 0.1, p.shape).astype(p.dtype.name))
        self.optimizer = Adam(learning_rate, parameters=self.net.parameters())
        self.decay, self.entropy = decay, entropy
        self.average: float | None = None
        self.deviation = 1.0

    def draw(self, n: int) -> np.ndarray:
        """Draw n architectures: the index of an option for each decision, int64 [n, decisions]."""
        found = np.zeros([n, len(self.counts)], "int64")
        with no_grad():
            state = before = None
            for i in range(len(self.counts)):
                logits, state = self.net(i, n, before, state)
                noise = self.random.gumbel(size=logits.shape)
                found[:, i] = (logits.numpy() + noise).argmax(1)
                before = to_tensor(found[:, i])
        return found

    def learn(self, choices: np.ndarray, scores: np.ndarray) -> None:
        """Make choices with high scores more probable; choices are [n, decisions], scores [n]."""
        advantages = to_tensor(self._advantages(np.asarray(scores, "float32")))
        state = before = None
        loss: Any = 0.0
        for i in range(len(self.counts)):
            logits, state = self.net(i, len(choices), before, state)
            before = to_tensor(choices[:, i])
            taken = F.cross_entropy(logits, before, reduction="none")
            loss = loss + (taken * advantages).mean() - self.entropy * _entropy(logits)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()

    def _advantages(self, scores: np.ndarray) -> np.ndarray:
        first = self.average is None
        self.average = float(scores.mean()) if self.average is None else self._moved(self.average, scores.mean())
        deviation = float(np.abs(scores - self.average).mean())
        self.deviation = deviation if first else self._moved(self.deviation, deviation)
        return (scores - np.float32(self.average)) / np.float32(self.deviation + 1e-8)

    def _moved(self, average: float, value: Any) -> float:
        return self.decay * average + (1 - self.decay) * float(value)


class _Controller(Layer):
    """Logits of one decision after the other: [n, options] from the options chosen before."""

    def __init__(self, counts: list[int], hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.embeddings = LayerList([Embedding(c, hidden_size) for c in counts])
        self.cell = LSTMCell(hidden_size, hidden_size)
        self.heads = LayerList([Linear(hidden_size, c) for c in counts])

    def forward(self, i: int, n: int, before: Tensor | None, state: Any) -> tuple[Tensor, Any]:
        """Logits of decision i, and the state after it; `before` is the option of the decision before it."""
        x = to_tensor(np.zeros([n, self.hidden_size], "float32")) if before is None else self.embeddings[i - 1](before)
        out, state = self.cell(x, state)
        return self.heads[i](out), state


def _entropy(logits: Tensor) -> Tensor:
    log = F.log_softmax(logits)
    return -(log.exp() * log).sum(1).mean()
