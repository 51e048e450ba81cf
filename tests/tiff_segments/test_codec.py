import asyncio
import json
import zlib

import numpy as np
import pytest
import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import MemoryStore

from shadowzarr.codecs import register_named
from shadowzarr.errors import DamagedSourceError, InvalidReferencesError, UnsupportedError
from shadowzarr.refs.zarr_metadata import array_metadata
from shadowzarr.tiff_segments.codec import CODEC_NAME, TiffSegmentCodec, codec_entry
from shadowzarr.tiff_segments.one_segment_file import SegmentForm

pytest.importorskip("tifffile")
pytest.importorskip("imagecodecs")

VALUES = np.arange(240, dtype="u2").reshape(20, 12)
FORM = SegmentForm("little", 12, 8, bits_per_sample=(16,), compression=8, short_rows=4)


def store(form: SegmentForm, chunks: dict[str, bytes], **metadata: object) -> MemoryStore:
    described = {
        "shape": (1, 20, 12),
        "data_type": "uint16",
        "chunk_shape": (1, 8, 12),
        "codecs": [codec_entry(form)],
        "fill_value": 7,
        **metadata,
    }
    make = default_buffer_prototype().buffer.from_bytes
    held = {"zarr.json": make(json.dumps(array_metadata(**described)).encode())}
    return MemoryStore(held | {key: make(data) for key, data in chunks.items()}, read_only=True)


def strips() -> dict[str, bytes]:
    parts = [VALUES[start : start + 8].tobytes() for start in (0, 8, 16)]
    return {f"c/0/{number}/0": zlib.compress(part) for number, part in enumerate(parts)}


def test_zarr_reads_segments() -> None:
    array = zarr.open_array(store(FORM, strips()), mode="r")
    assert array[0].tolist() == VALUES.tolist()
    assert array[0, 17:19, ::3].tolist() == VALUES[17:19, ::3].tolist()


def test_a_segment_that_was_never_written_is_fill_value() -> None:
    chunks = {key: value for key, value in strips().items() if key != "c/0/1/0"}
    array = zarr.open_array(store(FORM, chunks), mode="r")
    assert (array[0, 8:16] == 7).all()
    assert array[0, 16:].tolist() == VALUES[16:].tolist()


def test_a_damaged_segment_is_an_error() -> None:
    array = zarr.open_array(store(FORM, strips() | {"c/0/1/0": b"damaged"}), mode="r")
    with pytest.raises(DamagedSourceError, match="TIFF segment cannot be decoded"):
        array[...]


def test_chunks_of_another_size_are_an_error() -> None:
    array = zarr.open_array(store(FORM, strips(), chunk_shape=(1, 9, 12)), mode="r")
    with pytest.raises(InvalidReferencesError, match=r"chunks of shape \(1, 9, 12\)"):
        array[...]


def test_values_of_another_type_are_an_error() -> None:
    array = zarr.open_array(store(FORM, strips(), data_type="int16"), mode="r")
    with pytest.raises(DamagedSourceError, match="holds uint16, its array int16"):
        array[...]


def test_the_entry_is_kept() -> None:
    codec = TiffSegmentCodec.from_dict(codec_entry(FORM))
    assert codec.form == FORM
    assert codec.to_dict() == codec_entry(FORM)


@pytest.mark.parametrize("entry", [{}, {"configuration": None}, {"configuration": {"width": 3}}])
def test_an_entry_that_is_none_is_refused(entry: dict[str, object]) -> None:
    with pytest.raises(InvalidReferencesError, match="needs a configuration"):
        TiffSegmentCodec.from_dict({"name": CODEC_NAME, **entry})


def test_it_only_reads() -> None:
    codec = TiffSegmentCodec(FORM)
    with pytest.raises(UnsupportedError, match="writes none"):
        asyncio.run(codec._encode_single(None, None))
    with pytest.raises(UnsupportedError, match="not known beforehand"):
        codec.compute_encoded_size(5, None)


def test_a_store_registers_it_when_a_document_names_it() -> None:
    register_named([codec_entry(FORM), {"name": "imagecodecs_lzw"}, {"name": "imagecodecs_nothing"}, 5, None])
    assert zarr.registry.get_codec_class(CODEC_NAME) is TiffSegmentCodec
    assert zarr.registry.get_codec_class("imagecodecs_lzw").__name__ == "Lzw"
