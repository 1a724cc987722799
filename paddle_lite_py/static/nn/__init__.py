"""Layers, branches and loops of static programs, as functions."""

from ...core.argument_docs import document as _document
from ...custom import py_func
from .common import *  # noqa: F403
from .control_flow import *  # noqa: F403
from .loss import *  # noqa: F403
from .pylayer import *  # noqa: F403
from .sequence import *  # noqa: F403

_document(globals())
