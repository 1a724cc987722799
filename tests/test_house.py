"""The rules of the house, checked on the source text: who may import whom, sizes, and what stays out."""

from __future__ import annotations

import configparser
import graphlib
import importlib
import itertools
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import house

# A module may import modules of its own layer (but for APART) and of the layers below it.
LAYERS = {
    0: "core cpu_compiler host regularizer version sysconfig",
    1: "registry",
    2: "eager ir",  # the two that give an op a meaning: run at once, or stand in a Program
    3: "tracing dispatch",
    4: "ops",
    5: "autograd fft linalg signal special",
    6: "nn custom",
    7: "optimizer amp io metric framework device utils reader distribution sparse geometric profiler"
    " quantization targets _typing",
    8: "compat cuda dataset distributed jit passes migrate vision text audio incubate hub",
    9: "static inference tensor",
    # Model runs in either mode; kernels by name are operators of model files.
    10: "hapi callbacks serving convert onnx model_files base common_ops_import _C_ops _legacy_C_ops",
    11: "paddle_lite_py __main__",  # the facade, paddle_lite_py/__init__.py
}
# Rooms of these layers may not import each other either.
APART = {2, 3, 7}
# Arrows that go up on purpose, with the reason: (importing module, imported room).
ALLOWED: dict[tuple[str, str], str] = {}

# Modules that are tied to others in a way that no import shows (see house.dynamic()), with the reason.
DYNAMIC = {
    "core.argument_docs": "docstrings are completed where a session or a tool is loaded that shows them",
    "core.no_effect": "a warning names a function as users find it: by the modules that are loaded",
    **dict.fromkeys(["base", "utils"], "one module under two import paths, as in the reference"),
    "serving": "a server needs the packages of the extra, which the help of the command line does not",
    "device": "paddle.device is a module that can be called, and names the module of a kind of device",
    "model_files.kernels": "operators are in their table once their modules are loaded; a public function by its name",
    "_C_ops": "the error for an unknown kernel says what to call",
    "_legacy_C_ops": "each kernel of _C_ops, called in the older way",
    **dict.fromkeys(["custom.jax_op", "dispatch.define", "ops.on_host"], "an op is found by its name"),
    "distributed.fleet": "in static mode its optimizer appends to programs, which lie above it",
    "distributed.fleet.metrics.counted": "a variable has its value in a scope, which lies above it",
    "distributed.fleet.utils.ps_util": "programs lie above it, and fleet, which has it among its utils",
    "distributed.fleet.with_servers": "what saves a program for inference lies above it",
    "distributed.spread": "an op is found by its name",
    "distributed.ps": "what needs pyzmq is imported where it is used: workers without tables do without",
    "distributed.flex_checkpoint.dcp.metadata": "paddle.load reads the records of checkpoints, which lie above it",
    "distributed.fleet.base.topology": "a private name of the reference is the topology in force",
    "distributed.fleet.meta_parallel.schedules": "a layer to be made is given by module and name",
    "migrate.site.paddle": "in another environment a Paddle that is there takes its name",
    "framework.io": "a program in a file is one of static mode, which lies above it",
    "hapi.progress": "a notebook is known by the kernel that is loaded",
    "io.in_worker": "a worker seeds the package only where the data set has loaded it",
    "jit.artifact": "model files of the reference are read by what stands on static mode, above it",
    "jit": "frames of jit and dy2static are not the user's either, and may lie in folders of their own",
    "jit.code_facts": "the folder of the package that a user's function is of",
    "migrate.alias": "lets `import paddle` give this package",
    "migrate.module_paths": "gives modules the names and the modules that the reference has there",
    "migrate.upgrade.names": "a name is looked up where programs will look for it",
    "ops.inplace": "other names of in-place methods are functions too",
    "ops.bounds": "the checks of indices and results, by the names of the ops they belong to",
    "optimizer.operators": "programs in files name updates, which are made again from their recipes",
    "quantization.base": "quanter() puts a recipe beside the class that it decorates",
    "static.program_state": "operators of the reference are told by the tables of model files, which lie above it",
    "static": "data sets are those of paddle.distributed, which is loaded with the first of them",
    "tensor": "the module is a function, too, as in the reference",
    "utils.tools": "try_import() imports what the user names",
}

