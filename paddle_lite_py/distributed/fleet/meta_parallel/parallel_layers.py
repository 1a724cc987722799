"""Layers and pipelines that are split over processes."""

# ruff: noqa: F403

from .layers import *
from .pipeline import *
from .tracker import *
