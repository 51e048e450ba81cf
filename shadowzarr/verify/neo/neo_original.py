"""A recording as an original: which array each buffer of a segment must be, and what is said of its streams.

How values are read is the subject of ``buffer_values``, what is said of streams that of ``stream_facts``.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..._optional import require
from ...access.locations import without_query
from ...errors import DamagedSourceError, ShadowzarrError, SourceNotFoundError, UnknownFormatError, UsageError
from ...recording_readers import TOLD, given_path, is_told
from ...recordings import READERS, FoundRecording, find_recording
from ..arrays import OriginalArray, compare_arrays
from ..original import Choice
from ..references import References
from ..report import Plain
from ..tally import Tally
from .buffer_values import BufferValues
from .stream_facts import difference, facts_of

DIMENSIONS = ("time", "channel")


@runtime_checkable
class RawReader(Protocol):
    """One of NEO's raw readers, as far as it tells them from anything else."""

    def parse_header(self) -> None:
        """Read what the recording says of itself."""
        ...

    def get_analogsignal_chunk(self, *arguments: Any, **options: Any) -> Any:
        """Read values."""
        ...


class NeoOriginal:
    """A recording that references are compared with; see `original.Original`.

    Parameters
    ----------
    reader : neo.rawio.baserawio.BaseRawIO
        Any of NEO's raw readers; its header is parsed if it is not yet.

    Raises
    ------
    DamagedSourceError
        When NEO cannot read the recording.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        name = type(reader).__name__
        try:
            if not getattr(reader, "is_header_parsed", False):
                reader.parse_header()
            self.name = given_path(reader)
        except Exception as error:  # NEO raises whatever a damaged header leads to
            raise DamagedSourceError(f"NEO's {name} cannot read the recording: {error}") from error

    def compare(self, references: References, tally: Tally, choice: Choice) -> None:
        """Compare shapes, data types, axes and values of every array, and what is said of its streams."""
        chosen = _chosen(references)
        arrays: dict[str, OriginalArray] = {}
        facts: dict[str, list[dict[str, Any]]] = {}
        for block, segment, prefix in self._segments(chosen):
            for name, streams, is_buffer in self._named(chosen):
                path = prefix + name.replace("/", "_")
                try:
                    arrays[path], facts[path] = self._array(block, segment, streams, is_buffer=is_buffer)
                except Exception as error:  # noqa: BLE001 - NEO raises whatever a damaged file makes it meet
                    _cannot_read(path, references, tally, error)
        compare_arrays(arrays, references, tally, choice)
        for path, wanted in facts.items():
            if path in references.nodes:
                _compare_facts(path, wanted, references, tally)

    def _segments(self, chosen: Mapping[str, Any]) -> Iterator[tuple[int, int, str]]:
        counts = [self._reader.segment_count(block) for block in range(self._reader.block_count())]
        for block, count in enumerate(counts):
            for segment in range(count):
                if chosen.get("block", block) == block and chosen.get("segment", segment) == segment:
                    yield block, segment, "" if sum(counts) == 1 else f"block{block}/segment{segment}/"

    def _named(self, chosen: Mapping[str, Any]) -> Iterator[tuple[str, list[int], bool]]:
        """Names of the arrays of a segment, the streams in each, and whether it is a buffer as stored."""
        header = self._reader.header["signal_streams"]
        ids = chosen.get("stream", [str(each) for each in header["id"]])
        if "stream" in chosen or not self._reader.has_buffer_description_api():
            for index, each in enumerate(header["id"]):
                if str(each) in ids:
                    yield str(each), [index], False
            return
        buffers = [str(each) for each in header["buffer_id"]]
        for name in dict.fromkeys(buffers):
            yield name, [index for index, each in enumerate(buffers) if each == name], True

    def _array(
        self, block: int, segment: int, streams: Sequence[int], *, is_buffer: bool
    ) -> tuple[OriginalArray, list[dict[str, Any]]]:
        reader = self._reader
        size = int(reader.get_signal_size(block, segment, streams[0]))
        description, columns = None, {}
        width = reader.signal_channels_count(streams[0])
        if is_buffer:
            buffer_id = reader.header["signal_streams"][streams[0]]["buffer_id"]
            description = reader.get_analogsignal_buffer_description(block, segment, buffer_id)
            width = int(description["shape"][1 - description.get("time_axis", 0)])
        for index in streams:
            taken = None
            if is_buffer:
                taken = reader._stream_buffer_slice[reader.header["signal_streams"][index]["id"]]
            every = np.arange(width)
            columns[index] = (every if taken is None else every[taken]).tolist()
        dtype = self._dtype(block, segment, streams[0], size)
        values = BufferValues(reader, block, segment, columns, description, dtype)
        array = OriginalArray((size, width), dtype, lambda: values.read, (0,), DIMENSIONS)
        return array, [facts_of(reader, block, segment, index, columns[index]) for index in streams]

    def _dtype(self, block: int, segment: int, index: int, size: int) -> np.dtype[Any]:
        if not size:
            return np.dtype(str(self._reader.header["signal_channels"]["dtype"][0]))
        found: np.dtype[Any] = self._reader.get_analogsignal_chunk(block, segment, 0, 1, index).dtype
        return found


@contextlib.contextmanager
def open_recording(location: str, about: Mapping[str, Any]) -> Iterator[NeoOriginal]:
    """Open a recording as an original.

    Parameters
    ----------
    location : str
        A local file or folder.
    about : mapping
        What the references say of it (`about_recording`): ``reader``, by default the one for what it looks
        like, and ``told``, what the reader was told.

    Raises
    ------
    SourceNotFoundError, UnknownFormatError, DamagedSourceError
        When it is not there, is none, or NEO cannot read it.
    UsageError
        When the references name no reader of NEO's, or what no reader is told.
    MissingDependencyError
        When NEO is not installed.
    """
    rawio = require("neo.rawio", extra="neo")
    reader = about.get("reader")
    found = _found(location, is_named=reader is not None)
    if reader is not None and (found is None or found.kind.reader != reader):
        kind: Any = getattr(rawio, reader, None) if isinstance(reader, str) else None
        if kind not in rawio.rawiolist:
            raise UsageError(
                f"the references say that {reader!r} reads the recording; NEO has no such reader"
            )
        argument = READERS[reader].argument if reader in READERS else "filename"
        arguments: dict[str, Any] = {argument: location}
    elif found is None:
        raise UnknownFormatError(f"{without_query(location)} is no recording that is known")
    else:
        kind, arguments = getattr(rawio, found.kind.reader), found.all_arguments()
    arguments |= _told(about, kind)
    try:
        opened = kind(**arguments)
    except FileNotFoundError as error:
        raise SourceNotFoundError(f"{location}: {error}") from error
    except Exception as error:
        raise DamagedSourceError(f"{location}: NEO cannot open it: {error}") from error
    yield NeoOriginal(opened)


def _told(about: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """What the references say that the reader was told."""
    told = about.get("told", {})
    known = TOLD & inspect.signature(kind.__init__).parameters.keys()
    if not isinstance(told, Mapping) or not told.keys() <= known or not all(map(is_told, told.values())):
        raise UsageError(
            f"the references say that NEO's {kind.__name__} was told {told!r}; it takes no such thing"
        )
    return dict(told)


def _found(location: str, *, is_named: bool) -> FoundRecording | None:
    """The recording that something looks like; what is a part of one may be what a reader was given."""
    try:
        return find_recording(location)
    except UnknownFormatError:
        if is_named:
            return None
        raise


def about_recording(references: References) -> Mapping[str, Any]:
    """What the root's attributes say of a recording; nothing when they say nothing."""
    try:
        about = references.nodes[""].attributes.values.get("neo", {})
    except KeyError:
        return {}
    return about if isinstance(about, Mapping) else {}


def _chosen(references: References) -> Mapping[str, Any]:
    chosen = about_recording(references).get("chosen", {})
    return chosen if isinstance(chosen, Mapping) else {}


def _cannot_read(path: str, references: References, tally: Tally, error: Exception) -> None:
    """What NEO cannot read may only be left out by name."""
    entry = references.skipped.at(path)
    if entry is not None and path not in references.nodes:
        tally.leave_out(path, entry["kind"], entry["reason"])
    else:
        tally.differ(path, "unreadable original", Plain(f"{type(error).__name__}: {error}"), "an array")


def _compare_facts(path: str, wanted: list[dict[str, Any]], references: References, tally: Tally) -> None:
    try:
        given = references.served_attributes(path).get("neo")
    except ShadowzarrError as error:
        tally.differ(path, "attribute", "neo", Plain(error))
        return
    tally.count("attributes")
    found = difference(wanted, given)
    if found is not None:
        tally.differ(f"{path}@neo", "attribute", Plain(found[0]), Plain(found[1]))
