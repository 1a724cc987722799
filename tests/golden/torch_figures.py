"""What PyTorch computes with layers, functions and distributions that paddle.compat has too.

`python tests/golden/torch_figures.py` with a Python that has PyTorch writes torch_figures.json; the tests compute the
same texts with paddle.compat. Parameters and inputs are drawn by NumPy, from the names.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_suffix(".json")

# A layer and the shapes of its inputs; integers are drawn below 4 where a shape begins with "i".
LAYERS = {
    "nn.BatchNorm1d(3)": [[4, 3]],
    "nn.BatchNorm1d(3, momentum=None)": [[4, 3, 2]],
    "nn.BatchNorm2d(2, 1e-3, 0.3)": [[2, 2, 3, 3]],
    "nn.BatchNorm2d(2, affine=False)": [[2, 2, 3, 3]],
    "nn.BatchNorm3d(2, track_running_stats=False)": [[2, 2, 2, 2, 2]],
    "nn.InstanceNorm1d(2)": [[2, 2, 5]],
    "nn.InstanceNorm2d(2, affine=True)": [[2, 2, 3, 3]],
    "nn.InstanceNorm2d(2, momentum=0.3, affine=True, track_running_stats=True)": [[2, 2, 3, 3]],
    "nn.InstanceNorm3d(2)": [[1, 2, 2, 2, 2]],
    "nn.LayerNorm([3, 4], 1e-3)": [[2, 3, 4]],
    "nn.LayerNorm(4, bias=False)": [[2, 3, 4]],
    "nn.GroupNorm(2, 4, 1e-3)": [[2, 4, 3]],
    "nn.Conv1d(4, 2, 3, padding='same', dilation=2, groups=2)": [[2, 4, 6]],
    "nn.Conv2d(2, 3, (2, 3), stride=2, padding=1, bias=False)": [[2, 2, 5, 6]],
    "nn.Conv2d(2, 3, 3, padding=1, padding_mode='reflect')": [[2, 5, 6]],
    "nn.Conv2d(2, 2, 4, padding='same')": [[1, 2, 5, 6]],
    "nn.Conv3d(1, 2, 2, stride=2, dilation=2)": [[1, 1, 4, 5, 4]],
    "nn.ConvTranspose1d(2, 3, 3, 2, 1, 1)": [[2, 2, 4]],
    "nn.ConvTranspose2d(2, 4, 3, stride=2, padding=1, groups=2, bias=False, dilation=2)": [[1, 2, 3, 4]],
    "nn.ConvTranspose3d(1, 2, 2)": [[1, 1, 2, 2, 3]],
    "nn.Linear(3, 2)": [[2, 4, 3]],
    "nn.Embedding(5, 3, padding_idx=1)": [["i", 2, 4]],
    "nn.EmbeddingBag(5, 3, mode='sum', padding_idx=1)": [["i", 2, 4]],
    "nn.EmbeddingBag(5, 3, mode='max')": [["i", 2, 4]],
    "nn.PReLU(3)": [[2, 3, 4]],
    "nn.Threshold(0.1, 20.0)": [[2, 3]],
    "nn.Softmin(dim=-1)": [[2, 3]],
    "nn.Softmax()": [[2, 3, 2]],
    "nn.MaxPool1d(2, dilation=2)": [[1, 2, 7]],
    "nn.MaxPool2d(3, 2, 1, return_indices=True)": [[1, 2, 5, 6]],
    "nn.MaxPool2d(2, 1, 1, 2)": [[1, 2, 5, 6]],
    "nn.AvgPool2d(3, 2, 1)": [[1, 2, 5, 6]],
    "nn.Unfold((2, 3), 1, 1, 2)": [[1, 2, 5, 6]],
    "nn.Dropout2d(0.0)": [[2, 3, 2, 2]],
    "nn.Dropout3d(0.0)": [[2, 3, 2, 2, 2]],
    "nn.LSTM(3, 4, 2, bidirectional=True)": [[5, 2, 3]],
    "nn.LSTM(3, 4, batch_first=True, bias=False)": [[2, 5, 3]],
    "nn.GRU(3, 4, batch_first=True)": [[5, 3]],
    "nn.RNN(3, 4, nonlinearity='relu')": [[5, 2, 3]],
    "nn.LSTMCell(3, 4)": [[2, 3]],
    "nn.GRUCell(3, 4)": [[2, 3]],
    "nn.MultiheadAttention(4, 2, batch_first=True)": [[2, 3, 4], [2, 5, 4], [2, 5, 4]],
    "nn.TransformerEncoderLayer(4, 2, 6, 0.0, 'gelu', batch_first=True, norm_first=True)": [[2, 3, 4]],
    "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, 0.0), 2)": [[3, 2, 4]],
    "nn.TransformerDecoderLayer(4, 2, 6, 0.0)": [[3, 2, 4], [5, 2, 4]],
    "nn.Transformer(4, 2, 1, 1, 6, 0.0)": [[5, 2, 4], [3, 2, 4]],
}  # fmt: skip

# Texts of functions; packed is x as sequences of the lengths 2, 4 and 1; x, y are [3, 4, 5], p is x with
# its last dimension normalized, i are integers below 5.
FUNCTIONS = (
    "F.cross_entropy(x, i[:, 0] % 4)",
    "F.cross_entropy(x, i[:, 0] % 4, ignore_index=1, reduction='none')",
    "F.cross_entropy(x, i[:, 0] % 4, w, ignore_index=1, label_smoothing=0.2)",
    "F.cross_entropy(x, i[:, 0] % 4, w, reduction='sum', label_smoothing=0.2)",
    "F.cross_entropy(x, y.abs(), w, label_smoothing=0.1)",
    "F.cross_entropy(x[0], i[0, :, 0])",
    "nn.CrossEntropyLoss(w, label_smoothing=0.1)(x, i[:, 0] % 4)",
    "F.embedding(i, v, padding_idx=2)",
    "F.embedding_bag(i[0, 0], v, i[0, 0, :1] * 0, mode='mean')",
    "F.pad(x, (-1, 2, 1, 0), value=3.0)",
    "F.threshold(x, 0.1, 2.0)",
    "F.softmin(x, 1)",
    "F.conv1d(x, v[:4, :].reshape(1, 4, 2), padding='same')",
    "F.scaled_dot_product_attention(x, y, y, is_causal=True)",
    "F.scaled_dot_product_attention(x, y, y, x[:, :, :4], scale=0.3)",
    "root.max(x, 1).values", "root.max(x, 1).indices", "root.min(x, -1, True)[0]", "root.median(x)",
    "root.sort(x, 0, True)[1]",
    "root.chunk(x, 3, 1)[1]", "root.split(x, 2, -1)[2]", "root.norm(x, 1, dim=(0, 2))", "root.norm(x)",
    "root.norm(x, dim=1, keepdim=True)", "root.fmod(x, 0.3)", "root.fmod(x, y)", "root.xlogy(x.abs(), y.abs())",
    "root.aminmax(x)[1]", "root.aminmax(x, dim=1)[0]", "root.cartesian_prod(w, w)", "root.select(x, 1, -1)",
    "root.unique(i, return_counts=True)[1]", "root.slogdet(x[:, :, :4])[1]",
    "nn.init.kaiming_uniform_(x.reshape(6, 10) * 0 + 1, 5**0.5).abs().max() <= 10**-0.5",
    "D.Categorical(logits=x).log_prob(i[:, :, 0])", "D.Categorical(p).entropy()", "D.Categorical(p).probs",
    "D.Categorical(p).logits",
    "D.OneHotCategorical(p).log_prob((p >= root.max(p, -1, True)[0]) * 1.0)", "D.OneHotCategorical(p).variance",
    "D.OneHotCategorical(logits=x).entropy()",
    "D.RelaxedOneHotCategorical(w[:1], p).log_prob(p)", "D.RelaxedBernoulli(w[:1], p).log_prob(p)",
    "D.NegativeBinomial(2.5, logits=x).log_prob(i)", "D.NegativeBinomial(2.5, p).variance",
    "D.MixtureSameFamily(D.Categorical(p), D.NegativeBinomial(2.0, p)).log_prob(w[:1] * 0 + 1)",
    "D.MixtureSameFamily(D.Categorical(p), D.NegativeBinomial(2.0, p)).variance",
    "F.scaled_dot_product_attention(x, y, y, x[:, :, :4] > x.max())",
    "F.scaled_dot_product_attention(x, y, y, x[:, :, :4] > x[:, :, :1])",
    "root.unravel_index(i, (2, 2))[1]",
    "root.kthvalue(x, 2).values", "root.cummax(x, 1).indices", "root.cummin(x, 0).values", "root.mode(i, 0).values",
    "root.svd(x).V.abs()", "root.qr(x).R.abs()", "root.aminmax(x).max", "root.linalg.eigh(x @ x.mT).eigenvalues",
    "root.linalg.svd(x, full_matrices=False).Vh.abs()", "root.linalg.lstsq(x, y[:, :, :2]).solution",
    "root.linalg.slogdet(x @ x.mT).logabsdet", "root.linalg.lu_factor(x[:, :, :4]).LU",
    "root.func.vmap(lambda a, b: a * b, in_dims=(0, None), out_dims=1)(x, y[0])",
    "root.func.vmap(lambda d, s: d['a'] * s + d['b'], in_dims=({'a': 0, 'b': None}, None))({'a': x, 'b': y[0]}, 2.0)",
    "root.func.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, y)",
    "root.func.grad(lambda d: (d['a'] ** 2).sum())({'a': x})['a']",
    "root.func.grad(lambda a: root.func.grad(lambda b: a * b * b)(a))(w[0])",
    "root.func.vmap(root.func.grad(lambda a: (a**3).sum()))(x)",
    "root.func.jacrev(lambda a, b: a @ b, argnums=(0, 1))(x[0], y[0, 0])",
    "root.func.jacfwd(lambda a: (a * a).sum(0))(x[0])", "root.func.hessian(lambda a: (a**3).sum())(w)",
    "root.func.vjp(lambda a, b: a @ b, x[0], y[0, 0])[1](w)",
    "root.func.jvp(lambda a: a * a, (x,), (y,))",
    "root.func.functional_call(nn.Linear(5, 2, bias=False), {'weight': v.mT}, (x,))",
    "(lambda net: root.func.vmap(root.func.grad(lambda p, a: root.func.functional_call(net, p, (a,)).sum()),"
    " in_dims=(None, 0))({'weight': v.mT}, x)['weight'])(nn.Linear(5, 2, bias=False))",
    *(f"R.pad_packed_sequence(filled(nn.{n}(5, 2, bidirectional={b}))(packed)[0])[0]" for n in ("LSTM", "GRU", "RNN")
      for b in (False, True)),
    "filled(nn.LSTM(5, 2, 2))(packed)[1]", "filled(nn.GRU(5, 2))(packed)[1]", "packed.data", "packed.batch_sizes",
    "R.pad_sequence([x[0], y[0, :2]], batch_first=True, padding_value=-1.0, padding_side='left')",
)  # fmt: skip

# Schedules of L, of an optimizer with two groups whose rates are 0.1 and 0.05; the rates of twelve steps.
SCHEDULES = (
    "L.StepLR(o, 3)", "L.MultiStepLR(o, [2, 4, 4], gamma=0.5)", "L.ExponentialLR(o, 0.9)", "L.ConstantLR(o, 0.5, 3)",
    "L.LinearLR(o, 0.1, 1.0, 4)", "L.LinearLR(o, 1.0, 0.0, 4)", "L.PolynomialLR(o, 6, 2.0)",
    "L.LambdaLR(o, [lambda e: 0.9**e, lambda e: 0.8**e])", "L.MultiplicativeLR(o, lambda e: 0.9)",
    "L.CosineAnnealingLR(o, 4, eta_min=0.01)", "L.CosineAnnealingWarmRestarts(o, 3, 2, 0.001)",
    "L.OneCycleLR(o, max_lr=0.3, total_steps=20, cycle_momentum=False)",
    "L.OneCycleLR(o, [0.3, 0.1], epochs=5, steps_per_epoch=4, three_phase=True, anneal_strategy='linear',"
    " cycle_momentum=False, pct_start=0.4)",
    "L.CyclicLR(o, 0.01, 0.1, 3, 5, 'triangular2', cycle_momentum=False)",
    "L.CyclicLR(o, 0.01, 0.1, 3, mode='exp_range', gamma=0.9, cycle_momentum=False)",
    "L.CyclicLR(o, 0.01, 0.1, 3, scale_fn=lambda x: 1 / x, cycle_momentum=False)",
    "L.SequentialLR(o, [L.LinearLR(o, 0.1, total_iters=4), L.CosineAnnealingLR(o, 8)], [4])",
    "L.SequentialLR(o, [L.ConstantLR(o, 0.1, 2), L.ExponentialLR(o, 0.8), L.StepLR(o, 2, 0.5)], milestones=[3, 7])",
    "L.ChainedScheduler([L.ConstantLR(o, 0.1, 3), L.ExponentialLR(o, 0.9)], optimizer=o)",
    "L.ReduceLROnPlateau(o, factor=0.5, patience=0, cooldown=1, min_lr=0.02)",
    "L.ReduceLROnPlateau(o, 'max', factor=0.5, threshold_mode='abs', threshold=0.1, patience=1)",
)  # fmt: skip
METRICS = (1.0, 0.9, 0.9, 0.95, -0.1, -0.1, -0.05, -0.2, 3.0, 3.0, 3.0, 2.0)


def draw(name: str, shape: Any) -> np.ndarray:
    """Return the numbers of a name."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    if shape[:1] == ["i"]:
        return rng.integers(0, 4, shape[1:])
    made = rng.normal(size=shape) * 0.5
    return (np.abs(made) + 0.5 if "running_var" in name else made).astype("float32")


