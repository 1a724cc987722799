# Every target sets up what it needs in .venv, once; after that it needs no network.
#   make demo | test | test-smoke | test-versions | mutants | fuzz | fuzz-files | fuzz-serving | fuzz-wires | kills | chaos | test-all | check | bench |
#   bench-ops | targets | memory | plans | gpu | onnx | parity | ecosystem | native | docs | dist | size | clean
PYTHON ?= python3
# Processes of pytest: more than the two cores of a small machine, since many tests wait for processes of their own.
JOBS ?= 3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input install --quiet --quiet

.PHONY: demo test test-smoke test-versions mutants fuzz fuzz-files fuzz-serving fuzz-wires kills chaos test-all check bench bench-ops targets memory plans gpu onnx parity parity-record ecosystem native docs notebooks dist size clean

demo: $(VENV)/.has-demo
	@$(PY) tutorials/demo.py

test: $(VENV)/.has-test
	@$(PY) -m pytest -q -n $(JOBS) $(ARGS)

# A thirtieth of the tests, all of those of what differs between versions, and the demo, on another Python with the
# newest JAX that it gets: make test-smoke PYTHON=python3.13 VENV=.venv-3.13. Tests that start processes for minutes are left out.
OF_VERSIONS := tests/core/test_jax_compat.py tests/core/test_references.py tests/host/test_rules.py
LONG := tests/distributed tests/hapi/test_checkpoints.py tests/test_house.py tests/test_tutorials.py
test-smoke: $(VENV)/.has-test
	@$(PY) -m pytest -q -n $(JOBS) $(OF_VERSIONS)
	@$(PY) -m pytest -q -n $(JOBS) --every 30 $(LONG:%=--ignore=%) $(ARGS)
	@$(PY) tutorials/demo.py

# All tests on each Python that is here, each in an environment of its own; those that are not here are named.
test-versions:
	@$(PYTHON) tests/versions.py test

# Faults planted one at a time in a copy of the tree, most of them of caches: at least 90 % of them are noticed.
mutants: $(VENV)/.has-test
	@$(PY) tests/mutants.py $(ARGS)

# Random programs that change state under conditions, and whole programs of layers and training steps, many more than the
# tests have: static code gives what eager code gives.
fuzz: $(VENV)/.has-test
	@PLAIN_PROGRAMS=3000 VIEWS_PROGRAMS=1000 OUTSIDE_PROGRAMS=1000 WHOLE_PROGRAMS=3000 \
	  $(PY) -m pytest -q -n $(JOBS) tests/jit/test_state_programs.py tests/jit/test_whole_programs.py $(ARGS)

# Bad requests to a server: each ends in a clear error, none in a crash, and the server does not grow. What its page of
# OpenAPI describes is answered, and nothing else; schemathesis, in an environment of its own, looks for more.
SCHEMATHESIS := .cache/schemathesis/bin/schemathesis
fuzz-serving: $(VENV)/.has-test $(SCHEMATHESIS)
	@BAD_REQUESTS=10000 SCHEMATHESIS=$(CURDIR)/$(SCHEMATHESIS) $(PY) -m pytest -q -n 0 tests/serving/test_bad_requests.py \
	  tests/serving/test_openapi.py $(ARGS)

$(SCHEMATHESIS):
	@mkdir -p .cache
	@$(PYTHON) -m venv .cache/schemathesis
	@.cache/schemathesis/bin/pip --disable-pip-version-check --no-input install --quiet --quiet schemathesis

# 10,000 altered files, with digests made right, read by processes of their own: each is read or refused, with no end of
# the process, no wait beyond 20 s, no memory beyond 20 times the file and 200 MB, and nothing touched outside its folder.
fuzz-files: $(VENV)/.has-test
	@HOSTILE_FILES=10000 $(PY) -m pytest -q -n $(JOBS) tests/jit/test_hostile_files.py $(ARGS)

# Strangers at the doors of a job's processes and of parameter servers: none is waited for, and none is heard.
fuzz-wires: $(VENV)/.has-test
	@BAD_MESSAGES=600 $(PY) -m pytest -q -n $(JOBS) tests/distributed/test_members.py $(ARGS)
	@BAD_MESSAGES=10000 $(PY) -m pytest -q -n $(JOBS) tests/distributed/ps/test_client.py -k "strangers or members" $(ARGS)

