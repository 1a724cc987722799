"""Twenty programs for one TPU that is not here, where its compiler is installed: pip install "jax[tpu]"."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from paddle_lite_py.targets import compile_all, has_compiler, portable, target_of

sys.path.append(str(Path(__file__).parent))
NAMES = [
    *("while", "if", "for with break", "gradient of a while loop", "gradient of a for loop", "assert"),
    *("random numbers", "dropout", "grouped convolution", "depthwise convolution", "transposed convolution"),
    *("convolution in bfloat16", "attention", "float64", "int64", "fft and its inverse", "qr", "solve"),
    *("sort and topk", "scatter and gather"),
]


@pytest.mark.skipif(not has_compiler("tpu"), reason='the compiler for TPUs is not installed: pip install "jax[tpu]"')
def test_programs_compile_for_a_tpu():
    from everything import OTHERS, _argument, together, traced

    cases = [traced("program", name, OTHERS[name][0], _argument(OTHERS[name][1])) for name in NAMES]
    fn, specs = together(cases)
    report = compile_all([portable(fn, specs, "tpu")], target_of("v5e:2x2"))[0]
    assert report.compiles, report.error


def test_the_programs_are_written_for_accelerators():
    from everything import OTHERS, _argument, together, traced

    cases = [traced("program", name, OTHERS[name][0], _argument(OTHERS[name][1])) for name in NAMES]
    fn, specs = together(cases)
    for platform in ("tpu", "cuda"):
        made = portable(fn, specs, platform)
        assert not made.error and made.data
