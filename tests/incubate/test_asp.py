"""Weights that are pruned to n:m patterns of zeros, and stay so in training."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.incubate import asp

MAT = np.array([[2, 8, 9, 9], [9, 1, 3, 9], [5, 6, 3, 9], [2, 4, 6, 9]])
# (algorithm, n, m) -> sum of the elements that PaddlePaddle keeps of MAT
KEPT = {
    ("MASK_1D", 2, 4): 66,
    ("MASK_1D", 1, 4): 86,
    ("MASK_2D_GREEDY", 2, 4): 56,
    ("MASK_2D_GREEDY", 1, 2): 55,
    ("MASK_2D_BEST", 2, 4): 61,
    ("MASK_2D_BEST", 1, 2): 59,
}


@pytest.mark.parametrize("case", KEPT, ids=str)
def test_what_a_mask_keeps(case: tuple[str, int, int]):
    name, n, m = case
    algorithm = asp.MaskAlgo[name]
    mask = asp.create_mask(MAT, algorithm, n, m)
    assert (MAT * mask).sum() == KEPT[case] and mask.dtype == MAT.dtype
    assert asp.check_sparsity(mask, asp.CheckMethod.get_checking_method(algorithm), n, m)


@pytest.mark.parametrize("algorithm", asp.MaskAlgo, ids=lambda a: a.name)
def test_the_sign_of_an_element_is_no_matter(algorithm: asp.MaskAlgo):
    assert (asp.create_mask(-MAT, algorithm) == asp.create_mask(MAT, algorithm)).all()


@pytest.mark.parametrize("shape", [(9,), (5, 7), (2, 3, 8), (2, 3, 8, 6)], ids=str)
@pytest.mark.parametrize("algorithm", asp.MaskAlgo, ids=lambda a: a.name)
def test_any_shape_is_filled_up(shape: tuple[int, ...], algorithm: asp.MaskAlgo):
    values = np.random.default_rng(0).random(shape)
    mask = asp.create_mask(values, algorithm)
    method = asp.CheckMethod.get_checking_method(algorithm)
    assert mask.shape == shape and asp.check_sparsity(values * mask, method)
    assert not asp.check_sparsity(values, asp.CheckMethod.CHECK_1D)


def test_what_cannot_be_asked_for():
    with pytest.raises(ValueError, match="too many 4:8"):
        asp.create_mask(np.ones((8, 8)), asp.MaskAlgo.MASK_2D_BEST, 4, 8)
    with pytest.raises(TypeError, match="func_name is 'mask_1d'"):
        asp.create_mask(MAT, "mask_1d")
    with pytest.raises(ValueError, match="n is 5 and m 4"):
        asp.get_mask_1d(MAT, 5, 4)
    with pytest.raises(ValueError, match="1 to 4 dimensions"):
        asp.check_sparsity(np.ones((1,) * 5))
    with pytest.raises(ValueError, match="mask_algo is 'best'"):
        asp.prune_model(paddle.nn.Linear(4, 4), mask_algo="best")
    with pytest.raises(TypeError, match="model is a int"):
        asp.prune_model(3)
    with pytest.raises(RuntimeError, match=r"no optimizer keeps 'linear_\d+.w_0' sparse"):
        asp.prune_model(paddle.nn.Linear(4, 4))
    with pytest.warns(UserWarning, match="below 4"):
        asp.prune_model(paddle.nn.Linear(3, 4), with_mask=False)


class Net(paddle.nn.Layer):
    """A convolution and two matrices."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = paddle.nn.Conv2D(4, 4, 1), paddle.nn.BatchNorm2D(4)
        self.first, self.second = paddle.nn.Linear(16, 4), paddle.nn.Linear(4, 2)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.second(self.first(self.norm(self.conv(x)).flatten(1)))


def densities(layer: paddle.nn.Layer) -> dict[str, float]:
    return {name: asp.calculate_density(p.numpy()) for name, p in layer.named_parameters() if p.ndim > 1}


SPARSE = {"conv.weight": 0.5, "first.weight": 0.5, "second.weight": 0.5}


@pytest.mark.parametrize("static", [False, True], ids=["eager", "to_static"])
def test_pruned_weights_stay_so_in_training(static: bool):
    net = Net()
    opt = asp.decorate(paddle.optimizer.Adam(0.1, parameters=net.parameters()))
    masks = asp.prune_model(net)
    assert densities(net) == SPARSE and set(masks) == {p.name for p in net.parameters() if p.ndim > 1}
    before = net.first.weight.numpy()

    def step(x: paddle.Tensor) -> None:
        net(x).square().mean().backward()
        opt.step()
        opt.clear_grad()

    run = paddle.jit.to_static(step) if static else step
    for _ in range(3):
        run(paddle.arange(32, dtype="float32").reshape([2, 4, 2, 2]).sin())
    assert densities(net) == SPARSE and (net.first.weight.numpy() != before).any()


def test_masks_are_state_of_the_optimizer():
    net = paddle.nn.Linear(8, 4)
    opt = asp.decorate(paddle.optimizer.Momentum(0.1, parameters=net.parameters()))
    asp.prune_model(net)
    net(paddle.ones([1, 8])).sum().backward()
    opt.step()
    state = {name: paddle.to_tensor(value.numpy()) if isinstance(value, paddle.Tensor) else value
             for name, value in opt.state_dict().items()}  # fmt: skip
    assert f"{net.weight.name}.asp_mask" in state
    asp.prune_model(net, n=4)
    opt.set_state_dict(state)
    net.weight.set_value(paddle.ones([8, 4]))
    opt.step()
    assert asp.calculate_density(net.weight.numpy()) == 0.5
    with pytest.raises(KeyError, match="asp_mask"):
        opt.set_state_dict({})


def test_excluded_and_supported_layers():
    net = Net()
    asp.set_excluded_layers([net.first.full_name()])
    assert len(asp.prune_model(net, with_mask=False)) == 2
    asp.reset_excluded_layers()
    assert len(asp.prune_model(net, with_mask=False)) == 3
    embedding = paddle.nn.Embedding(4, 4)
    assert not asp.prune_model(embedding, with_mask=False)
    asp.add_supported_layer(embedding, lambda w, m, n, algorithm, name: (w * 0, w * 0))
    assert len(asp.prune_model(embedding, with_mask=False)) == 1 and not embedding.weight.any()


def test_static_programs():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        first, second = paddle.nn.Linear(8, 4), paddle.nn.Linear(4, 2)
        loss = second(first(paddle.static.data("x", [None, 8]))).square().mean()
        asp.set_excluded_layers([second.full_name()], main)
        opt = asp.decorate(paddle.optimizer.SGD(0.1))
        opt.minimize(loss, startup)
    executor = paddle.static.Executor()
    executor.run(startup)
    assert set(asp.prune_model(main)) == {first.weight.name}
    for _ in range(2):
        executor.run(main, feed={"x": np.ones((2, 8), "float32")}, fetch_list=[loss])
    assert [asp.calculate_density(p.numpy()) for p in (first.weight, second.weight)] == [0.5, 1.0]