# What keeps something, and is no memo (see house.keeping()): module and name, with the reason.
_REGISTRY = "a registry: its entries are defined, not computed"
_STATE = "what the user or the job has set up, which nothing could compute again"
_NO_JAX = "it stands alone or comes before JAX, and keeps what follows from a text"
KEEPING = {
    "core.memo lru_cache": "once() itself",
    "core.jax_compat.compiler cache": "a process runs this file without the package",
    "jit.reads lru_cache": "the type of such caches, which users' functions may have",
    **dict.fromkeys(
        ["migrate.module_paths cache", "dy2static.managers lru_cache", "dy2static.source lru_cache"]
        + ["dy2static.template lru_cache"],
        _NO_JAX,
    ),
    **dict.fromkeys(
        ["dispatch.define INPLACE", "host.rules MOVES", "host.rules ELEMENTWISE"]
        + ["distribution.divergence _RULES", "model_files.operators.table OPERATORS", "optimizer.operators RULES"]
        + ["model_files.operators.training REPLACED", "model_files.operators.table _ATTRIBUTES"]
        + ["model_files.writing.rows.primitives PRIMITIVES", "onnx.forms.table FORMS"]
        + ["model_files.writing.rows.table ROWS", "passes.manager REGISTRY", "passes.manager PIPELINES"],
        _REGISTRY,
    ),
    **dict.fromkeys(
        ["core.flags _flags", "custom.kernel _loaded", "custom.kernel _known", "distributed.experts _replicas"]
        + ["distributed.fleet.current current", "distributed.group _groups", "distributed.point_to_point _last"]
        + ["distributed.spread _unions", "distributed.auto_parallel.reading _groups"],
        _STATE,
    ),
    "core.no_effect _told": "what has been said once",
    "core.progress _waiting": "timers under way",
    "distributed.auto_parallel.layouts _met": "the way back from a mesh of XLA's to that of the user",
    "eager.view_layout _memory": "one element of each dtype, whose address tells where a view begins",
}

# Classes that share their name with another one, by the public namespace in which it is the reference's name.
HOMONYMS = {
    "callbacks": "LRScheduler",
    "distributed.auto_parallel.cluster": "Cluster Device Link",
    "distributed.fleet.meta_parallel.sharding.group_sharded_utils": "Type",
    "distributed.utils.launch_utils": "Trainer",
    "distributed.ps": "Rule Server",  # not the reference's: each is one of its package, and called by its name
    "compat.nn": "AvgPool1D AvgPool2D AvgPool3D GRU GRUCell LSTM LSTMCell Linear RNN Softmax Unfold Transformer "
    "TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer CrossEntropyLoss Embedding "
    "GroupNorm LayerNorm PReLU ParameterDict ParameterList",
    "compat.optim": "Optimizer",
    "compat.optim.classes": "SGD Adadelta Adagrad Adam AdamW Adamax NAdam RAdam RMSprop",
    "compat.optim.lr_scheduler": "CosineAnnealingWarmRestarts CyclicLR LRScheduler LinearLR OneCycleLR "
    "ReduceLROnPlateau",
    "compat.distributions": "Categorical",
    "nn.initializer": "Bilinear Normal Uniform",
    "sparse.nn": "BatchNorm Conv2D Conv3D LeakyReLU MaxPool3D ReLU ReLU6 Softmax SyncBatchNorm",
    "static": "Program",  # the other one is the program of the intermediate representation, ir.Program
}

LAYER = {part: layer for layer, parts in LAYERS.items() for part in parts.split()}
# Loaded only by who asks for them: none may come with `import paddle_lite_py`.
HEAVY = {"matplotlib", "sklearn", "pandas", "optax", "tensorflow", "torch", "paddle", "pytest"}
# Folders of a developer's machine, which a reader of the repository does not have.
MACHINE_PATH = re.compile(r"(?<![\w./])/(?:" + "|".join(("work", "root", "opt", "tmp")) + r")\b")


