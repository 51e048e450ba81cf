"""``shadowzarr generate``: references for one file or recording, of whichever format its content is."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import CycloptsError, Parameter
from cyclopts.validators import Number

from ..access.watched import allow
from ..formatting import format_bytes, format_count
from .exit_codes import DONE, LEFT_OUT
from .generation_progress import GenerationProgress
from .left_out import document_name, left_out_lines
from .output_check import check_output
from .stall import TIMEOUT, Timeout
from .written import Written, as_json, written

if TYPE_CHECKING:
    from ..recognition import Format

MOST_NAMED = 20
"""How many objects left out are named; the document names all."""


def _threshold(_type: Any, tokens: Any) -> int | None:
    text = tokens[0].value
    if text.lower() == "none":
        return None
    if not text.isdecimal():
        raise ValueError(f"{text!r} is neither a number of chunks nor none")
    return int(text)


def generate(
    source: str,
    out: str,
    *,
    format: Literal["hdf5", "tiff", "neo"] | None = None,  # noqa: A002 - the option's name
    local_path: Annotated[str | None, Parameter(name=("--local-path", "--local-hdf5-path"))] = None,
    chunk_index_threshold: Annotated[int | None, Parameter(converter=_threshold)] = 1000,
    contiguous_chunk_bytes: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    on_unsupported: Literal["copy", "skip", "error"] | None = None,
    inline_limit: Annotated[int, Parameter(validator=Number(gte=0))] = 64 * 2**20,
    allow_external: Annotated[bool, Parameter(negative="")] = False,
    stream: Annotated[list[str] | None, Parameter(negative="")] = None,
    block: Annotated[int | None, Parameter(validator=Number(gte=0))] = None,
    segment: Annotated[int | None, Parameter(validator=Number(gte=0))] = None,
    force: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
    timeout: Timeout = TIMEOUT,
) -> int:
    """Write references for an HDF5 or TIFF file, or a recording that NEO reads.

    Ends with 0 when all of the file is represented, and with 3 when something is left out by name.

    Ends with 1 on failure, with OUT as it was before, and with 2 when the command line is wrong.

    Parameters
    ----------
    source
        The file: a path, an http(s) or s3 URL, or a DANDI URL. A recording: a file or folder, which NEO
        reads locally; with --local-path, SOURCE is where it is hosted.
    out
        A path ending in .json for one file with every chunk listed; any other path for a directory.
    format
        What the file is; left out, its content tells, and the command says what it took it for.
    local_path
        A local copy of the file or recording at SOURCE, which is read in its place.
    chunk_index_threshold
        Number of chunks above which an array gets a chunk index; "none" lists every chunk.
    contiguous_chunk_bytes
        HDF5: bytes above which a contiguous dataset is cut into slabs; 4 MiB when left out.
    on_unsupported
        What to do with values that no codec can decode: copy when left out, and skip for recordings.
    inline_limit
        Bytes that may be held in the document, in all.
    allow_external
        HDF5: read other files that the file names, also outside its folder.
    stream
        Recordings: the ids of the streams that are wanted, each as an array of its own.
    block
        Recordings: the block that is wanted, counted from 0.
    segment
        Recordings: the segments that are wanted, counted from 0 in each block.
    force
        Replace OUT when it holds references. Anything else is never replaced.
    json
        Print the outcome as one JSON object.
    timeout
        Seconds that one object may take without a byte being read, before the command gives up; 0 for ever.
    """
    allow(timeout)
    check_output(out, force=force, sources=(source, local_path))
    from ..access.traffic import counted
    from ..formats.dispatch import generate_references
    from ..write import write_rfs

    for_one_format = {
        "contiguous_chunk_bytes": contiguous_chunk_bytes,
        "allow_external": allow_external or None,
        "on_unsupported": on_unsupported,
        "stream": stream,
        "block": block,
        "segment": segment,
    }
    given: dict[str, Any] = {name: value for name, value in for_one_format.items() if value is not None}
    start = time.monotonic()
    with counted(), GenerationProgress() as progress:
        found = format or _recognized(source, local_path)
        _check_options(given, found)
        rfs = generate_references(
            source,
            format=found,
            local_file=local_path,
            defaults={"chunk_index_threshold": chunk_index_threshold, "inline_limit": inline_limit},
            progress=progress,
            **given,
        )
    write_rfs(rfs, out)
    made, seconds = written(rfs, out), round(time.monotonic() - start, 3)
    entries = [(e["path"], e["kind"], e["reason"]) for e in rfs.get("skipped", [])]
    if json:
        print(as_json(made, entries, format=found, seconds=seconds, **progress.counts()))
        return LEFT_OUT if entries else DONE
    print(_line(made, seconds))
    for line in left_out_lines(entries, limit=MOST_NAMED, where=document_name(out)):
        print(line)
    if progress.took():
        print(progress.took())
    return LEFT_OUT if entries else DONE


def _recognized(source: str, local_path: str | None) -> Format:
    """The format that the content of a file says, which is told, since nobody chose it."""
    from ..access.locations import without_query
    from ..recognition import TITLES, recognize

    found = recognize(source if local_path is None else local_path)
    if sys.stderr is not None:
        print(f"shadowzarr: {without_query(source)} is {TITLES[found]}", file=sys.stderr, flush=True)
    return found


def _check_options(given: Mapping[str, Any], found: Format) -> None:
    """Refuse options that say nothing about files of a format; whoever gives them expects something."""
    from ..formats.dispatch import options_of
    from ..recognition import TITLES

    foreign = [f"--{name.replace('_', '-')}" for name in given if name not in options_of(found)]
    if foreign:
        error = CycloptsError(msg=f"{' and '.join(foreign)}: not for {TITLES[found]}")
        error.command_chain = ("generate",)
        raise error


def _line(made: Written, seconds: float) -> str:
    return (
        f"{made.out}: {format_count(made.groups, 'group')} with the root, "
        f"{format_count(made.arrays, 'array')}, {format_count(made.chunks, 'chunk')} that are stored, "
        f"{format_bytes(made.inline_bytes)} of them inline, {made.size} written in {seconds:.1f} s"
    )
