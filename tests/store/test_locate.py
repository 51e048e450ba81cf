import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr import RfsBuilder
from shadowzarr.errors import InvalidReferencesError
from shadowzarr.refs.byte_range import ChunkLocation
from shadowzarr.refs.zarr_metadata import BYTES_CODEC, array_metadata, group_metadata
from shadowzarr.store.locate import ChunkId, Found, Locator


def array(shape, chunk_shape, **changes):
    metadata = array_metadata(
        shape=shape, data_type="int16", chunk_shape=chunk_shape, codecs=[BYTES_CODEC], fill_value=0
    )
    return json.dumps({**metadata, **changes})


def document(**parts):
    refs = {
        "zarr.json": json.dumps(group_metadata()),
        "a/zarr.json": array([100, 100], [10, 10]),
        "a/c/0/0": ["{{u0}}", 5, 200],
        "a/c/0/1": ["whole.bin"],
        "a/c/0/2": "base64:AQI=",
        "a/c/0/3": "plain",
    }
    return {"version": 2, "templates": {"u0": "https://h/x"}, "refs": refs, **parts}


GEN = {
    "key": "a/c/{{i}}/0",
    "url": "{{u0}}",
    "offset": "{{100 + i * 200}}",
    "length": "200",
    "dimensions": {"i": {"stop": 4}},
}


def test_forms_of_explicit_references():
    locator = Locator(document())
    assert locator.find("a/c/0/0") == Found(
        ChunkId("a", (0, 0)), location=ChunkLocation("https://h/x", 5, 200)
    )
    assert locator.find("a/c/0/1") == Found(ChunkId("a", (0, 1)), location=ChunkLocation("whole.bin"))
    assert locator.find("a/c/0/2") == Found(ChunkId("a", (0, 2)), inline=b"\x01\x02")
    assert locator.find("a/c/0/3") == Found(ChunkId("a", (0, 3)), inline=b"plain")
    assert locator.find("zarr.json").inline == json.dumps(group_metadata()).encode()
    assert locator.find("a/c/0/4") is None
    assert locator.find("b/c/0") is None
    assert locator.find("a/zarr.jsonx") is None


def test_explicit_wins_over_gen_and_gen_over_index():
    index = np.full((10, 10, 2), 7, dtype=np.uint64)
    locator = Locator(document(gen=[GEN], indexes={"a": {"url": "u", "index": index}}))
    assert locator.find("a/c/0/0").location.offset == 5
    assert locator.find("a/c/1/0").location == ChunkLocation("https://h/x", 300, 200)
    assert locator.find("a/c/4/0") == Found(ChunkId("a", (4, 0)), is_indexed=True)
    assert locator.find("a/c/1/1") == Found(ChunkId("a", (1, 1)), is_indexed=True)


def test_the_first_gen_entry_that_reaches_a_chunk_wins():
    second = {**GEN, "offset": "0", "dimensions": {"i": {"stop": 9}}}
    locator = Locator(document(gen=[GEN, second]))
    assert locator.find("a/c/3/0").location.offset == 700
    assert locator.find("a/c/8/0").location.offset == 0
    assert locator.find("a/c/9/0") is None


def test_braces_mean_nothing_without_templates():
    rfs = document()
    del rfs["templates"]
    assert Locator(rfs).find("a/c/0/0").location.url == "{{u0}}"


@pytest.mark.parametrize("reference", [["u", 1], 5, ["u", -1, 2], ["u", 0, -2], {"a": 1}])
def test_a_listed_chunk_of_unknown_form_is_an_error(reference):
    rfs = document()
    rfs["refs"]["a/c/5/5"] = reference
    with pytest.raises(InvalidReferencesError, match=r"refs\['a/c/5/5'\] is .*expected text"):
        Locator(rfs).find("a/c/5/5")


def test_a_template_that_is_not_there_is_an_error():
    rfs = document(templates={"u1": "x"})
    with pytest.raises(InvalidReferencesError, match="'u0'"):
        Locator(rfs).find("a/c/0/0")


@pytest.mark.parametrize("key", ["a/0.0", "a/c/1", "a/c.1.1", "a/c/1/1/1", "a/1/1"])
def test_chunks_under_a_key_that_is_never_asked_for_are_an_error(key):
    rfs = document()
    rfs["refs"][key] = ["u", 0, 200]
    locator = Locator(rfs)
    assert locator.find("a/c/0/0") is not None
    with pytest.raises(
        InvalidReferencesError, match=rf"refs\['{key}'\] is no chunk of array '/a'.*'a/c/0/0'"
    ):
        locator.find("a/c/9/9")


