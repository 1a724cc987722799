"""What is kept must have in its key all that it depends on: call, change one thing, call again."""

import functools
import operator
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import static
from paddle_lite_py.serving.errors import ServingError
from paddle_lite_py.serving.models import ArtifactModel


def tensor(data, dtype="float32", stop_gradient=False):
    return paddle.to_tensor(np.asarray(data, dtype), stop_gradient=stop_gradient)


# -- the flow of gradients, by dtypes ----------------------------------------------------------------------------------
OPS = {
    "reshape": lambda t: t.reshape([24]),
    "transpose": lambda t: t.transpose([1, 0]),
    "getitem": lambda t: t[1],
    "slice": lambda t: t[1:3],
    "squeeze": lambda t: t.squeeze(),
    "unsqueeze": lambda t: t.unsqueeze(0),
    "flatten": lambda t: t.flatten(),
    "concat": lambda t: paddle.concat([t, t]),
    "stack": lambda t: paddle.stack([t, t]),
    "split": lambda t: paddle.split(t, 2)[1],
    "unbind": lambda t: paddle.unbind(t)[1],
    "tile": lambda t: t.tile([2, 1]),
    "expand": lambda t: t.expand([2, 4, 6]),
    "flip": lambda t: t.flip(0),
    "roll": lambda t: t.roll(1),
    "add": lambda t: t + t,
    "multiply": lambda t: t * t,
    "sum": lambda t: t.sum(),
    "max": lambda t: t.max(),
    "sort": lambda t: t.sort(),
    "topk": lambda t: t.topk(2)[0],
    "where": lambda t: paddle.where(t > 0, t, t),
    "gather": lambda t: paddle.gather(t, paddle.to_tensor([0, 1])),
    "abs": lambda t: t.abs(),
    "clip": lambda t: t.clip(0, 3),
    "pad": lambda t: paddle.nn.functional.pad(t, [1, 1]),
    "cumsum": lambda t: t.cumsum(0),
    "diagonal": lambda t: t.diagonal(),
    "tril": lambda t: t.tril(),
    "assign": lambda t: paddle.assign(t),
    "clone": lambda t: t.clone(),
}


@pytest.mark.parametrize("first", ["int64", "float32"])
@pytest.mark.parametrize("name", OPS)
def test_gradients_flow_out_of_an_op_by_the_dtypes_of_the_call(name, first, fresh_ops):
    op = OPS[name]
    for dtype in (first, "int64" if first == "float32" else "float32", first):
        for call in (op, op, paddle.jit.to_static(op, full_graph=True)):
            assert call(tensor(np.ones([4, 6]), dtype)).stop_gradient is (dtype == "int64")


def test_gradients_flow_by_dtypes_where_ops_wait(fresh_ops):
    w = tensor(np.ones([300, 300]))
    for dtype in ("int64", "float32", "int64", "float32"):
        y = (w * 2).astype(dtype).reshape([90_000])
        assert y.stop_gradient is (dtype == "int64")


@pytest.fixture
def fresh_ops():
    """Each op bound anew, as in a new process."""
    from paddle_lite_py.registry.op import REGISTRY

    for op in REGISTRY.values():
        op.known.clear()


# -- the default dtype -------------------------------------------------------------------------------------------------
def changing(default=("float32", "float64", "float32")):
    for name in default:
        paddle.set_default_dtype(name)
        for _ in range(3):
            yield name


def chosen(x):
    return paddle.where(x > 0, 0.1, 0.2)


@pytest.mark.parametrize("n", [4, 40_000])
def test_eager_steps_have_the_default_dtype_of_now(n):
    w = tensor(np.ones([n]))
    for name in changing():
        y = chosen(w * 3)
        (y.astype("float32") * w).sum().backward()
        assert y.dtype == name and w.grad.dtype == "float32"
        w.clear_grad()


def test_functions_called_again_have_the_default_dtype_of_now():
    for name in changing():
        made = [paddle.full([2], 0.5), paddle.add(0.5, 0.25), paddle.sin(0.5), paddle.linspace(0, 1, 3)]
        made += [paddle.zeros([2]), paddle.arange(0.0, 1.0, 0.5), paddle.to_tensor(0.5), paddle.clip(0.5, 0.1, 0.2)]
        assert [t.dtype.name for t in made] == [name] * len(made)


