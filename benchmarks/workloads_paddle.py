"""The workloads in the Paddle API. BENCH_MODULE is its package: paddle_lite_py, paddle or torch_as_paddle."""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import generation
import lengths
from decoding import decode
from detection import detect
from worker import EPOCH, Call, Workloads, serve

paddle: Any = importlib.import_module(os.environ.get("BENCH_MODULE", "paddle_lite_py"))
nn, F = paddle.nn, paddle.nn.functional
rs = np.random.RandomState(0)


def static(function: Any) -> Any:
    """The whole function as one graph: without it, Paddle may fall back to pieces."""
    return paddle.jit.to_static(function, full_graph=True)


def sync(result: Any) -> None:
    """Wait until a result is there; what is no tensor is there already."""
    if isinstance(result, paddle.Tensor):
        result.detach().numpy()


class MLP(nn.Layer):
    """Three linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = nn.Linear(784, 256), nn.Linear(256, 128), nn.Linear(128, 10)

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x)))))


class LeNet(nn.Layer):
    """LeNet-5 for 28x28 images."""

    def __init__(self) -> None:
        super().__init__()
        self.c1, self.c2 = nn.Conv2D(1, 6, 3, padding=1), nn.Conv2D(6, 16, 5)
        self.f1, self.f2, self.f3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2, 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2, 2)
        return self.f3(F.relu(self.f2(F.relu(self.f1(paddle.flatten(x, 1))))))


class Block(nn.Layer):
    """Residual block of two 3x3 convolutions."""

    def __init__(self, i: int, o: int, s: int) -> None:
        super().__init__()
        self.c1, self.b1 = nn.Conv2D(i, o, 3, s, 1, bias_attr=False), nn.BatchNorm2D(o)
        self.c2, self.b2 = nn.Conv2D(o, o, 3, 1, 1, bias_attr=False), nn.BatchNorm2D(o)
        self.short = None
        if s != 1 or i != o:
            self.short = nn.Sequential(nn.Conv2D(i, o, 1, s, bias_attr=False), nn.BatchNorm2D(o))

    def forward(self, x):
        y = self.b2(self.c2(F.relu(self.b1(self.c1(x)))))
        return F.relu(y + (x if self.short is None else self.short(x)))


class ResNet(nn.Layer):
    """ResNet-18 for 32x32 images at half width."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2D(3, 32, 3, 1, 1, bias_attr=False), nn.BatchNorm2D(32), nn.ReLU())
        blocks, i = [], 32
        for o, s in ((32, 1), (64, 2), (128, 2), (256, 2)):
            blocks += [Block(i, o, s), Block(o, o, 1)]
            i = o
        self.blocks, self.fc = nn.Sequential(*blocks), nn.Linear(256, 10)

    def forward(self, x):
        return self.fc(self.blocks(self.stem(x)).mean([2, 3]))


class Bert(nn.Layer):
    """Four encoder layers with a language-model head."""

    def __init__(self, d: int = 256, layers: int = 4, heads: int = 4, vocab: int = 8000) -> None:
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(128, d)
        layer = nn.TransformerEncoderLayer(d, heads, 4 * d, dropout=0.0, activation="gelu")
        self.enc, self.head = nn.TransformerEncoder(layer, layers), nn.Linear(d, vocab)

    def forward(self, ids):
        pos = paddle.arange(ids.shape[1])
        return self.head(self.enc(self.tok(ids) + self.pos(pos)))


class LM(nn.Layer):
    """Two-layer LSTM language model."""

    def __init__(self, vocab: int = 2000, d: int = 200) -> None:
        super().__init__()
        self.emb, self.rnn, self.head = nn.Embedding(vocab, d), nn.LSTM(d, d, num_layers=2), nn.Linear(d, vocab)

    def forward(self, ids):
        y, _ = self.rnn(self.emb(ids))
        return self.head(y)


