"""Views: which results share the elements of their argument, and what a change of either does."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import paddle_lite_py as paddle


def numbered(shape=(2, 3, 4), dtype="float32"):
    return paddle.to_tensor(np.arange(np.prod(shape)).reshape(shape).astype(dtype))


# Ways to take a part of a tensor of shape [2, 3, 4] that share its elements.
VIEWS = {
    "x[0]": lambda x: x[0],
    "x[-1]": lambda x: x[-1],
    "x[0, 1]": lambda x: x[0, 1],
    "x[0, 1, 2]": lambda x: x[0, 1, 2],
    "x[1:]": lambda x: x[1:],
    "x[:, 1:]": lambda x: x[:, 1:],
    "x[::2]": lambda x: x[::2],
    "x[:, ::-1]": lambda x: x[:, ::-1],
    "x[:, :, ::-2]": lambda x: x[:, :, ::-2],
    "x[:]": lambda x: x[:],
    "x[...]": lambda x: x[...],
    "x[()]": lambda x: x[()],
    "x[None]": lambda x: x[None],
    "x[..., 0]": lambda x: x[..., 0],
    "x[1:, None, ::2, 1]": lambda x: x[1:, None, ::2, 1],
    "x[tensor]": lambda x: x[paddle.to_tensor(1)],
    "x[:, tensor]": lambda x: x[:, paddle.to_tensor(1)],
    "x[tensor:]": lambda x: x[paddle.to_tensor(1) :],
    "list(x)[1]": lambda x: list(x)[1],
    "reshape": lambda x: x.reshape([6, 4]),
    "reshape to the same": lambda x: x.reshape([2, 3, 4]),
    "view": lambda x: x.view([6, 4]),
    "view as bits": lambda x: x.view("int32"),
    "view_as": lambda x: x.view_as(paddle.zeros([6, 4])),
    "flatten": lambda x: x.flatten(1),
    "ravel": lambda x: x.ravel(),
    "unflatten": lambda x: x.unflatten(2, [2, 2]),
    "transpose": lambda x: x.transpose([2, 0, 1]),
    "permute": lambda x: x.permute(2, 0, 1),
    "moveaxis": lambda x: x.moveaxis(0, 2),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "matrix_transpose": lambda x: x.matrix_transpose(),
    "squeeze": lambda x: x[:1].squeeze(0),
    "unsqueeze": lambda x: x.unsqueeze([0, 2]),
    "unbind": lambda x: x.unbind()[1],
    "unbind(1)": lambda x: x.unbind(1)[2],
    "as_strided": lambda x: x.as_strided([2, 2], [1, 2], 12),
    "unfold": lambda x: x.unfold(2, 2, 2),
    "diagonal": lambda x: x.diagonal(),
    "diagonal(1, 1, 2)": lambda x: x.diagonal(1, 1, 2),
    "slice": lambda x: x.slice([0], [0], [1]),
    "strided_slice": lambda x: x.strided_slice([1], [2], [0], [-1]),
    "narrow": lambda x: x.narrow(2, 1, 2),
    "detach": lambda x: x.detach(),
    "data": lambda x: x.data,
    "atleast_2d": lambda x: x.atleast_2d(),
    "as_complex": lambda x: x.reshape([2, 3, 2, 2]).as_complex(),
    "contiguous": lambda x: x.contiguous(),
    # Chains.
    "t()[0]": lambda x: x[0].t()[0],
    "reshape()[1:]": lambda x: x.reshape([4, 6])[1:],
    "x[0][1]": lambda x: x[0][1],
    "x[:, :, 1:].flatten(0, 1)": lambda x: x[:, :, 1:].flatten(0, 1),
    "transpose, unsqueeze, squeeze, index": lambda x: x.transpose([2, 0, 1]).unsqueeze(0).squeeze(0)[1],
    "detach()[0]": lambda x: x.detach()[0],
    "x[0].detach()": lambda x: x[0].detach(),
    "a long chain": lambda x: x[:, 1:][:, :, 1:][0][1:].t().t()[0][1:].unsqueeze(0).squeeze(0),
}
COPIES = {
    "x[[0]]": lambda x: x[[0]],
    "x[mask]": lambda x: x[x > 3],
    "x[0, [0, 1]]": lambda x: x[0, [0, 1]],
    "x[True]": lambda x: x[True],
    "split": lambda x: x.split(2)[0],
    "chunk": lambda x: x.chunk(3, 1)[1],
    "unstack": lambda x: x.unstack()[0],
    "tensor_split": lambda x: x.tensor_split(2)[0],
    "expand": lambda x: x.expand([1, 2, 3, 4]),
    "broadcast_to": lambda x: x.broadcast_to([2, 3, 4]),
    "flip": lambda x: x.flip(0),
    "clone": lambda x: x.clone(),
    "cast": lambda x: x.cast("float32"),
    "assign": paddle.assign,
    "crop": lambda x: paddle.crop(x, [1, 3, 4]),
    "dropout at rest": lambda x: paddle.nn.functional.dropout(x, 0.5, training=False),
    "reshape of what does not lie in a row": lambda x: x[0].t().reshape([12]),
    "flatten of a slice": lambda x: x[:, :, 1:].flatten(),
    "contiguous of a transpose": lambda x: x.T.contiguous(),
}


@pytest.fixture(params=[False, True], ids=["plain", "recorded"])
def x(request):
    x = numbered()
    x.stop_gradient = not request.param
    return x * 1 if request.param else x


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("warm", [False, True])
def test_a_view_shares_elements(x, name, warm):
    take = VIEWS[name]
    for _ in range(3 * warm):  # calls that are met again take another way
        take(x)
    view = take(x)
    with paddle.no_grad():
        view.fill_(-1.0)
    assert (x.numpy() == -1).sum() == (take(numbered()).numel().item() * (2 if name == "as_complex" else 1)) or (
        name in ("view as bits", "as_complex")
    )
    assert (x != numbered()).any()
    np.testing.assert_array_equal(take(x).numpy(), view.numpy())
    with paddle.no_grad():
        x.add_(paddle.ones([2, 3, 4]))
    np.testing.assert_array_equal(take(x).numpy(), view.numpy())


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_does_not(x, name):
    for _ in range(3):
        copy = COPIES[name](x)
    before = copy.numpy()
    with paddle.no_grad():
        copy.fill_(-1.0)
        assert (x == numbered()).all()
        copy = COPIES[name](x)
        x.fill_(-2.0)
    np.testing.assert_array_equal(copy.numpy(), before)


@pytest.mark.parametrize("name", [n for n in VIEWS if n not in ("detach", "data", "view as bits", "as_complex")])
def test_gradients_flow_through_writes(name):
    """A product written into a view: the gradient of the root is the factor there, and 1 elsewhere."""
    if "detach" in name or name == "contiguous":
        return
    leaf = numbered()
    leaf.stop_gradient = False
    root = leaf * 1
    view = VIEWS[name](root)
    view.multiply_(paddle.to_tensor(3.0))
    root.sum().backward()
    inside = numbered() * 0
    VIEWS[name](inside).fill_(2.0)
    np.testing.assert_array_equal(leaf.grad.numpy(), inside.numpy() + 1)


def test_writes_in_loops_and_by_index():
    x = numbered((2, 3))
    x[0][1] = 5.0
    for row in x:
        row.add_(paddle.ones([3]))
    assert x.tolist() == [[1, 6, 3], [4, 5, 6]]
    x.t()[0].fill_(0.0)
    x.reshape([6])[4:].multiply_(paddle.to_tensor(2.0))
    assert x.tolist() == [[0, 6, 3], [0, 10, 12]]


def test_all_views_see_a_change_of_one():
    x = numbered((2, 3))
    first, rest, flat, d = x[0], x[0][1:], x.reshape([6]), x.detach()
    seen = d[:, 1]
    first.fill_(9.0)
    assert rest.tolist() == [9, 9]
    assert flat.tolist() == [9, 9, 9, 3, 4, 5] == d.flatten().tolist()
    assert seen.tolist() == [9, 4]
    seen.fill_(-1.0)
    assert x.tolist() == [[9, -1, 9], [3, -1, 5]]
    assert first.tolist() == [9, -1, 9]


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.set_value(np.full([2, 3], 7.0, "float32")),
        lambda x: x.copy_(paddle.full([2, 3], 7.0)),
        lambda x: paddle.assign(paddle.full([2, 3], 7.0), x),
        lambda x: paddle.add(paddle.full([2, 3], 3.0), paddle.full([2, 3], 4.0), out=x),
        lambda x: x.__setitem__(slice(None), 7.0),
        lambda x: x[:].set_value(np.full([2, 3], 7.0, "float32")),
    ],
)
def test_every_way_to_change_shows(change):
    x = numbered((2, 3))
    view = x.t()
    change(x)
    assert view.tolist() == [[7, 7]] * 3
    assert x.tolist() == [[7, 7, 7]] * 2


class TestLeaves:
    @pytest.fixture
    def w(self):
        w = paddle.create_parameter([2, 3], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        w.name = "the weight"
        return w

    def test_a_leaf_refuses(self, w):
        for change in (lambda: w.fill_(0.0), lambda: w.__setitem__(0, 0.0)):
            with pytest.raises(RuntimeError, match="the weight"):
                change()

    def test_detached_and_data(self, w):
        w.detach().clip_(-0.5, 0.5)
        assert w.tolist() == [[0.5] * 3] * 2
        w.data.fill_(2.0)
        w.data[0] = 0.0
        w.data[1, 1].add_(paddle.to_tensor(1.0))
        assert w.tolist() == [[0, 0, 0], [2, 3, 2]]
        assert not w.stop_gradient
        assert w.is_leaf
        (w * w).sum().backward()
        assert w.grad.tolist() == [[0, 0, 0], [4, 6, 4]]

    def test_under_no_grad(self, w):
        with paddle.no_grad():
            w[0].fill_(0.0)
        assert w.tolist() == [[0, 0, 0], [1, 1, 1]]
        (w * 2).sum().backward()
        assert w.grad.tolist() == [[2] * 3] * 2

    def test_a_view_of_a_leaf_changes_its_data(self, w):
        view = w[0]
        view.multiply_(paddle.to_tensor(3.0))
        (view.sum() + w.sum()).backward()
        assert w.tolist() == [[3, 3, 3], [1, 1, 1]]
        assert w.grad.tolist() == [[4, 4, 4], [1, 1, 1]]
        assert w.is_leaf

    @pytest.mark.parametrize("kind", ["SGD", "Adam"])
    def test_optimizers(self, w, kind):
        row, kept = w[0], w.detach()
        optimizer = getattr(paddle.optimizer, kind)(0.1, parameters=[w])
        for _ in range(3):
            (w * 3).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
        assert row.tolist() == w[0].tolist() != [1, 1, 1]
        assert kept.tolist() == w.tolist()

    def test_the_graph_stays(self, w):
        y = w * 2
        y.detach().fill_(0.0)
        y.sum().backward()
        assert y.tolist() == [[0] * 3] * 2
        assert w.grad.tolist() == [[2] * 3] * 2


class TestStorage:
    def test_reshaped_in_place(self):
        for change in ("reshape_([3, 2])", "transpose_([1, 0])", "unsqueeze_(0)", "flatten_()", "t_()"):
            x = numbered((2, 3))
            row, other = x[0], x.detach()
            assert eval(f"x.{change}", {"x": x}) is x
            row.fill_(9.0)
            assert sorted(x.flatten().tolist()) == [3, 4, 5, 9, 9, 9]
            x.fill_(1.0)
            assert row.tolist() == [1, 1, 1]
            assert other.tolist() == [[1] * 3] * 2

    def test_another_dtype_is_another_storage(self):
        x = numbered((2, 3))
        row = x[0]
        x.cast_("int32").fill_(7)
        assert row.tolist() == [0, 1, 2]
        row.fill_(1.0)
        assert x.tolist() == [[7] * 3] * 2

    def test_put_on_another(self):
        x, y, old = numbered((2, 3)), paddle.zeros([2, 3]), None
        old = x[0]
        x.data = y
        y.fill_(5.0)
        assert x.tolist() == [[5] * 3] * 2
        assert old.tolist() == [0, 1, 2]
        x.set_(paddle.ones([6]), [2, 2])
        assert x.tolist() == [[1, 1], [1, 1]]
        assert y.tolist() == [[5] * 3] * 2

    def test_strides(self):
        x = numbered()
        assert x.transpose([2, 0, 1]).strides == [1, 12, 4]
        assert x[:, 1].strides == [12, 1]
        assert not x[:, 1].is_contiguous()
        assert x[1].is_contiguous()
        assert x.as_strided([2], [5]).strides == [5]

    def test_as_strided_is_of_the_storage(self):
        x = numbered((3, 4))
        assert x[1].as_strided([2], [1]).tolist() == [0, 1]
        assert x.t().as_strided([2, 2], [1, 4]).tolist() == [[0, 4], [1, 5]]

    def test_an_index_that_changes_leaves_the_view(self):
        x, i = numbered((2, 3)), paddle.to_tensor(0)
        view = x[i]
        i.add_(paddle.to_tensor(1))
        x.add_(paddle.ones([2, 3]))
        assert view.tolist() == [1, 2, 3]


class TestBounds:
    def test_dead_views_are_forgotten(self):
        x = numbered((4, 3))
        for _ in range(1000):
            x[0]
        assert len(x._views) <= 64
        kept = [x[i % 4] for i in range(100)]
        x.fill_(1.0)
        assert all(v.tolist() == [1, 1, 1] for v in kept)

    def test_a_long_chain_is_one_step(self):
        x = numbered((100,))
        view = x
        for _ in range(60):
            view = view[1:]
        depth, at = 0, view._view
        while at is not None:
            depth, at = depth + 1, at[3]
        assert depth < 20
        view.fill_(-1.0)
        assert x.tolist() == [*range(60), *[-1] * 40]

    def test_detached_losses_let_go_of_their_graphs(self):
        w = paddle.ones([2])
        w.stop_gradient = False
        big = w * 2
        kept = (big * 3).detach()
        node = big._source
        del big
        gc.collect()
        assert kept.tolist() == [6, 6]
        assert len([r for r in gc.get_referrers(node) if r is not globals()]) <= 1


class TestGradients:
    def test_a_gradient_that_is_held_is_added_to(self):
        w = paddle.ones([2])
        w.stop_gradient = False
        (w * w).sum().backward()
        held = w.grad
        (w * w).sum().backward()
        assert held.tolist() == [4, 4]
        w.clear_grad()
        assert held.tolist() == [0, 0]
        (w * w).sum().backward()
        assert (held.tolist(), w.grad.tolist()) == ([0, 0], [2, 2])

    def test_an_assigned_gradient_is_copied(self):
        w, given = paddle.ones([2]), paddle.zeros([2])
        w.stop_gradient = False
        (w * w).sum().backward()
        held = w.grad
        w.grad = given
        given.fill_(5.0)
        assert held.tolist() == w.grad.tolist() == [0, 0]
        (w * w).sum().backward()
        assert given.tolist() == [5, 5]


def test_a_view_of_one_element_writes_through_further_views():
    x = paddle.arange(6).reshape([2, 3])
    x[1, 2].reshape([1, 1])[0].fill_(7)
    x[0, 1].unsqueeze(0)[0] = 9
    assert x.tolist() == [[0, 9, 2], [3, 4, 7]]


def test_where_in_its_storage_a_view_begins():
    x = paddle.arange(6)
    found = [x.offset, x[2].offset, x[1:].offset, x.reshape([2, 3])[1, 1:].offset, x[::-1].offset]
    assert found == [0, 16, 8, 32, 40]
    assert x[2:]._is_shared_buffer_with(x) and x.detach()._is_shared_buffer_with(x[1])
    assert not x._is_shared_buffer_with(x.clone())


@pytest.mark.parametrize("static", [False, True])
def test_an_optimizer_updates_the_storage_of_its_parameters(static):
    storage, net = paddle.arange(8, dtype="float32"), paddle.nn.Linear(2, 2)
    storage._slice(0, 4)._share_buffer_to(net.weight)
    net.bias.get_tensor()._share_data_with(storage[4:6])
    assert [net.weight.tolist(), net.bias.tolist()] == [[[0, 1], [2, 3]], [4, 5]]
    assert not net.weight.stop_gradient
    opt = paddle.optimizer.SGD(0.5, parameters=net.parameters())

    def step(x):
        net(x).sum().backward()
        opt.step()
        opt.clear_grad()

    run = paddle.jit.to_static(step) if static else step
    for _ in range(3):
        run(paddle.ones([1, 2]))
    assert storage.tolist() == [-1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 6, 7]
    storage[0] = 9
    assert net.weight.tolist() == [[9, -0.5], [0.5, 1.5]]
    net.weight.get_tensor()._set_dims([4])
    assert net.weight.tolist() == [9, -0.5, 0.5, 1.5]
    with pytest.raises(ValueError, match="elements 0 to 3, but x has 2"):
        paddle.ones([2])._share_buffer_to(paddle.ones([2, 2]))