def test_spelling_is_checked_beside_an_index_too():
    rfs = document(indexes={"a": {"url": "u", "index": np.zeros((10, 10, 2), dtype=np.uint64)}})
    rfs["refs"]["a/1.1"] = ["u", 0, 200]
    with pytest.raises(InvalidReferencesError, match="'a/1.1'"):
        Locator(rfs).find("a/c/1/1")


def test_other_spellings_of_keys():
    rfs = document()
    rfs["refs"]["b/zarr.json"] = array([20, 20], [10, 10], chunk_key_encoding={"name": "v2"})
    rfs["refs"]["b/0.1"] = ["u", 0, 200]
    rfs["indexes"] = {"b": {"url": "u", "index": np.zeros((2, 2, 2), dtype=np.uint64)}}
    locator = Locator(rfs)
    assert locator.find("b/0.1").location.url == "u"
    assert locator.find("b/1.1") == Found(ChunkId("b", (1, 1)), is_indexed=True)
    assert locator.key(ChunkId("b", (1, 0))) == "b/1.0"
    assert locator.find("b/c/1/1") is None


def test_arrays_whose_names_look_like_chunks():
    builder = RfsBuilder()
    for path in ("c", "g/c/0", "g/1"):
        builder.add_array(path, shape=[4], data_type="int8", chunk_shape=[2])
        builder.add_strided_chunks(path, ndim=1, url=path, start=0, stride=2, length=2, count=2)
    locator = Locator(builder.build())
    for path in ("c", "g/c/0", "g/1"):
        assert locator.find(f"{path}/c/1").location == ChunkLocation(path, 2, 2)
    assert locator.find("c/1") is None


def test_an_array_at_the_root():
    rfs = {"version": 1, "refs": {"zarr.json": array([4], [2]), "c/1": ["u", 0, 4]}}
    assert Locator(rfs).find("c/1").chunk == ChunkId("", (1,))
    assert Locator(rfs).find("c/0") is None


@pytest.mark.parametrize(
    ("metadata", "message"),
    [("{", "is not JSON"), ("[]", "is not a JSON object"), (["u", 0, 1], "is a reference to a file")],
)
def test_metadata_that_cannot_be_read(metadata, message):
    rfs = document()
    rfs["refs"]["a/zarr.json"] = metadata
    with pytest.raises(InvalidReferencesError, match=rf"refs\['a/zarr.json'\] {message}"):
        Locator(rfs).find("a/c/9/9")


def test_names_with_backslashes_are_found_as_zarr_asks_for_them():
    rfs = {"version": 1, "refs": {"zarr.json": json.dumps(group_metadata())}}
    for path in ("a\\b", "a\\b/x\\y", "c", "c/d", "c\\d"):
        rfs["refs"][f"{path}/zarr.json"] = array([4], [2])
    locator = Locator(rfs)
    assert locator.own_key("a/b/zarr.json") == "a\\b/zarr.json"
    assert locator.own_key("a/b/x/y/c/0") == "a\\b/x\\y/c/0"
    assert locator.own_key("a\\b/c/0") == "a\\b/c/0"
    assert locator.own_key("c/d/c/0") == "c/d/c/0"
    assert locator.own_key("none/zarr.json") == "none/zarr.json"


def test_a_group_has_no_layout():
    with pytest.raises(InvalidReferencesError, match="is a group"):
        Locator(document()).layout("")


dimension = st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(1, 3))


@given(dimension, dimension, st.integers(0, 50), st.integers(0, 9), st.integers(0, 90))
def test_gen_answers_as_a_plain_loop(rows, columns, start, row_step, column_step):
    (r0, r1, rs), (c0, c1, cs) = rows, columns
    entry = {
        "key": "a/c/{{r}}/{{k}}",
        "url": "u",
        "offset": f"{{{{{start} + r * {row_step} + k * {column_step}}}}}",
        "length": "4",
        "dimensions": {
            "r": {"start": r0, "stop": r1, "step": rs},
            "k": {"start": c0, "stop": c1, "step": cs},
        },
    }
    refs = {"zarr.json": json.dumps(group_metadata()), "a/zarr.json": array([100, 100], [10, 10])}
    locator = Locator({"version": 2, "refs": refs, "gen": [entry]})
    want = {
        (r, k): start + r * row_step + k * column_step for r in range(r0, r1, rs) for k in range(c0, c1, cs)
    }
    for r in range(8):
        for k in range(8):
            found = locator.find(f"a/c/{r}/{k}")
            assert (None if found is None else found.location.offset) == want.get((r, k))
    assert [chunk.coordinates for chunk in locator.generated("a")] == list(want)
