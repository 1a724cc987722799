"""The workloads of workloads_cold.py by hand in JAX, channels last: each a whole training step as one jitted function.

usage: workloads_cold_jax.py NAME     one JSON line: seconds from the import to the first loss and to the last
"""

from __future__ import annotations

import functools
import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from cartpole import CartPole

begin = time.perf_counter()
import jax  # noqa: E402  (not before the clock runs)
import jax.numpy as jnp  # noqa: E402
import optax  # noqa: E402

imported = time.perf_counter() - begin
import nets_cold_jax as nets  # noqa: E402  (not before the import that is timed)
from nets_cold_jax import Parameters, conv, dense, nn, norm, rs, up  # noqa: E402

Net = Callable[[Any, Any], Any]
Step = Callable[[int], Any]
STEPS = {"lstm": 20, "sizes": 30}  # others: 10


def floats(*shape: int) -> Any:
    """Random numbers."""
    return jnp.asarray(rs.randn(*shape).astype("float32"))


def integers(high: int, *shape: int) -> Any:
    """Random integers below `high`."""
    return jnp.asarray(rs.randint(0, high, shape).astype("int32"))


# -- steps -----------------------------------------------------------------------------------------------------------
def cross_entropy(scores: Any, y: Any) -> Any:
    """The mean loss of labels."""
    return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean()


def parameters_of(net: Net, x: Any) -> list[Any]:
    """The parameters that a net makes for such arguments."""
    p = Parameters()
    jax.eval_shape(lambda x: net(p, x), x)
    return p.made


def training(net: Net, batches: list[tuple[Any, Any]]) -> Step:
    """Steps of Adam over batches of arguments and labels."""
    p, opt = parameters_of(net, batches[0][0]), optax.adam(1e-3)
    state = [p, opt.init(p)]

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def update(p: Any, s: Any, x: Any, y: Any) -> Any:
        loss, g = jax.value_and_grad(lambda p: cross_entropy(net(Parameters(p), x), y))(p)
        u, s = opt.update(g, s)
        return optax.apply_updates(p, u), s, loss

    def step(i: int) -> Any:
        state[0], state[1], loss = update(*state, *batches[i % len(batches)])
        return loss

    return step


def classifying(net: Net, *shape: int) -> Step:
    """Training on one batch of pictures or rows, with labels of ten classes."""
    return training(net, [(floats(*shape), integers(10, shape[0]))])


def reading(net: Net, vocabulary: int, *shape: int) -> Step:
    """Training on what follows each word."""
    words = integers(vocabulary, *shape)
    return training(net, [(words[:, :-1], words[:, 1:])])


def walking(net: Net) -> Step:
    """Training on the labels of the nodes of a graph."""
    graph = floats(200, 16), integers(200, 1000), integers(200, 1000)
    return training(net, [(graph, integers(7, 200))])


def gan() -> Step:
    """A generator of pictures and its judge, each with a loss of its own."""

    def make(p: Any, z: Any) -> Any:
        x = nn.relu(norm(p, up(p, nn.relu(norm(p, up(p, z, 64, 4, 2, 1))), 32, 4, 2, 1)))
        return jnp.tanh(up(p, x, 3, 4, 2, 1))

    def judge(p: Any, x: Any) -> Any:
        for o in (32, 64, 128):
            x = nn.leaky_relu(conv(p, x, o, 4, 2, pad=1) + p(o, value=0.0), 0.2)
        return dense(p, x.reshape(x.shape[0], -1), 1)

    def sure(scores: Any, label: float) -> Any:
        return optax.sigmoid_binary_cross_entropy(scores, jnp.full(scores.shape, label)).mean()

    real, opt = floats(4, 32, 32, 3), optax.adam(2e-4, b1=0.5)
    maker, other = parameters_of(make, floats(4, 4, 4, 64)), parameters_of(judge, real)
    state = [maker, opt.init(maker), other, opt.init(other)]

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2, 3))
    def update(m: Any, sm: Any, j: Any, sj: Any, z: Any) -> Any:
        def of_judge(j: Any) -> Any:
            return sure(judge(Parameters(j), real), 1.0) + sure(judge(Parameters(j), make(Parameters(m), z)), 0.0)

        u, sj = opt.update(jax.grad(of_judge)(j), sj)
        j = optax.apply_updates(j, u)
        loss, g = jax.value_and_grad(lambda m: sure(judge(Parameters(j), make(Parameters(m), z)), 1.0))(m)
        u, sm = opt.update(g, sm)
        return optax.apply_updates(m, u), sm, j, sj, loss

    def step(i: int) -> Any:
        *state[:], loss = update(*state, floats(4, 4, 4, 64))
        return loss

    return step


