"""What programs of Paddle 1.x call to write and read models."""

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.base import older


def test_states_of_a_layer_and_an_optimizer_lie_side_by_side(tmp_path):
    net = paddle.nn.Linear(2, 1)
    adam = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    net(paddle.ones([1, 2])).sum().backward()
    adam.step()
    older.save_dygraph(net.state_dict(), str(tmp_path / "m"))
    assert older.load_dygraph(str(tmp_path / "m.pdparams"))[1] is None
    older.save_dygraph(adam.state_dict(), str(tmp_path / "m"))
    of_layer, of_optimizer = older.load_dygraph(str(tmp_path / "m"))
    np.testing.assert_array_equal(of_layer["weight"].numpy(), net.weight.numpy())
    assert set(of_optimizer) == set(adam.state_dict())


def test_states_that_are_not_there_are_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="neither .*m.pdparams nor .*m.pdopt"):
        older.load_dygraph(str(tmp_path / "m"))
    with pytest.raises(ValueError, match="state_dict is empty"):
        older.save_dygraph({}, str(tmp_path / "m"))


@pytest.fixture
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


@pytest.mark.parametrize("file", [None, "net.pdmodel"])
def test_an_inference_model_by_names_of_feeds(tmp_path, static, file):
    x = np.random.RandomState(0).rand(2, 1, 6, 6).astype("float32")
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        img = paddle.static.data("img", [None, 1, 6, 6], "float32")
        y = older.simple_img_conv_pool(img, 2, 3, 2, 2, pool_type="avg", act="relu")
    exe = paddle.static.Executor()
    exe.run(startup)
    (before,) = exe.run(main, feed={"img": x}, fetch_list=[y])
    assert before.shape == (2, 2, 2, 2)
    assert older.save_inference_model(str(tmp_path / "m"), ["img"], [y], exe, main, file) == [y.name]
    with paddle.static.scope_guard(paddle.static.Scope()):
        program, feeds, fetches = older.load_inference_model(str(tmp_path / "m"), exe, file)
        (after,) = exe.run(program, feed={feeds[0]: x}, fetch_list=fetches)
    np.testing.assert_allclose(after, before, rtol=1e-6)


def test_pooling_is_of_two_kinds(static):
    with pytest.raises(ValueError, match="pool_type is 'min'"):
        older.simple_img_conv_pool(paddle.static.data("i", [1, 1, 6, 6]), 2, 3, 2, 2, pool_type="min")
    globally = older.simple_img_conv_pool(paddle.static.data("j", [1, 1, 6, 6]), 2, 3, 2, 2, global_pooling=True)
    assert globally.shape == [1, 2, 1, 1]
