"""NeuroConv's NWB files in memory, with references in place of the data that it would copy. Experimental.

Importing this makes `neuroconv` importable beside zarr 3 (`zarr_registry`), so it comes first. Needs the
extra ``neuroconv``, which installs with the requirements on zarr overridden (``pyproject.toml``).
"""

from . import zarr_registry as zarr_registry
from .reasons import NotVirtualizable
from .virtualize import Virtualized, virtualize

__all__ = ["NotVirtualizable", "Virtualized", "virtualize"]

zarr_registry.provide()
