"""A small classifier."""
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset  # data


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, padding=1, bias=False)   # first
        self.bn1 = nn.BatchNorm2d(4, momentum=0.2)
        self.pool = nn.MaxPool2d(2)
        self.drop = nn.Dropout(0.0)
        self.fc = nn.Linear(4 * 4 * 4, 3)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.pool(self.act(self.bn1(self.conv1(x))))
        x = x.view(x.size(0), -1)
        return F.log_softmax(self.fc(self.drop(x)), dim=1)


def fill(model):
    rng = np.random.RandomState(0)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() > 1:
                p.copy_(torch.from_numpy(rng.normal(scale=0.1, size=tuple(p.shape)).astype("float32")))
            elif name.endswith("bias"):
                p.zero_()


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    rng = np.random.RandomState(1)
    x = torch.tensor(rng.normal(size=(24, 1, 8, 8)), dtype=torch.float32)
    y = torch.tensor(rng.randint(0, 3, 24)).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=False, pin_memory=True)
    model = Net().to(device)
    fill(model)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    for epoch in range(3):
        model.train()
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            optimizer.zero_grad()
            loss = F.nll_loss(model(data), target)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        model.eval()
        with torch.no_grad():
            out = model(x)
            value, pred = out.max(1)
            correct = pred.eq(y).sum().item()
        # what it has learned
        print("epoch %d loss %.4f correct %d top %.3f" % (epoch, loss.item(), correct, torch.exp(value).mean().item()))


if __name__ == "__main__":
    main()
