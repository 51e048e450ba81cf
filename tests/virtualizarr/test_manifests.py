"""Manifests that nobody should believe, what an array of one can do, and references made manifests again."""

import json
import os

import numpy as np
import pytest
from virtualizarr.manifests import ChunkManifest, ManifestArray, ManifestGroup, ManifestStore
from virtualizarr.manifests.utils import create_v3_array_metadata

from shadowzarr import RfsBuilder, open_rfs
from shadowzarr.errors import NeedsDataError, UsageError
from shadowzarr.virtualizarr import manifest_store_to_rfs, virtual_array

DATA = np.arange(60, dtype="<i2").reshape(6, 10)


@pytest.fixture
def raw(tmp_path):
    """A file of 6 × 10 numbers after four other bytes."""
    (tmp_path / "raw.bin").write_bytes(b"head" + DATA.tobytes())
    return tmp_path / "raw.bin"


def array(paths, offsets, lengths, *, shape=(6, 10), chunk_shape=(2, 10), inlined=None, **metadata):
    """An array whose manifest says what it is told, unchecked."""
    manifest = object.__new__(ChunkManifest)
    manifest._paths = np.array(paths, np.dtypes.StringDType())
    manifest._offsets = np.array(offsets, np.uint64).reshape(manifest._paths.shape)
    manifest._lengths = np.array(lengths, np.uint64).reshape(manifest._paths.shape)
    manifest._inlined = inlined or {}
    made = create_v3_array_metadata(
        shape=shape, data_type=np.dtype("<i2"), chunk_shape=chunk_shape, fill_value=-9, **metadata
    )
    return ManifestArray(made, manifest)


def rows(path, **options):
    """The file's array in three chunks."""
    return array([[str(path)]] * 3, [[4], [44], [84]], [[40]] * 3, **options)


def store(**arrays):
    return ManifestStore(ManifestGroup(arrays=arrays))


def reason(made, **options):
    """Why the array "a" is left out of references, in which "b" stays."""
    rfs = manifest_store_to_rfs(made, **options)
    (left_out,) = [entry for entry in rfs["skipped"] if entry["path"] == "/a"]
    assert "a" not in open_rfs(rfs)
    return left_out["reason"]


def test_missing_and_held_chunks(raw):
    held = DATA[2:4].tobytes()
    made = array([[f"file://{raw}"], ["__inlined__"], [""]], [4, 0, 7], [40, 40, 9], inlined={(1, 0): held})
    rfs = manifest_store_to_rfs(store(a=made))
    assert sorted(key for key in rfs["refs"] if key.startswith("a/c")) == ["a/c/0/0", "a/c/1/0"]
    expected = np.concatenate([DATA[:4], np.full((2, 10), -9)])
    assert np.array_equal(open_rfs(rfs)["a"][...], expected)


@pytest.mark.parametrize(
    ("paths", "offsets", "lengths", "message"),
    [
        (3, [4, 44, 84], [40, 40, 41], r"chunk c/2/0 has 41 bytes; it takes 40"),
        (3, [4, 44, 84], [40, 39, 40], r"chunk c/1/0 has 39 bytes"),
        (3, [4, 44, 85], [40, 40, 40], r"ends at byte 125 of .*raw\.bin, which has 124"),
        (3, [4, 44, 2**64 - 10], [40, 40, 40], r"c/2/0 has 40 bytes at offset 18446744073709551606"),
        (3, [4, 44, 5], [40, 40, 2**64 - 1], r"c/2/0 has 18446744073709551615 bytes at offset 5"),
        (3, [4, 44, 84], [40, 0, 40], r"c/1/0 has 0 bytes"),
        (2, [4, 44], [40, 40], r"a chunk grid of \(2, 1\); its own is \(3, 1\)"),
        (4, [4, 44, 84, 4], [40] * 4, r"a chunk grid of \(4, 1\)"),
    ],
)
def test_what_no_chunk_is_leaves_its_array_out(raw, paths, offsets, lengths, message):
    import re

    made = array([[f"file://{raw}"]] * paths, offsets, lengths)
    found = reason(store(a=made, b=rows(f"file://{raw}")))
    assert re.search(message, found)


def test_held_chunks_that_are_not_there(raw):
    path = [[f"file://{raw}"], ["__inlined__"], [""]]
    assert "says that it holds chunk c/1/0" in reason(store(a=array(path, [4, 0, 0], [40, 40, 0])))
    outside = array(path, [4, 0, 0], [40, 40, 0], inlined={(9, 0): b""})
    assert r"holds a chunk (9, 0), outside of" in reason(store(a=outside))
    short = array(path, [4, 0, 0], [40, 40, 0], inlined={(1, 0): b"12"})
    assert "chunk c/1/0 has 2 bytes; it takes 40" in reason(store(a=short))


