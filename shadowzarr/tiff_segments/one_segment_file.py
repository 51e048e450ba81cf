"""A segment (a strip or a tile of a TIFF page) as a TIFF file of its own, which tifffile can decode.

What a directory has to say of one segment is little (`SegmentForm`); with it around its bytes, tifffile
itself is the decoder, for every compression, predictor, bit depth and byte order that it knows. TIFF revision
6.0, sections 2 (the file), 8 (strips), 14 (predictors), 15 (tiles) and 22 (JPEG).
"""

from __future__ import annotations

import base64
import io
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from .._optional import require
from ..errors import DamagedSourceError

_BYTE_ORDERS = {"little": ("<", b"II"), "big": (">", b"MM")}
_HEADER = 8
_SHORT, _LONG, _UNDEFINED = 3, 4, 7
_SIZES = {_SHORT: 2, _LONG: 4, _UNDEFINED: 1}
_LARGEST = 2**32 - 2**20  # what the offsets of a classic TIFF reach, less room for the directory
_MOST_SAMPLES = 2**16 - 1


@dataclass(frozen=True, slots=True)
class SegmentForm:
    """How one segment is stored. Numbers are those of the TIFF tags of the same names.

    Attributes
    ----------
    byteorder : {"little", "big"}
        Of the file.
    width, rows, depth, samples : int
        Pixels along the axes of a whole segment, and samples of a pixel that lie in it together.
    bits_per_sample : tuple of int
        One number for all samples, or one for each.
    compression, photometric, predictor, fill_order, sample_format : int
        As in the file.
    extra_samples : tuple of int
        What samples beyond those of the colour space are.
    t4_options : int
        Of CCITT group 3.
    subsampling : tuple of int
        Of chrominance, horizontal and vertical; empty when the file does not say.
    jpeg_tables : bytes
        What JPEG segments share; empty when they are whole.
    short_rows : int
        Rows of the last strip of a page when it has fewer than the others; 0 when none has.
    """

    byteorder: str
    width: int
    rows: int
    samples: int = 1
    depth: int = 1
    bits_per_sample: tuple[int, ...] = (8,)
    compression: int = 1
    photometric: int = 1
    predictor: int = 1
    fill_order: int = 1
    sample_format: int = 1
    extra_samples: tuple[int, ...] = ()
    t4_options: int = 0
    subsampling: tuple[int, ...] = ()
    jpeg_tables: bytes = b""
    short_rows: int = 0

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Depth, rows, width and samples of a whole segment."""
        return (self.depth, self.rows, self.width, self.samples)

    def to_json(self) -> dict[str, Any]:
        """What is not at its default, as JSON values."""
        defaults = {field.name: field.default for field in fields(self)}
        values = {name: value for name, value in asdict(self).items() if value != defaults[name]}
        if self.jpeg_tables:
            values["jpeg_tables"] = base64.b64encode(self.jpeg_tables).decode("ascii")
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SegmentForm:
        """Take what `to_json` gave.

        Raises
        ------
        KeyError, TypeError, ValueError
            When it is something else.
        """
        given = dict(values)
        if "jpeg_tables" in given:
            given["jpeg_tables"] = base64.b64decode(given["jpeg_tables"], validate=True)
        for name in ("bits_per_sample", "extra_samples", "subsampling"):
            if name in given:
                given[name] = tuple(given[name])
        form = cls(**given)
        form._check()
        return form

    def _check(self) -> None:
        if self.byteorder not in _BYTE_ORDERS:
            raise ValueError(f"byteorder is {self.byteorder!r}; expected 'little' or 'big'")
        for name, value in asdict(self).items():
            numbers = value if isinstance(value, tuple) else (value,)
            if name in ("byteorder", "jpeg_tables"):
                continue
            if not all(type(number) is int and 0 <= number < 2**32 for number in numbers):
                raise ValueError(f"{name} is {value!r}; expected numbers of 32 bits")
        if not (min(self.shape) > 0 and self.bits_per_sample and self.samples <= _MOST_SAMPLES):
            raise ValueError(
                f"a segment of shape {self.shape} with {self.bits_per_sample} bits holds nothing"
            )


def decode_segment(form: SegmentForm, data: bytes | memoryview) -> np.ndarray[Any, Any]:
    """Decode one segment.

    Parameters
    ----------
    form : SegmentForm
        How it is stored.
    data : bytes-like
        The segment as the file has it.

    Returns
    -------
    numpy.ndarray
        Of shape `SegmentForm.shape`, in native byte order. Of a short strip the rows that it lacks are 0.

    Raises
    ------
    DamagedSourceError
        When tifffile cannot decode it.
    MissingDependencyError
        When tifffile is not installed.
    """
    if len(data) > _LARGEST:
        raise DamagedSourceError(f"a TIFF segment of {len(data):,} bytes; {_LARGEST:,} can be decoded")
    try:
        return _decode(form, form.rows, data)
    except DamagedSourceError:
        if not form.short_rows:
            raise
    decoded = np.zeros(form.shape, (short := _decode(form, form.short_rows, data)).dtype)
    decoded[:, : form.short_rows] = short
    return decoded


def segment_file(form: SegmentForm, rows: int, data: bytes | memoryview) -> bytes:
    """A classic TIFF file of one page with one segment.

    Parameters
    ----------
    form : SegmentForm
        How the segment is stored.
    rows : int
        How many rows it has.
    data : bytes-like
        Its bytes.
    """
    order, mark = _BYTE_ORDERS[form.byteorder]
    tags = dict(_tags(form, rows))
    tags[325 if form.depth > 1 else 279] = (_LONG, (len(data),))
    where = 324 if form.depth > 1 else 273
    tags[where] = (_LONG, (0,))
    outer = _HEADER + 2 + 12 * len(tags) + 4
    values = {code: _packed(order, *value) for code, value in tags.items()}
    start = outer + sum(len(value) + len(value) % 2 for value in values.values() if len(value) > 4)
    values[where] = struct.pack(f"{order}L", start)
    directory, heap = [struct.pack(f"{order}H", len(tags))], b""
    for code in sorted(tags):
        kind, numbers = tags[code]
        value = values[code]
        if len(value) > 4:
            place = struct.pack(f"{order}L", outer + len(heap))
            heap += value + b"\0" * (len(value) % 2)
        else:
            place = value.ljust(4, b"\0")
        directory.append(struct.pack(f"{order}HHL", code, kind, len(numbers)) + place)
    header = mark + struct.pack(f"{order}HL", 42, _HEADER)
    return b"".join([header, *directory, bytes(4), heap, data])


def _decode(form: SegmentForm, rows: int, data: bytes | memoryview) -> np.ndarray[Any, Any]:
    tifffile = require("tifffile", extra="tiff")
    try:
        with tifffile.TiffFile(io.BytesIO(segment_file(form, rows, data))) as file:
            values = file.pages[0].asarray(squeeze=False, maxworkers=1)
    except Exception as error:  # each decoder raises what its library does
        raise DamagedSourceError(f"a TIFF segment cannot be decoded: {error}") from error
    expected = (form.depth, rows, form.width, form.samples)
    if values.size != math.prod(expected):
        raise DamagedSourceError(f"a TIFF segment has shape {values.shape}, expected {expected}")
    return np.asarray(values).reshape(expected)


def _tags(form: SegmentForm, rows: int) -> Iterator[tuple[int, tuple[int, tuple[int, ...] | bytes]]]:
    """Tags with their types and values, without where the segment is."""
    bits = form.bits_per_sample if len(form.bits_per_sample) > 1 else form.bits_per_sample * form.samples
    yield 256, (_LONG, (form.width,))
    yield 257, (_LONG, (rows,))
    yield 258, (_SHORT, bits)
    yield 259, (_SHORT, (form.compression,))
    yield 262, (_SHORT, (form.photometric,))
    yield 266, (_SHORT, (form.fill_order,))
    yield 277, (_SHORT, (form.samples,))
    yield 284, (_SHORT, (1,))
    yield 317, (_SHORT, (form.predictor,))
    yield 339, (_SHORT, (form.sample_format,) * form.samples)
    if form.depth > 1:
        yield 322, (_LONG, (form.width,))
        yield 323, (_LONG, (rows,))
        yield 32997, (_LONG, (form.depth,))
        yield 32998, (_LONG, (form.depth,))
    else:
        yield 278, (_LONG, (rows,))
    if form.compression == 3:
        yield 292, (_LONG, (form.t4_options,))
    if form.extra_samples:
        yield 338, (_SHORT, form.extra_samples)
    if form.jpeg_tables:
        yield 347, (_UNDEFINED, form.jpeg_tables)
    if form.subsampling:
        yield 530, (_SHORT, form.subsampling)


def _packed(order: str, kind: int, numbers: tuple[int, ...] | bytes) -> bytes:
    if isinstance(numbers, bytes):
        return numbers
    return struct.pack(f"{order}{len(numbers)}{'H' if kind == _SHORT else 'L'}", *numbers)
