"""One recording: a NEO reader whose header is parsed, its segments and its streams."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...errors import DamagedSourceError, ShadowzarrError, UnsupportedError, UsageError
from ...recording_readers import given_path
from ..cannot_represent import CannotRepresentError
from .files import Files
from .streams import Stream, read_streams

_MAX_LENGTH = 400
_TABLE = re.compile(r"\S+ Details:|^.* Report for .*$|^.* Found:$|^[+|].*[+|]$", re.MULTILINE)
"""Lines of the tables that NEO puts into messages."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment of a block.

    Attributes
    ----------
    block, number : int
        As NEO counts them.
    prefix : str
        What the paths of its arrays begin with: nothing in a recording of one segment.
    """

    block: int
    number: int
    prefix: str


@dataclass(frozen=True)
class Recording:
    """A recording whose header NEO has parsed.

    Attributes
    ----------
    reader : neo.rawio.baserawio.BaseRawIO
        What reads it.
    shown : str
        What messages call it.
    streams : list of Stream
        All streams.
    segments : list of Segment
        All segments.
    files : Files
        What is referenced.
    """

    reader: Any
    shown: str
    streams: list[Stream]
    segments: list[Segment]
    files: Files = field(compare=False)

    def choose_segments(self, block: int | None, segment: int | None) -> Iterator[Segment]:
        """The segments of a block, or with a number.

        Raises
        ------
        UsageError
            When there is none.
        """
        found = [
            each for each in self.segments if block in (None, each.block) and segment in (None, each.number)
        ]
        if not found and self.segments:
            counts = ", ".join(
                f"block {b} has {n} segment{'s' * (n != 1)}" for b, n in enumerate(_counts(self.segments))
            )
            wanted = f"segment {segment}" if block is None else f"block {block}"
            if block is not None and segment is not None:
                wanted += f" with segment {segment}"
            raise UsageError(f"{self.shown} has no {wanted}: {counts}, counted from 0")
        yield from found

    def choose_streams(self, ids: Collection[str] | None) -> list[Stream]:
        """The streams of these ids; all when None is given.

        Raises
        ------
        UsageError
            When there is no such stream.
        """
        if ids is None:
            return self.streams
        known = {stream.id: stream for stream in self.streams}
        unknown = [each for each in ids if each not in known]
        if unknown:
            raise UsageError(
                f"{self.shown} has no stream {unknown[0]!r}; its streams are {', '.join(map(repr, known))}"
            )
        return [known[each] for each in dict.fromkeys(ids)]

    def size(self, segment: Segment, stream: Stream) -> int:
        """Samples of each channel of a stream.

        Raises
        ------
        CannotRepresentError
            When NEO cannot tell.
        """
        with asking_neo():
            return int(self.reader.get_signal_size(segment.block, segment.number, stream.index))

    def t_start(self, segment: Segment, stream: Stream) -> float:
        """Time of the first sample, in seconds.

        Raises
        ------
        CannotRepresentError
            When NEO cannot tell.
        """
        with asking_neo():
            return float(self.reader.get_signal_t_start(segment.block, segment.number, stream.index))


@contextlib.contextmanager
def asking_neo() -> Iterator[None]:
    """Turn what NEO raises into a reason, and let our own errors through.

    Raises
    ------
    CannotRepresentError
        When NEO fails.
    """
    try:
        yield
    except (ShadowzarrError, CannotRepresentError):
        raise
    except Exception as error:  # NEO raises whatever a damaged file makes it meet
        raise CannotRepresentError(f"NEO cannot read it: {short_reason(error)}") from error


def open_recording(reader: Any, files: Files) -> Recording:
    """Let NEO parse the header of a recording, unless it has.

    Parameters
    ----------
    reader : neo.rawio.baserawio.BaseRawIO
        Any of NEO's raw readers.
    files : Files
        Collects what is referenced.

    Raises
    ------
    UsageError
        When it is no reader.
    DamagedSourceError
        When NEO cannot read the recording.
    UnsupportedError
        When there are no signals in it.
    """
    if not callable(getattr(reader, "parse_header", None)):
        raise UsageError(f"expected one of the readers of neo.rawio, found a {type(reader).__name__}")
    try:
        if not getattr(reader, "is_header_parsed", False):
            reader.parse_header()
        shown = given_path(reader)
        streams = read_streams(reader.header)
        counts = [int(reader.segment_count(block)) for block in range(reader.block_count())]
    except ShadowzarrError:
        raise
    except Exception as error:  # NEO raises whatever a damaged header leads to
        raise DamagedSourceError(
            f"{given_path(reader)}: NEO's {type(reader).__name__} cannot read it: {short_reason(error)}"
        ) from error
    if not streams:
        raise UnsupportedError(f"{shown}: NEO's {type(reader).__name__} finds no signals in it")
    is_one = sum(counts) == 1
    segments = [
        Segment(block, number, "" if is_one else f"block{block}/segment{number}/")
        for block, count in enumerate(counts)
        for number in range(count)
    ]
    return Recording(reader, shown, streams, segments, files)


def short_reason(error: BaseException) -> str:
    """The reason of an exception, in one line."""
    text = " ".join(_TABLE.sub(" ", str(error)).split()) or type(error).__name__
    if isinstance(error, KeyError | IndexError | AttributeError):
        text = f"{type(error).__name__}: {text}"
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"


def _counts(segments: list[Segment]) -> list[int]:
    return [sum(each.block == block for each in segments) for block in range(segments[-1].block + 1)]
