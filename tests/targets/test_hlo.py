"""What is read from the text of compiled programs: sizes with their padding, lifetimes, exchanges, lines."""

from __future__ import annotations

import pytest

from paddle_lite_py.targets.hlo import Module, arrays, source
from paddle_lite_py.targets.products import flops_of_products

HEAD = (
    "HloModule jit_step, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, entry_computation_layout={}"
)
TEXT = f"""{HEAD}

%body (p: (f32[256])) -> (f32[256]) {{
  %p = (f32[256]{{0}}) parameter(0)
  %x = f32[256]{{0}} get-tuple-element(%p), index=0
  %inner = f32[1024]{{0}} broadcast(%x), dimensions={{0}}, metadata={{op_name="jit(f)/while/body/expand.0:net.py:9/x"}}
  %less = f32[256]{{0}} slice(%inner), slice={{[0:256]}}
  ROOT %out = (f32[256]{{0}}) tuple(%less)
}}

ENTRY %main (w: f32[256], x: f32[128]) -> (f32[256]) {{
  %w = f32[256]{{0}} parameter(0), metadata={{op_name="args[0]"}}
  %x = f32[128]{{0}} parameter(1), metadata={{op_name="args[1]"}}
  %a = f32[512]{{0}} broadcast(%x), metadata={{op_name="jit(f)/linear.0:net.py:3/dot_general"}}
  %b = f32[512]{{0}} add(%a, %a), metadata={{op_name="jit(f)/transpose(jvp(linear.0:net.py:4))/add"}}
  %c = f32[256]{{0}} slice(%b), slice={{[0:256]}}
  %t = (f32[256]{{0}}) tuple(%c)
  %loop = (f32[256]{{0}}) while(%t), condition=%test, body=%body
  %d = f32[256]{{0}} get-tuple-element(%loop), index=0
  %r = f32[256]{{0}} all-reduce(%d), replica_groups={{}}, metadata={{op_name="jit(f)/mean.0:net.py:7/psum"}}
  %g = (f32[32]{{0}}, f32[256]{{0}}) all-gather-start(%x), dimensions={{0}}
  %h = f32[256]{{0}} all-gather-done(%g)
  %new = f32[256]{{0}} subtract(%w, %r)
  ROOT %result = (f32[256]{{0}}) tuple(%new)
}}
"""


def test_what_is_there_when_most_is():
    found = Module(TEXT, ["weight", "x"]).at_peak()
    # In the loop: what it carries, and what its body makes and cuts; %a and %b are gone by then.
    assert {(b.what, b.bytes, b.where) for b in found} == {
        *{("expand", 4096, "net.py:9"), ("expand", 1024, "net.py:9"), ("gradient of linear", 1024, "net.py:4")},
        *{("weight", 1024, ""), ("x", 512, "")},
    }
    assert sum(b.bytes for b in found) == 4096 + 3 * 1024 + 512
    assert [b.what for b in found if b.argument] == ["weight", "x"]


def test_a_result_over_an_argument_takes_nothing():
    plain = Module(TEXT.replace("{ {0}: (0, {}, may-alias) }", "{}"), ["weight", "x"])
    assert Module(TEXT)._over_arguments() == ["new"] and plain._over_arguments() == []


def test_exchanges():
    found = {(c.kind, c.bytes, c.where) for c in Module(TEXT).collectives()}
    assert ("all-reduce", 1024, "net.py:7") in found and len(found) == 2


RING = "HloModule m, num_partitions=8\n\nENTRY %e (p: f32[64]) -> f32[64] {\n  %p = f32[64]{0} parameter(0)\n"


@pytest.mark.parametrize(("exchange", "group", "sent"), [
    ("all-reduce(%p), replica_groups={{0,1,2,3},{4,5,6,7}}, to_apply=%add", 4, 2 * 3 / 4 * 256),
    ("all-reduce(%p), replica_groups=[4,2]<=[8], to_apply=%add", 2, 256),
    ("all-reduce(%p), replica_groups={}, to_apply=%add", 8, 2 * 7 / 8 * 256),
    ("all-gather(%p), replica_groups=[2,2,2]<=[8], dimensions={0}", 2, 128),
    ("all-gather(%p), replica_groups=mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)) {'b'}, dimensions={0}", 2, 128),
    ("all-reduce(%p), replica_groups=mesh['a'=2,'b'=2,'c'=2] {'a','c'}, to_apply=%add", 4, 2 * 3 / 4 * 256),
    ("reduce-scatter(%p), replica_groups=[1,8]<=[8], dimensions={0}, to_apply=%add", 8, 7 * 256),
    ("all-to-all(%p), replica_groups=[2,4]<=[8], dimensions={0}", 4, 3 / 4 * 256),
    ("collective-permute(%p), source_target_pairs={{0,1},{1,0}}", 8, 256),
])  # fmt: skip
def test_what_a_device_sends(exchange, group, sent):
    (found,) = Module(f"{RING}  ROOT %x = f32[64]{{0}} {exchange}\n}}\n").collectives()
    assert (found.group, found.sent) == (group, sent)