def test_static_functions_have_the_default_dtype_of_now():
    f = paddle.jit.to_static(chosen, full_graph=True, input_spec=[static.InputSpec([None, 2], "float32")])
    for n, name in enumerate(changing()):
        assert f(paddle.ones([1 + n % 5, 2], "float32")).dtype == name


def test_a_declared_program_is_that_of_the_context():
    spec = [static.InputSpec([2, 2], "float32")]
    f = paddle.jit.to_static(lambda x: paddle.where(x > 0, 0.1, 0.2) @ x.astype("float64"), input_spec=spec)
    g = paddle.jit.to_static(lambda x: x @ x, input_spec=spec)

    def dtypes():
        return [made.concrete_program.outputs[0].dtype.name for made in (f, g)]

    assert dtypes() == dtypes() == ["float64", "float32"]
    with paddle.amp.auto_cast(dtype="bfloat16"):
        assert dtypes()[1] == "bfloat16"
    first = f.main_program
    paddle.set_default_dtype("float64")
    assert f.main_program is not first and "float64[2, 2] = where" in str(f.main_program)
    paddle.set_default_dtype("float32")
    assert f.main_program is first


def test_a_declared_program_keeps_its_default_dtype(static_mode):
    x = static.data("x", [None, 2], "float32")
    y = chosen(x)
    exe = static.Executor()
    for n, _ in enumerate(changing()):
        assert exe.run(feed={"x": np.ones([1 + n % 5, 2], "float32")}, fetch_list=[y])[0].dtype == "float32"


def test_a_saved_program_keeps_its_default_dtype(tmp_path):
    f = paddle.jit.to_static(chosen, input_spec=[static.InputSpec([None, 2], "float32")])
    paddle.set_default_dtype("float64")
    paddle.jit.save(f, str(tmp_path / "net"))
    loaded = paddle.jit.load(str(tmp_path / "net"))
    for n, _ in enumerate(changing()):
        assert loaded(paddle.ones([1 + n % 5, 2], "float32")).dtype == "float64"


def test_a_program_read_from_json_keeps_its_default_dtype():
    from paddle_lite_py.ir import lower, serialize

    paddle.set_default_dtype("float64")
    f = paddle.jit.to_static(chosen, full_graph=True)
    f(paddle.ones([2], "float32"))
    (entry,) = f.cache
    data = serialize.to_json(entry.program)
    paddle.set_default_dtype("float32")
    assert lower.lower(serialize.from_json(data))(np.ones([2], "float32"))[0].dtype == "float64"


# -- arrays of the user's, filled anew ---------------------------------------------------------------------------------
def _doubled(n):
    spec = [static.InputSpec([None, n], "float32", "x")]
    return paddle.jit.to_static(lambda x: x * 2, input_spec=spec, full_graph=True)


def _written(write):
    def entrance(n, folder):
        t = paddle.zeros([1, n])
        return lambda buffer: (write(t, buffer), t * 2)[1]

    return entrance


def _saved(n, folder):
    paddle.jit.save(_doubled(n), str(folder / "net"))
    return paddle.jit.load(str(folder / "net"))


def _predictor(give):
    def entrance(n, folder):
        _saved(n, folder)
        made = paddle.inference.create_predictor(paddle.inference.Config(str(folder / "net")))
        return lambda buffer: give(made, made.get_input_handle("x"), buffer)

    return entrance


def _handle(method):
    def give(predictor, handle, buffer):
        getattr(handle, method)(buffer)
        predictor.run()
        return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()

    return give


@contextmanager
def declared(*shapes):
    """A program under construction, with data of these shapes."""
    paddle.enable_static()
    main = static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, static.Program()):
        yield main, *[static.data(name, shape, "float32") for name, shape in zip("xyz", shapes, strict=False)]
    paddle.disable_static()