def test_columns_of_several_shapes(raw):
    made = rows(f"file://{raw}")
    made.manifest._offsets = made.manifest._offsets[:2]
    assert "(3, 1) paths, (2, 1) offsets" in reason(store(a=made))


def test_chunks_past_the_edge_may_be_short(raw):
    made = array([[f"file://{raw}"]] * 2, [4, 84], [80, 40], chunk_shape=(4, 10))
    assert np.array_equal(open_rfs(manifest_store_to_rfs(store(a=made)))["a"][...], DATA)


class TestPlaces:
    @pytest.mark.parametrize("name", ["a b.bin", "p%20q.bin", "é#1.bin", "x+y?z.bin"])
    def test_a_name_encoded_or_as_it_stands(self, raw, name):
        place = raw.rename(raw.with_name(name))
        for path in (place.as_uri(), f"file://{place}", str(place), f"file://localhost{place}"):
            rfs = manifest_store_to_rfs(store(a=rows(path)))
            assert list(rfs["sources"]) == [str(place)]
            assert np.array_equal(open_rfs(rfs)["a"][...], DATA)

    def test_a_url_of_two_files_that_are_both_there(self, raw):
        raw.with_name("p q").write_bytes(b"")
        raw.rename(raw.with_name("p%20q"))
        with pytest.raises(UsageError, match="both are there, so give a url_for"):
            manifest_store_to_rfs(store(a=rows(f"file://{raw.parent}/p%20q")))
        chosen = manifest_store_to_rfs(
            store(a=rows(f"file://{raw.parent}/p%20q")), url_for=lambda _: f"{raw.parent}/p%20q"
        )
        assert np.array_equal(open_rfs(chosen)["a"][...], DATA)

    def test_a_name_that_is_no_unicode_text(self, raw):
        raw.rename(os.fsdecode(os.fsencode(raw.parent) + b"/\xff.bin"))
        rfs = manifest_store_to_rfs(store(a=rows(f"file://{raw.parent}/%FF.bin")))
        assert np.array_equal(open_rfs(rfs)["a"][...], DATA)

    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ("raw.bin", "no absolute path and no URL"),
            ("../raw.bin", "no absolute path and no URL"),
            ("gs://bucket/raw.bin", "which references cannot name; give a url_for"),
            ("memory://raw.bin", "which references cannot name"),
            ("https://h/x?X-Amz-Signature=abc", "by a URL with a signature"),
        ],
    )
    def test_what_references_cannot_name(self, path, message):
        with pytest.raises(UsageError, match=message) as error:
            manifest_store_to_rfs(store(a=rows(path)))
        assert "abc" not in str(error.value)

    def test_mapped(self, raw):
        rfs = manifest_store_to_rfs(
            store(a=rows("gs://bucket/raw.bin")),
            url_for=lambda path: path.replace("gs://bucket", str(raw.parent)),
        )
        assert np.array_equal(open_rfs(rfs)["a"][...], DATA)

    def test_a_file_that_is_gone_is_named(self, raw):
        raw.unlink()
        rfs = manifest_store_to_rfs(store(a=rows(f"file://{raw}")))
        assert "could not be asked for its size" in rfs["converted"][0]["what"]
        assert "sources" not in rfs


def test_two_spellings_of_a_file_and_many_files(raw):
    paths = [[f"file://{raw}"], [str(raw)], [raw.as_uri()]]
    rfs = manifest_store_to_rfs(store(a=array(paths, [4, 44, 84], [40] * 3)))
    assert list(rfs["sources"]) == [str(raw)]
    many = []
    for number in range(30):
        (raw.parent / f"{number}").write_bytes(np.full(2, number, "<i2").tobytes())
        many.append([f"file://{raw.parent}/{number}"])
    made = array(many, [0] * 30, [4] * 30, shape=(30, 2), chunk_shape=(1, 2))
    values = open_rfs(manifest_store_to_rfs(store(a=made)))["a"][...]
    assert np.array_equal(values, np.repeat(np.arange(30), 2).reshape(30, 2))


