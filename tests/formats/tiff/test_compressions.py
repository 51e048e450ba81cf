import pytest

from shadowzarr.formats.tiff.compressions import (
    codec_chains,
    compression_name,
    is_exact,
    is_own,
    is_plain,
    row_nbytes,
)
from shadowzarr.tiff_segments.one_segment_file import SegmentForm


def names(form: SegmentForm, **options: object) -> list[list[str]]:
    given = {"x_axis": -1, "is_jfif": False, "planar": False, **options}
    return [[codec["name"] for codec in chain] for chain in codec_chains(form, **given)]


def form(**values: object) -> SegmentForm:
    return SegmentForm("little", 12, 10, **values)


OWN = ["shadowzarr.tiff_segment"]


@pytest.mark.parametrize(
    ("values", "first"),
    [
        ({}, ["bytes"]),
        ({"compression": 8}, ["bytes", "numcodecs.zlib"]),
        ({"compression": 32946}, ["bytes", "numcodecs.zlib"]),
        ({"compression": 50000}, ["bytes", "zstd"]),
        ({"compression": 34926}, ["bytes", "zstd"]),
        ({"compression": 5}, ["bytes", "imagecodecs_lzw"]),
        ({"compression": 32773}, ["bytes", "imagecodecs_packbits"]),
        ({"compression": 34925}, ["bytes", "numcodecs.lzma"]),
        ({"compression": 5, "predictor": 2}, ["imagecodecs_delta", "bytes", "imagecodecs_lzw"]),
        ({"compression": 8, "predictor": 3}, ["imagecodecs_floatpred", "numcodecs.zlib"]),
        ({"bits_per_sample": (1,)}, ["imagecodecs_packints"]),
        (
            {"bits_per_sample": (12,), "compression": 8, "predictor": 2},
            ["imagecodecs_delta", "imagecodecs_packints", "numcodecs.zlib"],
        ),
        ({"fill_order": 2}, ["imagecodecs_bitorder", "bytes"]),
        ({"compression": 2}, ["imagecodecs_ccittrle"]),
        ({"compression": 3}, ["imagecodecs_ccittfax3"]),
        ({"compression": 4}, ["imagecodecs_ccittfax4"]),
        ({"compression": 7}, ["imagecodecs_jpeg"]),
        ({"compression": 34712, "predictor": 2, "fill_order": 2}, ["imagecodecs_jpeg2k"]),
        ({"compression": 34887}, ["imagecodecs_lerc"]),
    ],
)
def test_what_other_readers_may_have_comes_first(values: dict[str, object], first: list[str]) -> None:
    assert names(form(**values)) == [first, OWN]


@pytest.mark.parametrize(
    "values",
    [
        {"compression": 8, "fill_order": 2},
        {"bits_per_sample": (1,), "fill_order": 2},
        {"bits_per_sample": (5, 6, 5)},
        {"bits_per_sample": (24,), "sample_format": 3},
        {"bits_per_sample": (32,), "sample_format": 5},
        {"compression": 65001},
        {"compression": 8, "predictor": 99},
        {"compression": 5, "short_rows": 3},
        {"bits_per_sample": (1,), "short_rows": 3},
    ],
)
def test_what_only_tifffile_decodes(values: dict[str, object]) -> None:
    assert names(form(**values)) == [OWN]


def test_a_short_strip_of_plain_bytes_is_left_to_the_store() -> None:
    assert names(form(short_rows=3))[0] == ["bytes"]


def test_byte_order_and_axis() -> None:
    big = SegmentForm("big", 12, 10, samples=3, compression=8, predictor=2)
    delta, serializer, _ = codec_chains(big, x_axis=-2, is_jfif=False, planar=False)[0]
    assert delta["configuration"] == {"axis": -2, "dist": 1}
    assert serializer["configuration"] == {"endian": "big"}


@pytest.mark.parametrize(
    ("values", "options", "configuration"),
    [
        ({"photometric": 6, "samples": 3}, {}, {"colorspace_data": "RGB"}),
        ({"photometric": 2, "samples": 3}, {}, {"colorspace_data": "RGB", "colorspace_jpeg": "RGB"}),
        ({"photometric": 2, "samples": 3}, {"is_jfif": True}, {"colorspace_data": "RGB"}),
        ({"photometric": 5, "samples": 4}, {}, {"colorspace_data": "CMYK"}),
        ({"photometric": 2, "samples": 4, "extra_samples": (1,)}, {}, {}),
        ({"photometric": 2}, {"planar": True}, {"colorspace_data": "GRAYSCALE"}),
        ({"jpeg_tables": b"abc"}, {}, {"tables": "YWJj"}),
    ],
)
def test_colour_spaces_of_jpeg(
    values: dict[str, object], options: dict[str, bool], configuration: dict[str, str]
) -> None:
    given = {"x_axis": -1, "is_jfif": False, "planar": False, **options}
    assert codec_chains(form(compression=7, **values), **given)[0][0]["configuration"] == configuration


def test_alpha_of_webp() -> None:
    chain = codec_chains(form(compression=50001, samples=4), x_axis=-2, is_jfif=False, planar=False)[0]
    assert chain == [{"name": "imagecodecs_webp", "configuration": {"hasalpha": True}}]


def test_rows_of_packed_integers_end_with_a_byte() -> None:
    assert row_nbytes(form(bits_per_sample=(1,))) == 2
    assert row_nbytes(form(bits_per_sample=(12,))) == 18
    assert row_nbytes(form(bits_per_sample=(8,), samples=3)) == 36
    assert row_nbytes(form(bits_per_sample=(5, 6, 5), samples=3)) == 24


def test_kinds_of_chains() -> None:
    plain, own = codec_chains(form(), x_axis=-1, is_jfif=False, planar=False)
    packed = codec_chains(form(compression=8), x_axis=-1, is_jfif=False, planar=False)[0]
    lzw = codec_chains(form(compression=5), x_axis=-1, is_jfif=False, planar=False)[0]
    assert [is_plain(chain) for chain in (plain, packed, lzw, own)] == [True, False, False, False]
    assert [is_exact(chain) for chain in (plain, packed, lzw, own)] == [True, True, False, False]
    assert [is_own(chain) for chain in (plain, packed, lzw, own)] == [False, False, False, True]


def test_names() -> None:
    assert (compression_name(32946), compression_name(7), compression_name(9)) == (
        "deflate",
        "JPEG",
        "compression 9",
    )
