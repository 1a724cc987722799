import numpy as np
import paddle

x = paddle.to_tensor([-1.2, 1.0, 0.5], stop_gradient=False)
w = paddle.create_parameter(
    [3], "float32", default_initializer=paddle.nn.initializer.Assign(np.array([-1.2, 1.0, 0.5], "float32"))
)
opt = paddle.optimizer.LBFGS(learning_rate=0.001, max_iter=10, history_size=5, line_search_fn=None, parameters=[w])


def f(v):
    return (100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2).sum()


def closure():
    opt.clear_grad()
    loss = f(w)
    loss.backward()
    return loss


for _ in range(4):
    loss = opt.step(closure)
    print("%.3f" % float(loss))
print(np.round(w.numpy().astype("float64"), 3).tolist())
j = paddle.autograd.jacobian(x**2, x)
h = paddle.autograd.hessian(f(x), x)
print(j[:].numpy().round(3).tolist(), h[:].numpy().round(2).tolist())
# regularised linear fit with param groups
A = paddle.to_tensor(np.random.RandomState(0).randn(20, 3).astype("float32"))
b = A @ paddle.to_tensor([1.0, -2.0, 0.5])
lin = paddle.nn.Linear(
    3,
    1,
    weight_attr=paddle.ParamAttr(
        initializer=paddle.nn.initializer.Constant(0.1), regularizer=paddle.regularizer.L1Decay(0.01)
    ),
)
opt2 = paddle.optimizer.SGD(
    parameters=[{"params": [lin.weight], "learning_rate": 0.5}, {"params": [lin.bias]}], learning_rate=0.1
)
for _ in range(30):
    l = ((lin(A).squeeze(-1) - b) ** 2).mean()
    l.backward()
    opt2.step()
    opt2.clear_grad()
print("%.5f" % float(l), lin.weight.numpy().round(4).ravel().tolist())
