"""A classifier of tones, on mel spectrograms whose windows are trained; MFCC and the constant-Q transform."""

import numpy as np
import paddle
import trial
from ppAudio.features import MFCC, STFT, CQT1992v2, MelSpectrogram

rng = np.random.RandomState(0)
labels = rng.randint(0, 3, [6])
times = np.arange(2048) / 8000
tones = np.sin(2 * np.pi * np.outer([220.0, 440.0, 880.0], times))[labels] + rng.rand(6, 2048) * 0.1
waves, labels = paddle.to_tensor(tones.astype("float32")), paddle.to_tensor(labels)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.spectrogram = MelSpectrogram(sr=8000, n_fft=256, n_mels=16, hop_length=128, verbose=False)
        self.out = paddle.nn.Linear(16, 3)

    def forward(self, x):
        return self.out((self.spectrogram(x) + 1e-3).log().mean(-1))


net = Net()
trial.start_from(net.out)
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())


def step():
    loss = paddle.nn.functional.cross_entropy(net(waves), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


settings = {"sr": 8000, "hop_length": 128, "verbose": False}
layers = [
    STFT(n_fft=256, hop_length=128, output_format="Magnitude", verbose=False),
    MFCC(sr=8000, n_mfcc=10, n_fft=256, n_mels=16, hop_length=128, verbose=False),
    CQT1992v2(fmin=220, n_bins=24, **settings),
]
trial.report(step, more=lambda: [layer(waves).abs().mean() for layer in layers])