def _executor(prepare=lambda main: main, **options):
    def entrance(n, folder):
        with declared([None, n]) as (main, x):
            y = x * 2
        program, exe = prepare(main), static.Executor()
        return lambda buffer: exe.run(program, {"x": buffer}, [y], **options)[0]

    return entrance


def _inference_model(n, folder):
    exe, path = static.Executor(), str(folder / "net")
    with declared([None, n]) as (main, x):
        static.save_inference_model(path, [x], [x * 2], exe, program=main)
        loaded, _, fetches = static.load_inference_model(path, exe)
    return lambda buffer: exe.run(loaded, {"x": buffer}, fetches)[0]


def _loader(n, folder, **options):
    class Rows(paddle.io.Dataset):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            return self.buffer

    rows = Rows()

    def call(buffer):
        rows.buffer = buffer
        (batch,) = paddle.io.DataLoader(rows, **{"batch_size": 1} | options)
        return (batch[0] if isinstance(batch, list) else batch).reshape([1, n]) * 2

    return call


def _request(n, folder):
    _saved(n, folder)
    model = ArtifactModel(str(folder / "net"))
    return lambda buffer: model.run({"x": buffer})["out0"].copy()


def _looked_up(n, folder):
    """A global of a static function, which is part of its program."""
    held = SimpleNamespace()
    f = paddle.jit.to_static(lambda x: x * held.buffer, full_graph=True)

    def call(buffer):
        held.buffer = buffer
        return f(paddle.full([], 2.0))

    return call


ENTRANCES = {
    "to_tensor": lambda n, _: lambda b: paddle.to_tensor(b) * 2,
    "from_numpy": lambda n, _: lambda b: paddle.from_numpy(b) * 2,
    "from_dlpack": lambda n, _: lambda b: paddle.from_dlpack(b) * 2,
    "an argument of an op": lambda n, _: lambda b: paddle.full([], 2.0) * b,
    "assign": lambda n, _: lambda b: paddle.assign(b) * 2,
    "set_value": _written(lambda t, b: t.set_value(b)),
    "setitem": _written(lambda t, b: t.__setitem__(slice(None), b)),
    "an argument of a static function": lambda n, _: _doubled(n),
    "an argument of a loaded one": _saved,
    "copy_from_cpu": _predictor(_handle("copy_from_cpu")),
    "share_external_data": _predictor(_handle("share_external_data")),
    "an argument of a predictor": _predictor(lambda predictor, _, b: predictor.run([b])[0]),
    "a feed": _executor(),
    "a feed, for tensors": _executor(return_numpy=False),
    "a feed of a compiled program": _executor(static.CompiledProgram),
    "a feed of an inference model": _inference_model,
    "a feed that is a buffer": lambda n, folder: (lambda run: lambda b: run(memoryview(b)))(_executor()(n, folder)),
    "a loader": _loader,
    "a loader without batches": functools.partial(_loader, batch_size=None),
    "a loader whose batches are made in one buffer": functools.partial(_loader, collate_fn=lambda samples: samples[0]),
    "a request to a server": _request,
    "a variable of a static function": _looked_up,
}


@pytest.mark.parametrize("n", [4, 40_000])
@pytest.mark.parametrize("name", ENTRANCES)
def test_an_array_that_is_filled_anew_is_read_anew(name, n, tmp_path):
    call, buffer, results = ENTRANCES[name](n, tmp_path), np.zeros([1, n], "float32"), []
    for i in range(5):
        buffer[...] = i
        results.append(call(buffer))
    buffer[...] = -1  # nor do results share its memory
    for i, result in enumerate(results):
        np.testing.assert_array_equal(np.asarray(result), 2 * i)


def test_indices_of_a_request_are_looked_at_anew(tmp_path):
    table = paddle.create_parameter([4, 2], "float32")
    spec = [static.InputSpec([None], "int64", "x")]
    paddle.jit.save(paddle.jit.to_static(lambda x: paddle.gather(table, x), input_spec=spec), str(tmp_path / "net"))
    model, ids = ArtifactModel(str(tmp_path / "net")), np.zeros(1, "int64")
    for i in (0, 3, 1):
        ids[0] = i
        np.testing.assert_array_equal(model.run({"x": ids})["out0"], table.numpy()[[i]])
    ids[0] = 4
    with pytest.raises(ServingError, match="holds 4"):
        model.run({"x": ids})


