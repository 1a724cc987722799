"""Writes own_ops.ipynb, operators, layers and gradients of one's own: python tutorials/make_own_notebook.py."""

from __future__ import annotations

from make_notebook import write

CELLS = [
    """# Ops, layers and gradients of your own
What the library lacks is a few lines: a layer, an op of JAX or NumPy, a gradient by hand, a function made one of
batches. All of it works eagerly, in compiled programs, and in saved models.""",
    """    import numpy as np
    import paddle_lite_py as paddle
    from paddle_lite_py import nn

    paddle.seed(0);""",
    """## A layer
Parameters are made in `__init__`, state that is not trained is a buffer; both are saved and loaded with the layer.
This one counts what it has seen, in eager code and in a program alike.""",
    """    class Scale(nn.Layer):
        def __init__(self, width):
            super().__init__()
            self.weight = self.create_parameter([width], default_initializer=nn.initializer.Constant(1.0))
            self.register_buffer("seen", paddle.zeros([], "int64"))

        def forward(self, x):
            self.seen += x.shape[0]
            return x * self.weight

    layer = Scale(3)
    compiled = paddle.jit.to_static(Scale(3))
    for _ in range(3):
        layer(paddle.ones([5, 3])), compiled(paddle.ones([5, 3]))
    print(int(layer.seen), int(compiled.seen), list(layer.state_dict()))""",
    """## An op, written with JAX
Tensors stand before the `/`, settings after it. Shapes, dtypes and the gradient are found from the function.""",
    """    import jax.numpy as jnp

    @paddle.utils.custom_op
    def soft_clip(x, /, limit=1.0):
        return limit * jnp.tanh(x / limit)

    x = paddle.to_tensor([-5.0, 0.1, 5.0], stop_gradient=False)
    y = soft_clip(x, limit=2.0)
    y.sum().backward()
    print(y.numpy(), x.grad.numpy())""",
    """## An op, written with NumPy
For what only NumPy (or another library) can do. In a program it is called back at its place; `out` says what it
gives.""",
    """    @paddle.utils.numpy_op(out=lambda x: paddle.static.InputSpec(x.shape[:-1], x.dtype))
    def median(x):
        return np.median(x, axis=-1)

    both = paddle.jit.to_static(lambda x: median(x * 2) + 1)
    print(both(paddle.to_tensor([[1.0, 5.0, 2.0], [4.0, 4.0, 9.0]])).numpy())""",
    """## A gradient by hand
`PyLayer` has a forward and a backward. Rounding has no useful gradient; this one passes it straight through, so that
weights of few bits can be trained.""",
    """    class Rounded(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, steps):
            ctx.save_for_backward(x)
            return (x * steps).round() / steps

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensor()
            return grad * (x.abs() <= 1).astype(grad.dtype)  # none where x is beyond what can be shown

    class FewBits(nn.Linear):
        steps = 2

        def forward(self, x):
            return nn.functional.linear(x, Rounded.apply(self.weight.clip(-1, 1), self.steps), self.bias)

    rng = np.random.default_rng(0)
    points = rng.normal(size=(512, 2)).astype("float32")
    classes = (points[:, 0] * points[:, 1] > 0).astype("int64")
    x, y = paddle.to_tensor(points), paddle.to_tensor(classes)

    def train(first, second):
        net = nn.Sequential(first, nn.Tanh(), second)
        opt = paddle.optimizer.Adam(0.02, parameters=net.parameters())

        @paddle.jit.to_static
        def step():
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            opt.clear_grad()
            return loss

        losses = [step() for _ in range(200)]
        right = float((net(x).argmax(axis=1) == y).astype("float32").mean())
        return net, [v.item() for v in losses], right

    full, full_losses, full_right = train(nn.Linear(2, 24), nn.Linear(24, 2))
    few, few_losses, few_right = train(FewBits(2, 24), FewBits(24, 2))
    used = np.unique(Rounded.apply(few[0].weight.clip(-1, 1), 2).numpy() + 0)
    print(f"{full_right:.1%} with 32 bits, {few_right:.1%} with weights that are one of {used.tolist()}")""",
    """## A function of one sample, of a batch
`vmap` makes it one: here the gradient of each sample by itself, which a batch's gradient is only the mean of.""",
    """    first, second = full[0], full[2]

    def loss_of(weight, point, label):
        scores = second(paddle.tanh(point @ weight + first.bias))
        return nn.functional.cross_entropy(scores.unsqueeze(0), label.unsqueeze(0))

    def gradient_of(weight, point, label):
        weight = weight.detach()
        weight.stop_gradient = False
        return paddle.grad(loss_of(weight, point, label), weight)[0]

    each = paddle.autograd.vmap(gradient_of, (None, 0, 0))(first.weight, x, y)
    loss = nn.functional.cross_entropy(full(x), y)
    (whole,) = paddle.grad(loss, first.weight)
    off = float((each.mean(axis=0) - whole).abs().max())
    print(each.shape, "their mean is off the batch's by", off)
    assert off < 1e-6""",
    """## What each sample pulls at
The two nets' answers, and how strongly each sample would change the first: those at the border.""",
    """    import matplotlib.pyplot as plt

    strength = (each**2).sum(axis=[1, 2]).sqrt().numpy()
    u, v = np.meshgrid(np.linspace(-3, 3, 100), np.linspace(-3, 3, 100))
    plane = paddle.to_tensor(np.stack([u.ravel(), v.ravel()], 1).astype("float32"))
    fig, axes = plt.subplots(1, 3, figsize=(11, 3.5), constrained_layout=True)
    titles = f"32 bits: {full_right:.1%}", f"{len(used)} values: {few_right:.1%}"
    for ax, net, title in zip(axes, (full, few), titles):
        with paddle.no_grad():
            belief = nn.functional.softmax(net(plane))[:, 1].numpy().reshape(u.shape)
        ax.contourf(u, v, belief, levels=20, cmap="RdBu", alpha=0.7)
        ax.scatter(*points[:200].T, c=classes[:200], cmap="RdBu", s=10, edgecolors="white", linewidths=0.4)
        ax.set_title(title)
    shown = axes[2].scatter(*points.T, c=strength, cmap="viridis", s=12)
    fig.colorbar(shown, ax=axes[2])
    axes[2].set_title("norm of each sample's gradient")
    fig""",
]

if __name__ == "__main__":
    write("own_ops.ipynb", CELLS)
