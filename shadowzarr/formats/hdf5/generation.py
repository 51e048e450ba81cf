"""One generation: take the inventory of an open file, open each object once, represent it.

Every decision about one kind of object is made in the module of that name; this one knows the order:
arrays first, then attributes, since links and references may name only what became a node.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import h5py

from ...access.sources import Source
from ...access.watched import working_on
from ...builder import RfsBuilder
from ...errors import UnsupportedError
from ...refs.document import Rfs
from ..progress import ProgressCallback, Stage, event_now
from .array_plan import Plan, add_plan, attributes_of, sources_of
from .attr_conversion import convert_attributes
from .dataset_context import DatasetContext
from .datasets import plan_dataset
from .description import Description
from .inline_budget import InlineBudget
from .linked_files import HDF5File, LinkedFiles
from .links import link_entries
from .object_names import absolute, attribute_path, printable
from .opened_object import OpenedObject, open_dataset, open_object
from .opening import OpenFile
from .placement import Placed, Placement, place_objects
from .reasons import CannotRepresentError
from .specifications import as_scalar, plain_location
from .stored_attributes import StoredAttributes
from .type_attributes import NO_NODE, keep_described
from .userblock import offset_shift

MOST_USERBLOCK = 64 * 2**10
"""Bytes of a user block that a document holds; the rest of a larger one is left out."""


class Generation:
    """One run of `generate_rfs`.

    Parameters
    ----------
    opened : OpenFile
        The file.
    stack : contextlib.ExitStack
        Closes the files that it leads to.
    is_described : bool
        Whether the document gets the section ``hdf5``.
    chunk_index_threshold, allow_external, progress, inline_limit, **options
        As `generate_rfs` has them.
    """

    def __init__(
        self,
        opened: OpenFile,
        stack: contextlib.ExitStack,
        *,
        chunk_index_threshold: int | None,
        allow_external: bool,
        is_described: bool,
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
        self._attributes: dict[str, StoredAttributes] = {}
        self._contexts: dict[int, DatasetContext] = {}
        self._chunks = self._bytes = 0
        self._opened = opened
        self.nodes: set[str] = set()
        self.report("open", 0, 0)
        self.files = LinkedFiles(opened, stack, allow_external=allow_external)
        self._placement: Placement = place_objects(self.files)
        self._description = Description(opened.file.id, self.files.first.inventory) if is_described else None
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
        return self._described(self._builder.build())

    def _described(self, rfs: Rfs) -> Rfs:
        """The document with the section that describes the file, if it is to have one."""
        if self._description is not None:
            opened = self._opened
            userblock = opened.read_bytes(0, min(opened.file.userblock_size, MOST_USERBLOCK))
            rfs["hdf5"] = self._description.section(rfs, userblock=userblock)
            keep_described(rfs)
        return rfs

    def _add_source(self, source: Source) -> None:
        if source.url != self._opened.source.url:
            self._builder.add_source(source.url, source.size, source.etag, linked=True)

    def report(self, stage: Stage, objects: int, total: int) -> None:
        """Tell the caller how far things are."""
        if self._progress is None:
            return
        tally = self._opened.ahead.tally
        self._progress(
            event_now(
                stage,
                objects,
                total,
                chunks=self._chunks,
                nbytes=self._bytes,
                levels=tally.levels,
                nodes=tally.nodes,
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
        root = self._placement.objects[0]
        groups = {absolute(item.path) for item in self._placement.objects if item.found.kind == "group"}
        self._take_attributes(root)
        resolver = self._context(root.file).resolver
        location = plain_location(convert_attributes(self._attributes[root.path], resolver, groups).values)
        return f"{location}/" if location else None

    def _take_attributes(self, item: Placed) -> None:
        """Take what is wanted of a group or a committed datatype, unless that was done."""
        if item.path in self._attributes:
            return
        try:
            self._take(item, open_object(item.file.opened.file.id, item.found.path))
        except CannotRepresentError as error:
            self._attributes[item.path] = StoredAttributes(rest=str(error))

    def _take(self, item: Placed, opened: OpenedObject) -> None:
        """Take what is wanted of an object when it is closed again."""
        working_on(f"the attributes of {absolute(item.path)}")
        self._attributes[item.path] = opened.attributes
        if self._description is not None and item.file is self.files.first:
            self._description.hear(item.found.address, opened)

    def _add_node(self, item: Placed, specifications: str | None) -> None:
        path = absolute(item.path)
        if item.found.kind == "dataset":
            self._add_dataset(item, specifications)
            return
        self._take_attributes(item)
        if item.found.kind == "datatype":
            self._builder.add_converted(
                path, "a committed data type: no node; every dataset has its own type"
            )
            return
        self._builder.add_group(item.path)
        self.nodes.add(path)

    def _add_dataset(self, item: Placed, specifications: str | None) -> None:
        path = absolute(item.path)
        try:
            opened = open_dataset(item.file.opened.file.id, item.found.path)
            self._take(item, opened)
            working_on(path)
            plan = plan_dataset(opened, item.path, self._context(item.file))
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
        if path not in self.nodes and not is_type:
            return
        stored = self._attributes.pop(item.path)
        converted = convert_attributes(stored, self._context(item.file).resolver, self.nodes)
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
