"""TIFF compression, predictor, bit depth and byte order → Zarr codecs. Pure.

Numbers are those of the tags Compression, Predictor, FillOrder and SampleFormat (TIFF revision 6.0 and its
supplements; newer compressions as libtiff and GDAL number them). Whether a chain gives what tifffile
gives is not decided here: `trial` decodes with both.
"""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any, Final

from ...tiff_segments.codec import CODEC_NAME, codec_entry
from ...tiff_segments.one_segment_file import SegmentForm

Codecs = list[dict[str, Any]]

NONE: Final = 1
PLAIN_BITS: Final = frozenset({8, 16, 32, 64, 128})
"""Bits of a sample that is stored as whole bytes."""

_UNSIGNED, _COMPLEX_INTEGERS = frozenset({1, 4}), 5

_BYTES_TO_BYTES: Final[dict[int, dict[str, Any] | None]] = {
    NONE: None,
    8: {"name": "numcodecs.zlib", "configuration": {"level": 1}},
    50000: {"name": "zstd", "configuration": {"level": 0, "checksum": False}},
    5: {"name": "imagecodecs_lzw", "configuration": {}},
    32773: {"name": "imagecodecs_packbits", "configuration": {}},
    34925: {
        "name": "numcodecs.lzma",
        "configuration": {"format": 1, "check": -1, "preset": None, "filters": None},
    },
}
_SAME: Final = {32946: 8, 50013: 8, 34926: 50000}
"""Numbers that mean what another one means."""

_IMAGES: Final[dict[int, str]] = {
    **dict.fromkeys((6, 7, 33007, 34892), "imagecodecs_jpeg"),
    **dict.fromkeys((33003, 33004, 33005, 34712), "imagecodecs_jpeg2k"),
    **dict.fromkeys((22610, 34934), "imagecodecs_jpegxr"),
    **dict.fromkeys((50002, 52546), "imagecodecs_jpegxl"),
    34887: "imagecodecs_lerc",
    34933: "imagecodecs_png",
    50001: "imagecodecs_webp",
}
"""Compressions of images, which know shape and type of what they hold."""

_EXACT: Final = frozenset({"bytes", "numcodecs.zlib", "zstd"})

_CCITT: Final = {2: "imagecodecs_ccittrle", 3: "imagecodecs_ccittfax3", 4: "imagecodecs_ccittfax4"}

_DELTAS: Final = {2: 1, 34892: 2, 34893: 4}
_FLOAT_DELTAS: Final = {3: 1, 34894: 2, 34895: 4}
"""Predictors, and how many pixels apart the numbers are that they subtract."""


def codec_chains(form: SegmentForm, *, x_axis: int, is_jfif: bool, planar: bool) -> list[Codecs]:
    """Codecs that may decode segments, those that most readers have first.

    Parameters
    ----------
    form : SegmentForm
        How segments are stored.
    x_axis : int
        The axis of a chunk that runs along rows of pixels, counted from the last: -1 or less.
    is_jfif : bool
        Whether JPEG segments have a JFIF marker.
    planar : bool
        Whether a segment holds one sample of each pixel of several.

    Returns
    -------
    list of list of dict
        Chains of ``codecs`` of ``zarr.json``; the last is our own codec, which any segment fits.
    """
    plain = _plain_chain(form, x_axis, is_jfif, planar)
    own = [codec_entry(replace(form, photometric=1, extra_samples=()) if planar else form)]
    if plain is None or (form.short_rows and not is_plain(plain)):
        return [own]
    return [plain, own]


def is_plain(codecs: Codecs) -> bool:
    """Whether a chunk is stored as its values are, so that a short one can be padded and parts be read."""
    return [codec["name"] for codec in codecs] == ["bytes"]


def is_exact(codecs: Codecs) -> bool:
    """Whether codecs need no trial: a stream that does not give what it should is an error with them."""
    return {codec["name"] for codec in codecs} <= _EXACT


def is_own(codecs: Codecs) -> bool:
    """Whether tifffile itself is the decoder, by our own codec."""
    return bool(codecs[-1]["name"] == CODEC_NAME)