def shown(value: Any) -> Any:
    """Return the shape of a tensor, its weighted sum and its first numbers, of several those of each."""
    if isinstance(value, list | tuple):
        return [shown(v) for v in value if v is not None]
    found = np.asarray(value.detach().numpy()).astype("float64")
    weights = np.cos(np.arange(found.size))
    return [[*found.shape], round(float(found.ravel() @ weights), 4), [round(float(x), 4) for x in found.ravel()[:3]]]


def filled(layer: Any, tensor: Any) -> Any:
    """Give a layer the parameters and statistics of their names."""
    names = {k for k, _ in layer.named_parameters()}
    state = {
        k: tensor(draw(k, [*v.shape])) if k in names or "running" in k else v for k, v in layer.state_dict().items()
    }
    layer.load_state_dict(state)
    return layer


def of_layer(text: str, shapes: Any, nn: Any, tensor: Any) -> dict[str, Any]:
    """Return what a layer gives in training and in evaluation, with its gradients and buffers."""
    layer = filled(eval(text, {"nn": nn}), tensor)
    inputs = [tensor(draw(f"input{i}", s)) for i, s in enumerate(shapes)]
    out = layer(*inputs)
    first = out[0] if isinstance(out, tuple) else out
    trained = sorted(layer.named_parameters())
    if trained:
        (first * first).sum().backward()
    found = {
        "train": shown(out),
        "grads": [[k, shown(p.grad)[1]] for k, p in trained if p.grad is not None],
        "buffers": [[k, shown(b)[1]] for k, b in sorted(layer.named_buffers()) if b is not None],
    }
    layer.eval()
    return found | {"eval": shown(layer(*inputs))}