@pytest.mark.parametrize(("order", "kind"), [("even", "gen"), ("mixed", "indexes")])
def test_many_chunks_are_a_rule_or_an_index(tmp_path, order, kind):
    count = 1500
    path = tmp_path / "raw.bin"
    data = np.arange(count * 4, dtype="<i2")
    places = np.arange(count)
    if order == "mixed":
        np.random.default_rng(1).shuffle(places)
    stored = np.empty((count, 4), "<i2")
    stored[places] = data.reshape(count, 4)
    path.write_bytes(stored.tobytes())
    made = array([f"file://{path}"] * count, places * 8, [8] * count, shape=(count * 4,), chunk_shape=(4,))
    rfs = manifest_store_to_rfs(store(a=made))
    assert rfs["requires"] == [kind]
    assert np.array_equal(open_rfs(rfs)["a"][...], data)
    listed = manifest_store_to_rfs(store(a=made), chunk_index_threshold=None)
    assert listed["version"] == 1
    assert len(listed["refs"]) == count + 2


def test_attributes(raw):
    attributes = {
        "nan": float("nan"), "bytes": b"\xff", "numpy": np.float32(0.5), "list": np.arange(2), "odd": {1, 2},
        "zarr_conventions": "text",
    }  # fmt: skip
    made = rows(f"file://{raw}", attributes=attributes, dimension_names=("y", "x"))
    group = ManifestGroup(arrays={"a": made}, groups={"g": ManifestGroup(attributes={"n": np.int8(3)})})
    rfs = manifest_store_to_rfs(ManifestStore(group))
    found = dict(open_rfs(rfs)["a"].attrs)
    assert np.isnan(found["nan"])
    assert (found["numpy"], found["list"]) == (0.5, [0, 1])
    assert found["bytes"] == "base64:/w=="
    assert {entry["path"] for entry in rfs["skipped"]} == {"/a@odd", "/a@zarr_conventions"}
    assert dict(open_rfs(rfs)["g"].attrs) == {"n": 3}
    assert json.loads(rfs["refs"]["a/zarr.json"])["dimension_names"] == ["y", "x"]


def test_names_that_are_none(raw):
    made = store(**{"": rows(f"file://{raw}"), "b": rows(f"file://{raw}")})
    rfs = manifest_store_to_rfs(made)
    assert [entry["path"] for entry in rfs["skipped"]] == ["/"]
    assert list(open_rfs(rfs)) == ["b"]


def test_other_things_are_refused(raw):
    with pytest.raises(UsageError, match="found a dict; expected what parsers"):
        manifest_store_to_rfs({})
    with pytest.raises(UsageError, match="found a list; expected a virtualizarr"):
        virtual_array([])
    wrong = array([[f"file://{raw}"]] * 3, [4, 44, 84], [40, 40, 41])
    with pytest.raises(UsageError, match="no form in references: its chunk c/2/0 has 41 bytes"):
        virtual_array(wrong)


class TestVirtualArray:
    def test_in_one_piece_it_is_cut_along_every_axis(self, raw):
        whole = array([[f"file://{raw}"]], [4], [120], chunk_shape=(6, 10), dimension_names=("y", "x"))
        for made in (virtual_array(whole), virtual_array(rows(f"file://{raw}"))):
            assert self.values(made[1:5, 3]).tolist() == DATA[1:5, 3].tolist()
            assert np.array_equal(self.values(made.T), DATA.T)
        assert virtual_array(whole).dimension_names == ("y", "x")

    def test_compressed_it_is_taken_by_chunks(self, raw):
        made = array(
            [[f"file://{raw}"]] * 3,
            [4, 44, 84],
            [40, 40, 40],
            codecs=[{"name": "numcodecs.zlib", "configuration": {}}],
        )
        cut = virtual_array(made)
        assert cut[2:6].shape == (4, 10)
        with pytest.raises(NeedsDataError):
            cut[:, 3]

    @staticmethod
    def values(made):
        builder = RfsBuilder()
        made.add_to(builder, "x")
        return open_rfs(builder.build())["x"][...]


def test_nothing_is_done_chunk_by_chunk(tmp_path):
    """A million chunks take no more calls of Python than a few."""
    import sys

    def calls(count):
        offsets = np.random.default_rng(2).permutation(count) * 8
        made = array(["file:///f"] * count, offsets, [8] * count, shape=(count * 4,), chunk_shape=(4,))
        seen = 0

        def count_calls(frame, event, argument):
            nonlocal seen
            seen += event == "call"

        sys.setprofile(count_calls)
        try:
            manifest_store_to_rfs(store(a=made), describe_sources=False)
        finally:
            sys.setprofile(None)
        return seen

    calls(2000)
    assert calls(200_000) < calls(2000) + 200
