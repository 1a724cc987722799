"""Tensors, ops that run at once, and the tape that backward follows."""
