import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

rng = np.random.RandomState(2)
V, H = 12, 16


class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, H, padding_idx=0)
        self.rnn = nn.GRU(H, H, direction="forward")

    def forward(self, x, lens):
        return self.rnn(self.emb(x), sequence_length=lens)


class Decoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, H)
        self.cell = nn.GRUCell(H, H)
        self.rnn = nn.RNN(self.cell)
        self.out = nn.Linear(H, V)

    def forward(self, y, state):
        o, s = self.rnn(self.emb(y), state)
        return self.out(o)


enc, dec = Encoder(), Decoder()
for p in enc.parameters() + dec.parameters():
    p.set_value((rng.randn(*p.shape) * 0.3).astype("float32"))
opt = paddle.optimizer.AdamW(
    learning_rate=0.02,
    parameters=enc.parameters() + dec.parameters(),
    weight_decay=0.01,
    apply_decay_param_fun=lambda n: "bias" not in n,
)
x = rng.randint(3, V, (8, 5))
lens = rng.randint(2, 6, 8)
for i, n in enumerate(lens):
    x[i, n:] = 0
y = np.concatenate([np.full((8, 1), 1), x[:, ::-1]], 1)
xt, lt = paddle.to_tensor(x.astype("int64")), paddle.to_tensor(lens.astype("int64"))
yt = paddle.to_tensor(y.astype("int64"))
for step in range(30):
    _, h = enc(xt, lt)
    logits = dec(yt[:, :-1], h[0])
    loss = F.cross_entropy(logits.reshape([-1, V]), yt[:, 1:].reshape([-1]), ignore_index=0)
    loss.backward()
    opt.step()
    opt.clear_grad()
    if step % 10 == 9:
        print("%.4f" % float(loss))
decoder = nn.BeamSearchDecoder(
    dec.cell, start_token=1, end_token=2, beam_size=3, embedding_fn=dec.emb, output_fn=dec.out
)
_, h = enc(xt, lt)
ids, _ = nn.dynamic_decode(decoder, inits=h[0], max_step_num=6)
print(list(ids.shape), ids[:, :, 0].numpy()[:3].tolist())
