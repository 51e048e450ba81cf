"""What is judged, what must not be judged, and what ends a verification.

References are put together by hand here, so that they can say what no generator says.
"""

import struct

import h5py
import numpy as np
import pytest

from shadowzarr import RfsBuilder, generate_rfs, verify_rfs, write_rfs
from shadowzarr.errors import (
    InvalidReferencesError,
    ReadError,
    SourceNotFoundError,
    UnknownFormatError,
    UsageError,
)
from shadowzarr.testing import RangeServer
from shadowzarr.verify import mappings

VALUES = np.arange(5, dtype="<i4")
TEXT = {"data_type": "string", "codecs": [{"name": "vlen-utf8", "configuration": {}}]}


def hold(builder, path, values, **attributes):
    """Add an array of numbers whose one chunk is inline."""
    builder.add_array(
        path,
        shape=values.shape,
        data_type=values.dtype.name,
        chunk_shape=values.shape,
        attributes={"_DTYPE": values.dtype.name, **attributes},
    )
    builder.add_inline_chunk(path, (0,) * values.ndim, values.tobytes())


def hold_text(builder, path, items):
    encoded = [item.encode() for item in items]
    builder.add_array(
        path, shape=[len(items)], chunk_shape=[len(items)], attributes={"_DTYPE": "str"}, **TEXT
    )
    data = b"".join(struct.pack("<I", len(item)) + item for item in encoded)
    builder.add_inline_chunk(path, (0,), struct.pack("<I", len(items)) + data)


def found(report):
    return [(each.path, each.kind) for each in report.differences]


@pytest.fixture
def linked(tmp_path):
    """A file with a link into another one, which lies beside it, and into one that lies elsewhere."""
    inner = tmp_path / "inner"
    inner.mkdir()
    for path in (inner / "beside.h5", tmp_path / "outside.h5"):
        with h5py.File(path, "w") as file:
            file["x"] = VALUES
    with h5py.File(inner / "main.h5", "w") as file:
        file["own"] = VALUES
        file["beside"] = h5py.ExternalLink("beside.h5", "/x")
        file["outside"] = h5py.ExternalLink("../outside.h5", "/x")
    return inner / "main.h5"


def references_to(linked, beside, outside):
    return builder_of(beside, outside).build()


def builder_of(beside, outside):
    builder = RfsBuilder()
    hold(builder, "own", VALUES)
    for name, values in (("beside", beside), ("outside", outside)):
        if values is None:
            builder.add_skipped(f"/{name}", "link", "not followed")
        else:
            hold(builder, name, values)
    return builder


def test_a_linked_file_beside_the_original_is_read(linked):
    report = verify_rfs(references_to(linked, VALUES, None), linked, mode="full")
    assert report.equal
    assert report.mappings[mappings.EXTERNAL_LINK] == 1
    assert [each.path for each in report.left_out] == ["/outside"]
    report = verify_rfs(references_to(linked, VALUES + 1, None), linked, mode="full")
    assert found(report) == [("/beside", "values")]


def test_a_file_outside_the_folder_is_not_read_unless_allowed(linked):
    refs = references_to(linked, None, VALUES)
    assert found(verify_rfs(refs, linked)) == [("/outside", "not to be judged")]
    assert verify_rfs(refs, linked, allow_external=True).equal


def test_behind_a_url_another_file_is_looked_for_beside_it(linked):
    with h5py.File(linked, "a") as file:
        file["x"] = VALUES + 5  # what h5py would say of the link through a file object
    with RangeServer(linked.parents[1]) as server:
        url = server.url("inner/main.h5")

        def judged(beside, outside, **options):
            builder = builder_of(beside, outside)
            hold(builder, "x", VALUES + 5)
            return found(verify_rfs(builder.build(), url, mode="full", **options))

        assert judged(VALUES, None) == []
        assert judged(VALUES + 5, None) == [("/beside", "values")]
        assert judged(VALUES, VALUES) == [("/outside", "not to be judged")]
        assert judged(VALUES, VALUES, allow_external=True) == []