def pinn() -> Step:
    """Poisson's equation: second derivatives of a net in the loss."""

    def net(p: Any, x: Any) -> Any:
        for _ in range(4):
            x = jnp.tanh(dense(p, x, 64))
        return dense(p, x, 1)

    points, opt = floats(512, 2), optax.adam(1e-3)
    p = parameters_of(net, points)
    state = [p, opt.init(p)]

    def loss_of(p: Any) -> Any:
        curved = jax.vmap(jax.hessian(lambda x: net(Parameters(p), x)[0]))(points)
        return ((curved[:, 0, 0] + curved[:, 1, 1] - jnp.sin(points[:, 0])) ** 2).mean()

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def update(p: Any, s: Any) -> Any:
        loss, g = jax.value_and_grad(loss_of)(p)
        u, s = opt.update(g, s)
        return optax.apply_updates(p, u), s, loss

    def step(i: int) -> Any:
        state[0], state[1], loss = update(*state)
        return loss

    return step


def ppo() -> Step:
    """Rollouts of 32 moves and 4 updates on them."""

    def net(p: Any, x: Any) -> Any:
        x = jnp.tanh(dense(p, jnp.tanh(dense(p, x, 64)), 64))
        return dense(p, x, 2), dense(p, x, 1)[..., 0]

    env, opt = CartPole(rs), optax.adam(3e-4)
    p = parameters_of(net, floats(1, 4))
    state, seen, keys = [p, opt.init(p)], [env.reset()], [jax.random.key(0)]

    @jax.jit
    def choose(p: Any, x: Any, key: Any) -> Any:
        logits, value = net(Parameters(p), x)
        key, own = jax.random.split(key)
        move = jax.random.categorical(own, logits)
        return key, move, nn.log_softmax(logits)[move], value

    def loss_of(p: Any, states: Any, chosen: Any, old: Any, values: Any, goals: Any) -> Any:
        logits, value = net(Parameters(p), states)
        logs, gain = nn.log_softmax(logits), goals - values
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        ratio = jnp.exp(jnp.take_along_axis(logs, chosen[:, None], 1)[:, 0] - old)
        clipped = jnp.minimum(ratio * gain, jnp.clip(ratio, 0.8, 1.2) * gain).mean()
        entropy = -(jnp.exp(logs) * logs).sum(-1).mean()
        return 0.5 * ((value - goals) ** 2).mean() - clipped - 0.01 * entropy

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def update(p: Any, s: Any, *batch: Any) -> Any:
        loss, g = jax.value_and_grad(loss_of)(p, *batch)
        u, s = opt.update(g, s)
        return optax.apply_updates(p, u), s, loss

    def step(i: int) -> Any:
        rows = []
        for _ in range(32):
            keys[0], move, log, value = choose(state[0], seen[0], keys[0])
            before, (seen[0], reward, done) = seen[0], env.step(int(move))
            rows.append((before, int(move), float(log), float(value), reward, done))
        states, chosen, old, values, rewards, ends = map(np.array, zip(*rows, strict=True))
        goals, total = np.zeros(32, "float32"), 0.0
        for t in reversed(range(32)):
            goals[t] = total = float(rewards[t]) + 0.99 * total * (1 - float(ends[t]))
        batch = states, chosen, old.astype("float32"), values.astype("float32"), goals
        for _ in range(4):
            state[0], state[1], loss = update(*state, *batch)
        return loss

    return step


WORKLOADS: dict[str, Callable[[], Step]] = {
    "mlp": lambda: classifying(nets.mlp, 32, 784),
    "lenet": lambda: classifying(nets.lenet, 16, 28, 28, 1),
    "resnet": lambda: classifying(nets.resnet, 8, 32, 32, 3),
    "transformer": lambda: reading(nets.transformer, 100, 8, 17),
    "gcn": lambda: walking(nets.gcn),
    "gat": lambda: walking(nets.gat),
    "ppo": ppo,
    "lstm": lambda: training(nets.lstm, [(integers(100, 8, 5 + i), integers(2, 8)) for i in range(20)]),
    "sizes": lambda: training(nets.sizes, [(floats(4, 24 + i, 24 + i, 3), integers(10, 4)) for i in range(30)]),
    **{n.__name__: lambda n=n: classifying(n, 4, 64, 64, 3) for n in (nets.mobilenet_v3_small, nets.densenet121)},
    "resnet50": lambda: classifying(nets.resnet50, 4, 64, 64, 3),
    **{n.__name__: lambda n=n: classifying(n, 4, 32, 32, 3) for n in (nets.efficientnet, nets.vit, nets.swin)},
    "unet": lambda: training(nets.unet, [(floats(4, 32, 32, 3), integers(10, 4, 32, 32))]),
    "conformer": lambda: classifying(nets.conformer, 4, 48, 64),
    "gpt": lambda: reading(nets.gpt, 200, 4, 33),
    "gan": gan,
    "pinn": pinn,
}


def main() -> None:
    """Run one workload and say how long it took."""
    name, losses, seconds = sys.argv[1], [], []
    step = WORKLOADS[name]()
    for i in range(STEPS.get(name, 10)):
        losses.append(float(step(i)))
        seconds.append(time.perf_counter() - begin)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime
    print(json.dumps({"import": imported, "first": seconds[0], "last": seconds[-1], "loss": losses[-1], "cpu": cpu}))


if __name__ == "__main__":
    main()