# Training that is killed at random moments, 20 times, and goes on to the same weights, bit by bit.
kills: $(VENV)/.has-test
	@KILLS=40 $(PY) -m pytest -q -n 0 tests/hapi/test_checkpoints.py -k killed $(ARGS)

# Jobs of several processes that are killed, as stories that end with the result of an undisturbed run; then parameter
# servers killed under load at 20 random moments: no push is lost, and none is applied twice.
chaos: $(VENV)/.has-test
	@$(PY) tests/distributed/chaos/elastic.py
	@$(PY) tests/distributed/chaos/recommenders.py
	@CHAOS_KILLS=20 $(PY) -m pytest -q -s -n 0 tests/distributed/ps/test_chaos.py $(ARGS)

# With the repeats too, and compiled as users' programs are; then with what caches have computed anew every third time.
test-all: $(VENV)/.has-test
	@XLA_FLAGS= CHANGING_CALLS=12 $(PY) -m pytest -q -n $(JOBS) -m "not gpu" $(ARGS)
	@PADDLE_LITE_CHECK_CACHES=3 $(PY) -m pytest -q -n $(JOBS) -m "not gpu and not repeat and not counts" $(ARGS)

check: $(VENV)/.has-dev $(VENV)/.has-test
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

# Peers join when their Pythons are named: make bench PADDLE=... TORCH=... TF=... KERAS=... ARGS='--only train_mlp'
bench: $(VENV)/.has-bench $(VENV)/.has-test
	@$(PY) benchmarks/run.py --out out/bench.json $(if $(PADDLE),--paddle $(PADDLE)) $(if $(TORCH),--torch $(TORCH)) $(if $(TF),--tensorflow $(TF)) $(if $(KERAS),--keras $(KERAS)) $(ARGS)
	@$(PY) benchmarks/converter.py
	@$(PY) benchmarks/passes.py
	@$(PY) benchmarks/dataset.py
	@$(PY) benchmarks/loading.py $(if $(TORCH),--torch $(TORCH))
	@$(PY) benchmarks/cold.py $(if $(PADDLE),--paddle $(PADDLE)) $(if $(TORCH),--torch $(TORCH))
	@$(PY) benchmarks/processes.py $(if $(TORCH),--torch $(TORCH))
	@$(PY) benchmarks/parameter_server.py
	@$(PY) benchmarks/recommenders.py $(if $(TORCH),--torch $(TORCH))
	@$(PY) benchmarks/serving.py $(if $(TORCH),--torch $(TORCH))

# Every op called eagerly against the same computation compiled by hand, and kernels of training forward and backward.
bench-ops: $(VENV)/.has-bench $(VENV)/.has-test
	@$(PY) benchmarks/ops.py --out out/bench-ops.json $(ARGS)
	@$(PY) benchmarks/kernels.py

# Every op, layer, optimizer and model, compiled for a TPU and a GPU that are not here; and what whole steps take there.
# The compilers are in an environment of their own (6 GB), since JAX looks for devices wherever it finds them.
TARGETS := .cache/targets-venv/bin/python
targets: .cache/has-targets
	@$(TARGETS) tests/targets/make.py --json out/targets.json --docs docs/compiled.md $(ARGS)
	@$(TARGETS) tests/targets/whole.py --json out/whole.json --docs docs/compiled_models.md

memory: .cache/has-targets
	@$(TARGETS) benchmarks/memory.py --out out/memory.json $(ARGS)

# Meshes ranked for models of 1.3 to 1,000 billion parameters on up to 2,048 chips that are not here; takes an hour.
plans: .cache/has-targets
	@$(TARGETS) benchmarks/plans.py --docs docs/auto_tuner.md $(ARGS)

.cache/has-targets: $(VENV)/bin/python
	@mkdir -p .cache
	@$(PYTHON) -m venv .cache/targets-venv
	@$(TARGETS) -m pip --disable-pip-version-check --no-input install --quiet --quiet 'setuptools>=70.1'
	@$(TARGETS) -m pip --disable-pip-version-check --no-input install --quiet --quiet --no-build-isolation \
	  --editable '.[test,bench,tpu-compile,cuda-compile]'
	@touch $@

