"""manifest_store_to_rfs: what VirtualiZarr's parsers give → a reference file system."""

from __future__ import annotations

from dataclasses import dataclass

from virtualizarr.manifests import ManifestArray, ManifestStore

from ..access.describing import describe_each
from ..access.locations import without_query
from ..builder import RfsBuilder
from ..errors import InvalidReferencesError, UsageError
from ..refs.array_layout import ArrayLayout
from ..refs.chunk_index import CHUNK_INDEX_THRESHOLD
from ..refs.document import Rfs
from ..refs.zarr_metadata import chunk_grid_shape
from .locations import UrlFor, location_of
from .manifest_table import ManifestTable, read_manifest
from .nodes import array_metadata, attributes_of, walk
from .placing import place_chunks
from .reasons import NoReferencesError


def manifest_store_to_rfs(
    store: ManifestStore,
    *,
    url_for: UrlFor | None = None,
    chunk_index_threshold: int | None = CHUNK_INDEX_THRESHOLD,
    describe_sources: bool = True,
) -> Rfs:
    """Make the manifests of VirtualiZarr a reference file system.

    Parameters
    ----------
    store : virtualizarr.manifests.ManifestStore
        What a parser gives: groups, arrays, and where the chunks of each array are.
    url_for : callable, optional
        Where a file is, by its path in the manifests: a local path, an http(s) or an ``s3://`` URL. Needed
        where manifests name other places.
    chunk_index_threshold : int or None, optional
        Chunks in one file above which an array has a rule, if they are evenly spaced, or a chunk index; None
        for never.
    describe_sources : bool, optional
        Whether files are asked for their size and ETag, so that a reader notices when one is replaced from
        now on, and chunks that end after their file are found.

    Returns
    -------
    Rfs
        An empty path in a manifest is a chunk that shows the fill value; chunks that manifests hold are in
        the document. Arrays that are no arrays of their manifest, or whose chunks do not fit into it or
        into their file, are left out and named in ``skipped``; so are attributes that are no JSON.

    Raises
    ------
    UsageError
        When it is no manifest store, or a file is at a place that references cannot name.
    """
    if not isinstance(store, ManifestStore):
        raise UsageError(
            f"found a {type(store).__name__}; expected what parsers of VirtualiZarr give, a ManifestStore"
        )
    converting = _Converting(url_for)
    for path, node in walk(store._group):  # there is no public way to it
        if isinstance(node, ManifestArray):
            converting.read(path, node)
        else:
            converting.add_group(path, attributes_of(node, path, converting.builder.add_skipped))
    converting.add_arrays(describe_sources=describe_sources, chunk_index_threshold=chunk_index_threshold)
    return converting.builder.build()


@dataclass(frozen=True)
class _Array:
    """An array that was read, and can be added."""

    path: str
    node: ManifestArray
    layout: ArrayLayout
    table: ManifestTable


class _Converting:
    """Reads all manifests first, so that each file is asked once; then arrays are added."""

    def __init__(self, url_for: UrlFor | None) -> None:
        self.builder = RfsBuilder()
        self._url_for = url_for
        self._arrays: list[_Array] = []
        self._locations: dict[str, str] = {}

    def add_group(self, path: str, attributes: dict[str, object]) -> None:
        try:
            self.builder.add_group(path, attributes)
        except UsageError as error:
            self.builder.add_skipped(f"/{path}", "group", str(error))

    def read(self, path: str, node: ManifestArray) -> None:
        """Read the manifest of an array, or leave the array out."""
        try:
            layout = ArrayLayout.from_metadata(array_metadata(node, path), path)
            grid = chunk_grid_shape(layout.shape, layout.chunk_shape or ())
            table = read_manifest(node.manifest, grid, layout)
        except (NoReferencesError, InvalidReferencesError) as error:
            self.builder.add_skipped(f"/{path}", "dataset", str(error))
            return
        for name in table.paths:
            if name not in self._locations:
                self._locations[name] = location_of(name, self._url_for)
        self._arrays.append(_Array(path, node, layout, table))

    def add_arrays(self, *, describe_sources: bool, chunk_index_threshold: int | None) -> None:
        sizes = self._describe() if describe_sources else {}
        for array in self._arrays:
            try:
                self._check_ends(array.table, sizes)
                add_array(self.builder, array.path, array.node)
            except (NoReferencesError, UsageError) as error:
                self.builder.add_skipped(f"/{array.path}", "dataset", str(error))
                continue
            place_chunks(
                self.builder,
                array.path,
                array.table,
                self._locations,
                rule_above=chunk_index_threshold,
                chunk_index_threshold=chunk_index_threshold,
            )

    def _describe(self) -> dict[str, int]:
        """Sizes of files by their locations; those that cannot be asked are named."""
        sources, reasons = describe_each(sorted(set(self._locations.values())))
        for source in sources:
            self.builder.add_source(source.url, source.size, source.etag)
        for location, reason in reasons.items():
            self.builder.add_converted(
                "/",
                f"{without_query(location)} could not be asked for its size, so no change of it is noticed: "
                f"{reason}",
            )
        return {source.url: source.size for source in sources if source.size is not None}

    def _check_ends(self, table: ManifestTable, sizes: dict[str, int]) -> None:
        for path, end in table.ends().items():
            size = sizes.get(self._locations[path])
            if size is not None and end > size:
                raise NoReferencesError(
                    f"a chunk of it ends at byte {end} of {self._locations[path]}, which has {size}"
                )


def add_array(builder: RfsBuilder, path: str, node: ManifestArray) -> None:
    """Add an array without its chunks.

    Raises
    ------
    NoReferencesError, UsageError
        When it has no form in references; nothing is added then.
    """
    document = array_metadata(node, path)
    skipped: list[tuple[str, str, str]] = []
    attributes = attributes_of(node, path, lambda *entry: skipped.append(entry))
    builder.add_array(
        path,
        shape=document["shape"],
        data_type=document["data_type"],
        chunk_shape=document["chunk_grid"]["configuration"]["chunk_shape"],
        codecs=[codec if isinstance(codec, dict) else {"name": codec} for codec in document["codecs"]],
        fill_value=document.get("fill_value"),
        attributes=attributes,
        dimension_names=document.get("dimension_names"),
    )
    for place, _, reason in skipped:
        builder.add_skipped(place, "attribute", reason)