class GPT(nn.Layer):
    """GPT-2 with layers of a width: pre-norm blocks with attention to earlier tokens, and the embeddings as head."""

    def __init__(self, d: int, layers: int = 12, vocab: int = 1000) -> None:
        super().__init__()
        self.tok, self.pos, self.norm = nn.Embedding(vocab, d), nn.Embedding(128, d), nn.LayerNorm(d)
        self.blocks = nn.LayerList([GPTBlock(d, d // 64) for _ in range(layers)])

    def forward(self, ids):
        x = self.tok(ids) + self.pos(paddle.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.tok.weight.t()


class GPTBlock(nn.Layer):
    """Attention and two layers, each added to what came in."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).reshape([*x.shape[:2], 3, self.heads, -1]).unbind(2)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def first_steps(mode: str, dtype: str) -> Call:
    """Five training steps of a tiny GPT, under mixed precision for bfloat16."""
    net = GPT(64, layers=2)
    opt = paddle.optimizer.Adam(1e-4, parameters=net.parameters())
    x, y = tokens(1000, 4, 32)

    def step(x, y):
        with contextlib.nullcontext() if dtype == "float32" else paddle.amp.auto_cast(dtype=dtype):
            logits = net(x)
            loss = F.cross_entropy(logits.reshape([-1, logits.shape[-1]]), y.reshape([-1]))
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    run = static(step) if mode == "step" else step
    return lambda: [sync(run(x, y)) for _ in range(5)]


class UNet(nn.Layer):
    """Labels for each point of a picture: down and up by two, with a way across."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = twice(3, 16), twice(16, 32), twice(32, 16)
        self.up, self.out = nn.Conv2DTranspose(32, 16, 2, 2), nn.Conv2D(16, 10, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.up(self.b(F.max_pool2d(a, 2, 2)))
        return paddle.transpose(self.out(self.c(paddle.concat([b, a], 1))), [0, 2, 3, 1])


def twice(i: int, o: int) -> Any:
    """Two 3x3 convolutions with what follows each."""
    first = nn.Conv2D(i, o, 3, 1, 1), nn.BatchNorm2D(o), nn.ReLU()
    return nn.Sequential(*first, nn.Conv2D(o, o, 3, 1, 1), nn.BatchNorm2D(o), nn.ReLU())


class WaveNet(nn.Layer):
    """Gated convolutions of a signal, ever further apart."""

    def __init__(self, c: int = 32) -> None:
        super().__init__()
        self.apart = [2**i for i in range(8)]
        self.first, self.last = nn.Conv1D(1, c, 1), nn.Conv1D(c, 10, 1)
        self.values = nn.LayerList([nn.Conv1D(c, c, 2, padding=d, dilation=d) for d in self.apart])
        self.gates = nn.LayerList([nn.Conv1D(c, c, 2, padding=d, dilation=d) for d in self.apart])

    def forward(self, x):
        x = self.first(x)
        for value, gate, d in zip(self.values, self.gates, self.apart, strict=True):
            x = x + F.tanh(value(x)[:, :, :-d]) * F.sigmoid(gate(x)[:, :, :-d])
        return paddle.transpose(self.last(x), [0, 2, 1])


class Video(nn.Layer):
    """Two convolutions of clips of eight 32x32 pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv3D(3, 16, 3, 1, 1), nn.Conv3D(16, 32, 3, 1, 1)
        self.out = nn.Linear(32 * 2 * 8 * 8, 10)

    def forward(self, x):
        x = F.max_pool3d(F.relu(self.a(x)), 2, 2)
        return self.out(F.max_pool3d(F.relu(self.b(x)), 2, 2).flatten(1))


def images(*shape: int) -> tuple[Any, Any]:
    """Random images with labels of ten classes."""
    return paddle.to_tensor(rs.randn(*shape).astype("float32")), paddle.to_tensor(rs.randint(0, 10, shape[:1]))


def points(*shape: int) -> tuple[Any, Any]:
    """Random arrays with one of ten labels at each place."""
    return paddle.to_tensor(rs.randn(*shape).astype("float32")), paddle.to_tensor(
        rs.randint(0, 10, (shape[0], *shape[2:]))
    )


def tokens(vocab: int, *shape: int) -> tuple[Any, Any]:
    """Random token ids and what should follow them."""
    return paddle.to_tensor(rs.randint(0, vocab, shape)), paddle.to_tensor(rs.randint(0, vocab, shape))


NETS: dict[str, tuple[Callable, Callable]] = {
    "mlp": (MLP, lambda: images(64, 784)),
    "lenet": (LeNet, lambda: images(64, 1, 28, 28)),
    "resnet": (ResNet, lambda: images(16, 3, 32, 32)),
    "bert": (Bert, lambda: tokens(8000, 4, 128)),
    "bert12": (lambda: Bert(64, 12, 4, 1000), lambda: tokens(1000, 2, 16)),
    "resnet50": (lambda: paddle.vision.models.resnet50(num_classes=10), lambda: images(4, 3, 64, 64)),
    "lm": (LM, lambda: tokens(2000, 20, 35)),
    **{f"gpt{d}": (lambda d=d: GPT(d), lambda: tokens(1000, 4, 128)) for d in (256, 768)},
    "unet": (UNet, lambda: points(4, 3, 64, 64)),
    "wavenet": (WaveNet, lambda: points(4, 1, 1000)),
    "video": (Video, lambda: images(4, 3, 8, 32, 32)),
}


def training(kind: str, mode: str) -> tuple[Callable[[Any, Any], Any], tuple[Any, Any]]:
    """A training step and its batch: eager, with the layer alone static (net), or static as a whole (step)."""
    make, data = NETS[kind]
    net = make()
    opt = paddle.optimizer.Adam(1e-4, parameters=net.parameters())
    if mode == "net":
        net = static(net)

    def step(x, y):
        logits = net(x)
        loss = F.cross_entropy(logits.reshape([-1, logits.shape[-1]]), y.reshape([-1]))
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return static(step) if mode == "step" else step, data()


def train(kind: str, mode: str) -> Call:
    """A training step on the same batch again and again."""
    step, (x, y) = training(kind, mode)
    return lambda: step(x, y)


class Batches:
    """The same batch again and again, as data in memory are."""

    def __init__(self, kind: str) -> None:
        x, y = NETS[kind][1]()
        self.batches = [(x, y)] * EPOCH[kind]

    def __iter__(self):
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


def fit(kind: str) -> Call:
    """An epoch of Model.fit."""
    net = NETS[kind][0]()
    model, batches = paddle.Model(net), Batches(kind)
    model.prepare(paddle.optimizer.Adam(1e-4, parameters=net.parameters()), nn.CrossEntropyLoss())

    def call():
        model.fit(batches, epochs=1, verbose=0)
        return net.parameters()[0]

    return call


def loop(kind: str) -> Call:
    """An epoch of a loop written by hand around a static step."""
    net, loss_of, batches = NETS[kind][0](), nn.CrossEntropyLoss(), Batches(kind)
    opt = paddle.optimizer.Adam(1e-4, parameters=net.parameters())

    @static
    def step(x, y):
        loss = loss_of(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    def call():
        for x, y in batches:
            loss = step(x, y)
        return loss

    return call


def train_program(kind: str) -> Call:
    """A training step as a run of a static program, fed tensors, as that of JAX is."""
    make, data = NETS[kind]
    feed = dict(zip("xy", data(), strict=True))
    paddle.enable_static()
    x, y = (paddle.static.data(name, t.shape, t.dtype) for name, t in feed.items())
    logits = make()(x)
    loss = F.cross_entropy(logits.reshape([-1, logits.shape[-1]]), y.reshape([-1]))
    paddle.optimizer.Adam(1e-4).minimize(loss)
    return runner(feed, loss, return_numpy=False)  # so that runs follow each other as calls of JAX do


def runner(feed: dict[str, Any], result: Any, **settings: Any) -> Call:
    """Runs of the default main program."""
    exe, main = paddle.static.Executor(), paddle.static.default_main_program()
    exe.run(paddle.static.default_startup_program())
    return lambda: exe.run(main, feed=feed, fetch_list=[result], **settings)[0]


def program_call4() -> Call:
    """Four ops in a static program: the cost of a run."""
    paddle.enable_static()
    a, b = (paddle.static.data(name, [4, 4], "float32") for name in "ab")
    return runner({name: np.ones([4, 4], "float32") for name in "ab"}, four(a, b))


def program_build5000() -> Call:
    """The building of a program of five thousand operators."""
    paddle.enable_static()

    def call():
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [4, 4], "float32")
            for _ in range(2500):
                x = paddle.tanh(x) + 1.0
        return main

    return call


def generate(batch: int) -> Call:
    """64 tokens by a compiled loop; in PyTorch by a compiled step over a static cache."""
    if paddle.__name__ == "torch_as_paddle":
        return importlib.import_module("generation_torch").compiled(batch)
    return generation.compiled(paddle, batch)


def infer(kind: str, mode: str) -> Call:
    """The forward pass for one example."""
    make, data = NETS[kind]
    net = make()
    net.eval()
    x = data()[0][:1]
    function = static(net) if mode == "net" else net

    def call():
        with paddle.no_grad():
            return function(x)

    return call


def layers160() -> Call:
    """A static layer of 160 parameters, so small that the call itself is what takes time."""
    net = static(nn.Sequential(*[nn.Linear(4, 4) for _ in range(80)]))
    x = ones(4, 4)
    paddle.set_grad_enabled(False)
    return lambda: net(x)


def loaded_mlp() -> Call:
    """A saved and loaded program, for one example."""
    net, x = MLP(), images(1, 784)[0]
    net.eval()
    with tempfile.TemporaryDirectory() as folder:
        paddle.jit.save(net, f"{folder}/net", input_spec=[paddle.static.InputSpec([None, 784], "float32")])
        loaded = paddle.jit.load(f"{folder}/net")
    paddle.set_grad_enabled(False)
    return lambda: loaded(x)


class Sequences(nn.Layer):
    """Two LSTM layers and a linear one."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(64, 128, 2), nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0])


PREDICTED: dict[str, tuple[Callable, Callable]] = {
    "lenet": (LeNet, lambda: images(1, 1, 28, 28)),
    "mobilenet_v3": (lambda: paddle.vision.models.mobilenet_v3_small(), lambda: images(1, 3, 224, 224)),
    "resnet50": (lambda: paddle.vision.models.resnet50(), lambda: images(1, 3, 224, 224)),
    "lstm": (Sequences, lambda: points(1, 32, 64)),
    "bert2": (lambda: Bert(128, 2, 2, 1000), lambda: tokens(1000, 1, 64)),
}


def predict(kind: str) -> Call:
    """A predictor on a model file of PaddlePaddle, for one example: the array in, the run, the array out."""
    make, data = PREDICTED[kind]
    net, x = make(), data()[0].numpy()
    net.eval()
    options = {} if paddle.__name__ == "paddle" else {"format": "paddle"}
    spec = [paddle.static.InputSpec([None, *x.shape[1:]], str(x.dtype), "x")]
    with tempfile.TemporaryDirectory() as folder:
        paddle.jit.save(net, f"{folder}/net", input_spec=spec, **options)
        config = paddle.inference.Config(f"{folder}/net.json", f"{folder}/net.pdiparams")
        predictor = paddle.inference.create_predictor(config)
    given = predictor.get_input_handle("x")
    taken = predictor.get_output_handle(predictor.get_output_names()[0])
    given.reshape(list(x.shape))

    def call():
        given.copy_from_cpu(x)
        predictor.run()
        return taken.copy_to_cpu()

    return call


def lower_bert12() -> Call:
    """From a function to what XLA is given, for twelve encoder layers."""
    make, data = NETS["bert12"]
    net, ids = make(), data()[0]
    return lambda: paddle.jit.StaticFunction(net.forward).lower(ids)


def ones(*shape: int, grad: bool = False) -> Any:
    """A tensor of ones, with or without gradient."""
    x = paddle.ones(list(shape))
    x.stop_gradient = not grad
    return x


def eager_add(grad: bool) -> Call:
    """The smallest call there is."""
    a, b = ones(4, 4, grad=grad), ones(4, 4)
    return lambda: a + b


def eager_matmul() -> Call:
    """A small matrix product."""
    a, b = ones(4, 4), ones(4, 4)
    return lambda: a @ b


def eager_index() -> Call:
    """A row, a column and a block of a matrix."""
    a = ones(16, 16)
    return lambda: (a[3], a[:, -1], a[2:6, :4])


def eager_set_row() -> Call:
    """A number in each element of a row."""
    a = ones(16, 16)

    def call():
        a[3] = 2.0
        return a

    return call


def eager_fwd_bwd4() -> Call:
    """Four ops forward, and backward."""
    a, b, w = ones(4, 4), ones(4, 4), ones(4, 4, grad=True)

    def call():
        paddle.tanh(paddle.matmul(w, b) + a).sum().backward()
        grad = w.grad
        w.clear_gradient()
        return grad

    return call


def static_call4() -> Call:
    """Four ops in a static function: the cost of the call itself."""
    f = static(four)
    a, b = ones(4, 4), ones(4, 4)
    return lambda: f(a, b)


def four(a, b):
    """Matrix product, addition, tanh, sum."""
    return paddle.tanh(paddle.matmul(a, b) + a).sum()


def count(x):
    """A hundred steps on a tensor condition."""
    i = paddle.zeros([], "int32")
    while i < 100:
        x = paddle.tanh(x)
        i += 1
    return x


def collatz(n):
    """A data-dependent loop with a branch in it."""
    steps = paddle.zeros([], "int32")
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def static_loop(function: Any, *args: Any) -> Call:
    """A loop as a static function of tensors."""
    f = static(function)
    return lambda: f(*args)


def static_grad_while100() -> Call:
    """A data-dependent loop and its gradient."""
    w = paddle.to_tensor(rs.randn(64, 64).astype("float32") * np.float32(0.1))
    w.stop_gradient = False
    x, n = ones(64, 64), paddle.full([], 100, "int32")

    def loop(x, n):
        i = paddle.zeros([], "int32")
        while i < n:
            x = paddle.tanh(paddle.matmul(x, w)) + 0.01
            i += 1
        return x.sum()

    f = static(loop)

    def call():
        f(x, n).backward()
        grad = w.grad
        w.clear_gradient()
        return grad

    return call


WORKLOADS: Workloads = {
    "eager_add": lambda: eager_add(grad=False),
    "eager_add_grad": lambda: eager_add(grad=True),
    "eager_matmul": eager_matmul,
    "eager_index": eager_index,
    "eager_set_row": eager_set_row,
    "eager_fwd_bwd4": eager_fwd_bwd4,
    "static_call4": static_call4,
    "static_layers160": layers160,
    "loaded_mlp": loaded_mlp,
    "lower_bert12": lower_bert12,
    "program_call4": program_call4,
    "program_build5000": program_build5000,
    **{f"fit_{k}": lambda k=k: fit(k) for k in EPOCH},
    **{f"loop_{k}": lambda k=k: loop(k) for k in EPOCH},
    **{f"train_{k}_program": lambda k=k: train_program(k) for k in ("mlp", "lenet")},
    "static_while100": lambda: static_loop(count, ones(4, 4)),
    "static_collatz": lambda: static_loop(collatz, paddle.full([], 97, "int64")),
    "static_grad_while100": static_grad_while100,
    **{f"train_{k}_{m}": lambda k=k, m=m: train(k, m) for k in NETS for m in ("eager", "net", "step")},
    **{f"infer_{k}_{m}": lambda k=k, m=m: infer(k, m) for k in NETS for m in ("eager", "net")},
    **{f"predict_{k}": lambda k=k: predict(k) for k in PREDICTED},
    **{f"detect_{m}": lambda m=m: detect(paddle, m) for m in ("eager", "program", "loaded")},
    **{f"decode_concat64_{m}": lambda m=m: decode(paddle, m) for m in ("eager", "program", "loaded")},
    **{f"train_lengths_{mode}": lambda mode=mode: lengths.train(paddle, mode) for mode in ("padded", "packed")},
    "first_token": lambda: generation.first_token(paddle),
    **{
        f"first_steps_{mode}_{dtype}": lambda mode=mode, dtype=dtype: first_steps(mode, dtype)
        for mode in ("eager", "step")
        for dtype in ("float32", "bfloat16")
    },
    **{f"generate64_plain_{n}": lambda n=n: generation.plain(paddle, n) for n in generation.BATCHES},
    **{f"generate64_compiled_{n}": lambda n=n: generate(n) for n in generation.BATCHES},
}

if __name__ == "__main__":
    serve(WORKLOADS, sync)
