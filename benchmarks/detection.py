"""A detection head with nms, whose number of boxes changes from picture to picture: eagerly, as a program, loaded."""

from __future__ import annotations

import itertools
import tempfile
from typing import Any

import numpy as np

from worker import Call

SIZE, STRIDE = 256, 16
GRID = np.stack(np.meshgrid(*[np.arange(SIZE // STRIDE)] * 2), -1).reshape(-1, 2).astype("float32") * STRIDE


def detector(paddle: Any) -> Any:
    """A small convolutional network, and the boxes that nms keeps of its candidates."""
    nn, ops = paddle.nn, paddle.vision.ops

    class Detector(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            widths = (3, 16, 32, 64, 64)
            convs = [nn.Conv2D(a, b, 3, stride=2, padding=1) for a, b in itertools.pairwise(widths)]
            self.body = nn.Sequential(*[layer for conv in convs for layer in (conv, nn.ReLU())])
            self.head = nn.Conv2D(widths[-1], 5, 1)

        def forward(self, x: Any) -> Any:
            out, corner = self.head(self.body(x)).transpose([0, 2, 3, 1]).reshape([-1, 5]), paddle.to_tensor(GRID)
            boxes = paddle.concat([corner + out[:, :2], corner + 24 + 8 * out[:, 2:4].abs()], 1)
            scores = nn.functional.sigmoid(out[:, 4] * 3)
            likely = paddle.nonzero(scores > 0.5).flatten()
            boxes, scores = paddle.gather(boxes, likely), paddle.gather(scores, likely)
            kept = ops.nms(boxes, 0.3, scores)
            return paddle.gather(boxes, kept), paddle.gather(scores, kept)

    paddle.seed(0)
    net = Detector()
    net.eval()
    return net


def detect(paddle: Any, mode: str) -> Call:
    """One of four pictures after the other; 75 to 114 boxes are kept."""
    rng = np.random.default_rng(0)
    pictures = [rng.standard_normal((1, 3, SIZE, SIZE)).astype("float32") * (1 + i % 3) for i in range(4)]
    turn = itertools.cycle(range(4))
    if mode == "program":
        return program(paddle, pictures, turn)
    net = detector(paddle)
    if mode == "loaded":
        with tempfile.TemporaryDirectory() as folder:
            spec = [paddle.static.InputSpec([1, 3, SIZE, SIZE], "float32")]
            paddle.jit.save(net, f"{folder}/net", input_spec=spec)
            net = paddle.jit.load(f"{folder}/net")
    tensors = [paddle.to_tensor(p) for p in pictures]
    paddle.set_grad_enabled(False)
    return lambda: [t.numpy() for t in net(tensors[next(turn)])]


def program(paddle: Any, pictures: list[Any], turn: Any) -> Call:
    """The same in static mode."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        fetches = list(detector(paddle)(paddle.static.data("x", [1, 3, SIZE, SIZE], "float32")))
    executor = paddle.static.Executor()
    executor.run(startup)
    return lambda: executor.run(main, feed={"x": pictures[next(turn)]}, fetch_list=fetches)