def test_what_is_copied_to_a_predictor_stays(tmp_path):
    made = _predictor(lambda predictor, handle, _: (predictor, handle))(4, tmp_path)(None)
    buffer = np.ones([1, 4], "float32")
    made[1].copy_from_cpu(buffer)
    buffer[...] = 7
    made[0].run()
    assert made[0].get_output_handle(made[0].get_output_names()[0]).copy_to_cpu().tolist() == [[2.0] * 4]


@pytest.mark.parametrize("n", [4, 40_000])
def test_what_the_user_writes_into_an_array_of_a_tensor_is_not_in_the_tensor(n):
    t = paddle.ones([n])
    for give in (paddle.Tensor.numpy, np.array, paddle.utils.dlpack.to_dlpack):
        for _ in range(3):
            array = give(t)
            array = array if isinstance(array, np.ndarray) else paddle.from_dlpack(array).numpy()
            array[...] = 7
            assert float((t * 2).sum()) == 2 * n


# -- programs that differ in a sign, or in what an op of a name is -----------------------------------------------------
@pytest.mark.parametrize("op", [operator.truediv, operator.mul, paddle.pow, paddle.copysign])
def test_numbers_of_another_kind_are_no_common_subexpression(op):
    f = paddle.jit.to_static(
        lambda x: (op(x, 0.0), op(x, -0.0), op(x, 0), op(x, False)), passes=[paddle.passes.common_subexpressions]
    )
    x = tensor([1.0, -1.0])
    for given, right in zip(f(x), [op(x, v) for v in (0.0, -0.0, 0, False)], strict=True):
        np.testing.assert_array_equal(np.signbit(given.numpy()), np.signbit(right.numpy()))
        np.testing.assert_array_equal(given.numpy(), right.numpy())


def _times(n):
    @paddle.utils.custom_op(name="by_caches_test")
    def by_caches_test(x, /):
        return x * n

    return by_caches_test


def _ways(op):
    def branching(row):
        return op(row) if row.sum() > 0 else row

    spec = [static.InputSpec([2, 2], "float32")]
    return {
        "eager": op,
        "static": paddle.jit.to_static(op, full_graph=True, input_spec=spec),
        "vmap": paddle.autograd.vmap(op),
        "vmap of control flow": paddle.autograd.vmap(paddle.jit.to_static(branching)),
        "jvp": lambda t: paddle.autograd.jvp(op, t)[0],
        "the tangents of jvp": lambda t: paddle.autograd.jvp(op, t)[1] * t,
        "gradient": lambda t: paddle.grad(op(t).sum(), [t])[0] * t,
        "double gradient": lambda t: paddle.grad(op(t * t).sum(), [t], create_graph=True)[0] / 2,
    }


def test_an_op_that_is_defined_anew_is_the_new_one_everywhere():
    x = tensor([[1.0, 2.0], [3.0, 4.0]])
    for n in (2.0, 3.0, 5.0):
        for name, way in _ways(_times(n)).items():
            for _ in range(2):
                np.testing.assert_allclose(way(x).numpy(), n * x.numpy(), err_msg=name)


def test_transformed_functions_are_compiled_once_for_each_program():
    from paddle_lite_py.autograd import transforms

    x = tensor([[1.0, 2.0], [3.0, 4.0]])

    def branching(row):
        return row * 2 if row.sum() > 0 else row * -0.0

    before = len(transforms._KNOWN)
    for _ in range(3):
        paddle.autograd.vmap(paddle.jit.to_static(branching))(x)
    assert len(transforms._KNOWN) == before + 1


def test_slices_come_with_a_name_too():
    x = paddle.ones([2, 3])
    for _ in range(2):
        for made in (paddle.unbind(x, 0, name="a"), paddle.unbind(input=x, axis=np.int64(0))):
            made[0][...] = 7.0  # they are views, as they are without
            assert x[0].tolist() == [7.0] * 3 and len(made) == 2
