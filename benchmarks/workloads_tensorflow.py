"""The workloads that TensorFlow expresses with its own layers: eager as users write it; net and step as tf.function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from worker import Call, Workloads, serve

keras: Any = tf.keras
layers = keras.layers
rs = np.random.RandomState(0)


def sync(result: Any) -> None:
    """On the CPU a result is there when the call returns."""


def mlp():
    """Three linear layers."""
    dense = layers.Dense
    return keras.Sequential([dense(256, activation="relu"), dense(128, activation="relu"), dense(10)])


def lenet():
    """LeNet-5 for 28x28 images, channels last: TensorFlow's CPU kernels have no other layout."""
    convolutions = [
        layers.Conv2D(6, 3, padding="same", activation="relu"),
        layers.MaxPool2D(2),
        layers.Conv2D(16, 5, activation="relu"),
        layers.MaxPool2D(2),
    ]
    head = [layers.Flatten(), layers.Dense(120, activation="relu"), layers.Dense(84, activation="relu")]
    return keras.Sequential([*convolutions, *head, layers.Dense(10)])


def conv_norm(x, o: int, kernel: int, stride: int):
    """A convolution without bias and its batch normalisation."""
    return layers.BatchNormalization()(layers.Conv2D(o, kernel, stride, padding="same", use_bias=False)(x))


def resnet():
    """ResNet-18 for 32x32 images at half width."""
    inputs = keras.Input((32, 32, 3))
    x, i = layers.ReLU()(conv_norm(inputs, 32, 3, 1)), 32
    for o, s in ((32, 1), (64, 2), (128, 2), (256, 2)):
        for stride in (s, 1):
            y = conv_norm(layers.ReLU()(conv_norm(x, o, 3, stride)), o, 3, 1)
            short = x if stride == 1 and i == o else conv_norm(x, o, 1, stride)
            x, i = layers.ReLU()(y + short), o
    return keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling2D()(x)))


def bert(d: int = 256, depth: int = 4, heads: int = 4, vocab: int = 8000):
    """Four encoder layers with a language-model head."""
    ids = keras.Input((128,), dtype="int64")
    x = layers.Embedding(vocab, d)(ids) + layers.Embedding(128, d)(tf.range(128))
    for _ in range(depth):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(heads, d // heads)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(d)(layers.Dense(4 * d, activation="gelu")(x)))
    return keras.Model(ids, layers.Dense(vocab)(x))


def lm(vocab: int = 2000, d: int = 200):
    """Two-layer LSTM language model."""
    rnn = [layers.LSTM(d, return_sequences=True) for _ in range(2)]
    return keras.Sequential([layers.Embedding(vocab, d), *rnn, layers.Dense(vocab)])


def images(*shape: int) -> tuple[Any, Any]:
    """Random images with labels of ten classes."""
    return tf.constant(rs.randn(*shape).astype("float32")), tf.constant(rs.randint(0, 10, shape[:1]))


def tokens(vocab: int, *shape: int) -> tuple[Any, Any]:
    """Random token ids and what should follow them."""
    return tf.constant(rs.randint(0, vocab, shape)), tf.constant(rs.randint(0, vocab, shape))


NETS: dict[str, tuple[Callable, Callable]] = {
    "mlp": (mlp, lambda: images(64, 784)),
    "lenet": (lenet, lambda: images(64, 28, 28, 1)),
    "resnet": (resnet, lambda: images(16, 32, 32, 3)),
    "bert": (bert, lambda: tokens(8000, 4, 128)),
    "lm": (lm, lambda: tokens(2000, 20, 35)),
}


def train(kind: str, mode: str) -> Call:
    """A training step: eager, with the forward pass as tf.function (net), or the whole step (step)."""
    make, data = NETS[kind]
    x, y = data()
    net = make()
    net(x)
    opt = keras.optimizers.Adam(1e-4)
    opt.build(net.trainable_variables)
    forward = tf.function(net) if mode == "net" else net

    def step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, forward(x, training=True))
            loss = tf.reduce_mean(losses)
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables, strict=True))
        return loss

    function = tf.function(step) if mode == "step" else step
    return lambda: function(x, y)


def infer(kind: str, mode: str) -> Call:
    """The forward pass for one example."""
    make, data = NETS[kind]
    x = data()[0][:1]
    net = make()
    function = tf.function(net) if mode == "net" else net
    return lambda: function(x, training=False)


def eager_add() -> Call:
    """The smallest call there is."""
    a, b = tf.ones((4, 4)), tf.ones((4, 4))
    return lambda: a + b


def eager_add_grad() -> Call:
    """The same under a gradient tape."""
    a, b = tf.Variable(tf.ones((4, 4))), tf.ones((4, 4))

    def call():
        with tf.GradientTape():
            return a + b

    return call


def eager_matmul() -> Call:
    """A small matrix product."""
    a, b = tf.ones((4, 4)), tf.ones((4, 4))
    return lambda: a @ b


def eager_fwd_bwd4() -> Call:
    """Four ops forward, and backward."""
    a, b, w = tf.ones((4, 4)), tf.ones((4, 4)), tf.Variable(tf.ones((4, 4)))

    def call():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.tanh(w @ b + a))
        return tape.gradient(y, w)

    return call


def four(a, b):
    """Matrix product, addition, tanh, sum."""
    return tf.reduce_sum(tf.tanh(a @ b + a))


def count(x):
    """A hundred steps on a tensor condition."""
    i = tf.constant(0)
    while i < 100:
        x = tf.tanh(x)
        i += 1
    return x


def collatz(n):
    """A data-dependent loop with a branch in it."""
    steps = tf.constant(0)
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def static(function: Callable, *args: Any) -> Call:
    """A function under tf.function."""
    f = tf.function(function)
    return lambda: f(*args)


def static_grad_while100() -> Call:
    """A data-dependent loop and its gradient."""
    w = tf.Variable(rs.randn(64, 64).astype("float32") * np.float32(0.1))

    def loop(x, n):
        with tf.GradientTape() as tape:
            i = tf.constant(0)
            while i < n:
                x = tf.tanh(x @ w) + 0.01
                i += 1
            y = tf.reduce_sum(x)
        return tape.gradient(y, w)

    return static(loop, tf.ones((64, 64)), tf.constant(100))


WORKLOADS: Workloads = {
    "eager_add": eager_add,
    "eager_add_grad": eager_add_grad,
    "eager_matmul": eager_matmul,
    "eager_fwd_bwd4": eager_fwd_bwd4,
    "static_call4": lambda: static(four, tf.ones((4, 4)), tf.ones((4, 4))),
    "static_while100": lambda: static(count, tf.ones((4, 4))),
    "static_collatz": lambda: static(collatz, tf.constant(97)),
    "static_grad_while100": static_grad_while100,
    **{f"train_{k}_{m}": lambda k=k, m=m: train(k, m) for k in NETS for m in ("eager", "net", "step")},
    **{f"infer_{k}_{m}": lambda k=k, m=m: infer(k, m) for k in NETS for m in ("eager", "net")},
}

if __name__ == "__main__":
    serve(WORKLOADS, sync)
