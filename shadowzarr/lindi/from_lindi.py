"""lindi_to_rfs: a reference file of LINDI → a reference file system as ``generate_rfs`` makes it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

from ..access.describing import describe_each, is_local, refuse_local, refuse_signed
from ..access.locations import is_remote, without_query
from ..builder import RfsBuilder
from ..errors import UsageError
from ..formats.hdf5.array_plan import Plan, add_plan, sources_of
from ..formats.hdf5.dtypes import struct_marks
from ..formats.hdf5.specifications import as_scalar, plain_location
from ..refs.chunk_index import CHUNK_INDEX_THRESHOLD
from ..refs.document import Rfs
from ..zarr_v2 import NoV3FormError, V2Node, nodes_of, to_v3
from ..zarr_v2.adding import add_translated
from ..zarr_v2.arrays import check_shapes
from ..zarr_v2.held_budget import HeldBudget
from ..zarr_v2.progress import NodeProgress, unheard
from .attributes import attributes_of
from .documents import LindiDocument, read_document
from .external_arrays import Outcome, follow, link_of
from .links import Links
from .marks import EXTERNAL
from .values import is_held, plan_held

INLINE_LIMIT = 64 * 2**20
"""Bytes of values that may be held: those in LINDI's document, and those of a linked file that cannot be
referenced."""

_LOCAL = (
    "its external array link names the file {} of this machine, which is not opened for references from "
    "elsewhere (allow_local_files=True, --allow-local-files)"
)


def lindi_to_rfs(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    follow_external_arrays: bool = True,
    allow_local_files: bool = False,
    chunk_index_threshold: int | None = CHUNK_INDEX_THRESHOLD,
    describe_sources: bool = True,
    progress: NodeProgress | None = None,
) -> Rfs:
    """Make a reference file of LINDI ours.

    Parameters
    ----------
    source : str, path or mapping
        A ``.lindi.json``, ``.lindi.tar`` or ``.lindi.d`` by path or URL, or a document in memory.
    follow_external_arrays : bool, optional
        Whether datasets that LINDI links to, because they have many chunks, are read from the HDF5 files
        named there. Otherwise each is a group that keeps the link, and is named in ``skipped``.
    allow_local_files : bool, optional
        Whether a document that came over the network may name files of this machine.
    chunk_index_threshold : int or None, optional
        Chunks in one file above which an array has a chunk index; None for never.
    describe_sources : bool, optional
        Whether the files that references name are asked for their size and ETag, so that a reader notices
        when one is replaced from now on.
    progress : callable, optional
        Called with the path of each array or group, their number so far, and in all.

    Returns
    -------
    Rfs
        Read back, it equals ``generate_rfs`` of the HDF5 file, but for what LINDI does not say
        (``docs/interchange.md``). What is left out is in ``skipped``, by name.

    Raises
    ------
    InvalidReferencesError
        When it is no such document.
    ReadError
        When it cannot be read.
    UsageError
        When references name a file by a signed URL, or a file of this machine that they may not.
    """
    document = read_document(source)
    run = _Conversion(document, chunk_index_threshold, allow_local_files=allow_local_files)
    run.add_all(follow_external_arrays=follow_external_arrays, progress=progress or unheard)
    refuse_signed(run.urls)
    if describe_sources:
        run.describe()
    return run.builder.build()


class _Conversion:
    """One run of `lindi_to_rfs`."""

    def __init__(
        self, document: LindiDocument, chunk_index_threshold: int | None, *, allow_local_files: bool
    ) -> None:
        self.builder = RfsBuilder()
        self.urls = {value[0] for value in document.refs.values() if not isinstance(value, str)}
        self._may_be_local = allow_local_files or not is_remote(document.location)
        if not self._may_be_local:
            refuse_local(self.urls, document.location)
        self._nodes = nodes_of(document.refs, document.name)
        self._links = Links(self._nodes)
        self._place = document.resolve
        self._threshold = chunk_index_threshold
        self._budget = HeldBudget(INLINE_LIMIT)
        self._marks: dict[str, dict[str, Any]] = {}
        self._kept: set[str] = set()
        self._described: set[str] = set()

    def add_all(self, *, follow_external_arrays: bool, progress: NodeProgress) -> None:
        """Nodes first, since attributes and links may name only what became one."""
        specifications = self._specifications()
        outcomes = self._followed() if follow_external_arrays else {}
        for done, (path, node) in enumerate(self._nodes.items()):
            progress(path, done, len(self._nodes))
            if not self._links.is_below_link(path):
                self._add_node(node, outcomes.get(path), specifications)
        for path in sorted(self._kept):
            self._add_attributes(self._nodes[path])

    def describe(self) -> None:
        """Ask the files that are not open anyway for their identity."""
        sources, reasons = describe_each(sorted(self.urls - self._described))
        for source in sources:
            self.builder.add_source(source.url, source.size, source.etag)
        for url, reason in reasons.items():
            unknown = "could not be asked for its size, so no change of it is noticed"
            self.builder.add_converted("/", f"{without_query(url)} {unknown}: {reason}")

    def _specifications(self) -> str | None:
        """Prefix of the paths of the cached specifications."""
        attributes, _ = attributes_of(self._nodes[""].attributes, self._links_target)
        location = plain_location(attributes)
        return f"{location}/" if location else None

    def _links_target(self, path: str) -> str | None:
        found = self._links.resolve(path)
        return None if found is None else f"/{found}"

    def _target(self, path: str) -> str | None:
        """Absolute path of a node that is in the document."""
        found = self._links.resolve(path)
        return f"/{found}" if found is not None and found in self._kept else None

    def _followed(self) -> dict[str, tuple[Outcome, str]]:
        """What linked datasets become and the files they are in, by path."""
        by_file: dict[str, dict[str, str]] = {}
        for path, node in self._nodes.items():
            link = link_of(node.attributes) if node.zarray is not None else None
            if link is not None:
                by_file.setdefault(self._place(link[0]), {})[path] = link[1]
        refuse_signed(by_file)
        found: dict[str, tuple[Outcome, str]] = {}
        for url, names in by_file.items():
            if is_local(url) and not self._may_be_local:
                found |= {path: (_LOCAL.format(url), url) for path in names}
                continue
            outcomes, source = follow(url, names.values(), inline_limit=INLINE_LIMIT)
            named = url if source is None else source.url
            found |= {path: (outcomes[name], named) for path, name in names.items()}
            if source is not None:
                self.builder.add_source(source.url, source.size, source.etag)
                self._described |= {url, source.url}
        return found

    def _add_node(
        self, node: V2Node, followed: tuple[Outcome, str] | None, specifications: str | None
    ) -> None:
        kind: Literal["group", "dataset"] = "group" if node.zarray is None else "dataset"
        try:
            if node.zarray is None:
                self.builder.add_group(node.path)
            elif followed is not None:
                self._add_followed(node, *followed)
            elif EXTERNAL in node.attributes:
                self._keep_link(node)
            else:
                self._add_array(node, node.zarray, specifications)
        except (NoV3FormError, UsageError) as error:
            self.builder.add_skipped(f"/{node.path}", kind, str(error))
            return
        self._kept.add(node.path)

    def _add_followed(self, node: V2Node, outcome: Outcome, url: str) -> None:
        if isinstance(outcome, str):
            raise NoV3FormError(outcome)
        self._add_plan(node.path, outcome, url)
        for source in sources_of(outcome):
            self.builder.add_source(source.url, source.size, source.etag, linked=True)

    def _keep_link(self, node: V2Node) -> None:
        """A group in the array's place: an array without chunks would show its fill value."""
        self.builder.add_group(node.path)
        link = link_of(node.attributes)
        where = f"of {link[1]!r} in {without_query(link[0])}" if link else "of a kind that is not known"
        self.builder.add_skipped(
            f"/{node.path}", "dataset", f"an external array link {where}, which was not followed"
        )

    def _add_array(self, node: V2Node, zarray: dict[str, Any], specifications: str | None) -> None:
        check_shapes(zarray)
        if is_held(zarray, node.attributes, node.chunks):
            plan = plan_held(zarray, node.attributes, node.chunks, self._links_target, self._budget)
            if specifications is not None and node.path.startswith(specifications):
                as_scalar(plan)
            self._add_plan(node.path, plan, "")
            return
        array = to_v3(zarray)
        chunks = array.within(node.chunks)
        array.check_lengths(chunks, node.path)
        self._marks[node.path] = {"_DTYPE": "str"} if array.dtype is None else struct_marks(array.dtype)
        add_translated(
            self.builder, node.path, array, chunks, attributes={}, chunk_index_threshold=self._threshold
        )

    def _add_plan(self, path: str, plan: Plan, url: str) -> None:
        add_plan(self.builder, path, plan, url=url, chunk_index_threshold=self._threshold)
        for what in plan.converted:
            self.builder.add_converted(f"/{path}", what)
        self._marks[path] = plan.attributes

    def _add_attributes(self, node: V2Node) -> None:
        values, skipped = attributes_of(node.attributes, self._target)
        for name, reason in skipped.items():
            self.builder.add_skipped(f"/{node.path}@{name}", "attribute", reason)
        if not node.path:
            plain_location(values)
        values |= self._marks.get(node.path, {})
        if node.zarray is None:
            entries = self._link_entries(node.path)
            if entries:
                values["_LINKS"] = entries
        elif EXTERNAL in node.attributes and node.path not in self._marks:
            link = node.attributes[EXTERNAL]
            values[EXTERNAL] = {**(link if isinstance(link, Mapping) else {}), "zarray": node.zarray}
        self.builder.set_attributes(node.path, values)

    def _link_entries(self, path: str) -> list[dict[str, Any]]:
        """Entries of a group's ``_LINKS``; a link that leads nowhere is left out by name."""
        entries = []
        for name in self._links.names_in(path):
            link = f"{path}/{name}" if path else name
            target = self._target(link)
            if target is None:
                shown = self._links.targets[link]
                self.builder.add_skipped(f"/{link}", "link", f"a soft link to {shown}, where nothing is")
            else:
                entries.append({"name": name, "source": ".", "path": target})
        return entries
