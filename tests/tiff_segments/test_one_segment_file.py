import io
import json
import zlib

import numpy as np
import pytest

from shadowzarr.errors import DamagedSourceError
from shadowzarr.tiff_segments.one_segment_file import SegmentForm, decode_segment, segment_file

tifffile = pytest.importorskip("tifffile")
imagecodecs = pytest.importorskip("imagecodecs")


@pytest.fixture
def values() -> np.ndarray:
    return np.arange(120, dtype="u2").reshape(10, 12) * 7


@pytest.mark.parametrize("order", ["little", "big"])
def test_a_file_of_one_segment_is_a_tiff(order: str, values: np.ndarray) -> None:
    form = SegmentForm(order, 12, 10, bits_per_sample=(16,))
    stored = values.astype("<u2" if order == "little" else ">u2").tobytes()
    with tifffile.TiffFile(io.BytesIO(segment_file(form, 10, stored))) as tif:
        assert len(tif.pages) == 1
        assert tif.pages[0].asarray().tolist() == values.tolist()


def test_a_segment_is_decoded(values: np.ndarray) -> None:
    form = SegmentForm("big", 12, 10, bits_per_sample=(16,), compression=8, predictor=2)
    delta = np.diff(values, axis=1, prepend=0).astype(">u2")
    decoded = decode_segment(form, zlib.compress(delta.tobytes()))
    assert decoded.shape == (1, 10, 12, 1)
    assert decoded.reshape(10, 12).tolist() == values.tolist()


def test_samples_and_depth() -> None:
    tile = np.arange(4 * 8 * 6 * 3, dtype="u2").reshape(4, 8, 6, 3).astype("u1")
    form = SegmentForm("little", 6, 8, samples=3, depth=4, compression=8, photometric=2)
    assert decode_segment(form, zlib.compress(tile.tobytes())).tolist() == tile.tolist()


def test_a_short_strip_is_filled_up(values: np.ndarray) -> None:
    form = SegmentForm("little", 12, 10, bits_per_sample=(16,), compression=8, short_rows=3)
    decoded = decode_segment(form, zlib.compress(values[:3].astype("<u2").tobytes()))
    assert decoded.reshape(10, 12)[:3].tolist() == values[:3].tolist()
    assert not decoded.reshape(10, 12)[3:].any()
    whole = decode_segment(form, zlib.compress(values.astype("<u2").tobytes()))
    assert whole.reshape(10, 12).tolist() == values.tolist()


@pytest.mark.parametrize("rows", [2, 4, 9])
def test_a_strip_of_any_other_length_is_damaged(rows: int, values: np.ndarray) -> None:
    form = SegmentForm("little", 12, 10, bits_per_sample=(16,), compression=8, short_rows=3)
    with pytest.raises(DamagedSourceError, match="cannot be decoded"):
        decode_segment(form, zlib.compress(values[:rows].astype("<u2").tobytes()))


def test_reversed_bits(values: np.ndarray) -> None:
    packed = imagecodecs.bitorder_encode(zlib.compress(values.astype("<u2").tobytes()))
    form = SegmentForm("little", 12, 10, bits_per_sample=(16,), compression=8, fill_order=2)
    assert decode_segment(form, bytes(packed)).reshape(10, 12).tolist() == values.tolist()


def test_what_is_no_segment_is_damaged() -> None:
    with pytest.raises(DamagedSourceError, match="cannot be decoded"):
        decode_segment(SegmentForm("little", 12, 10, compression=8), b"no deflate stream")


def test_a_form_is_what_its_json_says() -> None:
    form = SegmentForm(
        "big",
        12,
        10,
        samples=3,
        bits_per_sample=(5, 6, 5),
        compression=7,
        extra_samples=(1,),
        subsampling=(2, 2),
        jpeg_tables=b"\xff\xd8\xff\xd9",
        short_rows=4,
    )
    text = json.dumps(form.to_json())
    assert SegmentForm.from_json(json.loads(text)) == form
    assert SegmentForm("little", 12, 10).to_json() == {"byteorder": "little", "width": 12, "rows": 10}


@pytest.mark.parametrize(
    "changes",
    [
        {"byteorder": "middle"},
        {"width": 0},
        {"width": -1},
        {"width": 2.5},
        {"rows": 2**32},
        {"rows": True},
        {"bits_per_sample": []},
        {"bits_per_sample": 8},
        {"samples": 2**16},
        {"jpeg_tables": "!"},
        {"compression": "deflate"},
        {"something": 1},
    ],
)
def test_what_is_no_form_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        SegmentForm.from_json({"byteorder": "little", "width": 12, "rows": 10, **changes})
