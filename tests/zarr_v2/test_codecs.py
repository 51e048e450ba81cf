"""Filters and compressors of Zarr v2: what numcodecs encodes, zarr decodes by the codecs that are named."""

import warnings

import numcodecs
import numpy as np
import pytest

from shadowzarr import RfsBuilder, open_rfs
from shadowzarr.refs.inline import encode_inline
from shadowzarr.zarr_v2 import NoV3FormError, to_v3
from shadowzarr.zarr_v2.adding import add_translated
from shadowzarr.zarr_v2.codecs import v2_filters, v3_codecs
from shadowzarr.zarr_v2.reasons import NoV2FormError

VALUES = (np.arange(60).reshape(6, 10) * 7) % 50


def encode(values, steps, order="C"):
    """A chunk as Zarr v2 stores it: filters, then the compressor, each by numcodecs."""
    data = np.asarray(values, order=order)
    for step in steps:
        data = numcodecs.get_codec(dict(step)).encode(data)
    return data.tobytes(order="A") if isinstance(data, np.ndarray) else bytes(data)


def read(dtype, steps, *, order="C", compressor=None, values=VALUES):
    """The values that zarr reads of one chunk that was stored by Zarr v2's rules."""
    values = values.astype(dtype)
    zarray = {
        "zarr_format": 2,
        "shape": list(values.shape),
        "chunks": list(values.shape),
        "dtype": np.dtype(dtype).str,
        "fill_value": None,
        "order": order,
        "filters": steps or None,
        "compressor": compressor,
    }
    chunk = encode(values, [*steps, *([compressor] if compressor else [])], order)
    builder = RfsBuilder()
    chunks = {(0,) * values.ndim: encode_inline(chunk)}
    add_translated(builder, "x", to_v3(zarray), chunks, attributes={}, chunk_index_threshold=None)
    with warnings.catch_warnings(action="ignore"):  # numcodecs.* are outside of Zarr's specification
        return open_rfs(builder.build())["x"][...], values


@pytest.mark.parametrize(
    "dtype", ["|u1", "<i2", ">i4", "<f8", ">f4", "|b1", "<c8", "|S3", "<U2", ">U2", "<M8[s]"]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_data_types_in_both_orders(dtype, order):
    found, wanted = read(dtype, [], order=order)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "name", ["zlib", "gzip", "bz2", "lzma", "zstd", "lz4", "crc32", "adler32", "fletcher32"]
)
@pytest.mark.parametrize("as_filter", [True, False])
def test_codecs_of_bytes(name, as_filter):
    step = numcodecs.get_codec({"id": name}).get_config()
    steps = [{"id": "shuffle", "elementsize": 4}, *([step] if as_filter else [])]
    found, wanted = read("<i4", steps, compressor=None if as_filter else step)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("cname", ["lz4", "lz4hc", "blosclz", "zlib", "zstd"])
@pytest.mark.parametrize("shuffle", [-1, 0, 1, 2])
def test_blosc(cname, shuffle):
    found, wanted = read(">i2", [], compressor=numcodecs.Blosc(cname, shuffle=shuffle).get_config())
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", ["imagecodecs_lzw", "imagecodecs_packbits", "imagecodecs_deflate"])
def test_codecs_of_imagecodecs(name):
    registered = pytest.importorskip("imagecodecs.numcodecs")
    registered.register_codecs(name, verbose=False)
    step = {"id": name}
    found, wanted = read("<i2", [], compressor=step)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("end", ["<", ">"])
@pytest.mark.parametrize(
    "filters",
    [
        lambda end: [numcodecs.Delta(f"{end}i4")],
        lambda end: [numcodecs.Delta(f"{end}i4", astype=f"{end}i2")],
        lambda end: [numcodecs.FixedScaleOffset(0, 2, f"{end}i4", astype="u1")],
        lambda end: [
            numcodecs.FixedScaleOffset(3, 1, f"{end}i4", astype=f"{end}i2"),
            numcodecs.Delta(f"{end}i2"),
        ],
    ],
    ids=["delta", "delta-narrow", "scale", "scale-delta"],
)
def test_codecs_of_arrays(filters, end, order):
    steps = [codec.get_config() for codec in filters(end)]
    found, wanted = read(f"{end}i4", steps, order=order, compressor={"id": "zlib", "level": 1})
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("codec", ["quantize", "bitround"])
def test_codecs_that_round(codec):
    made = numcodecs.Quantize(3, "<f4") if codec == "quantize" else numcodecs.BitRound(20)
    found, wanted = read("<f4", [made.get_config()])
    rounded = made.decode(made.encode(wanted.copy()))
    np.testing.assert_array_equal(found, np.asarray(rounded).reshape(wanted.shape))


def test_a_scalar_and_one_axis_need_no_transposition():
    for values in (np.array(5), np.arange(4)):
        found, wanted = read("<i4", [], order="F", values=values)
        np.testing.assert_array_equal(found, wanted)


def test_rounding_of_big_endian_numbers_is_refused():
    with pytest.raises(NoV3FormError, match="of big-endian numbers"):
        v3_codecs({"shape": [4], "filters": [{"id": "bitround", "keepbits": 9}]}, np.dtype(">f4"))


@pytest.mark.parametrize(
    ("filters", "compressor", "reason"),
    [
        ([{"id": "zlib"}, {"id": "delta", "dtype": "<i2"}], None, "after one that makes bytes"),
        ([{"id": "delta", "dtype": "<f4"}], None, "another data type"),
        (None, {"id": "pickle"}, "'pickle' has no form"),
        (None, {"id": "zfpy"}, "'zfpy' has no form"),
        ([{"id": "fill_hdf_strings"}], None, "'fill_hdf_strings' has no form"),
        ([{"level": 1}], None, "without an id"),
    ],
)
def test_what_has_no_form_is_named(filters, compressor, reason):
    zarray = {"shape": [4], "filters": filters, "compressor": compressor}
    with pytest.raises(NoV3FormError, match=reason):
        v3_codecs(zarray, np.dtype("<i2"))


def test_back_to_filters():
    steps = [
        {"id": "shuffle", "elementsize": 2},
        {"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0},
        {"id": "zlib", "level": 4},
        {"id": "gzip", "level": 5},
    ]
    codecs = v3_codecs({"shape": [4], "filters": steps}, np.dtype("<i2"))
    assert v2_filters(codecs[1:]) == steps
    with pytest.raises(NoV2FormError, match=r"shadowzarr\.hdf5_filters"):
        v2_filters([{"name": "shadowzarr.hdf5_filters", "configuration": {}}])