LOOPS = """HloModule m, num_partitions=2

%add (p: f32[64]) -> f32[64] {
  ROOT %s = f32[64]{0} all-reduce(%p), replica_groups={}
}

%test (p: (s32[], f32[64])) -> pred[] {
  %zero = s32[] constant(0)
  %ten = s32[] constant(10)
  %p = (s32[], f32[64]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %low = pred[] compare(%i, %zero), direction=LT
  ROOT %less = pred[] compare(%i, %ten), direction=LT
}

%outer (p: (s32[], f32[64])) -> (s32[], f32[64]) {
  %i = s32[] get-tuple-element(%p), index=0
  %two = s32[] constant(2)
  %next = s32[] add(%i, %two)
  %w = (s32[], f32[64]) while(%p), condition=%more, body=%add, backend_config={"known_trip_count":{"n":"3"}}
  %x = f32[64]{0} get-tuple-element(%w), index=1
  ROOT %t = (s32[], f32[64]) tuple(%next, %x)
}

ENTRY %e (p: f32[64]) -> f32[64] {
  %w = (s32[], f32[64]) while(%p), condition=%test, body=%outer
  ROOT %x = (s32[], f32[64]) while(%w), condition=%unknown, body=%add
}
"""


def test_exchanges_in_loops_count_each_time():
    (found,) = Module(LOOPS).collectives()
    assert found.times == 5 * 3 + 1  # the last loop depends on data


@pytest.mark.parametrize(("shape", "bytes_"), [
    ("f32[2,3]{1,0}", 24),
    ("f32[2,3]{1,0:T(8,128)}", 8 * 128 * 4),
    ("bf16[3,200]{0,1:T(8,128)(2,1)}", 200 * 128 * 2),  # columns first: three pads to 128
    ("f32[300]{0:T(256)}", 512 * 4),
    ("f32[8,128]{1,0:T(8,128)S(1)}", 0),  # on the chip
    ("pred[7]{0}", 7),
    ("(s64[2]{0}, c64[3]{0})", 16 + 24),
])  # fmt: skip
def test_sizes(shape, bytes_):
    assert sum(n for _, n in arrays(shape)) == bytes_


def test_lines():
    assert source("jit(f)/grad.1:train.py:3/jvp(conv2d.0:net.py:12)/conv") == ("conv2d", "net.py:12")
    assert source("jit(f)/add") == ("add", "")


# Shapes of two operands, the product of them, and its operations.
PRODUCTS = {
    "matrices": ("f32[2,3]", "f32[3,4]", "f32[2,4] dot(%a, %b), lhs_contracting_dims={1}", 48),
    "batches": ("bf16[5,2,3]", "bf16[5,3,4]", "bf16[5,2,4] dot(%a, %b), lhs_contracting_dims={2}", 240),
    "two axes": ("f32[2,3,7]", "f32[3,7,4]", "f32[2,4] dot(%a, %b), lhs_contracting_dims={1,2}", 336),
    "an outer one": ("f32[2]", "f32[3]", "f32[2,3] dot(%a, %b)", 12),
    "matrices of cuBLAS": (
        *("f32[2,3]", "f32[3,4]", '(f32[2,4], s8[64]) custom-call(%a, %b), custom_call_target="__cublas$gemm", '),
        *('backend_config={"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}', 48),
    ),
    "pictures": ("f32[1,8,8,3]", "f32[3,3,3,4]", "f32[1,6,6,4] convolution(%a, %b), dim_labels=b01f_01io->b01f", 7776),
    "by channel": (
        *("f32[1,8,8,4]", "f32[3,3,1,4]", "f32[1,6,6,4] convolution(%a, %b), "),
        *("dim_labels=b01f_01io->b01f, feature_group_count=4", 2592),
    ),
    "no product": ("f32[2]", "f32[2]", "f32[2] add(%a, %b)", 0),
}


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS)
def test_operations_of_products(product):
    a, b, *made, flops = product
    given = f"ENTRY %e (a: {a}) -> {a} {{\n  %a = {a} parameter(0)\n  %b = {b} parameter(1)\n"
    assert flops_of_products(Module(f"HloModule m\n\n{given}  ROOT %c = {''.join(made)}\n}}\n")) == flops


def test_products_in_loops_count_each_time():
    module = Module(LOOPS.replace("all-reduce(%p), replica_groups={}", "dot(%p, %p)"))
    assert flops_of_products(module) == 2 * 64 * (5 * 3 + 1) and flops_of_products(module, loops=False) == 2 * 64 * 2
