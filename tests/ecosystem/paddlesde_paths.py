"""paddlesde: stochastic differential equations of a network, trained along paths of given noise, by four solvers."""

import numpy as np
import paddle
import paddlesde
import trial

paddle.set_default_dtype("float64")
BATCH, STATE = 4, 3


class Equation(paddle.nn.Layer):
    """Drift and diffusion, each a network."""

    noise_type = "diagonal"

    def __init__(self, sde_type):
        super().__init__()
        self.sde_type = sde_type
        self.drift = paddle.nn.Sequential(
            paddle.nn.Linear(STATE, 16), paddle.nn.Tanh(), paddle.nn.Linear(16, STATE)
        )  # fmt: skip
        self.diffusion = paddle.nn.Linear(STATE, STATE)

    def f(self, t, y):
        return self.drift(y)

    def g(self, t, y):
        return 0.3 * paddle.nn.functional.sigmoid(self.diffusion(y))


class Noise(paddlesde.BaseBrownian):
    """A Brownian motion whose values at tenths of a second are given."""

    def __init__(self):
        rng = np.random.RandomState(1)
        steps = rng.standard_normal([10, BATCH, STATE]) * 0.1**0.5
        self.at = paddle.to_tensor(np.concatenate([np.zeros([1, BATCH, STATE]), steps.cumsum(0)]))

    def __call__(self, start, end=None, return_U=False, return_A=False):
        first, last = (round(float(t) * 10) for t in (start, end))
        return self.at[last] - self.at[first]

    def __repr__(self):
        return "Noise()"

    @property
    def dtype(self):
        return self.at.dtype

    @property
    def place(self):
        return self.at.place

    device = place

    @property
    def shape(self):
        return [BATCH, STATE]

    levy_area_approximation = "none"


start = paddle.to_tensor(np.random.RandomState(2).standard_normal([BATCH, STATE]))
times = paddle.to_tensor([0.0, 0.5, 1.0])
equation = Equation("ito")
trial.start_from(equation, 3, gain=1.0)
optimizer = paddle.optimizer.Adam(0.01, parameters=equation.parameters())


def solved(equation, method):
    return paddlesde.sdeint(equation, start, times, bm=Noise(), method=method, dt=0.1)


def step():
    loss = (solved(equation, "euler")[-1] - 1.0).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


def others():
    found = [solved(equation, "milstein")]
    stratonovich = Equation("stratonovich")
    stratonovich.set_state_dict(equation.state_dict())
    found += [solved(stratonovich, method) for method in ("heun", "midpoint")]
    return [*trial.numbers(found), *trial.exported(equation.drift, start)]


trial.report(step, more=others)
