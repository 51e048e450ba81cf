"""VirtualiZarr: its manifests made ours, and references made manifests for its writers and for xarray.

Needs the extra ``virtualizarr``.
"""

from .._optional import require_installed

require_installed("virtualizarr", extra="virtualizarr")

from .from_manifests import manifest_store_to_rfs  # noqa: E402
from .one_array import virtual_array  # noqa: E402
from .parsing import PARSERS, parse_source  # noqa: E402
from .to_manifests import rfs_to_manifest_store  # noqa: E402

__all__ = ["PARSERS", "manifest_store_to_rfs", "parse_source", "rfs_to_manifest_store", "virtual_array"]
