"""Arguments without effect say so: the mechanism, what is declared, and that nothing is dropped in silence."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

import house
import paddle_lite_py as paddle
from paddle_lite_py import nn, static
from paddle_lite_py.core import no_effect as mechanism
from paddle_lite_py.core.no_effect import Immaterial, NoEffectWarning, Refused, no_effect

SILENT = importlib.util.spec_from_file_location("silent", house.ROOT / "tests" / "core" / "silent.py")
silent = importlib.util.module_from_spec(SILENT)
SILENT.loader.exec_module(silent)


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    """Each test hears what another one may have heard."""
    monkeypatch.setattr(mechanism, "_told", set())


def told(call) -> list[warnings.WarningMessage]:
    """The warnings of a call that speak of arguments without effect."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [w for w in found if issubclass(w.category, NoEffectWarning)]


# -- the mechanism -------------------------------------------------------------------------------------------------
@no_effect(fast="there is one way", table=Refused("there is no table"), order=Immaterial("it is kept"))
def double(x, fast=False, *, table=None, order=True):
    """Twice x."""
    return 2 * x


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: double(2), None),
        (lambda: double(2, False, table=None), None),
        (lambda: double(2, order=False), None),
        (lambda: double(2, True), "double: fast=True has no effect: there is one way"),
        (lambda: double(2, fast="very"), "double: fast='very' has no effect: there is one way"),
        (lambda: double(2, fast=[1]), "double: fast=<list> has no effect: there is one way"),
    ],
)
def test_another_value_than_the_default_is_told(call, message):
    results = []
    found = told(lambda: results.append(call()))
    assert results == [4] and [str(w.message) for w in found] == ([] if message is None else [message])


def test_it_is_told_once_at_the_line_of_the_user():
    found = told(lambda: [double(2, fast=True) for _ in range(3)])
    assert [w.filename for w in found] == [__file__]
    assert "double(2, fast=True) for _" in Path(__file__).read_text().splitlines()[found[0].lineno - 1]
    assert told(lambda: double(2, fast=True)) == []


def test_where_warnings_are_errors_each_call_is_one():
    for _ in range(2):
        with pytest.raises(NoEffectWarning, match="fast=True has no effect"):
            double(2, fast=True)


def test_what_would_be_wrong_is_refused_each_time():
    for _ in range(2):
        with pytest.raises(NotImplementedError, match=r"double: table=3 is not available: there is no table"):
            double(2, table=3)


def test_a_declaration_names_a_parameter():
    with pytest.raises(TypeError, match=r"nothing\(\) has no parameter 'x'"):

        @no_effect(x="there is none")
        def nothing():
            pass


def test_a_whole_call_may_have_no_effect():
    @no_effect("there is no pool")
    def trim(pool=None):
        return "trimmed"

    assert [str(w.message).rpartition(".")[2] for w in told(trim)] == ["trim() has no effect: there is no pool"]
    assert told(lambda: trim(3)) == []


def test_a_declared_function_looks_as_it_was():
    assert double.__name__ == "double" and double.__doc__ == "Twice x."
    assert paddle.topk.__name__ == "topk" and "sorted" in str(__import__("inspect").signature(paddle.topk))


def test_what_has_no_say_is_not_wrapped():
    def plain(x, order=True):
        return x

    assert no_effect(order=Immaterial("it is kept"))(plain) is plain


