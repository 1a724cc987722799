"""CLIP of paddleclip: its tokenizer, pictures, training with the loss of pairs; features, predictions, an export."""

import numpy as np
import paddle
import paddle.nn.functional as F
import trial
from clip import tokenize
from clip.model import CLIP

vision = {"image_resolution": 32, "vision_layers": 2, "vision_width": 64, "vision_patch_size": 8}
language = {"context_length": 16, "transformer_width": 32, "transformer_heads": 4, "transformer_layers": 2}
net = CLIP(embed_dim=16, vocab_size=49408, **vision, **language)
trial.start_from(net, gain=1.0)
rng = np.random.RandomState(0)
pictures = paddle.to_tensor(rng.randn(4, 3, 32, 32).astype("float32"))
texts = tokenize(["a dog", "a cat on a mat", "two birds", "the sea in winter"], context_length=16)
optimizer = paddle.optimizer.AdamW(0.001, parameters=net.parameters())
pairs = paddle.arange(4)


def step():
    net.train()
    by_picture, by_text = net(pictures, texts)
    loss = F.cross_entropy(by_picture, pairs) + F.cross_entropy(by_text, pairs)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


def more():
    net.eval()
    with paddle.no_grad():
        values = trial.numbers([net.encode_image(pictures), net.encode_text(texts), F.softmax(net(pictures, texts)[0])])
    return [int(texts.sum()), *values, *trial.exported(net.visual, pictures)]


trial.report(step, 20, more)
