"""Groups of processes."""

from ..collective import barrier, wait
from ..group import Group, destroy_process_group, get_group, is_initialized

__all__ = ["Group", "barrier", "destroy_process_group", "get_group", "is_initialized", "wait"]
from ..group import _get_global_group as _get_global_group