# -- what is declared ----------------------------------------------------------------------------------------------
SIZES = itertools.count(3)
X, IDS = np.ones((2, 4), "float32"), np.array([0, 1])
WARNS = [
    ("nn.functional.instance_norm(paddle.ones([1, 2, 3]), momentum=0.5)", "momentum=0.5"),
    ("nn.InstanceNorm1D(2, momentum=0.5)(paddle.ones([1, 2, 3]))", "nn.functional.instance_norm: momentum=0.5"),
    ("paddle.jit.to_static(lambda x: x, build_strategy=static.BuildStrategy())", "build_strategy=<BuildStrategy>"),
    ("paddle.jit.to_static(lambda x: x, None, None, None)", "jit.to_static: backend=None"),
    ("paddle.optimizer.AdamW(0.1, parameters=[w], lazy_mode=True)", "optimizer.AdamW: lazy_mode=True"),
    ("paddle.profiler.Profiler(emit_nvtx=True)", "profiler.Profiler: emit_nvtx=True"),
    ("paddle.profiler.Profiler(with_flops=True)", "paddle.flops() counts operations"),
    ("paddle.io.DataLoader([1], reader_buffer_size=8)", "io.DataLoader: reader_buffer_size=8"),
    ("paddle.device.reset_peak_memory_stats()", "device.reset_peak_memory_stats() has no effect"),
    ("paddle.inference.Config().enable_mkldnn()", "inference.Config.enable_mkldnn() has no effect"),
    ("paddle.set_flags({'FLAGS_cudnn_exhaustive_search': True})", "set_flags: FLAGS_cudnn_exhaustive_search=True"),
    ("(w * 1).sum().backward(dump_backward_graph_path='graph')", "Tensor.backward: dump_backward_graph_path='graph'"),
    ("nn.ClipGradByGlobalNorm(1.0, group_name='mine')", "nn.ClipGradByGlobalNorm: group_name='mine'"),
    ("static.amp.decorate(paddle.optimizer.SGD(0.1, [w]), use_amp_guard=True)", "use_amp_guard=True"),
]
SILENT_CALLS = [
    "paddle.topk(x, 2, sorted=False)",
    "paddle.sort(x, stable=True)",
    "paddle.io.DataLoader([1], use_shared_memory=False, persistent_workers=True, num_workers=1)",
    "paddle.ones([2], name='ones')",
    "paddle.to_tensor([1.0]).to('cpu', blocking=False)",
    "paddle.inference.Config().enable_memory_optim()",
    "nn.functional.embedding(ids, w, sparse=False)",
    "static.amp.decorate(paddle.optimizer.SGD(0.1, [w]), master_weight=True)",
]
REFUSED = [
    ("paddle.grad(w.sum(), w, only_inputs=False)", "grad: only_inputs=False is not available"),
    ("paddle.jit.load('net', model_filename='m')", "jit.load: model_filename='m' is not available"),
    ("paddle.incubate.ModelAverage(0.1, [w]).minimize(w.sum(), parameters=[w])", "parameters=<list>"),
    ("paddle.incubate.nn.FusedMultiHeadAttention(4, 2)(x3, x3 + 1)", "key is another tensor than query"),
    ("nn.functional.flash_attention.flash_attention(x4, x4, x4, fixed_seed_offset=ids)", "fixed_seed_offset=<Tensor>"),
    ("paddle.inference.Config().enable_use_gpu(100, 0, paddle.inference.PrecisionType.Int8)", "Int8 is not available"),
    ("static.auc(x, ids, topk=3)", "static.auc: topk=3"),
    (
        "static.InMemoryDataset().init(fs_name='hdfs://there')",
        "distributed.fleet.DatasetBase.init: fs_name='hdfs://there'",
    ),
]


def names() -> dict[str, object]:
    """What the calls of the tables speak of."""
    w = paddle.ones([next(SIZES), 2])  # of another shape each time: for the same one a call is remembered
    w.stop_gradient = False
    made = {"w": w, "ids": paddle.to_tensor(IDS), "x": paddle.to_tensor(X), "net": nn.Linear(4, 2)}
    shaped = {"x3": paddle.ones([1, 3, 4]), "x4": paddle.ones([1, 2, 1, 4])}
    return {"paddle": paddle, "nn": nn, "static": static, **made, **shaped}


