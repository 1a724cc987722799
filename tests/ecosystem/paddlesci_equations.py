"""PaddleScience: Laplace's equation and a flow by physics alone, an operator from data."""

import numpy as np
import paddle
import ppsci
import trial
from ppsci.autodiff import clear

ppsci.utils.misc.set_random_seed(7)
paddle.set_default_dtype("float64")
rng = np.random.RandomState(0)


def drawn(model, seed):
    trial.start_from(model, seed, gain=1.0)
    return model


def laplace():
    """A solver with an equation inside, values on the boundary, a validator, and a schedule."""
    model = drawn(ppsci.arch.MLP(("x", "y"), ("u",), 3, 16, "tanh"), 1)
    equation = {"laplace": ppsci.equation.Laplace(dim=2)}
    square = ppsci.geometry.Rectangle((0.0, 0.0), (1.0, 1.0))

    def exact(points):
        return np.cos(points["x"]) * np.cosh(points["y"])

    grid = np.stack(np.meshgrid(np.linspace(0, 1, 8), np.linspace(0, 1, 8)), -1).reshape(-1, 2)
    points = {"x": grid[:, :1], "y": grid[:, 1:]}
    inside = ppsci.constraint.SupervisedConstraint(
        {
            "dataset": {"name": "NamedArrayDataset", "input": points, "label": {"laplace": np.zeros([64, 1])}},
            "batch_size": 64, "sampler": {"name": "BatchSampler", "shuffle": False, "drop_last": False},
        },
        ppsci.loss.MSELoss("mean"), equation["laplace"].equations, name="EQ",
    )  # fmt: skip
    edge = np.isclose(grid, 0) | np.isclose(grid, 1)
    border = {name: values[edge.any(1)] for name, values in points.items()}
    boundary = ppsci.constraint.SupervisedConstraint(
        {
            "dataset": {"name": "NamedArrayDataset", "input": border, "label": {"u": exact(border)}},
            "batch_size": len(border["x"]),
            "sampler": {"name": "BatchSampler", "shuffle": False, "drop_last": False},
        },
        ppsci.loss.MSELoss("mean"), {"u": lambda out: out["u"]}, name="BC",
    )  # fmt: skip
    validator = ppsci.validate.SupervisedValidator(
        {
            "dataset": {"name": "NamedArrayDataset", "input": points, "label": {"u": exact(points)}},
            "batch_size": 32,
        },
        ppsci.loss.MSELoss("mean"), {"u": lambda out: out["u"]}, {"L2Rel": ppsci.metric.L2Rel()}, name="L2",
    )  # fmt: skip
    rate = ppsci.optimizer.lr_scheduler.ExponentialDecay(4, 5, 2e-3, 0.9, 5)()
    assert square.is_inside(grid[9:10]).all()
    return ppsci.solver.Solver(
        model, {"EQ": inside, "BC": boundary}, "laplace", ppsci.optimizer.Adam(rate)(model), rate, epochs=4,
        iters_per_epoch=5, equation=equation, validator={"L2": validator}, geom={"square": square},
    ), points  # fmt: skip


solver, points = laplace()


def first():
    """Twenty steps of the solver, then its evaluation."""
    solver.train()
    error, _ = solver.eval()
    return error


def predicted():
    found = solver.predict(points, batch_size=16, return_numpy=True)["u"]
    save_load = ppsci.utils.save_load
    save_load.save_checkpoint(solver.model, solver.optimizer, {"metric": 1.0}, output_dir="saved", prefix="m")
    again = ppsci.arch.MLP(("x", "y"), ("u",), 3, 16, "tanh")
    save_load.load_pretrain(again, "saved/checkpoints/m")
    x, y = (paddle.to_tensor(points[name]) for name in ("x", "y"))
    return trial.numbers([found, again({"x": x, "y": y})["u"]])


def flow():
    """The residues of Navier-Stokes, and three steps that make them smaller."""
    model = drawn(ppsci.arch.MLP(("t", "x", "y"), ("u", "v", "p"), 3, 12, "silu", weight_norm=True), 2)
    equations = ppsci.equation.NavierStokes(0.01, 1.0, 2, True).equations
    residues = {
        name: ppsci.lambdify(formula, model) if not callable(formula) else formula
        for name, formula in equations.items()
    }
    descent, losses = paddle.optimizer.Adam(1e-3, parameters=model.parameters()), []
    for _ in range(3):
        given = {name: paddle.to_tensor(rng.rand(10, 1)) for name in ("t", "x", "y")}
        for value in given.values():
            value.stop_gradient = False
        out = {**given, **model(given)}
        loss = sum((residue(out) ** 2).mean() for residue in residues.values())
        loss.backward()
        descent.step()
        descent.clear_grad()
        clear()
        losses.append(loss)
    return losses


def operators():
    """DeepONet, three steps."""
    deep = drawn(ppsci.arch.DeepONet("u", "y", "G", 10, 12, 2, 2, 16, 16), 3)
    descent, losses = paddle.optimizer.Adam(1e-3, parameters=deep.parameters()), []
    given = {"u": paddle.to_tensor(rng.rand(8, 10)), "y": paddle.to_tensor(rng.rand(8, 1))}
    for _ in range(3):
        loss = ((deep(given)["G"] - given["y"] ** 2) ** 2).mean()
        loss.backward()
        descent.step()
        descent.clear_grad()
        losses.append(loss)
    return losses


class Plain(paddle.nn.Layer):
    """A network of tensors, without dictionaries, to be exported."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, y):
        return self.model({"x": x, "y": y})["u"]


def exported():
    x, y = (paddle.to_tensor(points[name]) for name in ("x", "y"))
    paddle.jit.enable_to_static(True)  # the solver has switched it off
    return trial.exported(Plain(solver.model), x, y)


trial.report(first, steps=1, more=lambda: [*predicted(), *flow(), *operators(), *exported()])
