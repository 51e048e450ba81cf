"""What NeuroConv looks for in zarr and zarr 3 has no more: ``zarr.codec_registry``.

NeuroConv 0.10.2 reads it at import, in ``tools/nwb_helpers/_configuration_models/_zarr_dataset_io.py``, to
list the compressions that it offers. This module can go when that file no longer names it; a test says when.
"""

from __future__ import annotations

import numcodecs.registry
import zarr


def provide() -> None:
    """Give zarr the registry of numcodecs under the name that it had in zarr 2, unless it has one."""
    if not hasattr(zarr, "codec_registry"):
        zarr.codec_registry = numcodecs.registry.codec_registry  # type: ignore[attr-defined]
