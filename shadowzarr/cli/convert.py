"""``shadowzarr convert``: what LINDI, kerchunk and VirtualiZarr know made ours, and ours made theirs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import CycloptsError, Parameter

from ..access.locations import without_query
from ..access.watched import allow
from ..formatting import format_count
from .array_progress import ArrayProgress
from .exit_codes import DONE, LEFT_OUT
from .left_out import document_name, left_out_lines
from .output_check import check_output
from .stall import TIMEOUT, Timeout
from .written import Written, as_json, written

if TYPE_CHECKING:
    from ..refs.document import Rfs

Form = Literal["lindi", "kerchunk", "rfs"]
Source = Literal["lindi", "kerchunk", "rfs", "virtualizarr"]
ParserName = Literal[
    "dmrpp",
    "envi",
    "fits",
    "hdf4",
    "hdf5",
    "kerchunk",
    "kerchunk-parquet",
    "netcdf3",
    "zarr",
    "zarr-zip",
]

_ONLY = "--{}: only for --from virtualizarr"


def convert(
    source: str,
    out: str,
    *,
    from_: Annotated[Source, Parameter(name="--from")],
    to: Form = "rfs",
    parser: ParserName | None = None,
    group: str | None = None,
    links: Annotated[bool, Parameter(name="--keep-links", negative="")] = False,
    allow_local_files: Annotated[bool, Parameter(negative="")] = False,
    force: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
    timeout: Timeout = TIMEOUT,
) -> int:
    """Write references in another form, or by VirtualiZarr's parsers.

    Ends with 0 when all is said in the new form, and with 3 when something is left out by name.

    Ends with 1 on failure, with OUT as it was before, and with 2 when the command line is wrong.

    Parameters
    ----------
    source
        The references: a path or URL. For kerchunk a JSON document or a directory of Parquet tables, for
        LINDI a .lindi.json, .lindi.tar or .lindi.d, for virtualizarr a file of the parser's format.
    out
        For rfs a path ending in .json for one file with every chunk listed, or any other path for a
        directory; for kerchunk and LINDI a path ending in .json.
    from_
        What SOURCE is; virtualizarr for a file that one of its parsers reads.
    to
        What OUT is to be; ours when left out. kerchunk's is its version 1 with keys of Zarr v3. Files that
        changed are refused for kerchunk and LINDI, whose readers would not notice.
    parser
        virtualizarr: which of its parsers reads SOURCE.
    group
        virtualizarr: the group of SOURCE, or for FITS the extension, that is wanted; left out, everything.
    links
        LINDI: leave arrays that are external links as they are, rather than follow them.
    allow_local_files
        Let references at a URL name files of this machine.
    force
        Replace OUT when it holds references. Anything else is never replaced.
    json
        Print the outcome as one JSON object.
    timeout
        Seconds that one object may take without a byte being read, before the command gives up; 0 for ever.
    """
    allow(timeout)
    _check_call(from_, to, out, links=links, parser=parser, group=group)
    check_output(out, force=force, sources=(source,))
    with ArrayProgress("read") as progress:
        progress.show(f"reading {without_query(source)}")
        if from_ == "virtualizarr":
            rfs = _parse(source, str(parser), group)
        else:
            options = {"allow_local_files": allow_local_files}
            rfs = _read(source, from_, keep_links=links, progress=progress, options=options)
    if from_ == "rfs" and to != "rfs":
        _check_sources(rfs)
    skipped: Sequence[Mapping[str, Any]] = rfs.get("skipped", []) if from_ != "rfs" else []
    if to == "lindi":
        skipped = [*skipped, *_write_lindi(rfs, out)]
    elif to == "kerchunk":
        from ..kerchunk import write_kerchunk

        write_kerchunk(rfs, out)
    else:
        from ..write import write_rfs

        write_rfs(rfs, out)
    made = written(rfs, out)
    entries = [(entry["path"], entry["kind"], entry["reason"]) for entry in skipped]
    if json:
        print(as_json(made, entries))
    else:
        print(_line(made))
        for line in left_out_lines(entries, where=document_name(out)):
            print(line)
    return LEFT_OUT if entries else DONE


def _check_call(
    from_: Source, to: Form, out: str, *, links: bool, parser: str | None, group: str | None
) -> None:
    message = ""
    if from_ == to and from_ != "rfs":
        message = f"--from and --to are both {to}; one of them is to be another form"
    elif to != "rfs" and not out.endswith(".json"):
        message = f"OUT is {out}; references for {to} are one file that ends in .json"
    elif links and from_ != "lindi":
        message = "--keep-links: only LINDI has external array links"
    elif (parser is None) == (from_ == "virtualizarr"):
        message = (
            "--from virtualizarr needs --parser, such as netcdf3"
            if parser is None
            else _ONLY.format("parser")
        )
    elif group is not None and from_ != "virtualizarr":
        message = _ONLY.format("group")
    if message:
        error = CycloptsError(msg=message)
        error.command_chain = ("convert",)
        raise error


def _check_sources(rfs: Rfs) -> None:
    """Refuse files that changed: other forms have no ETags, so that no reader of them would notice."""
    from ..access.describing import refuse_changed
    from ..access.sources import Source

    entries = (rfs.get("sources") or {}).items()
    refuse_changed([Source(url, entry["size"], entry.get("etag")) for url, entry in entries])


def _parse(source: str, parser: str, group: str | None) -> Rfs:
    """References made by a parser of VirtualiZarr, whose warnings are for who calls it in Python."""
    from ..virtualizarr import manifest_store_to_rfs, parse_source

    with warnings.catch_warnings(action="ignore"):
        return manifest_store_to_rfs(parse_source(source, parser, group=group))


def _read(
    source: str, form: Form, *, keep_links: bool, progress: ArrayProgress, options: Mapping[str, bool]
) -> Rfs:
    match form:
        case "lindi":
            from ..lindi import lindi_to_rfs

            return lindi_to_rfs(source, follow_external_arrays=not keep_links, progress=progress, **options)
        case "kerchunk":
            from ..kerchunk import kerchunk_to_rfs

            return kerchunk_to_rfs(source, progress=progress, **options)
        case "rfs":
            from ..store.load_rfs import load_rfs

            return load_rfs(source, allow_local_files=options["allow_local_files"])


def _write_lindi(rfs: Rfs, out: str) -> list[Mapping[str, Any]]:
    """Write LINDI's form; gives what it leaves out."""
    from ..lindi import rfs_to_lindi
    from ..write import replace_document

    document = rfs_to_lindi(rfs)
    replace_document(Path(out), document)  # type: ignore[arg-type] # any JSON
    left_out: list[Mapping[str, Any]] = document["generationMetadata"]["skipped"]
    return left_out


def _line(made: Written) -> str:
    return (
        f"{made.out}: {format_count(made.groups, 'group')}, {format_count(made.arrays, 'array')}, "
        f"{format_count(made.chunks, 'chunk')}, {made.size} written"
    )
