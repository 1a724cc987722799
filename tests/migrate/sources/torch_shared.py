"""Tensors with several names, sizes from the first input, and what programs ask of layers and devices."""

import numpy as np
import torch
import torch.nn as nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.utils import _ntuple, _pair

D = torch.distributions


def shifted(x, n=1, k: int = 2):
    x += 1
    n += 1
    k += 2
    return n + k


def joined(total, part):
    total += part
    return total


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 2)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        y = self.line(x)
        kept = y
        y += x
        self.calls += 1
        return y * kept


class Scripted(torch.jit.ScriptModule):
    @torch.jit.script_method
    def forward(self, x):
        return x * 2


a = torch.zeros(2)
print(shifted(a), a.tolist())
b = a
b *= 3
part = a[0:1]
part += 5
c = d = torch.ones(2)
c -= 1
print(a.tolist(), d.tolist())
held = []
h = torch.zeros(2)
for i in range(3):
    h = h + 1
    held.append(h)
    h += 10
print([t.tolist() for t in held], joined(1, 2), joined("a", "b"), joined([1], [2]), joined(torch.ones(1), a[:1]).tolist())

net = Residual()
net.line.weight.data.fill_(0.5)
net.line.bias.data.fill_(1.0)
x = torch.ones(1, 2, requires_grad=True)
out = net(x).sum()
out.backward()
print(out.item(), x.grad.tolist(), net.calls.tolist(), net.line.weight.grad.tolist())
print(torch.compile(lambda z: net(z).sum())(torch.ones(1, 2)).item(), net.calls.tolist(), Scripted()(a).tolist())

lazy = nn.Sequential(
    nn.LazyConv2d(4, 3, padding=1), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(5), nn.LazyLinear(2, bias=False)
)
optimizer = torch.optim.RMSprop(lazy.parameters(), lr=0.1, momentum=0.5)
images = torch.arange(48.0).reshape(2, 3, 2, 4).sin()
lazy(images)
print([type(m).__name__ for m in lazy], {k: list(v.shape) for k, v in lazy.state_dict().items()})
for name, p in lazy.named_parameters():
    p.data = torch.tensor(np.sin(np.arange(p.numel(), dtype="float32")).reshape(p.shape) + len(name) / 20)
for _ in range(3):
    optimizer.zero_grad()
    loss = (lazy(images) ** 2).mean()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.3g}")
norm = nn.LazyInstanceNorm1d()
print(norm(torch.ones(1, 3, 4)).abs().sum().item(), norm.affine, norm.num_features, norm.running_mean.shape[0])

print(x.device == torch.device("cpu"), x.device.type, x.device.index, isinstance(x.device, torch.device))
layers = [nn.BatchNorm1d(2), nn.InstanceNorm2d(2), nn.Conv2d(1, 1, (1, 1), [1]), nn.MaxPool1d(2), nn.LSTM(2, 3, batch_first=True)]
print([(isinstance(m, _BatchNorm), isinstance(m, (_ConvNd, nn.MaxPool2d)), isinstance(m, nn.RNNBase)) for m in layers])
print(layers[2].output_padding, layers[2].transposed, layers[4].batch_first, layers[4].bidirectional, _pair(3), _ntuple(3)([1, 2]))
print(round(D.Normal(torch.zeros(1), 1.0).log_prob(torch.zeros(1)).item(), 4), torch.allclose(a, a), a.allclose(b + 1))
m = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
p, low, up = torch.lu_unpack(*torch.linalg.lu_factor(m))
print((p @ low @ up).tolist(), torch.fft.fft(m).real.tolist(), (3 + 4j).imag, m[(m > 1.5).byte()].tolist())
print(torch.autograd.grad(x.sum(), x) + (None,) == (), list(torch.Tensor(x.size()).shape), torch.Tensor(np.ones(2)).dtype == torch.float32)