def part_of(module: str) -> str:
    """The part of the house that a module belongs to: `nn` for paddle_lite_py.nn.layer."""
    top, _, rest = module.partition(".")
    return rest.split(".")[0] if top == "paddle_lite_py" and rest else top


def wrong_arrows(root: Path = house.ROOT) -> list[str]:
    """Each import that the layers do not allow, as a line that says what is wrong."""
    return [f"{i.importer}:{i.line} imports {i.target}: {why}" for i in house.imports(root) if (why := objection(i))]


def objection(arrow: house.Import) -> str:
    """What the layers have against an import; empty when nothing."""
    source, target = part_of(arrow.importer), part_of(arrow.target)
    if source == target or arrow.target.split(".")[0] not in ("paddle_lite_py", "dy2static"):
        return ""
    if (arrow.importer, target) in ALLOWED:
        return ""
    if target == "dy2static":
        return "" if source == "jit" else "only jit imports dy2static"
    if source not in LAYER or target not in LAYER:
        return ""  # test_every_module_has_a_layer speaks of these
    if LAYER[source] == LAYER[target] and LAYER[source] in APART:
        return f"{source} and {target} stand apart in layer {LAYER[source]}"
    return f"layer {LAYER[source]} < {LAYER[target]}" if LAYER[source] < LAYER[target] else ""


