"""What makes a source file the same file: its size and ETag, and checks of answers against them.

Answers come from the transports, descriptions from `sources`; nothing is read here.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ShortReadError, SourceChangedError
from ..refs.byte_range import FileRange
from .locations import without_query
from .watched import bytes_came

type Buffer = bytes | memoryview


@dataclass(frozen=True, slots=True)
class Source:
    """A file that references point into, as it was when they were made.

    Attributes
    ----------
    url : str
        URL or absolute path, as it goes into references.
    size : int or None
        Bytes of the whole file; None when it is not known.
    etag : str or None
        ETag with its double quotes, as the server sends it; None when there is none.
    """

    url: str
    size: int | None = None
    etag: str | None = None

    @property
    def if_match(self) -> str | None:
        """The ETag to send as If-Match: strong ones only, because weak ones never match."""
        return self.etag if is_strong(self.etag) else None


@dataclass(frozen=True, slots=True)
class RangeAnswer:
    """What a server gave for one range.

    Attributes
    ----------
    data : bytes or memoryview
        The bytes that came.
    total : int or None
        Size of the whole file, as the server said with them.
    etag : str or None
        ETag that came with them.
    """

    data: Buffer
    total: int | None
    etag: str | None


def is_strong(etag: str | None) -> bool:
    """Whether an ETag is a strong one: quoted, and not marked with ``W/``."""
    return etag is not None and len(etag) > 2 and etag.startswith('"') and etag.endswith('"')


def quoted(etag: str | None) -> str | None:
    """An ETag as HTTP writes it: the archive's metadata leaves the double quotes away."""
    if not etag or etag.startswith(('"', 'W/"')):
        return etag or None
    return f'"{etag}"'


def check_answer(answer: RangeAnswer, wanted: FileRange | None, url: str, source: Source | None) -> None:
    """Compare what came with what was asked for.

    Parameters
    ----------
    answer : RangeAnswer
        What came.
    wanted : FileRange or None
        What was asked for; None for the whole file.
    url : str
        Of the file, for messages.
    source : Source or None
        What the file should be; None leaves it unchecked.

    Raises
    ------
    SourceChangedError
        When size or ETag are not those of `source`.
    ShortReadError
        When the length is not the one asked for. It counts as transient when the file is long enough.
    """
    bytes_came()  # every answer of a server passes here
    if source is not None:
        check_identity(source, size=answer.total, etag=answer.etag)
    expected = answer.total if wanted is None else wanted.length
    if expected is not None and len(answer.data) != expected:
        raise short_read(url, wanted, len(answer.data), answer.total)


def check_identity(source: Source, *, size: int | None, etag: str | None) -> None:
    """Compare a file's size and ETag with those of its source; what is not known is not compared.

    Raises
    ------
    SourceChangedError
        When they differ.
    """
    if source.size is not None and size is not None and size != source.size:
        raise changed(source, f"it has {size} bytes, expected {source.size}")
    if is_strong(source.etag) and is_strong(etag) and etag != source.etag:
        raise changed(source, f"its ETag is {etag}, expected {source.etag}")


def changed(source: Source, found: str) -> SourceChangedError:
    """The error for a file that is not the one that was indexed."""
    return SourceChangedError(
        f"{without_query(source.url)} is not the file that was indexed: {found}. "
        "Generate its references again, or open them with validate_sources=False to read what is there"
    )


def short_read(url: str, wanted: FileRange | None, came: int, total: int | None) -> ShortReadError:
    """The error for an answer of the wrong length; transient unless the file itself is too short."""
    shown = without_query(url)
    if wanted is None:
        message = f"{shown}: {came} bytes came, the whole file has {total}"
    else:
        message = f"{shown}: asked for bytes {wanted.offset} to {wanted.stop}, {came} of {wanted.length} came"
    is_past_end = wanted is not None and total is not None and wanted.stop > total
    if is_past_end:
        message += f"; the file has only {total} bytes"
    error = ShortReadError(message)
    error.transient = not is_past_end
    return error