@pytest.mark.parametrize(("code", "message"), WARNS, ids=[code for code, _ in WARNS])
def test_a_wish_that_is_not_met_is_told(code, message):
    given = names()
    found = [str(w.message) for w in told(lambda: eval(code, given))]
    assert len(found) == 1 and message in found[0], found
    assert told(lambda: eval(code, given)) == []


@pytest.mark.parametrize("code", SILENT_CALLS)
def test_nothing_is_said_of_what_is_so_anyway(code):
    given = names()
    assert told(lambda: eval(code, given)) == []


@pytest.mark.parametrize(("code", "message"), REFUSED, ids=[code for code, _ in REFUSED])
def test_what_would_go_wrong_is_refused(code, message):
    with pytest.raises(NotImplementedError) as raised:
        eval(code, names())
    assert message in str(raised.value)


def test_a_static_function_tells_at_the_line_of_the_user():
    @paddle.jit.to_static
    def normed(x):
        return nn.functional.instance_norm(x, momentum=0.5)

    found = told(lambda: normed(paddle.ones([1, 2, 3])))
    assert [(w.filename, w.lineno) for w in found] == [(__file__, normed._function.__code__.co_firstlineno + 2)]


def test_a_program_under_construction_tells(static_mode):
    x = static.data("x", [None, 3, 8, 8])
    found = told(lambda: static.nn.conv2d(x, 2, 3, use_cudnn=False))
    assert [str(w.message) for w in found] == [
        "static.nn.conv2d: use_cudnn=False has no effect: XLA chooses the kernels itself"
    ]


