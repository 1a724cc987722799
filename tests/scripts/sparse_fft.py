import numpy as np
import paddle

idx = [[0, 1, 2, 2], [1, 0, 2, 0]]
s = paddle.sparse.sparse_coo_tensor(idx, [1.0, 2.0, 3.0, -4.0], [3, 3])
print(s.to_dense().numpy().tolist(), s.nnz(), s.is_sparse_coo())
d = paddle.to_tensor(np.arange(9, dtype="float32").reshape(3, 3))
print(
    paddle.sparse.transpose(s, [1, 0]).to_dense().numpy().tolist(),
    paddle.sparse.tanh(s).to_dense().numpy().round(3).tolist(),
)
print(paddle.sparse.nn.functional.relu(s).to_dense().numpy().tolist())
print(paddle.sparse.add(s, s).to_dense().numpy().tolist(), s.to_sparse_csr().crows().numpy().tolist())
c = paddle.sparse.sparse_csr_tensor([0, 2, 3, 4], [0, 2, 1, 0], [1.0, 2.0, 3.0, 4.0], [3, 3])
print(c.to_dense().numpy().tolist(), c.cols().numpy().tolist())
x = paddle.to_tensor(np.sin(np.arange(64) * 0.3).astype("float32"), stop_gradient=False)
spec = paddle.signal.stft(
    x.unsqueeze(0), n_fft=16, hop_length=4, window=paddle.audio.functional.get_window("hann", 16, dtype="float32")
)
power = spec.abs() ** 2
print(list(spec.shape), power.sum().item().__round__(2))
power.sum().backward()
print(np.round(x.grad.numpy()[:5], 3).tolist())
mel = paddle.audio.features.LogMelSpectrogram(sr=8000, n_fft=32, hop_length=8, n_mels=8, f_min=10.0)
print(mel(x.detach().unsqueeze(0)).numpy().round(2)[0, :3, :3].tolist())
f = paddle.fft.rfft(x.detach())
print(f.abs().argmax().item(), np.round(paddle.fft.irfft(f).numpy()[:3], 4).tolist())
g = paddle.fft.fft2(d.astype("complex64"))
print(np.round(g.numpy()[0], 3).tolist())