def test_virtual_datasets_are_judged_by_their_sources(tmp_path):
    with h5py.File(tmp_path / "part.h5", "w") as file:
        file["x"] = VALUES
    with h5py.File(tmp_path / "main.h5", "w") as file:
        layout = h5py.VirtualLayout(shape=(5,), dtype="<i4")
        layout[:] = h5py.VirtualSource("part.h5", "x", shape=(5,))
        file.create_virtual_dataset("v", layout)
    builder = RfsBuilder()
    hold(builder, "v", VALUES)
    assert verify_rfs(builder.build(), tmp_path / "main.h5", mode="full").equal
    with RangeServer(tmp_path) as server:
        assert verify_rfs(builder.build(), server.url("main.h5"), mode="full").equal
        builder = RfsBuilder()
        hold(builder, "v", VALUES + 1)
        assert found(verify_rfs(builder.build(), server.url("main.h5"))) == [("/v", "values")]


def test_external_raw_files_are_looked_for_beside_the_original(tmp_path, monkeypatch):
    (tmp_path / "raw.bin").write_bytes(VALUES.tobytes())
    with h5py.File(tmp_path / "main.h5", "w") as file:
        file.create_dataset("raw", shape=(5,), dtype="<i4", external=[("raw.bin", 0, 20)])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "raw.bin").write_bytes((VALUES + 9).tobytes())
    monkeypatch.chdir(elsewhere)
    builder = RfsBuilder()
    hold(builder, "raw", VALUES)
    assert verify_rfs(builder.build(), tmp_path / "main.h5", mode="full").equal


def test_a_remote_original_is_read_through_a_file_object(tmp_path):
    path = tmp_path / "main.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(1000.0), chunks=(100,), compression="gzip")
    with RangeServer(tmp_path) as server:
        refs = generate_rfs(server.url("main.h5"))
        report = verify_rfs(refs, mode="full")
        assert report.equal
        assert report.counts["chunks"] == 10
        secret = verify_rfs(refs, server.url("main.h5") + "?signature=secret")
        assert secret.equal
        assert "secret" not in secret.to_json()


def test_what_h5py_cannot_read_must_be_left_out(tmp_path):
    with h5py.File(tmp_path / "main.h5", "w") as file:
        space = h5py.h5s.create_simple((5,))
        h5py.h5d.create(file.id, b"times", h5py.h5t.UNIX_D32LE, space)
    builder = RfsBuilder()
    builder.add_skipped("/times", "dataset", "h5py cannot read times")
    report = verify_rfs(builder.build(), tmp_path / "main.h5")
    assert report.equal
    assert [each.path for each in report.left_out] == ["/times"]
    builder = RfsBuilder()
    hold(builder, "times", VALUES)
    report = verify_rfs(builder.build(), tmp_path / "main.h5")
    assert ("/times", "unreadable original") in found(report)


def test_sequences(tmp_path):
    with h5py.File(tmp_path / "main.h5", "w") as file:
        ragged = file.create_dataset("ragged", shape=(3,), dtype=h5py.vlen_dtype("<i4"))
        ragged[0], ragged[2] = [1, 2, 3], [4]
        ragged.attrs["unit"] = "mV"

    def references(values, offsets, **attributes):
        builder = RfsBuilder()
        builder.add_group("ragged", {"unit": "mV", "_RAGGED": {"shape": [3]}, **attributes})
        hold(builder, "ragged/values", np.array(values, "<i4"))
        hold(builder, "ragged/offsets", np.array(offsets, "<u8"))
        return builder.build()

    def judged(*parts, **attributes):
        return found(verify_rfs(references(*parts, **attributes), tmp_path / "main.h5", mode="full"))

    assert judged([1, 2, 3, 4], [0, 3, 3, 4]) == []
    assert judged([1, 2, 3, 5], [0, 3, 3, 4]) == [("/ragged", "values")]
    assert judged([1, 2, 3, 4], [0, 2, 3, 4]) == [("/ragged", "values")]
    assert judged([1, 2, 3, 4], [0, 3, 4]) == [("/ragged", "sequences")]
    assert judged([1, 2, 3, 4], [0, 3, 3, 3]) == [("/ragged", "sequences")]
    assert judged([1, 2, 3, 4], [0, 3, 3, 4], _RAGGED={"shape": [4]}) == [
        ("/ragged@_RAGGED", "convention attribute")
    ]


