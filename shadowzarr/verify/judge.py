"""verify_rfs: references on one side, what they describe on the other, and a report.

The table of contents of a verification; which original it is compared with, and how, is in ``opening`` and
the modules of the originals.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..access.locations import canonical, is_remote, without_query
from ..access.source_identity import Source, check_identity
from ..access.traffic import counted
from ..errors import SourceChangedError, SourceError, TransientReadError, UnknownFormatError, UsageError
from ..recording_parts import is_of_recording
from ..refs.document import Rfs
from .failed_reads import FailedReads
from .memory_original import MemoryOriginal
from .neo.neo_original import NeoOriginal, RawReader, about_recording, open_recording
from .opening import open_original
from .original import Choice
from .references import References, load_references
from .regions import SAMPLED_CHUNKS
from .report import REPLACED, Mode, Plain, VerificationReport
from .source_file import identify_original
from .tally import Tally


def verify_rfs(
    refs: str | os.PathLike[str] | Rfs,
    against: str | os.PathLike[str] | Mapping[str, Any] | RawReader | None = None,
    *,
    mode: Mode = "sample",
    seed: int = 0,
    sampled_chunks: int = SAMPLED_CHUNKS,
    allow_external: bool = False,
    allow_local_files: bool = False,
) -> VerificationReport:
    """Compare references with what they describe: an HDF5 or TIFF file, a recording, or arrays.

    Of an HDF5 file, everything that h5py shows is compared with what the references give: groups, datasets,
    shapes, data types, fill values, values, attributes and links. What the convention writes otherwise is
    allowed by the rows of `shadowzarr.verify.mappings.MAPPINGS` and counted. Of a TIFF file, every series
    and level that tifffile shows: shapes, data types and values. Of a recording, every buffer of every
    segment: these, and what is said of its streams, as NEO's raw reader reads them. Of arrays, the same as of
    a TIFF file. Values are compared bit for bit.

    Parameters
    ----------
    refs : str, path or Rfs
        A document, a directory of one, a URL, or references in memory.
    against : str, path, mapping or one of NEO's raw readers, optional
        The original: a local path or a URL, whose content says what it is; a recording may be a folder. The
        one source of the references when left out. Or all arrays that the references must give, by their
        paths: numpy arrays, such as a `numpy.memmap` of a raw binary file, or whatever has shape, dtype and
        slices.
    mode : {"sample", "full"}, optional
        Whether the values of some chunks are compared, or all. Everything else is always compared.
    seed : int, optional
        The same seed chooses the same chunks.
    sampled_chunks : int, optional
        How many chunks of an array are chosen by chance, beside the first, the last and those at edges.
    allow_external : bool, optional
        Whether files that the original names may be read outside its folder.
    allow_local_files : bool, optional
        Whether references that come over the network may name files of this machine.

    Returns
    -------
    VerificationReport
        With every difference; bytes that the references name and that are not there are one. When the
        source was replaced (by its size, and ETag if remote), that is the only one, of kind ``"replaced"``.
        What differs is compared a second time, where anything was read over the network.

    Raises
    ------
    shadowzarr.errors.UsageError
        When ``mode`` is no mode, ``against`` holds no arrays, or it is left out and the references have not
        one source; or the original is a recording, or a part of one, and the references were not made of one,
        as those of a virtual NWB file.
    shadowzarr.errors.InvalidReferencesError
        When ``refs`` is no reference file system.
    shadowzarr.errors.UnknownFormatError
        When the original is of no format that is known, as a raw binary file is.
    shadowzarr.errors.SourceError, shadowzarr.errors.ReadError
        When the original cannot be opened, or a server does not give what is read of it or by the references,
        whether it says so or sends other bytes the second time (`TransientReadError`).
    """
    if mode not in ("sample", "full"):
        raise UsageError(f'mode is {mode!r}; it must be "sample" or "full"')
    choice = Choice(mode, seed, sampled_chunks)

    def compare() -> tuple[VerificationReport, bool]:
        with counted() as traffic:
            before, reads = traffic.requests, FailedReads(traffic)
            tally = Tally(reads)
            references = load_references(refs, tally, allow_local_files=allow_local_files)
            original = _compare(references, against, tally, choice, reads, allow_external=allow_external)
            name = os.fspath(refs) if isinstance(refs, str | os.PathLike) else "references in memory"
            report = tally.report(mode, seed, references=without_query(name), original=original)
            return report, traffic.requests > before

    try:
        report, is_over_network = compare()
    except SourceChangedError:
        raise
    except SourceError as error:  # what it cannot be opened for is to show twice, too
        raise _unlike(compare()[0].original, str(error)) from error
    if not report.equal and is_over_network:
        _check_same(report, compare()[0])
    return report


def _check_same(first: VerificationReport, second: VerificationReport) -> None:
    """Refuse what two comparisons found, when it is not the same: then what a server sent was not.

    Raises
    ------
    TransientReadError
        When it is not the same.
    """
    apart = set(first.differences) ^ set(second.differences)
    if not apart:
        return
    only = next(each for each in (*first.differences, *second.differences) if each in apart)
    found = f"{only.path}: {only.kind}: original {only.original}, references {only.references}"
    raise _unlike(first.original, found)


def _unlike(original: str, found: str) -> TransientReadError:
    return TransientReadError(
        f"{original}: a server sent other bytes when it was read again, so nothing can be said of the "
        f"references; of two comparisons one alone found this: {found}. Check the network and try again"
    )


def _compare(
    references: References,
    against: str | os.PathLike[str] | Mapping[str, Any] | RawReader | None,
    tally: Tally,
    choice: Choice,
    reads: FailedReads,
    *,
    allow_external: bool,
) -> str:
    """Compare references with the original, and tell its name."""
    if isinstance(against, Mapping | RawReader):
        given = MemoryOriginal(against) if isinstance(against, Mapping) else NeoOriginal(against)
        given.compare(references, tally, choice)
        return given.name
    source = os.fspath(against) if against is not None else _described_by(references)
    location = canonical(source)
    reads.of(location)
    _compare_file(location, references, tally, choice, allow_external=allow_external)
    return without_query(source)


def _compare_file(
    location: str, references: References, tally: Tally, choice: Choice, *, allow_external: bool
) -> None:
    about = about_recording(references)
    if about and not is_remote(location):
        with open_recording(location, about) as recording:
            recording.compare(references, tally, choice)
        return
    if not is_remote(location) and is_of_recording(location):
        raise UsageError(
            "these references are no copy of one file, as those of a virtual NWB file: they were not "
            f"made of a recording, and {location} is one or a part of one. Compare their arrays, in Python: "
            "verify_rfs(refs, {path: values})"
        )
    found = identify_original(location)
    if _is_replaced(references.rfs, location, found, tally):
        return
    try:
        with open_original(location, found=found, allow_external=allow_external) as original:
            original.compare(references, tally, choice)
    except UnknownFormatError as error:
        raise UnknownFormatError(
            f"{error}; raw binary files are compared in Python with arrays: verify_rfs(refs, {{path: array}})"
        ) from error


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


def _described_by(references: References) -> str:
    """What the references say that they describe."""
    path = about_recording(references).get("path")
    if not isinstance(path, str):
        return _only_source(references.rfs)
    _check_beside_sources(path, references.rfs)
    return path


def _check_beside_sources(recording: str, rfs: Rfs) -> None:
    """Refuse a recording that has none of the source files: those are checked when a document is loaded."""
    folder = recording if os.path.isdir(recording) else os.path.dirname(recording)  # noqa: PTH112, PTH120
    if not any(url.startswith(f"{folder.rstrip('/')}/") for url in rfs.get("sources", {})):
        raise UsageError(
            f"the references say that the recording is {recording}, where none of their source files is; "
            "say what to compare with: --against PLACE, or against= in Python"
        )


def _only_source(rfs: Rfs) -> str:
    sources = [url for url, entry in rfs.get("sources", {}).items() if not entry.get("linked")]
    if len(sources) != 1:
        raise UsageError(
            f"the references name {len(sources)} source files; say which to compare with: --against FILE, or "
            "against= in Python, which takes arrays by their paths too"
        )
    return sources[0]
