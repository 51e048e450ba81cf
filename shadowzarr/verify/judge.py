"""verify_rfs: references on one side, the file that they describe on the other, and a report.

The table of contents of a verification; the walk is in ``structure``, the comparisons are in
``attributes`` and ``datasets``.
"""

from __future__ import annotations

import os

import h5py

from ..access.locations import canonical, without_query
from ..access.source_identity import Source, check_identity
from ..access.watched import working_on
from ..errors import SourceChangedError, UsageError
from ..refs.document import Rfs
from .attributes import Optional, compare_attributes
from .datasets import Choice, added_attributes, compare_dataset, dataset_kind
from .document import check_document
from .original import READ_ERRORS, Original, identify_original, open_original
from .references import References, load_references
from .regions import SAMPLED_CHUNKS
from .report import REPLACED, Mode, Plain, VerificationReport
from .structure import Pair, Structure, walk
from .tally import Tally

SPECIFICATIONS = "specifications"
"""Where NWB files hold cached specifications when ``.specloc`` does not say otherwise."""


def verify_rfs(
    refs: str | os.PathLike[str] | Rfs,
    against: str | os.PathLike[str] | None = None,
    *,
    mode: Mode = "sample",
    seed: int = 0,
    sampled_chunks: int = SAMPLED_CHUNKS,
    allow_external: bool = False,
) -> VerificationReport:
    """Compare references with the HDF5 file that they describe.

    Everything that h5py shows is compared with what the references give: groups, datasets, shapes, data
    types, fill values, values, attributes and links. What the convention writes otherwise is allowed by
    the rows of `shadowzarr.verify.mappings.MAPPINGS` and counted. Values are compared bit for bit.

    Parameters
    ----------
    refs : str, path or Rfs
        A document, a directory of one, a URL, or references in memory.
    against : str or path, optional
        The original: a local path or a URL. The one source of the references when left out.
    mode : {"sample", "full"}, optional
        Whether the values of some chunks are compared, or all. Everything else is always compared.
    seed : int, optional
        The same seed chooses the same chunks.
    sampled_chunks : int, optional
        How many chunks of an array are chosen by chance, beside the first, the last and those at edges.
    allow_external : bool, optional
        Whether files that the original names may be read outside its folder.

    Returns
    -------
    VerificationReport
        With every difference; what cannot be read from the references is one. When the source was
        replaced (by its size, and ETag if remote), that is the only one, of kind ``"replaced"``.

    Raises
    ------
    shadowzarr.errors.UsageError
        When ``mode`` is no mode, or ``against`` is left out and the references have not one source.
    shadowzarr.errors.InvalidReferencesError
        When ``refs`` is no reference file system.
    shadowzarr.errors.SourceError, shadowzarr.errors.ReadError
        When the original cannot be opened.
    """
    if mode not in ("sample", "full"):
        raise UsageError(f'mode is {mode!r}; it must be "sample" or "full"')
    tally = Tally()
    references = load_references(refs, tally)
    source = os.fspath(against) if against is not None else _only_source(references.rfs)
    location = canonical(source)
    found = identify_original(location)
    if not _is_replaced(references.rfs, location, found, tally):
        with open_original(location, found=found, allow_external=allow_external) as original:
            _compare(original, references, tally, Choice(mode, seed, sampled_chunks))
    name = os.fspath(refs) if isinstance(refs, str | os.PathLike) else "references in memory"
    return tally.report(mode, seed, references=_shown(name), original=_shown(source))


def _is_replaced(rfs: Rfs, location: str, found: Source | None, tally: Tally) -> bool:
    """Whether the original is one of the sources and no longer the file that was indexed.

    That is the one difference then: those of what is in the two files would only hide it.
    """
    entry = rfs.get("sources", {}).get(location)
    if entry is None or found is None:
        return False
    indexed = Source(location, entry["size"], entry.get("etag"))
    try:
        check_identity(indexed, size=found.size, etag=found.etag)
    except SourceChangedError:
        tally.differ("", REPLACED, Plain(_identity_text(found)), Plain(_identity_text(indexed)))
        return True
    return False


def _identity_text(source: Source) -> str:
    size = "unknown size" if source.size is None else f"{source.size:,} bytes"
    return size if source.etag is None else f"{size}, ETag {source.etag}"


def _only_source(rfs: Rfs) -> str:
    sources = [url for url, entry in rfs.get("sources", {}).items() if not entry.get("linked")]
    if len(sources) != 1:
        raise UsageError(
            f"the references name {len(sources)} source files; say which file to compare with (against)"
        )
    return sources[0]


def _shown(location: str) -> str:
    """A location without its query string, which may hold a signature."""
    return without_query(location)


def _compare(original: Original, references: References, tally: Tally, choice: Choice) -> None:
    structure = walk(original, references, tally)
    specifications = _specifications(structure)
    for pair in structure.pairs:
        working_on(f"/{pair.path.strip('/')}")
        if isinstance(pair.item, h5py.Group):
            _compare_group(structure, pair)
        else:
            is_specification = pair.path.startswith(f"{specifications}/")
            _compare_array(structure, pair, choice, is_specification=is_specification)
    check_document(references, structure, tally)


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
