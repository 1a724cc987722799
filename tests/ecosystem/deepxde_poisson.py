"""A differential equation: -u'' = pi^2 sin(pi x), by Adam and then by L-BFGS."""

import os

os.environ["DDE_BACKEND"] = "paddle"
import deepxde as dde
import numpy as np
import paddle
import trial

dde.config.set_random_seed(0)


def pde(x, y):
    return -dde.grad.hessian(y, x) - np.pi**2 * paddle.sin(np.pi * x)


geometry = dde.geometry.Interval(-1, 1)
boundary = dde.icbc.DirichletBC(geometry, lambda x: 0 * x, lambda _, on: on)
data = dde.data.PDE(geometry, pde, boundary, 16, 2, train_distribution="uniform", num_test=10)
net = dde.nn.FNN([1, 20, 20, 1], "tanh", "Glorot uniform")
trial.start_from(net)
model = dde.Model(data, net)
model.compile("adam", lr=0.005)


def step():
    history, _ = model.train(iterations=10, display_every=10, verbose=0)
    return np.sum(history.loss_train[-1])


def finish():
    model.compile("L-BFGS")
    model.train(verbose=0)
    return model.predict(np.array([[0.5], [-0.25]], "float32"))[:, 0]  # sin(pi x)


trial.report(step, steps=4, more=finish)
