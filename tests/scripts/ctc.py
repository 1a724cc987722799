import numpy as np
import paddle
from paddle import nn

rng = np.random.RandomState(3)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 4, 3, stride=(2, 1), padding=1)
        self.bn = nn.BatchNorm2D(4)
        self.lstm = nn.LSTM(16, 8, num_layers=2, direction="bidirect")
        self.fc = nn.Linear(16, 6)

    def forward(self, x):
        x = nn.functional.relu(self.bn(self.conv(x)))
        x = x.transpose([0, 3, 1, 2]).flatten(2)
        x, _ = self.lstm(x)
        return self.fc(x).transpose([1, 0, 2])


net = Net()
for p in net.parameters():
    p.set_value((rng.randn(*p.shape) * 0.3).astype("float32"))
opt = paddle.optimizer.Momentum(
    learning_rate=paddle.optimizer.lr.CosineAnnealingDecay(0.05, 20),
    momentum=0.9,
    parameters=net.parameters(),
    use_nesterov=True,
)
loss_fn = nn.CTCLoss(blank=0)
x = paddle.to_tensor(rng.randn(4, 1, 8, 12).astype("float32"))
labels = paddle.to_tensor(rng.randint(1, 6, (4, 4)).astype("int32"))
ll = paddle.to_tensor([4, 3, 2, 4], dtype="int64")
il = paddle.to_tensor([12] * 4, dtype="int64")
for step in range(15):
    logits = net(x)
    loss = loss_fn(logits, labels, il, ll)
    loss.backward()
    opt.step()
    opt.clear_grad()
    opt._learning_rate.step()
    if step % 5 == 4:
        print("%.4f" % float(loss))
net.eval()
print(
    net(x).argmax(-1).numpy().T[:2].tolist(),
    [round(float(v.mean()), 4) for k, v in net.state_dict().items() if "bn" in k],
)
