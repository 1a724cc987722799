"""The pole on a cart, after Barto, Sutton and Anderson."""

from __future__ import annotations

from typing import Any

import numpy as np


class CartPole:
    """A state, and what a push makes of it.

    Arguments:
        rs: draws the states that it begins with.
    """

    def __init__(self, rs: np.random.RandomState) -> None:
        self._rs = rs

    def reset(self) -> Any:
        """A state near the top."""
        self.state = self._rs.uniform(-0.05, 0.05, 4)
        return self.state.astype("float32")

    def step(self, action: int) -> tuple[Any, float, bool]:
        """State, reward and the end after a push to the left (0) or right (1)."""
        x, v, angle, spin = self.state
        push = ((10.0 if action else -10.0) + 0.05 * spin**2 * np.sin(angle)) / 1.1
        turn = (9.8 * np.sin(angle) - np.cos(angle) * push) / (0.5 * (4 / 3 - 0.1 * np.cos(angle) ** 2 / 1.1))
        change = np.array([v, push - 0.05 * turn * np.cos(angle) / 1.1, spin, turn])
        self.state = self.state + 0.02 * change
        done = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.2095)
        return (self.reset() if done else self.state.astype("float32")), 1.0, done