def of_function(text: str, root: Any, nn: Any, F: Any, D: Any, R: Any, tensor: Any) -> Any:
    """Return what a function gives."""
    names = {k: tensor(draw(k, [3, 4, 5])) for k in "xy"}
    names["i"] = tensor(draw("i", ["i", 3, 4, 5]))
    names["w"], names["v"] = tensor(np.abs(draw("w", [4])) + 0.5), tensor(draw("v", [5, 2]))
    names["p"] = F.softmax(names["x"], -1)
    names["filled"] = lambda layer: filled(layer, tensor)
    names["packed"] = R.pack_padded_sequence(names["x"], tensor([2, 4, 1]), True, False)
    return shown(eval(text, {"root": root, "nn": nn, "F": F, "D": D, "R": R, **names}))


def of_schedule(text: str, L: Any, o: Any, rates: Any) -> list[Any]:
    """Return the rates of the groups of an optimizer at each step."""
    schedule, found = eval(text, {"L": L, "o": o}), [rates(o)]
    for metric in METRICS:
        o.step()
        schedule.step(*[metric] if "Plateau" in text else [])
        found.append(schedule.get_last_lr())
    return [[round(rate, 9) for rate in each] for each in found]


def record() -> None:
    """Write what the installed PyTorch computes."""
    import torch
    from torch.nn.utils import rnn

    modules = torch, torch.nn, torch.nn.functional, torch.distributions, rnn, torch.tensor
    layers = {k: of_layer(k, s, torch.nn, torch.tensor) for k, s in LAYERS.items()}
    functions = {k: of_function(k, *modules) for k in FUNCTIONS}

    def optimizer() -> Any:
        a, b = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
        return torch.optim.SGD([{"params": a.parameters()}, {"params": b.parameters(), "lr": 0.05}], 0.1)

    def rates(o: Any) -> list[float]:
        return [group["lr"] for group in o.param_groups]

    functions |= {k: of_schedule(k, torch.optim.lr_scheduler, optimizer(), rates) for k in SCHEDULES}
    rows = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in {**layers, **functions}.items()]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    record()
