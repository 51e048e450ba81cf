"""generate_rfs: open the file, take its inventory, represent each object.

Every decision about one kind of object is made in the module of that name; this one knows the order:
arrays first, since links and references may name only what became a node.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import h5py
from h5py import h5d, h5g, h5o

from ...builder import RfsBuilder
from ...errors import UnsupportedError, UsageError
from ...refs.document import Rfs
from .array_plan import Plan, add_plan, attributes_of
from .attr_conversion import convert_attributes
from .dataset_context import DatasetContext, OnUnsupported
from .datasets import plan_dataset
from .description import describe
from .inline_budget import InlineBudget
from .inventory import Inventory, StoredObject, take_inventory
from .links import link_entries
from .object_names import absolute, attribute_path, encode_name, printable
from .opening import OpenFile, open_source
from .progress import GenerationEvent, ProgressCallback, Stage
from .reasons import CannotRepresentError, reading
from .references import ReferenceResolver
from .specifications import as_scalar, plain_location
from .userblock import offset_shift

CHUNK_INDEX_THRESHOLD = 1000
"""Chunks above which an array has a chunk index."""

CONTIGUOUS_CHUNK_BYTES = 4 * 2**20
"""Bytes above which a contiguous dataset is cut into slabs."""

INLINE_LIMIT = 64 * 2**20
"""Bytes of values that a document holds at most."""

MOST_USERBLOCK = 64 * 2**10
"""Bytes of a user block that a document holds; the rest of a larger one is left out."""


def generate_rfs(
    source: str | os.PathLike[str],
    *,
    local_hdf5_path: str | os.PathLike[str] | None = None,
    chunk_index_threshold: int | None = CHUNK_INDEX_THRESHOLD,
    contiguous_chunk_bytes: int = CONTIGUOUS_CHUNK_BYTES,
    on_unsupported: OnUnsupported = "copy",
    inline_limit: int = INLINE_LIMIT,
    allow_external: bool = False,
    hdf5_section: bool = True,
    progress: ProgressCallback | None = None,
) -> Rfs:
    """Make references for an HDF5 file.

    Parameters
    ----------
    source : str or path-like
        A local path, an http(s) or s3 URL, or a DANDI URL. References name it, local paths absolute.
    local_hdf5_path : str or path-like, optional
        A local copy of ``source`` to read instead; refused when it is not the same file.
    chunk_index_threshold : int or None, optional
        Written chunks above which an array has a chunk index in place of references; None for never.
    contiguous_chunk_bytes : int, optional
        Bytes above which a contiguous dataset is cut into slabs of about that size.
    on_unsupported : {"copy", "skip", "error"}, optional
        What to do with values that no Zarr codec can decode in place: hold them in the document, leave
        them out by name, or raise.
    inline_limit : int, optional
        Bytes of values that the document may hold; what does not fit is left out by name.
    allow_external : bool, optional
        Whether virtual datasets and external raw files outside the file's own folder may be read.
    hdf5_section : bool, optional
        Whether the document describes what Zarr cannot say exactly, so that `to_hdf5` can write the file
        again.
    progress : callable, optional
        Called with `GenerationEvent`s.

    Returns
    -------
    Rfs
        What is left out is in ``skipped`` and what was changed in ``converted``, by name.

    Raises
    ------
    SourceNotFoundError, NotHDF5Error, DamagedSourceError
        When the source is not there, is not HDF5, or cannot be opened.
    SourceChangedError
        When the source changes meanwhile, or the local copy is another file.
    UnsupportedError
        With ``on_unsupported="error"``, for the first object that cannot be referenced.
    """
    if on_unsupported not in ("copy", "skip", "error"):
        raise UsageError(f'on_unsupported is {on_unsupported!r}; expected "copy", "skip" or "error"')
    with open_source(source, local_hdf5_path) as opened:
        run = _Generation(
            opened,
            chunk_index_threshold=chunk_index_threshold,
            contiguous_chunk_bytes=max(1, contiguous_chunk_bytes),
            on_unsupported=on_unsupported,
            inline_limit=inline_limit,
            allow_external=allow_external,
            progress=progress,
        )
        rfs = run.document()
        if hdf5_section:
            userblock = opened.read_bytes(0, min(opened.file.userblock_size, MOST_USERBLOCK))
            rfs["hdf5"] = describe(opened.file.id, run.inventory, rfs, userblock=userblock)
    run.report("done", len(run.nodes), len(run.nodes))
    return rfs


class _Generation:
    """One run of `generate_rfs`."""

    def __init__(
        self,
        opened: OpenFile,
        *,
        chunk_index_threshold: int | None,
        contiguous_chunk_bytes: int,
        on_unsupported: OnUnsupported,
        inline_limit: int,
        allow_external: bool,
        progress: ProgressCallback | None,
    ) -> None:
        self._opened = opened
        self._file = opened.file
        self._progress = progress
        self._threshold = chunk_index_threshold
        self._is_strict = on_unsupported == "error"
        self._builder = RfsBuilder()
        self._plans: dict[str, Plan] = {}
        self._chunks = self._bytes = 0
        self.nodes: set[str] = set()
        self.report("open", 0, 0)
        self.inventory: Inventory = take_inventory(self._file.id)
        objects = len(self.inventory.objects)
        self.report("inventory", objects, objects)
        self._context = DatasetContext(
            resolver=ReferenceResolver(self.inventory, self._file.id),
            budget=InlineBudget(inline_limit),
            size=opened.source.size,
            shift=offset_shift(self._file.userblock_size, self._candidates(), opened.read_bytes),
            local_path=opened.path,
            contiguous_chunk_bytes=contiguous_chunk_bytes,
            on_unsupported=on_unsupported,
            allow_external=allow_external,
        )

    def document(self) -> Rfs:
        """Represent every object; gives the document."""
        source = self._opened.source
        self._builder.add_source(source.url, source.size, source.etag)
        for failure in self.inventory.failures:
            self._skip(failure.path, failure.kind, failure.reason)
        objects = self.inventory.in_tree_order()
        specifications = self._specifications()
        for number, found in enumerate(objects, start=1):
            self._add_node(found, specifications)
            self.report("datasets", number, len(objects))
        for number, found in enumerate(objects, start=1):
            self._add_attributes(found)
            self.report("attributes", number, len(objects))
        return self._builder.build()

    def report(self, stage: Stage, objects: int, total: int) -> None:
        """Tell the caller how far things are."""
        if self._progress is None:
            return
        stream = self._opened.stream
        requests, nbytes = (stream.requests, stream.bytes_read) if stream is not None else (0, 0)
        self._progress(GenerationEvent(stage, objects, total, self._chunks, self._bytes, requests, nbytes))

    def _candidates(self) -> Iterator[h5py.Dataset]:
        for found in self.inventory.in_tree_order():
            if found.kind == "dataset":
                try:
                    yield self._dataset(found)
                except CannotRepresentError:
                    continue  # it is reported when its turn comes

    def _dataset(self, found: StoredObject) -> h5py.Dataset:
        with reading():
            return h5py.Dataset(h5d.open(self._file.id, encode_name(absolute(found.path))))

    def _specifications(self) -> str | None:
        """Prefix of the paths of the cached specifications; None when the file has none."""
        root = h5py.Group(h5g.open(self._file.id, b"/"))
        groups = {absolute(item.path) for item in self.inventory.objects.values() if item.kind == "group"}
        attributes = convert_attributes(root, self._context.resolver, groups).values
        location = plain_location(attributes)
        return f"{location}/" if location else None

    def _add_node(self, found: StoredObject, specifications: str | None) -> None:
        if found.kind == "datatype":
            self._builder.add_converted(
                absolute(found.path), "a committed data type: no node; every dataset has its own type"
            )
            return
        if found.kind == "group":
            self._builder.add_group(found.path)
            self.nodes.add(absolute(found.path))
            return
        try:
            plan = plan_dataset(self._dataset(found), found.path, self._context)
        except CannotRepresentError as error:
            self._skip(absolute(found.path), "dataset", str(error))
            return
        if specifications is not None and found.path.startswith(specifications):
            as_scalar(plan)
        self._add_plan(found.path, plan)

    def _add_plan(self, path: str, plan: Plan) -> None:
        add_plan(
            self._builder, path, plan, url=self._opened.source.url, chunk_index_threshold=self._threshold
        )
        for what in plan.converted:
            self._builder.add_converted(absolute(path), what)
        self._plans[path] = plan
        self._chunks += plan.count
        self._bytes += plan.nbytes
        self.nodes.add(absolute(path))

    def _add_attributes(self, found: StoredObject) -> None:
        is_node = absolute(found.path) in self.nodes
        if not is_node and found.kind != "datatype":
            return
        try:
            with reading():
                item = _wrapped(h5o.open(self._file.id, encode_name(absolute(found.path))))
        except CannotRepresentError as error:
            self._skip(attribute_path(found.path, "*"), "attribute", str(error))
            return
        converted = convert_attributes(item, self._context.resolver, self.nodes)
        for name, reason in converted.skipped:
            self._skip(attribute_path(found.path, name), "attribute", reason)
        if found.kind == "datatype":
            for name in converted.values:
                self._skip(attribute_path(found.path, name), "attribute", "a committed data type has no node")
            return
        self._set_attributes(found, converted.values)

    def _set_attributes(self, found: StoredObject, attributes: dict[str, object]) -> None:
        if not found.path:
            plain_location(attributes)
        plan = self._plans.get(found.path)
        if plan is not None:
            attributes = attributes_of(plan, attributes)
        elif found.kind == "group":
            entries, skipped = link_entries(found, self.inventory, self.nodes)
            for path, reason in skipped:
                self._skip(printable(path), "link", reason)
            if entries:
                attributes["_LINKS"] = entries
        self._builder.set_attributes(found.path, attributes)

    def _skip(self, path: str, kind: str, reason: str) -> None:
        if self._is_strict:
            raise UnsupportedError(f"{path}: {reason}")
        self._builder.add_skipped(path, kind, reason)  # type: ignore[arg-type]


def _wrapped(item: object) -> h5py.Group | h5py.Dataset | h5py.Datatype:
    """The object with h5py's attribute manager, without looking anything up again."""
    if isinstance(item, h5g.GroupID):
        return h5py.Group(item)
    return h5py.Dataset(item) if isinstance(item, h5d.DatasetID) else h5py.Datatype(item)
