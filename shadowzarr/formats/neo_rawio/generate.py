"""generate_rfs_neo: each signal buffer of each segment as one array.

Where samples lie is decided in `layouts`; this module knows the order, the paths and the attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ..._optional import require, require_installed
from ...access.watched import working_on
from ...builder import RfsBuilder
from ...errors import UnsupportedError, UsageError
from ...recording_readers import place_of, told_options
from ...refs.document import Rfs
from ...virtual import VirtualArray
from ..cannot_represent import CannotRepresentError
from ..progress import GenerationEvent, ProgressCallback
from .files import Files, UrlFor
from .layouts.described import buffer_array, buffer_ids, is_described, stream_columns
from .recording import Recording, Segment, open_recording
from .streams import Stream
from .virtual_arrays import check_stream, refuse_nothing, refusing, stream_array

OnUnsupported = Literal["skip", "error"]

DIMENSIONS = ("time", "channel")


def generate_rfs_neo(
    reader: Any,
    *,
    url_for: UrlFor | None = None,
    stream: str | Sequence[str] | None = None,
    block: int | None = None,
    segment: int | None = None,
    on_unsupported: OnUnsupported = "skip",
    progress: ProgressCallback | None = None,
) -> Rfs:
    """Make references for a recording that one of NEO's raw readers reads.

    Each of NEO's signal buffers becomes one array, time by channel, at ``<buffer id>`` in a recording of one
    segment and at ``block<b>/segment<s>/<buffer id>`` in any other. Readers that do not describe their
    buffers have one array for each stream, at its id. Values are raw, as ``reader.get_analogsignal_chunk``
    gives them; the array's ``neo`` attribute lists its streams: the columns
    of each, its sampling rate, t_start, and the id, name, units, gain and offset of each channel.

    Parameters
    ----------
    reader : neo.rawio.baserawio.BaseRawIO
        One of NEO's raw readers. Its header is parsed if it is not yet.
    url_for : callable, optional
        Gives the URL under which a local file is hosted, of its path as the reader has it. The URL is written
        down; unlike ``shadowzarr generate``, this asks nothing there. By default references name local paths.
    stream : str or sequence of str, optional
        Ids of the streams that are wanted. Each is an array of its own then, at its id, with its own columns.
    block, segment : int, optional
        Which ones, counted from 0; all when they are left out. Paths stay what they are.
    on_unsupported : {"skip", "error"}, optional
        Whether what cannot be referenced is left out by name, or raises.
    progress : callable, optional
        Called with each `GenerationEvent`.

    Returns
    -------
    Rfs
        What is left out is in ``skipped``, by name.

    Raises
    ------
    UsageError
        When it is no reader, or has no such stream, block or segment.
    DamagedSourceError
        When NEO cannot read the recording.
    UnsupportedError
        When there are no signals in it, or none can be referenced; with ``on_unsupported="error"`` for the
        first that cannot.
    MissingDependencyError
        When NEO is not installed.
    """
    if on_unsupported not in ("skip", "error"):
        raise UsageError(f'on_unsupported is {on_unsupported!r}; expected "skip" or "error"')
    require_installed("neo", extra="neo")
    wanted = [stream] if isinstance(stream, str) else stream
    recording = open_recording(reader, Files(url_for))
    run = _Generation(recording, on_unsupported, progress)
    chosen = {"stream": None if wanted is None else list(wanted), "block": block, "segment": segment}
    run.add_root(
        {name: value for name, value in chosen.items() if value is not None}, is_local=url_for is None
    )
    for each in recording.choose_segments(block, segment):
        if wanted is None and is_described(reader):
            run.add_buffers(each)
        else:
            run.add_streams(each, recording.choose_streams(wanted))
    return run.document()


class _Generation:
    """One run of `generate_rfs_neo`."""

    def __init__(
        self, recording: Recording, on_unsupported: OnUnsupported, progress: ProgressCallback | None
    ) -> None:
        self._recording, self._mode, self._progress = recording, on_unsupported, progress
        self._builder = RfsBuilder()
        self._left_out: dict[str, str] = {}
        self._arrays = self._bytes = 0

    def add_root(self, chosen: dict[str, Any], *, is_local: bool) -> None:
        """The root and what its attribute says of the recording; where it is, if references are local too."""
        about: dict[str, Any] = {
            "reader": type(self._recording.reader).__name__,
            "neo_version": require("neo", extra="neo").__version__,
        }
        place = place_of(self._recording.reader) if is_local else None
        if place is not None:
            about["path"] = place
        told = told_options(self._recording.reader)
        if told:
            about["told"] = told
        if chosen:
            about["chosen"] = chosen
        self._builder.add_group("", {"neo": about})

    def add_buffers(self, segment: Segment) -> None:
        """Each buffer of a segment."""
        for buffer_id in buffer_ids(self._recording):
            path = _path(segment, buffer_id)
            working_on(f"/{path}")
            streams = [each for each in self._recording.streams if each.buffer_id == buffer_id]
            try:
                with refusing():
                    array = buffer_array(self._recording, segment, buffer_id)
                entries = [self._entry(segment, each, array) for each in streams]
            except CannotRepresentError as error:
                self._leave_out(path, str(error))
                continue
            self._add(path, array, {"buffer_id": buffer_id, "streams": entries})

    def add_streams(self, segment: Segment, streams: list[Stream]) -> None:
        """Streams of a segment, each for itself."""
        for stream in streams:
            path = _path(segment, stream.id)
            working_on(f"/{path}")
            try:
                array = stream_array(self._recording, segment, stream)
                entry = stream.entry(self._recording.t_start(segment, stream), range(stream.channels))
            except CannotRepresentError as error:
                self._leave_out(path, str(error))
                continue
            self._add(path, array, {"streams": [entry]})

    def document(self) -> Rfs:
        """The document of what was added."""
        refuse_nothing(self._recording, self._arrays, self._left_out)
        for url, entry in self._recording.files.sources.items():
            self._builder.add_source(url, entry["size"])
        rfs = self._builder.build()
        self._report("done")
        return rfs

    def _entry(self, segment: Segment, stream: Stream, array: VirtualArray) -> dict[str, Any]:
        columns = stream_columns(self._recording, stream, array.shape[1])
        check_stream(self._recording, segment, stream, array.shape, array.dtype, columns)
        return stream.entry(self._recording.t_start(segment, stream), columns)

    def _add(self, path: str, array: VirtualArray, about: dict[str, Any]) -> None:
        array.with_attributes({"neo": about}).add_to(self._builder, path, dimension_names=DIMENSIONS)
        self._arrays += 1
        self._bytes += array.nbytes
        self._report("datasets")

    def _leave_out(self, path: str, reason: str) -> None:
        if self._mode == "error":
            raise UnsupportedError(f"{self._recording.shown}: /{path}: {reason}")
        self._left_out[path] = reason
        self._builder.add_skipped(f"/{path}", "dataset", reason)

    def _report(self, stage: Literal["datasets", "done"]) -> None:
        if self._progress is not None:
            self._progress(GenerationEvent(stage, self._arrays, 0, 0, self._bytes))


def _path(segment: Segment, name: str) -> str:
    """Where an array is; a slash in an id would make groups of it."""
    return segment.prefix + name.replace("/", "_")