def circles(graph: dict[str, set[str]]) -> list[str]:
    """One circle of a graph as its arrows, a line each; nothing if there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as e:
        return [f"{source} -> {target}" for target, source in itertools.pairwise(e.args[1])][::-1]
    return []


def run_python(code: str) -> str:
    """Run code in a fresh Python that sees the repository; its output."""
    done = subprocess.run([sys.executable, "-c", code], cwd=house.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_packages_are_there():
    assert {name.split(".")[0] for name in house.modules()} == {"dy2static", "paddle_lite_py"}
    assert "paddle_lite_py.nn" in house.modules()


def test_every_module_has_a_layer():
    homeless = sorted({part_of(m) for m in house.modules()} - LAYER.keys() - {"dy2static"})
    assert not homeless, f"give each of these a layer in LAYERS of {Path(__file__).name}: {', '.join(homeless)}"


def test_imports_go_down():
    assert not (wrong := wrong_arrows()), "\n".join(wrong)


def test_parts_do_not_import_each_other_in_a_circle():
    graph: dict[str, set[str]] = {}
    for i in house.imports():
        source, target = part_of(i.importer), part_of(i.target)
        own = i.target.split(".")[0] == "paddle_lite_py"  # Python has a module `signal` as well
        if own and source != target and target in LAYER and (i.importer, target) not in ALLOWED:
            graph.setdefault(source, set()).add(target)
    assert list(graphlib.TopologicalSorter(graph).static_order())


def test_the_compiler_has_a_narrow_face():
    room = "paddle_lite_py.cpu_compiler"
    found = [f"{i.importer} -> {i.target}" for i in house.imports() if i.target.startswith(room + ".")]
    assert not [arrow for arrow in found if not arrow.startswith(room)]


def test_modules_do_not_import_each_other_in_a_circle():
    assert not (found := circles(house.module_graph())), "\n".join(found)


def dynamic_modules() -> set[str]:
    """The modules that are tied to others unseen by imports; the facade finds its parts by name."""
    return {module.removeprefix("paddle_lite_py.") for module, _, _ in house.dynamic()} - {"paddle_lite_py"}


def test_no_dynamic_arrow_but_those_of_the_table():
    unknown = dynamic_modules() - DYNAMIC.keys()
    places = [f"{m}:{at}: {text}" for m, at, text in house.dynamic() if m.removeprefix("paddle_lite_py.") in unknown]
    assert not unknown, "\n".join(places)


def test_dynamic_arrows_of_the_table_are_still_needed():
    assert not DYNAMIC.keys() - dynamic_modules()


def places_that_keep() -> dict[str, str]:
    """Each place that keeps something and is no memo, as KEEPING names it, with file and line."""
    return {f"{m.removeprefix('paddle_lite_py.')} {name}": f"{m}:{line} {name}" for m, line, name in house.keeping()}


def test_what_is_kept_is_a_memo():
    assert not (found := [text for name, text in places_that_keep().items() if name not in KEEPING]), "\n".join(found)


def test_exceptions_to_memos_are_still_needed():
    assert not KEEPING.keys() - places_that_keep().keys()


def test_a_cache_that_is_no_memo_is_found(tmp_path):
    (tmp_path / "jit").mkdir()
    text = "import functools\nfrom functools import cache\n_a, fixed = 1, 2\n_known: dict = {}\nFIXED = {1: 2}\n"
    text += "@functools.lru_cache(3)\ndef f(x):\n    _known[x] = FIXED[x]\nw = WeakKeyDictionary()\n"
    (tmp_path / "jit" / "a.py").write_text(text)
    assert sorted(place[1:] for place in house.keeping(tmp_path)) == [
        (2, "cache"), (6, "lru_cache"), (8, "_known"), (9, "WeakKeyDictionary")
    ]  # fmt: skip


def test_a_dynamic_arrow_is_found(tmp_path):
    (tmp_path / "jit").mkdir()
    text = "import importlib, sys\nfrom .ops import REGISTRY\nfrom . import op\nOWN = {}\n"
    text += "REGISTRY['a'].check = 1\nop.TABLE['b'] = 2\nREGISTRY.update()\nOWN['c'] = REGISTRY['c']\n"
    text += "importlib.import_module(OWN)\nimportlib.import_module('numpy')\nsys.modules\ndef __getattr__(name): ...\n"
    (tmp_path / "jit" / "a.py").write_text(text)
    assert sorted(line for _, line, _ in house.dynamic(tmp_path)) == [5, 6, 7, 9, 11, 12]


def test_no_two_classes_have_one_name():
    public: dict[str, set[str]] = {}
    for namespace, names in HOMONYMS.items():
        package = importlib.import_module(f"paddle_lite_py.{namespace}")
        for name in names.split():
            public.setdefault(name, set()).add(getattr(package, name).__module__)
    found = {name: sorted(set(at) - public.get(name, set())) for name, at in house.classes().items()}
    assert not (shared := {name: at for name, at in found.items() if len(at) > 1}), shared


def test_homonyms_of_the_table_are_still_some():
    named = [name for names in HOMONYMS.values() for name in names.split()]
    there = house.classes()
    assert not (single := [n for n in named if len(there.get(n, ())) <= named.count(n)]), single


def test_dy2static_knows_python_only():
    foreign = [
        f"{i.importer}:{i.line} imports {i.target}"
        for i in house.imports()
        if i.importer.split(".")[0] == "dy2static"
        and i.target.split(".")[0] not in sys.stdlib_module_names | {"dy2static", "gast", "astor"}
    ]
    assert not foreign, "\n".join(foreign)


def test_only_the_public_interface_of_others_is_used():
    assert not (private := house.private_uses()), "\n".join(private)


def test_a_private_name_of_others_is_found(tmp_path):
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "jit").mkdir()
    (tmp_path / "benchmarks" / "a.py").write_text("from jax._src import core\nprint(jitted._cache_size(), a._mine)\n")
    (tmp_path / "jit" / "_b.py").write_text("import jax\nclass A:\n    _mine = jax._src.core\nfrom x import _b\n")
    assert house.private_uses(tmp_path) == [
        "jit/_b.py:3 _src", "benchmarks/a.py:1 _src", "benchmarks/a.py:2 _cache_size"
    ]  # fmt: skip


def test_one_room_reads_what_jax_does_not_document():
    assert not (found := house.undocumented_uses()), "\n".join(found)


def test_an_undocumented_use_is_found(tmp_path):
    (tmp_path / "jit").mkdir()
    text = '"""xla_cpu_x"""\nimport jax\nfrom jax.extend import core\nfrom jax.experimental import io_callback\n'
    text += 'OPTIONS = {"xla_cpu_x": 1}\np = jax.lax.sin_p\nprint(jax.__version__, eqn.params["inline"])\n'
    (tmp_path / "jit" / "a.py").write_text(text)
    assert sorted(int(u.split(":")[1].split()[0]) for u in house.undocumented_uses(tmp_path)) == [3, 5, 6, 7, 7]


def test_allowed_arrows_are_still_needed():
    needed = {(i.importer, part_of(i.target)) for i in house.imports()}
    assert not ALLOWED.keys() - needed


def test_a_wrong_arrow_is_found(tmp_path):
    for name, text in {
        "ops": "def f():\n    from . import nn\n",
        "nn": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from paddle_lite_py import static\n",
        "amp": "from .io import reader\nfrom paddle_lite_py import Tensor\nimport dy2static\n",
        "io": "import paddle_lite_py.ops\n",
    }.items():
        (tmp_path / "paddle_lite_py").mkdir(exist_ok=True)
        (tmp_path / "paddle_lite_py" / f"{name}.py").write_text(text)
    found = [line.rpartition(": ")[2] for line in wrong_arrows(tmp_path)]
    apart = f"amp and io stand apart in layer {LAYER['amp']}"
    facade = f"layer {LAYER['amp']} < {LAYER['paddle_lite_py']}"
    up = f"layer {LAYER['ops']} < {LAYER['nn']}"
    for_types = f"layer {LAYER['nn']} < {LAYER['paddle_lite_py']}"
    assert sorted(found) == sorted([apart, facade, "only jit imports dy2static", up, for_types])


def test_a_circle_of_modules_is_found(tmp_path):
    (tmp_path / "dy2static").mkdir()
    for name, text in {
        "a": "from .b import g\n",
        "b": "def g():\n    from . import a\n",
        "c": "from . import a\n",
    }.items():
        (tmp_path / "dy2static" / f"{name}.py").write_text(text)
    found = circles(house.module_graph(tmp_path))
    assert sorted(found) == ["dy2static.a -> dy2static.b", "dy2static.b -> dy2static.a"]


def test_functions_are_short():
    found = house.functions()
    lengths = [f.code for f in found]
    longest = ", ".join(f"{f.where} ({f.code})" for f in sorted(found, key=lambda f: -f.code)[:5])
    assert statistics.median(lengths) <= 8, longest
    assert house.percentile(lengths, 95) <= 30, longest
    assert max(lengths) <= 60, longest


def test_files_are_short():
    assert not (long := {f: n for f, n in house.files().items() if n > 400}), f"split these (at most 400 lines): {long}"


def test_every_package_folder_is_installed():
    config = configparser.ConfigParser()
    config.read(house.ROOT / "setup.cfg")
    named = set(config["options"]["packages"].split())
    there = {name for name, path in house.modules().items() if path.name == "__init__.py"}
    assert there == named, "list exactly these under [options] packages in setup.cfg"


def test_no_machine_paths_in_tracked_files():
    listed = subprocess.run(["git", "ls-files"], cwd=house.ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    found = []
    for name in listed.stdout.splitlines():
        text = (house.ROOT / name).read_text(errors="ignore") if (house.ROOT / name).is_file() else ""
        found += [f"{name}: {m.group()}" for m in MACHINE_PATH.finditer(text)]
    assert not found, "\n".join(found)


def test_the_facade_loads_nothing_heavy():
    loaded = json.loads(run_python("import sys, json, paddle_lite_py; print(json.dumps(list(sys.modules)))"))
    assert "paddle_lite_py.nn" in loaded
    assert not HEAVY & {name.split(".")[0] for name in loaded}


@pytest.mark.parametrize("first", ["paddle_lite_py", "paddle_lite_py.jit", "dy2static"])
def test_each_package_can_be_imported_first(first):
    run_python(f"import {first}; import paddle_lite_py as p; import paddle_lite_py.jit as j; assert p.jit is j")


def test_dy2static_stands_alone():
    block = "import sys; sys.modules.update(jax=None, paddle_lite_py=None)"
    run_python(f"{block}; import dy2static, textwrap; assert dy2static.convert(textwrap.dedent)('  a') == 'a'")
