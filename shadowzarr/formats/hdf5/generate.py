"""generate_rfs: open the file, take its inventory, represent each object.

Every decision about one kind of object is made in the module of that name; this one knows the order:
arrays first, since links and references may name only what became a node.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import h5py
from h5py import h5d, h5g, h5o

from ...access.remfile import Remfile
from ...access.sources import Source
from ...access.watched import working_on
from ...builder import RfsBuilder
from ...errors import UnsupportedError, UsageError
from ...refs.chunk_index import CHUNK_INDEX_THRESHOLD
from ...refs.document import Rfs
from ...refs.slabs import CONTIGUOUS_CHUNK_BYTES
from .array_plan import Plan, add_plan, attributes_of, sources_of
from .attr_conversion import convert_attributes
from .dataset_context import DatasetContext, OnUnsupported
from .datasets import plan_dataset
from .description import describe
from .inline_budget import InlineBudget
from .linked_files import HDF5File, LinkedFiles
from .links import link_entries
from .object_names import absolute, attribute_path, encode_name, printable
from .opening import OpenFile, ReadAheadReport, open_source
from .placement import Placed, Placement, place_objects
from .progress import GenerationEvent, ProgressCallback, Stage
from .read_ahead import Tally
from .reasons import CannotRepresentError, reading
from .specifications import as_scalar, plain_location
from .type_attributes import NO_NODE, keep_described
from .userblock import offset_shift

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
        Whether other files that the file names, in links, virtual datasets or as raw storage, may lie
        outside its own folder, or that folder of a URL.
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
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(open_source(source, local_hdf5_path, report=_reporter(progress)))
        run = _Generation(
            opened,
            stack,
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
            rfs["hdf5"] = describe(opened.file.id, run.files.first.inventory, rfs, userblock=userblock)
            keep_described(rfs)
    run.report("done", len(run.nodes), len(run.nodes))
    return rfs


def _reporter(progress: ProgressCallback | None) -> ReadAheadReport:
    """What tells the caller of the rounds of requests before the file is open."""

    def report(stream: Remfile, tally: Tally) -> None:
        if progress is not None:
            progress(
                GenerationEvent(
                    "read_ahead",
                    requests=stream.requests,
                    bytes_read=stream.bytes_read,
                    levels=tally.levels,
                    nodes=tally.nodes,
                )
            )

    return report


class _Generation:
    """One run of `generate_rfs`."""

    def __init__(
        self,
        opened: OpenFile,
        stack: contextlib.ExitStack,
        *,
        chunk_index_threshold: int | None,
        allow_external: bool,
        progress: ProgressCallback | None,
        inline_limit: int,
        **options: Any,
    ) -> None:
        self._progress = progress
        self._threshold = chunk_index_threshold
        self._is_strict = options["on_unsupported"] == "error"
        self._options = options
        self._budget = InlineBudget(inline_limit)
        self._builder = RfsBuilder()
        self._plans: dict[str, Plan] = {}
        self._contexts: dict[int, DatasetContext] = {}
        self._chunks = self._bytes = 0
        self._opened = opened
        self.nodes: set[str] = set()
        self.report("open", 0, 0)
        self.files = LinkedFiles(opened, stack, allow_external=allow_external)
        self._placement: Placement = place_objects(self.files)
        objects = len(self._placement.objects)
        self.report("inventory", objects, objects)

    def document(self) -> Rfs:
        """Represent every object; gives the document."""
        source = self._opened.source
        self._builder.add_source(source.url, source.size, source.etag)
        for file in self._placement.linked():
            self._add_source(file.opened.source)
        for failure in self._placement.failures():
            self._skip(failure.path, failure.kind, failure.reason)
        objects = self._placement.objects
        specifications = self._specifications()
        for number, item in enumerate(objects, start=1):
            self._add_node(item, specifications)
            self.report("datasets", number, len(objects))
        for number, item in enumerate(objects, start=1):
            self._add_attributes(item)
            self.report("attributes", number, len(objects))
        return self._builder.build()

    def _add_source(self, source: Source) -> None:
        if source.url != self._opened.source.url:
            self._builder.add_source(source.url, source.size, source.etag, linked=True)

    def report(self, stage: Stage, objects: int, total: int) -> None:
        """Tell the caller how far things are."""
        if self._progress is None:
            return
        stream = self._opened.stream
        requests, nbytes = (stream.requests, stream.bytes_read) if stream is not None else (0, 0)
        tally = self._opened.ahead.tally
        self._progress(
            GenerationEvent(
                stage,
                objects,
                total,
                self._chunks,
                self._bytes,
                requests,
                nbytes,
                tally.levels,
                tally.nodes,
            )
        )

    def _context(self, file: HDF5File) -> DatasetContext:
        """What planning a dataset of a file needs."""
        if file.number not in self._contexts:
            self._contexts[file.number] = DatasetContext(
                resolver=self._placement.resolver(file),
                budget=self._budget,
                size=file.opened.source.size,
                shift=offset_shift(
                    file.opened.file.userblock_size, self._candidates(file), file.opened.read_bytes
                ),
                file=file,
                files=self.files,
                **self._options,
            )
        return self._contexts[file.number]

    def _candidates(self, file: HDF5File) -> Iterator[h5py.Dataset]:
        for item in self._placement.objects:
            if item.file is file and item.found.kind == "dataset":
                try:
                    yield file.dataset(item.found)
                except CannotRepresentError:
                    continue  # it is reported when its turn comes

    def _specifications(self) -> str | None:
        """Prefix of the paths of the cached specifications; None when the file has none."""
        first = self.files.first
        root = h5py.Group(h5g.open(first.opened.file.id, b"/"))
        groups = {absolute(item.path) for item in self._placement.objects if item.found.kind == "group"}
        attributes = convert_attributes(root, self._context(first).resolver, groups).values
        location = plain_location(attributes)
        return f"{location}/" if location else None

    def _add_node(self, item: Placed, specifications: str | None) -> None:
        path = absolute(item.path)
        working_on(path)
        if item.found.kind == "datatype":
            self._builder.add_converted(
                path, "a committed data type: no node; every dataset has its own type"
            )
            return
        if item.found.kind == "group":
            self._builder.add_group(item.path)
            self.nodes.add(path)
            return
        try:
            plan = plan_dataset(item.file.dataset(item.found), item.path, self._context(item.file))
        except CannotRepresentError as error:
            self._skip(path, "dataset", str(error))
            return
        if specifications is not None and item.path.startswith(specifications):
            as_scalar(plan)
        self._add_plan(item, plan)

    def _add_plan(self, item: Placed, plan: Plan) -> None:
        url = item.file.opened.source.url
        add_plan(self._builder, item.path, plan, url=url, chunk_index_threshold=self._threshold)
        for source in sources_of(plan):
            self._add_source(source)
        for what in plan.converted:
            self._builder.add_converted(absolute(item.path), what)
        self._plans[item.path] = plan
        self._chunks += plan.count
        self._bytes += plan.nbytes
        self.nodes.add(absolute(item.path))

    def _add_attributes(self, item: Placed) -> None:
        path, is_type = absolute(item.path), item.found.kind == "datatype"
        working_on(f"the attributes of {path}")
        if path not in self.nodes and not is_type:
            return
        try:
            with reading():
                stored = encode_name(absolute(item.found.path))
                opened = _wrapped(h5o.open(item.file.opened.file.id, stored))
        except CannotRepresentError as error:
            self._skip(attribute_path(item.path, "*"), "attribute", str(error))
            return
        converted = convert_attributes(opened, self._context(item.file).resolver, self.nodes)
        for name, reason in converted.skipped:
            self._skip(attribute_path(item.path, name), "attribute", reason)
        if is_type:
            for name in converted.values:
                self._skip(attribute_path(item.path, name), "attribute", NO_NODE)
            return
        self._set_attributes(item, converted.values)

    def _set_attributes(self, item: Placed, attributes: dict[str, object]) -> None:
        if not item.path:
            plain_location(attributes)
        plan = self._plans.get(item.path)
        if plan is not None:
            attributes = attributes_of(plan, attributes)
        elif item.found.kind == "group":
            entries, skipped = link_entries(item, self._placement, self.nodes)
            for path, reason in skipped:
                self._skip(printable(path), "link", reason)
            if entries:
                attributes["_LINKS"] = entries
        self._builder.set_attributes(item.path, attributes)

    def _skip(self, path: str, kind: str, reason: str) -> None:
        if self._is_strict:
            raise UnsupportedError(f"{path}: {reason}")
        self._builder.add_skipped(path, kind, reason)  # type: ignore[arg-type]


def _wrapped(item: object) -> h5py.Group | h5py.Dataset | h5py.Datatype:
    """The object with h5py's attribute manager, without looking anything up again."""
    if isinstance(item, h5g.GroupID):
        return h5py.Group(item)
    return h5py.Dataset(item) if isinstance(item, h5d.DatasetID) else h5py.Datatype(item)
