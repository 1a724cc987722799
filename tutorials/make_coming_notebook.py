"""Writes coming_from.ipynb, for who knows PyTorch, Paddle or JAX: python tutorials/make_coming_notebook.py."""

from __future__ import annotations

from make_notebook import write

CELLS = [
    """# Coming from PyTorch, from Paddle, from JAX
The same small task three times: fit a sine. What is familiar stays; what is different is said.""",
    """    import numpy as np
    import paddle_lite_py as paddle

    rng = np.random.default_rng(0)
    points = rng.uniform(-3, 3, (256, 1)).astype("float32")
    values = np.sin(points) + rng.normal(0, 0.1, points.shape).astype("float32")
    curves = {}""",
    """## From PyTorch
A program as it is written there. `python -m paddle_lite_py migrate train.py` rewrites it, keeps comments and layout,
and reports line by line what it changed and what is left to do.""",
    '''    program = """
    import torch
    from torch import nn, optim

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = optim.Adam(model.parameters(), lr=0.02, betas=(0.9, 0.99))
    criterion = nn.MSELoss()
    x, y = torch.from_numpy(points), torch.from_numpy(values)
    losses = []
    for epoch in range(80):  # the whole batch each time
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    fitted = model(x).detach().numpy()
    """

    from paddle_lite_py.migrate.upgrade import upgrade

    made = upgrade(program)
    print(made.text)
    for note in made.notes:
        print(note)''',
    """    names = {"points": points, "values": values}
    exec(made.text, names)
    curves["a program of PyTorch"] = names["losses"]
    print(names["losses"][0], "->", names["losses"][-1])""",
    """## From Paddle
`import paddle_lite_py as paddle`, and programs run as they are: `python -m paddle_lite_py run train.py` even leaves the
import alone. What is new: the whole step can be one program.""",
    """    from paddle_lite_py import nn

    paddle.seed(0)
    net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
    opt = paddle.optimizer.Adam(learning_rate=0.02, parameters=net.parameters())

    @paddle.jit.to_static
    def step(x, y):
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    x, y = paddle.to_tensor(points), paddle.to_tensor(values)
    curves["a static step of Paddle"] = [step(x, y).item() for _ in range(80)]""",
    """## From JAX
An operator of one's own is a JAX function: with its gradient, eagerly, in programs and in saved models. Functional
gradients are there as well.""",
    """    import jax.numpy as jnp

    @paddle.utils.custom_op
    def bump(x, /, width=1.0):
        return jnp.exp(-((x / width) ** 2))

    t = paddle.to_tensor([0.0, 0.5, 1.0], stop_gradient=False)
    bump(t, width=0.5).sum().backward()
    print(t.grad.tolist())

    centers = paddle.to_tensor(np.linspace(-3, 3, 24, dtype="float32"))
    weights = paddle.zeros([24, 1])
    features = bump(x - centers, width=0.5)

    def loss_of(w):
        return ((features @ w - y) ** 2).mean()

    found = []
    for _ in range(80):
        loss, grad = loss_of(weights), paddle.incubate.autograd.vjp(loss_of, weights)[1]
        weights = weights - 1.0 * grad  # as in JAX, nothing is changed in place
        found.append(loss.item())
    curves["functions, as in JAX"] = found""",
    """## All three""",
    """    import matplotlib.pyplot as plt

    order = points[:, 0].argsort()
    fits = {
        "a program of PyTorch": names["fitted"],
        "a static step of Paddle": net(x).detach().numpy(),
        "functions, as in JAX": (features @ weights).numpy(),
    }
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    left.scatter(*np.stack([points, values])[:, :, 0], s=6, color="lightgray")
    for name, curve in curves.items():
        left.plot(points[order, 0], fits[name][order, 0], label=name)
        right.semilogy(curve, label=name)
    left.legend(fontsize=8)
    left.set_title("a sine, with noise")
    right.set(title="loss", xlabel="step")
    print({name: round(curve[-1], 3) for name, curve in curves.items()})
    assert all(curve[-1] < 0.1 for curve in curves.values())
    fig""",
]

if __name__ == "__main__":
    write("coming_from.ipynb", CELLS)
