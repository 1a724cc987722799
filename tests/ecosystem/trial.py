"""What the trials share: the same weights everywhere, an export, and what is printed at the end."""

import json
import math
import time

import numpy as np


def start_from(layer, seed=0, gain=None):
    """Give a layer weights that depend on nothing but the seed.

    With a gain they are as large as initializers make them (gain / sqrt(inputs)), and constants, as normalizations and
    biases have them, stay."""
    rng = np.random.RandomState(seed)
    for p in layer.parameters():
        new = rng.standard_normal(p.shape)
        if gain is not None:
            now = np.unique(p.astype("float32").numpy())
            if now.size == 1 and (math.prod(p.shape) > 1 or now[0] in (0, 1)):
                continue
            new *= gain / max(math.prod(p.shape[1:] if len(p.shape) > 2 else p.shape[:1]), 1) ** 0.5 / 0.3
        p.set_value((new * 0.3).astype(str(p.dtype).rpartition(".")[2]))


def without_dropout(layer):
    """Set the probability of every dropout to 0: random numbers differ between frameworks."""
    for part in layer.sublayers(include_self=True):
        if type(part).__name__.startswith("Dropout"):
            part.p = 0.0
        if isinstance(getattr(part, "dropout", None), float):  # of attention
            part.dropout = 0.0


def numbers(result):
    """The mean size of each tensor of a result, in order: of a tuple, a list or a dictionary, however nested."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        return [x for part in result for x in numbers(part)]
    return [] if result is None else [float(np.abs(np.asarray(result, "float64")).mean())]


def exported(net, *inputs, spec=None, tolerance=1e-4):
    """What a network gives in evaluation; as a static function and saved with open batch, loaded again, it must give
    the same."""
    import paddle

    net.eval()
    with paddle.no_grad():
        expected = numbers(net(*inputs))
    if spec is None:
        spec = [paddle.static.InputSpec([None, *x.shape[1:]], x.dtype) for x in inputs]
    static = paddle.jit.to_static(net, input_spec=spec, full_graph=True)
    with paddle.no_grad():
        np.testing.assert_allclose(numbers(static(*inputs)), expected, tolerance, tolerance)
    paddle.jit.save(static, "exported/net")
    loaded = paddle.jit.load("exported/net")
    loaded.eval()
    np.testing.assert_allclose(numbers(loaded(*inputs)), expected, tolerance, tolerance)
    return expected


def number(x):
    """A tensor of one element, of any shape, or a number of Python."""
    return np.asarray(x).item()


def report(step, steps=20, more=list):
    """Run steps, each of which gives a number, then `more`, which gives several; print all of them, and CPU seconds: to
    the first one, imports included, of one step after it, and of `more`."""
    values = [number(step())]
    cold = time.process_time()
    values += [number(step()) for _ in range(steps - 1)]
    hot = time.process_time()
    values += map(number, more())
    rest = time.process_time() - hot
    print(json.dumps({"values": values, "cold": cold, "hot": (hot - cold) / max(steps - 1, 1), "rest": rest}))
