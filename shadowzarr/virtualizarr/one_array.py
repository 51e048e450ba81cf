"""virtual_array: one array of VirtualiZarr, to be cut, joined and transposed without its data."""

from __future__ import annotations

from virtualizarr.manifests import ManifestArray

from ..builder import RfsBuilder
from ..errors import InvalidReferencesError, UsageError
from ..refs.array_layout import ArrayLayout
from ..refs.chunk_index import CHUNK_INDEX_THRESHOLD
from ..refs.zarr_metadata import chunk_grid_shape
from ..virtual import VirtualArray
from .from_manifests import add_array
from .locations import UrlFor, location_of
from .manifest_table import read_manifest
from .nodes import array_metadata
from .placing import place_chunks
from .reasons import NoReferencesError

_PATH = "array"


def virtual_array(array: ManifestArray, *, url_for: UrlFor | None = None) -> VirtualArray:
    """Make an array of VirtualiZarr a virtual array.

    Parameters
    ----------
    array : virtualizarr.manifests.ManifestArray
        Of a manifest store, or of a variable of a virtual dataset (``dataset["x"].data``).
    url_for : callable, optional
        As for `manifest_store_to_rfs`.

    Returns
    -------
    VirtualArray
        With its attributes and dimension names. One that is not compressed and lies in a file in one
        piece, or in evenly spaced ones, can be cut along every axis; any other by whole chunks. No file is
        asked for anything.

    Raises
    ------
    UsageError
        When it is no such array, has no form in references, or is at a place that references cannot name.
    """
    if not isinstance(array, ManifestArray):
        raise UsageError(f"found a {type(array).__name__}; expected a virtualizarr.manifests.ManifestArray")
    builder = RfsBuilder()
    try:
        layout = ArrayLayout.from_metadata(array_metadata(array, _PATH), _PATH)
        grid = chunk_grid_shape(layout.shape, layout.chunk_shape or ())
        table = read_manifest(array.manifest, grid, layout)
        add_array(builder, _PATH, array)
    except (NoReferencesError, InvalidReferencesError) as error:
        raise UsageError(f"the array has no form in references: {error}") from error
    locations = {name: location_of(name, url_for) for name in table.paths}
    place_chunks(builder, _PATH, table, locations, rule_above=1, chunk_index_threshold=CHUNK_INDEX_THRESHOLD)
    return VirtualArray.from_rfs(builder.build(), _PATH)
