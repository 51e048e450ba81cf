"""Nothing takes longer for more chunks before a document is built: chunks that must not be looked at tell."""

import numpy as np
import pytest

from shadowzarr import RfsBuilder
from shadowzarr.virtual import VirtualArray, concatenate, stack
from shadowzarr.virtual.chunk_bytes import ChunkForm
from shadowzarr.virtual.chunked import Chunked, full_picks

PLAIN = {"name": "bytes", "configuration": {"endian": "little"}}


class Untouchable:
    """A source of chunks that must not be asked for them."""

    asked = 0

    def pieces(self, picks):
        Untouchable.asked += 1
        raise AssertionError("chunks were looked at")


def of_a_million_chunks():
    layout = Chunked(
        (10**6, 4), (1, 4), Untouchable(), full_picks((10**6, 1)), (0, 1), ChunkForm((1,), (PLAIN,)), 2
    )
    return VirtualArray(layout, dtype=np.dtype("<i2"))


def test_ten_thousand_arrays_of_a_million_chunks():
    array = of_a_million_chunks()
    arrays = [array[number : number - 10**5] for number in range(10_000)]
    whole = concatenate([stack(arrays[:5_000], axis=2), stack(arrays[5_000:], axis=2)], axis=2)
    assert whole.shape == (900_000, 4, 10_000)
    part = whole[::-3].transpose(2, 0, 1)[[5, 1, 9_999], ::2][1:, 1000]
    assert part.shape == (2, 4)
    builder = RfsBuilder()
    whole.add_to(builder, "whole")
    part.add_to(builder, "part", dimension_names=["channel", None])
    assert Untouchable.asked == 0
    with pytest.raises(AssertionError, match="looked at"):
        builder.build()


def test_ten_thousand_files_of_a_million_slabs_are_as_many_rules():
    """Even the document grows with the arrays, and not with their chunks."""
    size = 10**6 * 2**21
    arrays = [VirtualArray.contiguous(f"/{number}", shape=[size], dtype="<i2") for number in range(10_000)]
    signal = stack(arrays, axis=1)[2**21 :, ::-1]
    assert signal.chunk_shape == (2**21, 1)
    builder = RfsBuilder()
    signal.add_to(builder, "signal")
    rfs = builder.build()
    assert len(rfs["gen"]) == 10_000
    assert rfs["gen"][0]["dimensions"] == {"i": {"stop": 999_999}}
    assert len(rfs["refs"]) == 2


def test_channels_of_one_file_are_one_rule():
    raw = VirtualArray.contiguous("/f", shape=[10**12, 385], dtype="<i2")
    signal = stack([raw[:, number] for number in range(384)], axis=0)[:, ::5]
    builder = RfsBuilder()
    signal.add_to(builder, "signal")
    (rule,) = builder.build()["gen"]
    assert rule["dimensions"]["i"] == {"stop": 384}


def test_a_document_of_a_million_chunks_is_not_looked_through():
    builder = RfsBuilder()
    builder.add_array("a", shape=[10**6], data_type="uint8", chunk_shape=[1])
    rfs = builder.build()

    class Refs(dict):
        looks = 0

        def get(self, key, default=None):
            Refs.looks += 1
            return super().get(key, default)

        def __iter__(self):
            raise AssertionError("all references were looked at")

    rfs["refs"] = Refs(rfs["refs"])
    arrays = [VirtualArray.from_rfs(rfs, "a")[number::-1] for number in range(100)]
    stack([array[:1] for array in arrays])[::2]
    assert Refs.looks == 100
