"""Faults to be planted one at a time, and the tests that are to notice them: tests/mutants.py does it.

Most of them are of keys and lifetimes: what is kept for later though something that it depends on has changed.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """A fault: in a file, the one place with the text `old` becomes `new`."""

    fault: str
    file: str
    old: str
    new: str
    tests: str


TABLE, CACHES, MEMO = "tests/test_cache_table.py", "tests/test_caches.py", "tests/core/test_cache.py"
DEFERRED, GUARDS, APART = (
    "tests/eager/test_deferred.py",
    "tests/jit/test_guards.py",
    "tests/cpu_compiler/test_out_of_process.py",
)
CORE, JIT, EAGER = "paddle_lite_py/core", "jit", "paddle_lite_py/eager"

MUTANTS = [
    # -- memos and the context -----------------------------------------------------------------------------------------
    Mutant("a memo takes 1 for True", f"{CORE}/memo.py", "args, kind(args), current", "args, None, current", MEMO),
    Mutant(
        "a memo is kept for any context",
        f"{CORE}/memo.py",
        "current_context() if context else None",
        "None",
        MEMO,
    ),
    Mutant("a memo has no limit", f"{CORE}/memo.py", "while len(self) > self.limit", "while False", MEMO),
    Mutant(
        "what is known of an object outlives it",
        f"{CORE}/memo.py",
        "weakref.ref(obj, lambda _: self.pop(key, None))",
        "weakref.ref(obj)",
        MEMO,
    ),
    Mutant(
        "an array that is known may be written into",
        f"{CORE}/memo.py",
        "held.flags.writeable, held = False, held.base",
        "held = held.base",
        MEMO,
    ),
    Mutant(
        "clear() leaves memos as they are",
        f"{CORE}/memo.py",
        "memo.tiered or not tiered",
        "memo.tiered and tiered",
        MEMO,
    ),
    Mutant(
        "a flag leaves the tiers as they are",
        "paddle_lite_py/host/tier.py",
        "MAX_KINDS, tiered=True",
        "MAX_KINDS",
        "tests/eager/test_tiers.py",
    ),
    Mutant(
        "programs for gradients serve without",
        f"{CORE}/context.py",
        "Context(state.grad_enabled",
        "Context(True",
        TABLE,
    ),
    Mutant(
        "programs for one precision serve the other",
        f"{CORE}/context.py",
        "state.casting, default",
        "None, default",
        f"{TABLE} tests/amp",
    ),
    Mutant(
        "programs serve any default dtype",
        f"{JIT}/entry.py",
        "(now := context()) != self.context",
        "(now := self.context) != self.context",
        f"{CACHES} {GUARDS}",
    ),
    # -- numbers -------------------------------------------------------------------------------------------------------
    Mutant("-0.0 is 0.0", f"{CORE}/traced_number.py", "of if value else value.hex()", "of", f"{MEMO} {CACHES}"),
    Mutant(
        "numbers in tuples are compared by value",
        f"{CORE}/traced_number.py",
        "return of if _TOLD.issuperset(kinds) else (of, *kinds)",
        "return of",
        f"{MEMO} tests/dispatch/test_equal_numbers.py",
    ),
    Mutant(
        "1 is True to guards",
        f"{CORE}/traced_number.py",
        "type(a) is type(b) and bool(a == b) and (bool(a) or kind(a) == kind(b))",
        "bool(a == b)",
        f"{GUARDS} tests/jit/test_scalars.py",
    ),
    Mutant(
        "-0.0 is 0.0 to guards",
        f"{CORE}/traced_number.py",
        "and (bool(a) or kind(a) == kind(b))",
        "",
        f"{GUARDS} tests/jit/test_scalars.py",
    ),
    Mutant(
        "guards compare numbers of any class",
        f"{JIT}/guards.py",
        "if kind is not type(then):\n        return False\n"
        "    if kind in BY_VALUE:\n        return traced_number.same(now, then)",
        "if kind in BY_VALUE:\n        return now == then",
        GUARDS,
    ),
    Mutant(
        "XLA is given 0.0 for -0.0",
        "paddle_lite_py/host/tier.py",
        "key = value or repr(value)",
        "key = value",
        f"{CACHES} {TABLE} tests/eager/test_tiers.py",
    ),
    Mutant(
        "-0.0 is 0.0 in the key of a public function",
        "paddle_lite_py/dispatch/codegen.py",
        "or {p.name} else {p.name}.hex()",
        "or True else {p.name}.hex()",
        f"{TABLE} tests/dispatch",
    ),
    Mutant(
        "a common subexpression takes -0.0 for 0.0",
        "paddle_lite_py/passes/cleaning.py",
        "(kind(v), v)",
        "(type(v), v)",
        CACHES,
    ),
    Mutant(
        "zeros in tuples of a call are one",
        "paddle_lite_py/dispatch/call_cache.py",
        "(v.__class__ is not float or v)",
        "True",
        "tests/dispatch/test_call_cache.py tests/eager/test_call_cache.py",
    ),
    # -- ops and calls -------------------------------------------------------------------------------------------------
    Mutant(
        "a bound op is kept by value, whatever the class",
        "paddle_lite_py/registry/op.py",
        "(frozen, layout, tuple(map(kind, frozen)), default.name)",
        "(frozen, layout, default.name)",
        f"{TABLE} tests/dispatch",
    ),
    Mutant(
        "a bound op serves any default dtype",
        "paddle_lite_py/registry/op.py",
        "key = (frozen, layout, tuple(map(kind, frozen)), default.name)",
        "key = (frozen, layout, tuple(map(kind, frozen)), 0)",
        f"{CACHES} {TABLE}",
    ),
    Mutant(
        "an op has the default dtype of the time when it is traced",
        "paddle_lite_py/registry/op.py",
        "with dtypes.bound_default(default):",
        "with dtypes.bound_default(None):",
        f"{CACHES} {TABLE}",
    ),
    Mutant(
        "the op of the default attributes serves any default dtype",
        "paddle_lite_py/dispatch/codegen.py",
        '"_default.dtype is _under", ',
        "",
        f"{CACHES} {TABLE} tests/core/test_config.py",
    ),
    Mutant(
        "a call is kept for any default dtype",
        "paddle_lite_py/dispatch/call_cache.py",
        '"_default.name, "',
        '"None, "',
        f"tests/core/test_config.py {CACHES} tests/dispatch/test_call_cache.py tests/eager/test_call_cache.py",
    ),
    Mutant(
        "one tensor given twice is two",
        "paddle_lite_py/dispatch/call_cache.py",
        " or len(set(map(id, tensors))) < len(tensors)",
        "",
        "tests/dispatch/test_call_cache.py tests/eager/test_call_cache.py",
    ),
    Mutant(
        "a fused call forgets that it gives views",
        "paddle_lite_py/dispatch/call_cache.py",
        "if any(t._view is not None for t in results if isinstance(t, Tensor)):",
        "if False:",
        "tests/dispatch/test_call_cache.py tests/eager/test_call_cache.py tests/eager/test_views.py",
    ),
    Mutant(
        "gradients flow as in the first call",
        f"{EAGER}/execute.py",
        "return [m and o.dtype in INEXACT for m, o in zip(each, outs, strict=True)]",
        "return [bool(m) for m, o in zip(each, outs, strict=True)]",
        CACHES,
    ),
    Mutant(
        "what a program computes is known by its names",
        "paddle_lite_py/autograd/transforms.py",
        "traced.program.block.key())",
        "str(traced.program))",
        CACHES,
    ),
    # -- arrays of users -----------------------------------------------------------------------------------------------
    Mutant(
        "feeds are not copied", "paddle_lite_py/static/executor.py", "array = given.copy()", "array = given", CACHES
    ),
    Mutant(
        "a tensor shares the memory of its array",
        f"{CORE}/arrays.py",
        "np.array(data, dtype=kind",
        "np.asarray(data, dtype=kind",
        CACHES,
    ),
    Mutant(
        "inputs of a predictor are not copied",
        "paddle_lite_py/inference/predictor.py",
        "array = np.array(data)",
        "array = np.asarray(data)",
        f"{CACHES} tests/inference",
    ),
    Mutant(
        "what a predictor shares is never copied",
        "paddle_lite_py/inference/predictor.py",
        "return np.array(handle._data) if handle._is_shared else handle._data",
        "return handle._data",
        f"{CACHES} tests/inference",
    ),
    Mutant(
        "a request is known by identity",
        f"{JIT}/method.py",
        "jitted.trace, inputs)",
        "jitted.trace)",
        CACHES,
    ),
    Mutant(
        "indices of a request are known by identity",
        f"{JIT}/method.py",
        "*[wrap(np.array(a)) for a in arrays]",
        "*map(wrap, arrays)",
        CACHES,
    ),
    Mutant(
        "a tensor gives its own memory",
        f"{EAGER}/tensor_data.py",
        'return np.array(self._read("numpy()"), dtype=dtype)',
        'return np.asarray(self._read("numpy()"), dtype=dtype)',
        CACHES,
    ),
    # -- static functions ----------------------------------------------------------------------------------------------
    Mutant(
        "the last program serves with and without gradients",
        f"{JIT}/static_function.py",
        "if mode.grad_enabled is entry.grad_enabled and settings.enabled",
        "if settings.enabled",
        GUARDS,
    ),
    Mutant(
        "a captured tensor that is thawed is not seen",
        f"{JIT}/entry.py",
        "        for handle, flag in self.loose:\n            if handle.stop_gradient is not flag:",
        "        for handle, flag in self.loose:\n            if False:",
        f"{GUARDS} tests/jit/test_settings.py tests/jit/test_cache.py",
    ),
    Mutant(
        "a parameter that is thawed is not seen",
        f"{JIT}/entry.py",
        "            if handle.stop_gradient is not flag:\n"
        "                return _describe_unfrozen(handle, flag)\n            if (",
        "            if (",
        f"{GUARDS} tests/jit/test_settings.py tests/jit/test_cache.py",
    ),
    Mutant(
        "hooks that are added are not seen",
        f"{JIT}/entry.py",
        "if (handle._hooks or {}) != hooks:",
        "if False:",
        f"{GUARDS} tests/jit/test_hooks.py tests/jit/test_settings.py",
    ),
    Mutant(
        "the dtype of a tensor that Python reads is not looked at again",
        f"{JIT}/reads.py",
        "if self.names & _OF_ARRAYS:",
        "if False:",
        GUARDS,
    ),
    Mutant(
        "a padded program is tried on the data at hand alone",
        f"{JIT}/buckets.py",
        "if entry.padded_runs == 1 else ()",
        "if False else ()",
        "tests/jit/test_check.py",
    ),
    Mutant(
        "what a trace saw of a number is never looked at again",
        f"{CORE}/traced_number.py",
        "        return same(now, self.value)",
        "        return True",
        "tests/jit/test_scalars.py",
    ),
    Mutant(
        "settings of an optimizer that change are not seen",
        "paddle_lite_py/optimizer/unchanged.py",
        "def holds(self) -> bool:",
        "def holds(self) -> bool:\n        return True\n\n    def unused(self) -> bool:",
        "tests/jit/test_settings.py tests/jit/test_steps.py",
    ),
    Mutant(
        "a program that was changed runs as it was",
        "paddle_lite_py/static/executor.py",
        "if compiled is None or compiled.version != program.builder.version:",
        "if compiled is None:",
        "tests/static/test_executor.py tests/static/test_program.py",
    ),
    # -- backward, and ops that wait -----------------------------------------------------------------------------------
    Mutant(
        "the second gradient of a tensor replaces the first",
        f"{EAGER}/tape.py",
        "slots[-2 - code] = grad if at is None else add(at, grad)",
        "slots[-2 - code] = grad",
        "tests/eager/test_tape.py",
    ),
    Mutant(
        "a pullback is kept for any choice of arguments",
        f"{EAGER}/gradients.py",
        "key = (bound, mask, has)",
        "key = (bound, has)",
        "tests/autograd",
    ),
    Mutant(
        "results of an op that waits are known by shapes",
        f"{EAGER}/lazy_op.py",
        "small.most(), *[d.__class__ if d.__class__ in NUMBERS else (d.shape, d.dtype)",
        "small.most(), *[d.__class__ if d.__class__ in NUMBERS else d.shape",
        f"{CACHES} {TABLE}",
    ),
    Mutant(
        "integers of a program are always the same",
        f"{EAGER}/lazy_program.py",
        "outside[i].__class__ is int and outside[i] == known",
        "outside[i].__class__ is int",
        f"{DEFERRED}::test_bounds_of_slices_are_part_of_the_program",
    ),
    Mutant(
        "an update overwrites an array that somebody holds",
        f"{EAGER}/deferred.py",
        "array.__class__ is not np.ndarray and is_shared(array, known)",
        "False",
        f"{DEFERRED}::test_a_graph_from_before_an_update_has_the_weights_of_then",
    ),
    Mutant(
        "the index of a view follows its tensor",
        f"{EAGER}/views.py",
        " else index._twin()",
        " else index",
        "tests/eager/test_views.py",
    ),
    Mutant(
        "all ones that backward begins with have one dtype",
        f"{EAGER}/gradients.py",
        "_ones.get(key)\n        return _ones.put(key, ",
        "_ones.get(key[0])\n        return _ones.put(key[0], ",
        "tests/autograd",
    ),
    # -- the host, and the compiler ------------------------------------------------------------------------------------
    Mutant(
        "the memory of what is given is kept for the next time",
        "paddle_lite_py/host/tier.py",
        "a if i in self.donated else for_xla(a)",
        "for_xla(a)",
        f"{CACHES} tests/eager/test_tiers.py tests/optimizer/test_optimizers.py",
    ),
    Mutant(
        "a key of draws is kept beyond its block",
        "paddle_lite_py/host/draws.py",
        "if block is None or not 0 <= count - block.first < _KEYS:",
        "if block is None:",
        "tests/host",
    ),
    Mutant(
        "a compiled program's file does not say what it overwrites",
        "paddle_lite_py/cpu_compiler/executables.py",
        "self.name, self.donated, self.options, os",
        "self.name, self.options, os",
        f"{APART} tests/cpu_compiler/test_fingerprints.py",
    ),
    Mutant(
        "a compiled program's file does not say XLA's options",
        "paddle_lite_py/cpu_compiler/executables.py",
        "self.donated, self.options, os",
        "self.donated, os",
        f"{APART} tests/cpu_compiler/test_fingerprints.py",
    ),
    Mutant(
        "programs with other numbers have one name",
        "paddle_lite_py/cpu_compiler/fingerprints.py",
        '{type(value).__name__}:{value!r}"',
        '{type(value).__name__}"',
        f"{APART} tests/cpu_compiler/test_fingerprints.py",
    ),
    Mutant(
        "a rulebook serves any window",
        "paddle_lite_py/sparse/nn/sites.py",
        "key = (window, tuple(x.shape))",
        "key = tuple(x.shape)",
        "tests/sparse",
    ),
    Mutant(
        "indices that were in range are in any",
        "paddle_lite_py/ops/bounds.py",
        "if found is not None and not (found[0] >= low and found[1] < size):",
        "if held is None and found is not None and not (found[0] >= low and found[1] < size):",
        "tests/ops/test_bounds.py",
    ),
    # -- updates -------------------------------------------------------------------------------------------------------
    Mutant(
        "clipping takes all parameters",
        "paddle_lite_py/optimizer/update.py",
        "if s.clips])",
        "])",
        "tests/optimizer",
    ),
]
