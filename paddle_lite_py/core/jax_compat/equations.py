"""The known forms of equations: the parameters of each primitive, and their meaning where versions differ.

Rewriting passes and rules of the host tier read these parameters and no others. Where a primitive of the table has one
more, it may mean what they do not know of, and the program is left as it is. What is not in the table is no one's
business: passes leave it where it stands, and the host tier leaves it to XLA.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .jaxprs import body_of, constants_of, is_jaxpr

_CALLED = "compiler_options_kvs ctx_mesh donated_invars in_layouts in_shardings inline keep_unused name out_layouts"
_CONVOLVED = "batch_group_count dimension_numbers feature_group_count lhs_dilation padding precision rhs_dilation"
_FOREIGN = "attributes custom_call_api_version has_side_effect input_layouts input_output_aliases legacy_backend_config"
# Parameters, and the primitives that have them, in one of the versions or in all.
_TABLE = {
    "": "abs acos acosh add add_any and asin asinh atan atan2 atanh ceil clamp complex copy copy_p cosh digamma div "
    "dynamic_update_slice eq erf erf_inv floor ge gt imag is_finite le lgamma lt max min ne neg nextafter not "
    "one_minus_square optimization_barrier or population_count pow random_fold_in random_unwrap real rem select_n "
    "shard_alike shift_left shift_right_arithmetic shift_right_logical sign sinh square stop_gradient sub xor",
    "accuracy": "cbrt cos erfc exp exp2 expm1 log log1p log2 logistic rsqrt sin sqrt tan tanh",
    "axes": "reduce_and reduce_or reduce_prod reduce_xor",
    "axes index_dtype": "argmax argmin",
    "axes out_sharding": "reduce_max reduce_min reduce_sum",
    "axis": "stack unstack",
    "axis is_stable k": "top_k",
    "axis reverse": "cumlogsumexp cummax cummin cumprod cumsum",
    "axis sizes": "split",
    "base_dilation padding window_dilation window_dimensions window_strides": "reduce_window_max reduce_window_min "
    "reduce_window_sum",
    "bit_width shape": "random_bits",
    "body_jaxpr body_nconsts cond_jaxpr cond_nconsts": "while",
    "branches branches_platforms": "cond",
    "broadcast_dimensions shape sharding": "broadcast_in_dim",
    "bwd call_jaxpr fwd_jaxpr_thunk num_consts out_trees symbolic_zeros": "custom_vjp_call",
    "call_jaxpr jvp_jaxpr_fun num_consts symbolic_zeros": "custom_jvp_call",
    "dim": "dim_as_value",
    "dimension": "concatenate",
    "dimension dtype shape sharding": "iota",
    "dimension is_stable num_keys": "sort",
    "dimension_numbers fill_value indices_are_sorted mode slice_sizes unique_indices": "gather",
    "dimension_numbers indices_are_sorted mode unique_indices update_consts update_jaxpr": "scatter scatter-add "
    "scatter-max scatter-min scatter-mul",
    "dimension_numbers out_sharding precision preferred_element_type": "dot_general",
    "dimensions": "rev squeeze",
    "dimensions new_sizes sharding": "reshape",
    "exponent_bits mantissa_bits": "reduce_precision",
    "ft_in ft_out jaxpr length num_carry num_consts reverse unroll": "scan",
    "fft_lengths fft_type": "fft",
    "impl": "random_seed random_wrap",
    "input_dtype": "conj",
    "limit_indices start_indices strides": "slice",
    "new_dtype": "bitcast_convert_type",
    "new_dtype sharding weak_type": "convert_element_type",
    "out_dtype": "mul",
    "padding_config": "pad",
    "padding select_prim window_dimensions window_strides": "select_and_scatter_add",
    "permutation": "transpose",
    "reps": "tile",
    "rounding_method": "round",
    "shape": "random_split",
    "slice_sizes": "dynamic_slice",
    "unroll": "polynomial",
    "y": "integer_pow",
    f"{_CALLED} jaxpr out_shardings": "jit",
    f"{_CONVOLVED} out_sharding preferred_element_type window_strides": "conv_general_dilated",
    f"{_FOREIGN} output_layouts result_avals target_name vmap_method": "ffi_call",
}
FORMS = {name: frozenset(known.split()) for known, names in _TABLE.items() for name in names.split()}


class UnknownFormError(Exception):
    """An equation says what was not there in the versions of JAX that are tested."""


def check_form(eqn: Any) -> None:
    """Check that an equation has only the known parameters of its primitive; a parameter that is None is ignored.

    Raises:
        UnknownFormError: it does.
    """
    known = FORMS.get(eqn.primitive.name)
    if known is None or known.issuperset(eqn.params):
        return
    more = [name for name in eqn.params if name not in known and eqn.params[name] is not None]
    if more:
        raise UnknownFormError(f"{eqn.primitive.name} with {', '.join(more)}")


def check_forms(jaxpr: Any) -> None:
    """The same for all equations of a jaxpr, and of those within.

    Raises:
        UnknownFormError: for the first that says more.
    """
    for eqn in jaxpr.eqns:
        check_form(eqn)
        for value in eqn.params.values():
            for inner in value if type(value) is tuple else (value,):
                if is_jaxpr(inner):
                    check_forms(body_of(inner))


# Calls of functions, and where each has the function.
_CALLS = {"jit": "jaxpr", "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "closed_call": "call_jaxpr"}


def called_jaxpr(eqn: Any) -> tuple[Any, Sequence[Any]] | None:
    """Return the function that an equation calls, as equations and constants; None where it calls none."""
    place = _CALLS.get(eqn.primitive.name)
    return None if place is None else (body_of(eqn.params[place]), constants_of(eqn.params[place]))


# Parameters that do not affect the computation, only how it is differentiated.
_OF_GRADIENTS = {"custom_jvp_call": {"jvp_jaxpr_fun"}, "custom_vjp_call": {"bwd", "fwd_jaxpr_thunk", "out_trees"}}


def settings(eqn: Any) -> dict[str, Any]:
    """Return the parameters of an equation that affect its result, in one form for all versions."""
    name, params = eqn.primitive.name, eqn.params
    if name == "scan":
        return _of_scan(params)
    untold = _OF_GRADIENTS.get(name)
    return params if untold is None else {k: v for k, v in params.items() if k not in untold}


def _of_scan(params: dict[str, Any]) -> dict[str, Any]:
    """Since JAX 0.11 a tree says which arguments are constants, which are carried, and which are stepped through."""
    if "ft_in" not in params:
        return params
    constants, carried, _ = params["ft_in"].unpack()
    told = {k: v for k, v in params.items() if k not in ("ft_in", "ft_out")}
    return told | {"num_consts": len(list(constants)), "num_carry": len(list(carried))}
