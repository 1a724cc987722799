import numpy as np
import paddle
from paddle.autograd import PyLayer
from paddle.io import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
)


class Clamp(PyLayer):
    @staticmethod
    def forward(ctx, x, lo, hi):
        ctx.save_for_backward(x)
        ctx.lo, ctx.hi = lo, hi
        return paddle.clip(x, lo, hi)

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensor()
        return dy * ((x > ctx.lo) & (x < ctx.hi)).astype(dy.dtype)


class Data(Dataset):
    def __init__(self):
        self.x = np.arange(24, dtype="float32").reshape(12, 2) / 10

    def __len__(self):
        return 12

    def __getitem__(self, i):
        return {"x": self.x[i], "i": i, "name": f"s{i}"}


def collate(batch):
    return np.stack([b["x"] for b in batch])


def main():
    for batch in DataLoader(Data(), batch_size=5, num_workers=2, collate_fn=collate):
        print(list(batch.shape), batch.sum().item())
    for b in DataLoader(Data(), batch_sampler=BatchSampler(Data(), shuffle=False, batch_size=4, drop_last=True)):
        print(b["i"].numpy().tolist(), b["name"][0])
        break

    class It(IterableDataset):
        def __iter__(self):
            for i in range(5):
                yield np.float32(i)

    print([b.numpy().tolist() for b in DataLoader(It(), batch_size=2)])
    t = TensorDataset([paddle.arange(6), paddle.arange(6) * 2])
    print([v.item() for v in t[3]], len(Subset(t, [1, 2])))
    x = paddle.to_tensor([-2.0, 0.3, 5.0], stop_gradient=False)
    y = Clamp.apply(x, -1.0, 1.0)
    (y * paddle.to_tensor([1.0, 2.0, 3.0])).sum().backward()
    print(y.numpy().tolist(), x.grad.numpy().tolist())
    h = x.register_hook(lambda g: g * 2)
    x.clear_grad()
    (x**3).sum().backward()
    print(x.grad.numpy().round(3).tolist())
    h.remove()
    e = paddle.einsum("bij,bjk->bik", paddle.ones([2, 2, 3]), paddle.full([2, 3, 2], 2.0))
    print(e.numpy().tolist())
    m = paddle.to_tensor([[1, 2], [3, 4], [5, 6]])
    m[1:, 0] = 9
    m[m > 8] = -1
    print(m.numpy().tolist(), m[[0, 2]].numpy().tolist(), m[..., -1].tolist())
    v, i = paddle.topk(m.astype("float32").flatten(), 3)
    print(v.tolist(), i.tolist(), paddle.unique(m).tolist(), paddle.nonzero(m < 0).tolist())
    print(
        paddle.where(m > 2, m, paddle.zeros_like(m)).tolist(),
        paddle.scatter(paddle.zeros([3, 2]), paddle.to_tensor([2, 0]), paddle.ones([2, 2])).tolist(),
    )


if __name__ == "__main__":
    main()
