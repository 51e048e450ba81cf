import json

import numpy as np
import pytest

from shadowzarr import RfsBuilder
from shadowzarr.formats.tiff.chunks import Held, Listed, Spaced, add_chunks
from shadowzarr.refs import gen


def numbers(values: list[int]) -> np.ndarray:
    return np.array(values, np.uint64)


def document(chunks: object, shape: tuple[int, ...], chunk_shape: tuple[int, ...], threshold: int = 1000):
    builder = RfsBuilder()
    builder.add_array("a", shape=shape, data_type="uint8", chunk_shape=chunk_shape)
    grid = tuple(-(-extent // edge) for extent, edge in zip(shape, chunk_shape, strict=True))
    add_chunks(builder, "a", chunks, grid, threshold=threshold)
    return builder.build()


def test_one_chunk_is_a_reference() -> None:
    rfs = document(Spaced("f", 8, 100, 1, 100), (10, 10), (10, 10))
    assert "gen" not in rfs
    assert rfs["refs"]["a/c/0/0"][1:] == [8, 100]


def test_pages_of_several_axes_are_one_rule() -> None:
    rfs = document(Spaced("f", 8, 130, 6, 100), (2, 3, 10, 10), (1, 1, 10, 10))
    assert len(rfs["gen"]) == 1
    found = {key: place.offset for key, place in gen.expand(rfs["gen"][0], rfs["templates"])}
    assert found == {f"a/c/{t}/{z}/0/0": 8 + 130 * (3 * t + z) for t in range(2) for z in range(3)}


def test_slabs_of_pages_that_lie_apart_are_one_rule() -> None:
    chunks = Spaced("f", 8, 130, 3, 100).cut(50, 2)
    rfs = document(chunks, (3, 10, 10), (1, 5, 10))
    found = {key: (place.offset, place.length) for key, place in gen.expand(rfs["gen"][0], rfs["templates"])}
    assert found == {f"a/c/{n}/{s}/0": (8 + 130 * n + 50 * s, 50) for n in range(3) for s in range(2)}


def test_even_spacing_is_seen() -> None:
    listed = Listed(("f",), numbers([8, 38, 68]), numbers([20, 20, 20]))
    assert listed.simplified() == Spaced("f", 8, 30, 3, 20)


@pytest.mark.parametrize(
    ("offsets", "lengths"),
    [([8, 38, 69], [20] * 3), ([8, 38, 68], [20, 20, 19]), ([8, 0, 68], [20, 0, 20]), ([0], [0])],
)
def test_what_is_not_even_stays_listed(offsets: list[int], lengths: list[int]) -> None:
    listed = Listed(("f",), numbers(offsets), numbers(lengths))
    assert listed.simplified() is listed


def test_missing_chunks_are_not_referenced() -> None:
    chunks = Listed(("f",), numbers([8, 0, 90]), numbers([20, 0, 20]))
    assert chunks.count == 2
    assert chunks.nbytes == 40
    rfs = document(chunks, (3, 20), (1, 20))
    assert sorted(key for key in rfs["refs"] if "/c/" in key) == ["a/c/0/0", "a/c/2/0"]


def test_many_chunks_have_an_index() -> None:
    chunks = Listed(("f",), numbers([8, 0, 90, 70]), numbers([20, 0, 21, 20]))
    rfs = document(chunks, (4, 21), (1, 21), threshold=2)
    missing = 2**64 - 1
    assert rfs["indexes"]["a"]["index"].reshape(4, 2).tolist() == [[8, 20], [missing] * 2, [90, 21], [70, 20]]


def test_slabs_of_listed_chunks() -> None:
    cut = Listed(("f",), numbers([8, 0, 90]), numbers([20, 0, 20])).cut(10, 2)
    assert cut.offsets.tolist() == [8, 18, 0, 0, 90, 100]
    assert cut.lengths.tolist() == [10, 10, 0, 0, 10, 10]


def test_chunks_of_several_files() -> None:
    chunks = Listed(("f", "g"), numbers([8, 8, 0]), numbers([20, 20, 0]), np.array([1, 0, 0]))
    assert chunks.simplified() is chunks
    rfs = document(chunks, (3, 20), (1, 20))
    urls = {key: rfs["templates"][value[0].strip("{}")] for key, value in rfs["refs"].items() if "/c/" in key}
    assert urls == {"a/c/0/0": "g", "a/c/1/0": "f"}


def test_values_in_the_document() -> None:
    rfs = document(Held({(1, 0): b"x" * 20}), (3, 20), (1, 20))
    assert rfs["refs"]["a/c/1/0"].startswith("base64:")
    assert json.loads(rfs["refs"]["a/zarr.json"])["codecs"][0]["name"] == "bytes"
