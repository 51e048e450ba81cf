"""An HDF5 file as an original: the table of contents of its comparison.

The walk over names and links is in ``structure``, the comparisons are in ``attributes`` and ``datasets``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import h5py

from ...access.watched import working_on
from ..document import check_document
from ..original import Choice
from ..references import References
from ..report import Plain
from ..source_file import SourceFile
from ..tally import Tally
from .attributes import Optional, compare_attributes
from .datasets import added_attributes, compare_dataset, dataset_kind
from .original_file import READ_ERRORS, OriginalFile, open_original_file
from .structure import Pair, Structure, walk

SPECIFICATIONS = "specifications"
"""Where NWB files hold cached specifications when ``.specloc`` does not say otherwise."""


class HDF5Original:
    """An open HDF5 file that references are compared with; see `original.Original`."""

    def __init__(self, file: OriginalFile) -> None:
        self._file = file

    def compare(self, references: References, tally: Tally, choice: Choice) -> None:
        """Compare everything that h5py shows."""
        structure = walk(self._file, references, tally)
        specifications = _specifications(structure)
        for pair in structure.pairs:
            working_on(f"/{pair.path.strip('/')}")
            if isinstance(pair.item, h5py.Group):
                _compare_group(structure, pair)
            else:
                is_specification = pair.path.startswith(f"{specifications}/")
                _compare_array(structure, pair, choice, is_specification=is_specification)
        check_document(references, tally)
        _check_skipped_attributes(structure)


@contextlib.contextmanager
def open_hdf5(file: SourceFile, *, allow_external: bool = False) -> Iterator[HDF5Original]:
    """Open an HDF5 file as an original; arguments and errors as for `open_original_file`."""
    with open_original_file(file, allow_external=allow_external) as opened:
        yield HDF5Original(opened)


def _specifications(structure: Structure) -> str:
    """Path of the group of cached specifications."""
    root = structure.pairs[0]
    try:
        if ".specloc" not in root.item.attrs:
            return SPECIFICATIONS
        target = structure.original.target(root.item.attrs[".specloc"], root.item)
    except READ_ERRORS:
        return SPECIFICATIONS
    return structure.placed.get(target, SPECIFICATIONS) if target is not None else SPECIFICATIONS


def _compare_group(structure: Structure, pair: Pair) -> None:
    structure.tally.count("groups")
    if structure.references.nodes[pair.path].is_array:
        structure.tally.differ(pair.path, "node type", "a group", "an array")
        return
    compare_attributes(structure, pair, {"_LINKS": Optional(lambda _value: "")})


def _compare_array(structure: Structure, pair: Pair, choice: Choice, *, is_specification: bool) -> None:
    kind = dataset_kind(pair.item)
    node = structure.references.nodes[pair.path]
    given, data_type = node.attributes.values, node.metadata.get("data_type")
    extra = added_attributes(kind, pair, data_type, given, is_specification=is_specification)
    compare_attributes(structure, pair, extra)
    compare_dataset(structure, pair, kind, choice, is_specification=is_specification)


def _check_skipped_attributes(structure: Structure) -> None:
    """Report attributes that the document says it leaves out, and that there are not."""
    for entry in structure.references.skipped.unmet():
        if entry["kind"] != "attribute":
            continue
        owner, _, name = entry["path"].lstrip("/").rpartition("@")
        if (
            not structure.original.has_attribute(f"/{owner}", name)
            or structure.references.resolve(owner) is not None
        ):
            structure.tally.differ(
                entry["path"], "skipped", Plain(f"no attribute {name!r}"), "listed as left out"
            )