# On a machine with an NVIDIA GPU: the tests that need one, and eight models; TORCH=... names a Python with PyTorch.
gpu: $(VENV)/.has-gpu
	@$(PY) benchmarks/gpu.py --check
	@$(PY) -m pytest -q -n 0 -m gpu tests/test_gpu.py $(ARGS)
	@$(PY) benchmarks/gpu.py --out out/gpu.json $(if $(TORCH),--torch $(TORCH))

# Every model of vision.models, and the nets of the benchmarks, as ONNX, compared in onnxruntime: ARGS='--only resnet --int8'
onnx: $(VENV)/.has-onnx $(VENV)/.has-test
	@$(PY) tests/convert/vision_models.py $(ARGS)

# The figures of PaddlePaddle, computed anew: in its own environment, or by the Python that is named.
parity: .cache/has-paddle $(VENV)/.has-test
	@$(or $(PADDLE),.cache/paddle-venv/bin/python) tests/golden/make.py compare
	@$(PY) tests/golden/docstrings.py $(or $(PADDLE),.cache/paddle-venv/bin/python)
	@$(PY) tests/golden/written.py $(or $(PADDLE),.cache/paddle-venv/bin/python)

# Packages of others, as they are published, on PaddlePaddle and here; writes docs/ecosystem.md. ARGS='pgl_graphs' runs one
# and keeps the rows of the others. Each package has a folder with what it needs in .cache/ecosystem: 5 GB for all.
ecosystem: .cache/has-paddle $(VENV)/.has-test
	@$(PY) tests/ecosystem/ecosystem.py $(or $(PADDLE),.cache/paddle-venv/bin/python) --docs docs/ecosystem.md $(ARGS)

parity-record: .cache/has-paddle $(VENV)/.has-test
	@$(or $(PADDLE),.cache/paddle-venv/bin/python) tests/golden/make.py
	@$(PY) tests/golden/written.py $(or $(PADDLE),.cache/paddle-venv/bin/python) record

.cache/has-paddle:
	@mkdir -p .cache
	@$(if $(PADDLE),,$(PYTHON) -m venv .cache/paddle-venv && .cache/paddle-venv/bin/python -m pip --quiet install paddlepaddle==3.3.1 scipy)
	@$(if $(PADDLE),,touch $@)

# The C functions that XLA calls, compiled to LLVM's text, which is what the package holds: after a change of theirs.
native: $(VENV)/.has-native $(VENV)/.has-test
	@$(PY) -m paddle_lite_py.cpu_compiler.native.generate

docs: $(VENV)/.has-docs
	@$(PY) docs/build.py out/docs

# Runs the tutorials, and keeps in them what they print and draw.
notebooks: $(VENV)/.has-docs
	@$(PY) tutorials/execute.py $(ARGS)

# Builds the sdist and the wheel, and tries the wheel in an environment of its own; ARGS=--extras tries each extra, too.
dist: $(VENV)/.has-dev
	@rm -rf build dist
	@mkdir -p .cache
	@$(PY) -m build --outdir dist . >.cache/build.log 2>&1 || { cat .cache/build.log; false; }
	@$(PYTHON) tests/wheel_trial.py dist/*.whl $(ARGS)
	@ls dist/*

size:
	@$(PYTHON) tests/house.py

clean:
	rm -rf $(VENV) .venv-* .cache build dist out *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("paddle_lite_py needs Python 3.11 or newer; $(PYTHON) is %d.%d. Name a newer one: make PYTHON=python3.12 ..." % v[:2])'
	@echo "setting up $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

# One stamp per extra. Without build isolation a later re-install finds all it needs in place, offline.
$(VENV)/.has-%: setup.cfg pyproject.toml | $(VENV)/bin/python
	@echo "installing what \`make\` needs for: $*"
	@$(PIP) 'setuptools>=70.1'
	@$(PIP) --no-build-isolation --editable '.[$*]'
	@touch $@
.PRECIOUS: $(VENV)/.has-%
