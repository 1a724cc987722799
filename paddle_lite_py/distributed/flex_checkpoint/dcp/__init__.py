"""State that lies over processes, in files: each writes what it has, and any number of them reads."""

from . import load_state_dict, metadata, save_state_dict, utils

__all__ = ["load_state_dict", "metadata", "save_state_dict", "utils"]
