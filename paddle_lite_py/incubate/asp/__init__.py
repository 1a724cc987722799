"""Automatic sparsity: weights of which n of each m stay zero while they are trained."""

from .masks import (
    CheckMethod,
    MaskAlgo,
    calculate_density,
    check_mask_1d,
    check_mask_2d,
    check_sparsity,
    create_mask,
    get_mask_1d,
    get_mask_2d_best,
    get_mask_2d_greedy,
)
from .pruning import (
    OptimizerWithSparsityGuarantee,
    add_supported_layer,
    decorate,
    prune_model,
    reset_excluded_layers,
    set_excluded_layers,
)

__all__ = [
    "add_supported_layer",
    "calculate_density",
    "decorate",
    "prune_model",
    "reset_excluded_layers",
    "set_excluded_layers",
]