@pytest.mark.parametrize("alias", [True, False], ids=["run", "plain"])
def test_a_program_is_told_once_and_runs_on(tmp_path, alias):
    name = "paddle" if alias else "paddle_lite_py"
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(f"""
        import {name} as paddle

        layer = paddle.nn.InstanceNorm1D(2, momentum=0.5)
        for _ in range(3):
            out = layer(paddle.ones([1, 2, 3]))
        print(list(out.shape))
        """)
    )
    command = [sys.executable, "-m", "paddle_lite_py", "run"] if alias else [sys.executable]
    done = subprocess.run([*command, program], cwd=house.ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip() == "[1, 2, 3]", done.stderr
    assert done.stderr.count("NoEffectWarning") == 1
    assert "program.py:6: NoEffectWarning: nn.functional.instance_norm: momentum=0.5 has no effect" in done.stderr


# -- keywords ------------------------------------------------------------------------------------------------------
UNKNOWN = [
    ("paddle.jit.to_static(net, inputspec=[])", "jit.to_static() got an unexpected keyword argument 'inputspec'; "
     "did you mean 'input_spec'?"),
    ("paddle.jit.to_static(net, fullgraph=True)", "did you mean 'full_graph'?"),
    ("paddle.jit.save(net, 'net', input_specs=[])", "did you mean 'input_spec'?"),
    ("paddle.jit.save(net, 'net', clipextra=True)", "did you mean 'clip_extra'?"),
    ("paddle.jit.load('net', params_file='w')", "did you mean 'params_filename'?"),
    ("paddle.jit.load('net', zzz=1)", "it takes path, check, model_filename, params_filename"),
    ("paddle.save({}, 'file', safetensor=True)", "did you mean 'safetensors'?"),
    ("paddle.load('file', return_nump=True)", "did you mean 'return_numpy'?"),
    ("paddle.metric.Accuracy(topks=(1,))", "did you mean 'topk'?"),
    ("paddle.metric.Auc(num_threshold=9)", "did you mean 'num_thresholds'?"),
    ("paddle.metric.Precision(nam='p')", "did you mean 'name'?"),
    ("paddle.onnx.export(net, 'net', out_spec=[])", "did you mean 'output_spec'?"),
    ("static.amp.decorate(None, use_pure=True)", "static.amp.decorate() got an unexpected keyword argument 'use_pure'"),
    ("static.save(static.Program(), 'p', pickle_protokol=4)", "did you mean 'pickle_protocol'?"),
    ("static.load_inference_model('p', None, model_file='m')", "did you mean 'model_filename'?"),
    ("static.save_inference_model('p', [], [], programm=None)", "did you mean 'program'?"),
    ("static.InMemoryDataset().init(batchsize=3)", "did you mean 'batch_size'?"),
    ("paddle.utils.cpp_extension.CppExtension([], include_dir=['.'])", "unexpected keyword argument 'include_dir'"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "message"), UNKNOWN, ids=[code for code, _ in UNKNOWN])
@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_an_unknown_keyword_names_the_nearest(code, message, kind):
    import paddle_lite_py.onnx
    import paddle_lite_py.utils.cpp_extension  # noqa: F401

    with pytest.raises(kind) as raised:
        eval(code, names())
    assert message in str(raised.value)


def test_positional_arguments_that_nobody_takes_are_errors():
    with pytest.raises(TypeError, match=r"metric.Accuracy\(\) takes no more positional arguments, but got 5"):
        paddle.metric.Accuracy((1,), "acc", 5)


def test_a_misspelt_setting_of_a_group_is_an_error():
    w = paddle.create_parameter([1], "float32")
    with pytest.raises(ValueError, match="has 'leaning_rate'; did you mean 'learning_rate'"):
        paddle.optimizer.SGD(0.1, parameters=[{"params": [w], "leaning_rate": 0.1}])
    kept = paddle.optimizer.SGD(0.1, parameters=[{"params": [w], "layer": "first"}])._param_groups
    assert kept[0]["layer"] == "first"


# -- the source ----------------------------------------------------------------------------------------------------
def test_no_argument_is_silently_dropped():
    found = silent.dropped(silent.functions())
    assert not found, "\n".join(["read each of these, or declare it with no_effect():", *found])


SOURCE = '''
from typing import NoReturn, Protocol

class Shape(Protocol):
    def area(self, unit): ...

class Base:
    def step(self, time): raise NotImplementedError
    def begin(self, logs):
        """Nothing."""
    def scaled(self, by): return self

class Square(Base):
    def __init__(self, size, colour): self.size = size
    def area(self, unit): return self.size ** 2
    def step(self, time): return 1
    def begin(self, logs): print("begin")
    def scaled(self, by): return Square(self.size * by)
    def moved(self, dx, dy=0): return dx
    def __eq__(self, other): return True
    def _inner(self, x): return 1

def area(shape, unit, name=None): return shape.area
def handed(x, *args, **kwargs): return area(x, *args)
def deleted(x, y):
    del y
    return x
def assigned(x, y):
    y = 1
    return x
def never(x) -> NoReturn: fail()
def refused(x): raise ValueError
@no_effect(y="there is one way")
def declared(x, y): return x
@no_effect("it does nothing")
def whole(x): return 1
@op(methods=["shift"])
def _shift(x, by): return x
def _private(x): return 1
'''


def test_dropped_arguments_are_found(tmp_path):
    (tmp_path / "paddle_lite_py").mkdir()
    (tmp_path / "paddle_lite_py" / "shapes.py").write_text(SOURCE)
    found = {line.partition(" ")[2] for line in silent.dropped(silent.functions(tmp_path))}
    assert found == {
        *("Square.__init__: colour", "Square.moved: dy", "area: unit", "handed: kwargs", "deleted: y", "assigned: y"),
        "_shift: by",
    }


def test_the_page_has_what_the_code_declares():
    spec = importlib.util.spec_from_file_location("arguments", house.ROOT / "docs" / "arguments.py")
    arguments = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(arguments)
    text = arguments.PAGE.read_text()
    assert text == arguments.page(text), "the table is old: run python docs/arguments.py"


def test_every_reason_is_a_clause():
    for d in mechanism.DECLARATIONS:
        assert d.reason and d.reason[0] != " " and not d.reason.endswith("."), d


def test_examples_of_the_source_parse():
    assert ast.parse(SOURCE)