def test_big_endian_sequences_are_not_judged(tmp_path):
    with h5py.File(tmp_path / "main.h5", "w") as file:
        ragged = file.create_dataset("ragged", shape=(1,), dtype=h5py.vlen_dtype(">i4"))
        ragged[0] = np.array([1, 2], ">i4")
    with h5py.File(tmp_path / "main.h5") as file:
        assert file["ragged"][0].tolist() == [1 << 24, 2 << 24]  # once h5py is right, judge them
    builder = RfsBuilder()
    builder.add_group("ragged", {"_RAGGED": {"shape": [1]}})
    hold(builder, "ragged/values", np.array([1, 2], "<i4"))
    hold(builder, "ragged/offsets", np.array([0, 2], "<u8"))
    assert found(verify_rfs(builder.build(), tmp_path / "main.h5")) == [("/ragged", "not to be judged")]


def test_text_that_is_utf8_must_be_text(tmp_path):
    with h5py.File(tmp_path / "main.h5", "w") as file:
        file["good"] = np.array([b"ab", b"c"], "S2")
        file["other"] = np.array([b"\xe9t", b"c"], "S2")
    kind = {"name": "null_terminated_bytes", "configuration": {"length_bytes": 2}}

    def references(names):
        builder = RfsBuilder()
        for name, data in names.items():
            attributes = {"_DTYPE": np.dtype("S2").name}
            builder.add_array(
                name, shape=[2], data_type=kind, chunk_shape=[2], fill_value="", attributes=attributes
            )
            builder.add_inline_chunk(name, (0,), data)
        return builder

    builder = references({"other": b"\xe9tc\0"})
    hold_text(builder, "good", ["ab", "c"])
    report = verify_rfs(builder.build(), tmp_path / "main.h5", mode="full")
    assert report.equal
    assert report.mappings[mappings.TEXT_AS_BYTES] == 1
    builder = references({"good": b"abc\0", "other": b"\xe9tc\0"})
    assert found(verify_rfs(builder.build(), tmp_path / "main.h5", mode="full")) == [("/good", "data type")]


def test_an_array_larger_than_any_disk_is_compared_in_full(tmp_path):
    with h5py.File(tmp_path / "main.h5", "w") as file:
        data = file.create_dataset("x", shape=(2**42,), dtype="f8", chunks=(2**10,), fillvalue=-1.0)
        data[2**41 : 2**41 + 10] = 1.0
    refs = generate_rfs(tmp_path / "main.h5")
    report = verify_rfs(refs, mode="full")
    assert report.equal
    assert report.mappings[mappings.NEVER_WRITTEN] == 1
    key = next(key for key in refs["refs"] if key.startswith("x/c/"))
    del refs["refs"][key]
    assert found(verify_rfs(refs, mode="full")) == [("/x", "values")]


def test_an_object_with_two_names_is_one_node(tmp_path):
    with h5py.File(tmp_path / "main.h5", "w") as file:
        file["a"] = VALUES
        file["b"] = file["a"]
    builder = RfsBuilder()
    builder.add_group("", {"_LINKS": [{"name": "a", "source": ".", "path": "/b"}]})
    hold(builder, "b", VALUES)
    assert verify_rfs(builder.build(), tmp_path / "main.h5").equal
    hold(builder, "a", VALUES)
    assert {kind for _, kind in found(verify_rfs(builder.build(), tmp_path / "main.h5"))} == {"there twice"}


def test_a_group_that_contains_itself_ends(tmp_path):
    with h5py.File(tmp_path / "main.h5", "w") as file:
        group = file.create_group("g")
        group["again"] = group
        group["up"] = h5py.SoftLink("/g")
        group["round"] = h5py.SoftLink("round")
        file.create_group("types")["t"] = np.dtype("i4")
    refs = generate_rfs(tmp_path / "main.h5")
    report = verify_rfs(refs)
    assert report.equal
    assert report.counts["groups"] == 3
    assert report.counts["links"] == 2
    assert report.mappings[mappings.NAMED_DATATYPE] == 1


