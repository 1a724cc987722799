"""The workloads of Model.fit in Keras 3 on JAX."""

from __future__ import annotations

from typing import Any

import jax
import keras
import numpy as np
from keras import layers

from worker import EPOCH, Call, Workloads, serve

rs = np.random.RandomState(0)


def mlp() -> Any:
    """Three linear layers."""
    sizes = [layers.Dense(256, "relu"), layers.Dense(128, "relu"), layers.Dense(10)]
    return keras.Sequential([keras.Input((784,)), *sizes])


def lenet() -> Any:
    """LeNet-5 for 28x28 images, channels last as Keras has them."""
    convolutions = [
        *(layers.Conv2D(6, 3, padding="same", activation="relu"), layers.MaxPooling2D()),
        *(layers.Conv2D(16, 5, activation="relu"), layers.MaxPooling2D(), layers.Flatten()),
    ]
    return keras.Sequential(
        [keras.Input((28, 28, 1)), *convolutions, *[layers.Dense(n, "relu") for n in (120, 84)], layers.Dense(10)]
    )


def block(x: Any, o: int, s: int) -> Any:
    """Residual block of two 3x3 convolutions."""
    y = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(o, 3, s, "same", use_bias=False)(x)))
    y = layers.BatchNormalization()(layers.Conv2D(o, 3, 1, "same", use_bias=False)(y))
    if s != 1 or x.shape[-1] != o:
        x = layers.BatchNormalization()(layers.Conv2D(o, 1, s, use_bias=False)(x))
    return layers.ReLU()(y + x)


def resnet() -> Any:
    """ResNet-18 for 32x32 images at half width."""
    given = keras.Input((32, 32, 3))
    x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(32, 3, 1, "same", use_bias=False)(given)))
    for o, s in ((32, 1), (64, 2), (128, 2), (256, 2)):
        x = block(block(x, o, s), o, 1)
    return keras.Model(given, layers.Dense(10)(layers.GlobalAveragePooling2D()(x)))


NETS = {"mlp": (mlp, (64, 784)), "lenet": (lenet, (64, 28, 28, 1)), "resnet": (resnet, (16, 32, 32, 3))}


def fit(kind: str) -> Call:
    """An epoch of fit."""
    make, shape = NETS[kind]
    net, steps = make(), EPOCH[kind]
    net.compile(keras.optimizers.Adam(1e-4), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x, y = rs.randn(steps * shape[0], *shape[1:]).astype("float32"), rs.randint(0, 10, steps * shape[0])

    def call():
        net.fit(x, y, batch_size=shape[0], epochs=1, verbose=0, shuffle=False)
        return net.trainable_variables[0].value

    return call


WORKLOADS: Workloads = {f"fit_{k}": lambda k=k: fit(k) for k in NETS}

if __name__ == "__main__":
    serve(WORKLOADS, jax.block_until_ready)
