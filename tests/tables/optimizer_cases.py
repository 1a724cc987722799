"""Optimizers on a small problem, run in the same way here and in PaddlePaddle; see tests/golden/make.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

STEPS = 5
Maker = Callable[[Any, list[Any]], Any]


def by_group(name: str, first: dict[str, Any], second: dict[str, Any], **rest: Any) -> Maker:
    """An optimizer with two parameter groups."""

    def made(paddle: Any, p: list[Any]) -> Any:
        groups = [{"params": p[:1], **first}, {"params": p[1:], **second}]
        return getattr(paddle.optimizer, name)(0.1, parameters=groups, **rest)

    return made


def plain(name: str, lr: float = 0.1, **rest: Any) -> Maker:
    """An optimizer for all parameters; an argument may be a function of the package."""

    def made(paddle: Any, p: list[Any]) -> Any:
        given = {
            k: v(paddle) if getattr(v, "__name__", "") == "<lambda>" and k in _LATE else v for k, v in rest.items()
        }
        return getattr(paddle.optimizer, name)(learning_rate=lr, parameters=p, **given)

    return made


_LATE = ("weight_decay", "grad_clip")


def scheduled(paddle: Any, p: list[Any]) -> Any:
    """Momentum with a learning rate that halves in each step."""
    return paddle.optimizer.Momentum(paddle.optimizer.lr.ExponentialDecay(0.1, 0.5), parameters=p)


CASES: dict[str, Maker] = {
    "sgd": plain("SGD"),
    "sgd l2": plain("SGD", weight_decay=0.1),
    "sgd l1": plain("SGD", weight_decay=lambda paddle: paddle.regularizer.L1Decay(0.1)),
    "momentum": plain("Momentum"),
    "nesterov": plain("Momentum", momentum=0.8, use_nesterov=True, weight_decay=0.1),
    "momentum scheduled": scheduled,
    "adam": plain("Adam"),
    "adam options": plain("Adam", beta1=0.8, beta2=0.9, epsilon=1e-3, weight_decay=0.1),
    "adam amsgrad": plain("Adam", amsgrad=True),
    "adam groups": by_group("Adam", {"beta1": 0.5, "learning_rate": 0.5}, {"weight_decay": 0.2}),
    "adamw": plain("AdamW"),
    "adamw some": plain("AdamW", weight_decay=0.2, apply_decay_param_fun=lambda name: name.endswith("w1")),
    "adamw groups": by_group("AdamW", {"learning_rate": 0.5, "weight_decay": 0.3}, {}, weight_decay=0.1),
    "adamax": plain("Adamax"),
    "adagrad": plain("Adagrad"),
    "adagrad start": plain("Adagrad", initial_accumulator_value=0.5),
    "adadelta": plain("Adadelta", 0.5),
    "rmsprop": plain("RMSProp"),
    "rmsprop centered": plain("RMSProp", centered=True, momentum=0.5),
    "lamb": plain("Lamb"),
    "lamb some": plain("Lamb", lamb_weight_decay=0.3, exclude_from_weight_decay_fn=lambda p: p.name.endswith("w1")),
    "lamb always": plain("Lamb", lamb_weight_decay=0.0, always_adapt=True),
    "nadam": plain("NAdam"),
    "radam": plain("RAdam", beta2=0.9),
    "rprop": plain("Rprop"),
    "asgd": plain("ASGD", batch_num=3),
    "clip value": plain("SGD", grad_clip=lambda paddle: paddle.nn.ClipGradByValue(0.5)),
    "clip norm": plain("SGD", grad_clip=lambda paddle: paddle.nn.ClipGradByNorm(0.5), weight_decay=0.1),
    "clip global": plain("Adam", grad_clip=lambda paddle: paddle.nn.ClipGradByGlobalNorm(0.5)),
}


def parameters(paddle: Any, case: str) -> list[Any]:
    """Three parameters; the second learns at half the rate, and the third has a gradient in one step only."""
    starts = {"w1": [[1.0, -2.0], [0.5, 3.0]], "w2": [0.3, -0.7], "w3": [0.3, -0.7]}
    out = []
    for name, start in starts.items():
        assign = paddle.nn.initializer.Assign(np.array(start, "float32"))
        shape = list(np.shape(start))
        out.append(paddle.create_parameter(shape, "float32", name=f"{case} {name}", default_initializer=assign))
    out[1].optimize_attr["learning_rate"] = 0.5
    if case in ("sgd", "adam"):
        out[1].regularizer = paddle.regularizer.L1Decay(0.3)
    if case == "clip global":
        out[1].need_clip = False
    return out


def step(paddle: Any, params: list[Any], opt: Any, i: int) -> None:
    """One training step."""
    w1, w2, w3 = params
    x = paddle.to_tensor(np.array([[1.0, 2.0], [-1.0, 0.5]], "float32") * (i - 1))
    loss = ((paddle.matmul(x, w1) + w2) ** 2).mean()
    if i == 2:
        loss = loss + (w3 * w3).sum()
    loss.backward()
    opt.step()
    opt.clear_grad(set_to_zero=i % 2 == 0)
    if not isinstance(opt._learning_rate, float):
        opt._learning_rate.step()


def run(paddle: Any, case: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """All parameters after each step, and the optimizer's state after the last."""
    params = parameters(paddle, case)
    opt = CASES[case](paddle, params)
    rows = []
    for i in range(STEPS):
        step(paddle, params, opt, i)
        rows.append(np.concatenate([np.asarray(p.numpy()).ravel() for p in params]))
    state = {k: np.asarray(v.numpy()).ravel() for k, v in opt.state_dict().items() if hasattr(v, "numpy")}
    return np.stack(rows), state