def test_a_reserved_name_in_the_original_is_left_out(tmp_path):
    with h5py.File(tmp_path / "main.h5", "w") as file:
        file["x"] = VALUES
        file["x"].attrs["_DTYPE"] = "mine"
    refs = generate_rfs(tmp_path / "main.h5")
    report = verify_rfs(refs)
    assert report.equal
    assert [each.path for each in report.left_out] == ["/x@_DTYPE"]


@pytest.fixture
def small(tmp_path):
    with h5py.File(tmp_path / "main.h5", "w") as file:
        file["x"] = VALUES
    return tmp_path


def test_wrong_calls(small):
    builder = RfsBuilder()
    hold(builder, "x", VALUES)
    with pytest.raises(UsageError, match="against"):
        verify_rfs(builder.build())
    with pytest.raises(UsageError, match="sample"):
        verify_rfs(builder.build(), small / "main.h5", mode="all")
    with pytest.raises(SourceNotFoundError):
        verify_rfs(builder.build(), small / "missing.h5")
    with pytest.raises(UnknownFormatError):
        verify_rfs(builder.build(), small)
    (small / "text.h5").write_text("no")
    with pytest.raises(UnknownFormatError):
        verify_rfs(builder.build(), small / "text.h5")
    with pytest.raises(InvalidReferencesError):
        verify_rfs({"refs": 1}, small / "main.h5")
    with pytest.raises(ReadError):
        verify_rfs(small / "nothing.json", small / "main.h5")


def test_the_same_seed_gives_the_same_report(small):
    with h5py.File(small / "many.h5", "w") as file:
        file.create_dataset("x", data=np.arange(10_000), chunks=(10,))
    refs = generate_rfs(small / "many.h5")
    one, other = (verify_rfs(refs, seed=3) for _ in range(2))
    assert one == other
    assert 10 <= one.counts["chunks"] < 20
    assert verify_rfs(refs, mode="full").counts["chunks"] == 1000


# --- an original that was replaced ----------------------------------------------


def replaced(report):
    (only,) = report.differences
    assert (only.path, only.kind) == ("/", "replaced")
    assert report.counts["arrays"] == 0
    (line,) = report.summary().splitlines()
    assert "is not the file that was indexed" in line
    return line


def test_a_local_file_of_another_size_is_one_difference(small):
    refs = generate_rfs(small / "main.h5")
    before = (small / "main.h5").stat().st_size
    with h5py.File(small / "main.h5", "w") as file:
        file["other"] = np.arange(4000)
    line = replaced(verify_rfs(refs))
    assert f"when it was indexed it had {before:,} bytes" in line
    assert replaced(verify_rfs(refs, small / "main.h5")) == line


def test_a_local_file_of_the_same_size_is_compared(small):
    refs = generate_rfs(small / "main.h5")
    with h5py.File(small / "main.h5", "r+") as file:
        file["x"][0] = 99
        file["x"].id.flush()
    assert found(verify_rfs(refs)) == [("/x", "values")]


def test_another_file_that_is_named_is_compared_whatever_its_size(small):
    refs = generate_rfs(small / "main.h5")
    with h5py.File(small / "other.h5", "w") as file:
        file["x"] = VALUES
        file["y"] = np.arange(4000)
    assert ("/y", "missing") in found(verify_rfs(refs, small / "other.h5"))


def test_a_remote_file_with_another_etag_is_one_difference(small):
    with RangeServer(small) as server:
        refs = generate_rfs(server.url("main.h5"))
        assert verify_rfs(refs).equal
        with h5py.File(small / "main.h5", "r+") as file:
            file["x"][0] = 99
        assert refs["sources"][server.url("main.h5")]["size"] == (small / "main.h5").stat().st_size
        assert "ETag" in replaced(verify_rfs(refs))


def test_references_are_loaded_and_checked_once(small, monkeypatch):
    from shadowzarr.store import load_rfs as module

    checked = []
    monkeypatch.setattr(module, "check_document", lambda _document, name: checked.append(name))
    write_rfs(generate_rfs(small / "main.h5"), small / "x.json")
    assert verify_rfs(small / "x.json").equal
    assert len(checked) == 1
