"""The C functions that XLA calls: their LLVM text is of the present source; a call without a plan is an error."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paddle_lite_py.cpu_compiler import onednn
from paddle_lite_py.cpu_compiler.machine_code import CONVOLUTION, KERNEL, compiler
from paddle_lite_py.cpu_compiler.native.generate import HERE, first_line

pytestmark = pytest.mark.skipif(compiler() is None, reason="no llvmlite")


@pytest.mark.parametrize("source", sorted(HERE.glob("*.c")), ids=lambda p: p.name)
def test_it_is_generated_from_the_present_source(source):
    found = source.with_suffix(".ll").read_text(encoding="utf-8").partition("\n")[0]
    assert found == first_line(source), "run `make native`"


def test_llvm_has_nothing_to_warn_of(capfd):
    for source in HERE.glob("*.c"):
        compiler().compiled(source.with_suffix(".ll").read_text(encoding="utf-8"), goes_far=False)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("target", "what"), [(CONVOLUTION, "a convolution"), (KERNEL, "a kernel")])
def test_a_call_without_a_plan_is_an_error(target, what):
    if target == CONVOLUTION and onednn.loaded() is None:
        pytest.skip("no oneDNN")
    from paddle_lite_py.cpu_compiler import kernels

    kernels._target()
    call = jax.jit(lambda x: jax.ffi.ffi_call(target, x)(x, key=np.int64(12345)))
    with pytest.raises(Exception, match=f"{what} that this process has no plan of"):
        call(jnp.zeros(4)).block_until_ready()
