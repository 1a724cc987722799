"""Streams of random numbers by name."""

from ...meta_parallel.tracker import RNGStatesTracker, get_rng_state_tracker, model_parallel_random_seed

__all__ = ["RNGStatesTracker", "get_rng_state_tracker", "model_parallel_random_seed"]
