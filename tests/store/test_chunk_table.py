"""Where all chunks are: precedence, what lies outside, and the same answers as the store's own search."""

import json

import numpy as np
import pytest

from shadowzarr.errors import InvalidReferencesError, UnsupportedError
from shadowzarr.refs.chunk_index import MISSING
from shadowzarr.refs.zarr_metadata import BYTES_CODEC, array_metadata, group_metadata
from shadowzarr.store.chunk_table import HELD, ChunkTables
from shadowzarr.store.load_rfs import load_rfs
from shadowzarr.store.locate import ChunkId, Locator


def document(shape, chunks, refs=(), **parts):
    metadata = array_metadata(
        shape=shape, data_type="uint8", chunk_shape=chunks, codecs=[BYTES_CODEC], fill_value=0
    )
    nodes = {"zarr.json": json.dumps(group_metadata()), "a/zarr.json": json.dumps(metadata)}
    return load_rfs({"version": 2, "refs": nodes | dict(refs), **parts})


def table_of(rfs):
    tables = ChunkTables(rfs, Locator(rfs))
    return tables.table("a"), tables.files


def rows(rfs):
    table, files = table_of(rfs)
    names = ["held" if n == HELD else files[n] for n in table.files.tolist()]
    return list(
        zip(table.positions.tolist(), names, table.offsets.tolist(), table.lengths.tolist(), strict=True)
    )


def rule(key="a/c/{{i}}", stop=4, url="/gen", offset="{{i * 100}}", **more):
    return {
        "key": key,
        "url": url,
        "offset": offset,
        "length": "10",
        "dimensions": {"i": {"stop": stop}},
    } | more


def test_explicit_wins_over_gen_and_gen_over_the_index():
    index = np.array([[n * 7, 10] for n in range(6)], np.uint64)
    refs = {"a/c/0": ["/own", 5, 10], "a/c/1": "base64:AAAA"}
    first, second = rule(stop=3), rule(stop=4, url="/late")
    rfs = document((60,), (10,), refs, gen=[first, second], indexes={"a": {"url": "/idx", "index": index}})
    assert rows(rfs) == [
        (0, "/own", 5, 10),
        (1, "held", 0, 0),
        (2, "/gen", 200, 10),
        (3, "/late", 300, 10),
        (4, "/idx", 28, 10),
        (5, "/idx", 35, 10),
    ]


def test_each_place_is_what_the_store_finds():
    rfs = document((35, 4), (10, 2), {"a/c/1/1": ["/own", 5, 20]}, gen=[
        rule("a/c/{{i}}/0", offset="{{50 + i % 2 * 1000 + i // 2}}"), rule("a/c/3/{{i}}", stop=2)
    ])  # fmt: skip
    table, files = table_of(rfs)
    locator = Locator(rfs)
    found = {}
    for row in range(4):
        for column in range(2):
            location = locator.find(locator.key(ChunkId("a", (row, column))))
            if location is not None:
                at = location.location
                found[row * 2 + column] = (at.url, at.offset, at.length)
    columns = (table.offsets.tolist(), table.lengths.tolist())
    mine = zip((files[n] for n in table.files.tolist()), *columns, strict=True)
    assert dict(zip(table.positions.tolist(), mine, strict=True)) == found
    assert table.coordinates.tolist() == [[0, 0], [1, 0], [1, 1], [2, 0], [3, 0], [3, 1]]


def test_chunks_never_written_are_left_out_and_those_outside_the_grid():
    index = np.array([[MISSING, MISSING], [MISSING, 3], [0, 10]], np.uint64)
    assert rows(document((30,), (10,), indexes={"a": {"url": "/i", "index": index}}))[1:] == [
        (2, "/i", 0, 10)
    ]
    far = {f"a/c/{10**18}": ["/f", 0, 10], "a/c/7": ["/f", 0, 10], "a/c/2": ["/f", 9, 10]}
    assert rows(document((30,), (10,), far, gen=[rule(stop=9)])) == [
        (0, "/gen", 0, 10),
        (1, "/gen", 100, 10),
        (2, "/f", 9, 10),
    ]


def test_arrays_without_axes_and_without_extent():
    assert rows(document((), (), {"a/c": ["/f", 3, 1]})) == [(0, "/f", 3, 1)]
    assert rows(document((0,), (4,))) == []
    assert rows(document((0,), (4,), {"a/c/0": ["/f", 3, 1]})) == []


def test_whole_files_have_an_open_length():
    entry = {"key": "a/c/{{i}}", "url": "/w", "dimensions": {"i": {"start": 1, "stop": 3}}}
    assert rows(document((30,), (10,), {"a/c/0": ["/f"]}, gen=[entry])) == [
        (0, "/f", 0, MISSING),
        (1, "/w", 0, MISSING),
        (2, "/w", 0, MISSING),
    ]


def test_a_key_that_no_reader_would_find_is_refused():
    with pytest.raises(InvalidReferencesError, match=r"'a/c\.0'\] is no chunk of array '/a'.*'a/c/0'"):
        table_of(document((30,), (10,), {"a/c.0": ["/f", 0, 10]}))
    stray = document((30,), (10,), {"b/note": "text", "a/.zattrs": "{}"})
    assert rows(stray) == []


def test_parts_that_do_not_fit_are_refused():
    index = np.zeros((2, 2), np.uint64)
    with pytest.raises(InvalidReferencesError, match=r"shape \(2, 2\); its chunk grid is \(3,\)"):
        table_of(document((30,), (10,), indexes={"a": {"url": "/i", "index": index}}))
    with pytest.raises(InvalidReferencesError, match="is for 2 axes; array '/a' has 1"):
        table_of(document((30,), (10,), gen=[rule("a/c/{{i}}/0")]))
    with pytest.raises(UnsupportedError, match="'/a' has a chunk grid of .* more than"):
        table_of(document((2**62, 4), (1, 1), {"a/c/0/0": ["/f", 0, 1]}))