def row_nbytes(form: SegmentForm) -> int:
    """Bytes of one row of an uncompressed segment; rows of packed integers end with a whole byte."""
    bits = form.bits_per_sample
    pixel = sum(bits) if len(bits) > 1 else bits[0] * form.samples
    return -(-form.width * pixel // 8)


def compression_name(number: int) -> str:
    """What a compression is called, in messages and attributes."""
    return _NAMES.get(_SAME.get(number, number), f"compression {number}")


def _plain_chain(form: SegmentForm, x_axis: int, is_jfif: bool, planar: bool) -> Codecs | None:
    """Codecs that zarr-python knows, or imagecodecs brings; None when there are none."""
    if form.compression in _IMAGES:
        return [_image_codec(form, is_jfif, planar)]
    if form.fill_order == 2:
        return _reversed_chain(form)
    if form.compression in _CCITT:
        options = {"t4options": form.t4_options} if form.compression == 3 and form.t4_options else {}
        return [_codec(_CCITT[form.compression], **options)]
    compression = _SAME.get(form.compression, form.compression)
    serializer = _serializer(form, x_axis)
    if compression not in _BYTES_TO_BYTES or serializer is None:
        return None
    packed = _BYTES_TO_BYTES[compression]
    return [*serializer, *([] if packed is None else [packed])]


def _reversed_chain(form: SegmentForm) -> Codecs | None:
    """Bytes with their bits in reversed order: a codec is known for values that are whole bytes alone."""
    is_simple = form.compression == NONE and form.predictor == 1 and form.bits_per_sample[0] in PLAIN_BITS
    if not is_simple or form.sample_format == _COMPLEX_INTEGERS:
        return None
    return [_codec("imagecodecs_bitorder"), _bytes(form)]


def _serializer(form: SegmentForm, x_axis: int) -> Codecs | None:
    """How values become bytes: predictor, packing and byte order."""
    if len(form.bits_per_sample) > 1 or form.sample_format == _COMPLEX_INTEGERS:
        return None
    bits = form.bits_per_sample[0]
    if form.predictor in _FLOAT_DELTAS:
        distance = _FLOAT_DELTAS[form.predictor]
        return [_codec("imagecodecs_floatpred", axis=x_axis, dist=distance)] if bits in PLAIN_BITS else None
    if form.predictor != 1 and form.predictor not in _DELTAS:
        return None
    is_plain_delta = form.predictor in _DELTAS
    delta = [_codec("imagecodecs_delta", axis=x_axis, dist=_DELTAS[form.predictor])] if is_plain_delta else []
    if bits in PLAIN_BITS:
        return [*delta, _bytes(form)]
    return [*delta, _packed(form)] if form.sample_format in _UNSIGNED else None


def _packed(form: SegmentForm) -> dict[str, Any]:
    return _codec(
        "imagecodecs_packints", bitspersample=form.bits_per_sample[0], runlen=form.width * form.samples
    )


def _bytes(form: SegmentForm) -> dict[str, Any]:
    return _codec("bytes", endian=form.byteorder)


def _image_codec(form: SegmentForm, is_jfif: bool, planar: bool) -> dict[str, Any]:
    name = _IMAGES[form.compression]
    if name == "imagecodecs_webp" and form.samples == 4:
        return _codec(name, hasalpha=True)
    if name != "imagecodecs_jpeg":
        return _codec(name)
    given: dict[str, Any] = dict(_jpeg_colours(form, is_jfif, planar))
    if form.jpeg_tables:
        given["tables"] = base64.b64encode(form.jpeg_tables).decode("ascii")
    return _codec(name, **given)


def _jpeg_colours(form: SegmentForm, is_jfif: bool, planar: bool) -> dict[str, str]:
    """Colour spaces in the stream and of what is wanted of it, as tifffile chooses them."""
    if planar:
        return {"colorspace_data": "GRAYSCALE"}
    if form.extra_samples:
        return {}
    match form.photometric:
        case 6:
            return {"colorspace_data": "RGB"}
        case 2:
            return {"colorspace_data": "RGB"} | ({} if is_jfif else {"colorspace_jpeg": "RGB"})
        case 5:
            return {"colorspace_data": "CMYK"}
        case _:
            return {}


def _codec(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


_NAMES: Final = {
    1: "none",
    2: "CCITT RLE",
    3: "CCITT group 3",
    4: "CCITT group 4",
    5: "LZW",
    6: "old JPEG",
    7: "JPEG",
    8: "deflate",
    32773: "PackBits",
    34712: "JPEG 2000",
    34887: "LERC",
    34925: "LZMA",
    34933: "PNG",
    34934: "JPEG XR",
    50000: "Zstandard",
    50001: "WebP",
    50002: "JPEG XL",
}
