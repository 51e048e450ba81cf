"""References to a TIFF file, compared with what tifffile shows: each change is reported, and it alone."""

from pathlib import Path

import numpy as np
import pytest

from shadowzarr import verify_rfs
from shadowzarr.errors import DamagedSourceError, MissingDependencyError, UsageError
from shadowzarr.testing import RangeServer

from ..mutations import Document
from .tiff_sample import write_references, write_tiff

tifffile = pytest.importorskip("tifffile", reason="the extra tiff is not installed")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiff")
    original = write_tiff(folder / "a.tif", tifffile)
    write_references(original, folder / "refs", chunk_index_threshold=8)
    return folder


@pytest.mark.parametrize("mode", ["full", "sample"])
def test_untouched_references_are_equal(made, mode):
    report = verify_rfs(made / "refs", mode=mode)
    assert (report.differences, report.left_out) == ([], [])
    assert (report.counts["groups"], report.counts["arrays"]) == (2, 5)
    assert report.original == str(made / "a.tif")
    if mode == "full":
        assert report.counts["bytes"] == 6 * 20 * 30 * 2 + (40 * 48 + 20 * 24) * 4 + 25 * 40 + 32 * 32 * 2


def test_the_original_may_be_named_or_behind_a_url(made, tmp_path):
    assert verify_rfs(made / "refs", made / "a.tif", mode="full").equal
    with RangeServer(made) as server:
        assert verify_rfs(made / "refs", server.url("a.tif"), mode="full").equal
        write_references(server.url("a.tif"), tmp_path / "refs")
        report = verify_rfs(tmp_path / "refs", mode="full")
        assert report.equal, report.summary()
        assert report.original == server.url("a.tif")


def change_gen(doc, part, old, new):
    entry = doc.gen_entry("0")
    assert old in entry[part], entry
    entry[part] = entry[part].replace(old, new, 1)


def shifted_offset(doc):
    change_gen(doc, "offset", "{{", "{{2 + ")


def changed_stride(doc):
    change_gen(doc, "offset", "* 1200", "* 1198")


def swapped_chunks(doc):
    doc.refs["2/c/0/0"], doc.refs["2/c/1/0"] = doc.refs["2/c/1/0"], doc.refs["2/c/0/0"]


def wrong_fill_value(doc):
    doc.change("0", lambda metadata: metadata.update(fill_value=7))


def wrong_value_of_missing_tiles(doc):
    doc.change("3", lambda metadata: metadata.update(fill_value=0))


def wrong_byte_order(doc):
    doc.change("0", lambda metadata: metadata["codecs"][0]["configuration"].update(endian="little"))


def dropped_codec(doc):
    doc.change("1/0", lambda metadata: metadata["codecs"].pop())


def reordered_axis(doc):
    transpose = {"name": "transpose", "configuration": {"order": [0, 2, 1]}}
    doc.change("0", lambda metadata: metadata["codecs"].insert(0, transpose))


def swapped_axis_names(doc):
    doc.change("0", lambda metadata: metadata["dimension_names"].reverse())


def wrong_shape(doc):
    doc.change("2", lambda metadata: metadata.update(shape=[24, 40]))


def wrong_chunk_shape(doc):
    doc.change("3", lambda metadata: metadata["chunk_grid"]["configuration"].update(chunk_shape=[8, 32]))


def wrong_data_type(doc):
    doc.change("0", lambda metadata: metadata.update(data_type="int16"))


def lost_array(doc):
    doc.drop("2")


def lost_level(doc):
    doc.drop("1/1")


def lost_pyramid(doc):
    doc.drop("1/0")
    doc.drop("1")


def wrong_level(doc):
    doc.refs["1/1/zarr.json"] = doc.refs["1/0/zarr.json"]


def chunks_of_another_level(doc):
    index = doc.index("1/0")
    for row, column in ((0, 0), (0, 1), (1, 0), (1, 1)):
        doc.refs[f"1/1/c/{row}/{column}"][1:] = map(int, index[row, column])


def series_in_wrong_order(doc):
    own = {key: value for key, value in doc.refs.items() if key.startswith(("2/", "3/"))}
    for key in own:
        del doc.refs[key]
    for key, value in own.items():
        doc.refs[{"2": "3", "3": "2"}[key[0]] + key[1:]] = value


def extra_level(doc):
    for key in [key for key in doc.refs if key.startswith("1/1/")]:
        doc.refs["1/2/" + key[4:]] = doc.refs[key]


def level_became_group(doc):
    doc.drop("2")
    doc.set_metadata("2", {"zarr_format": 3, "node_type": "group", "attributes": {}})


def index_entry_shifted(doc):
    index = doc.index("1/0")
    index[2, 2, 0] = index[2, 2, 0] - np.uint64(5)


def index_entry_lost(doc):
    doc.index("1/0")[2, 2] = np.uint64(2**64 - 1)


def stray_chunk(doc):
    doc.refs["3/c/7/0"] = doc.refs["3/c/0/0"]


def tile_where_none_is(doc):
    doc.refs["3/c/0/1"] = doc.refs["3/c/0/0"]


def changed_bit(doc):
    _, offset, nbytes = doc.refs["3/c/1/1"]
    data = bytearray(Path(doc.rfs["templates"]["u0"]).read_bytes()[offset : offset + nbytes])
    data[-1] ^= 1
    doc.set_inline("3/c/1/1", bytes(data))


def skipped_although_there(doc):
    doc.rfs["skipped"] = [{"path": "/2", "kind": "dataset", "reason": "a lie"}]


def skipped_that_never_was(doc):
    doc.rfs["skipped"] = [{"path": "/9", "kind": "dataset", "reason": "a lie"}]


CASES = [
    (shifted_offset, {"/0": "values"}),
    (changed_stride, {"/0": "values"}),
    (swapped_chunks, {"/2": "values"}),
    (wrong_fill_value, {"/0": "fill value"}),
    (wrong_value_of_missing_tiles, {"/3": "values"}),
    (wrong_byte_order, {"/0": "values"}),
    (dropped_codec, {"/1/0": None}),
    (reordered_axis, {"/0": "values"}),
    (swapped_axis_names, {"/0": "dimension names"}),
    (wrong_shape, {"/2": "shape"}),
    (wrong_chunk_shape, {"/3": None}),
    (wrong_data_type, {"/0": "data type"}),
    (lost_array, {"/2": "missing"}),
    (lost_level, {"/1/1": "missing"}),
    (lost_pyramid, {"/1": "missing", "/1/0": "missing", "/1/1": "missing"}),
    (wrong_level, {"/1/1": "shape"}),
    (chunks_of_another_level, {"/1/1": "values"}),
    (series_in_wrong_order, {"/2": "shape", "/3": "shape"}),
    (extra_level, {"/1/2": "extra"}),
    (level_became_group, {"/2": "node type"}),
    (index_entry_shifted, {"/1/0": None}),
    (index_entry_lost, {"/1/0": "values"}),
    (stray_chunk, {"/3": "stray chunks"}),
    (tile_where_none_is, {"/3": "values"}),
    (changed_bit, {"/3": "values"}),
    (skipped_although_there, {"/2": "skipped"}),
    (skipped_that_never_was, {"/9": "skipped"}),
]


@pytest.mark.parametrize(("change", "where"), CASES, ids=[change.__name__ for change, _ in CASES])
def test_each_change_is_reported_and_nothing_else(made, tmp_path, change, where):
    doc = Document.copy(made / "refs", tmp_path / "refs")
    change(doc)
    report = verify_rfs(doc.save(), mode="full")
    assert not report.equal
    found = {(each.path, each.kind) for each in report.differences}
    for place, kind in where.items():
        assert any(at == place and kind in (None, what) for at, what in found), found
    assert {at for at, _ in found} == set(where)
    assert report.left_out == []


def test_what_is_left_out_by_name_is_listed_and_no_difference(made, tmp_path):
    doc = Document.copy(made / "refs", tmp_path / "refs")
    for path in ("2", "1/1"):
        doc.drop(path)
    doc.rfs["skipped"] = [
        {"path": "/2", "kind": "dataset", "reason": "no codec"},
        {"path": "/1/1", "kind": "dataset", "reason": "damaged"},
        {"path": "/page 7", "kind": "dataset", "reason": "the chain of pages is broken"},
        {"path": "/0@description", "kind": "attribute", "reason": "too long"},
    ]
    report = verify_rfs(doc.save())
    assert report.equal, report.summary()
    assert [each.path for each in report.left_out] == ["/1/1", "/2", "/page 7", "/0@description"]


def test_a_replaced_original_is_the_only_difference(made, tmp_path):
    (tmp_path / "a.tif").write_bytes((made / "a.tif").read_bytes())
    write_references(tmp_path / "a.tif", tmp_path / "refs")
    with (tmp_path / "a.tif").open("ab") as file:
        file.write(b"more")
    (difference,) = verify_rfs(tmp_path / "refs").differences
    assert difference.kind == "replaced"


def test_a_damaged_file_is_one_error(made, tmp_path):
    (tmp_path / "a.tif").write_bytes((made / "a.tif").read_bytes()[:7])
    with pytest.raises(DamagedSourceError, match=r"a\.tif cannot be read as TIFF"):
        verify_rfs(made / "refs", tmp_path / "a.tif")


def test_values_that_tifffile_cannot_read_are_not_equal(made, tmp_path):
    data = bytearray((made / "a.tif").read_bytes())
    with tifffile.TiffFile(made / "a.tif") as file:
        data[file.series[1].keyframe.dataoffsets[0]] ^= 0xFF  # no longer a zlib stream
    (tmp_path / "a.tif").write_bytes(data)
    report = verify_rfs(made / "refs", tmp_path / "a.tif", mode="full")
    assert [(each.path, each.kind) for each in report.differences] == [("/1/0", "unreadable original")]


def test_the_library_that_is_missing_is_named(made, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tifffile", None)
    with pytest.raises(MissingDependencyError, match=r"pip install .*\[tiff\]"):
        verify_rfs(made / "refs")


def test_one_file_of_several_is_compared_in_a_folder_alone(tmp_path):
    stack = np.arange(2 * 8 * 8, dtype="u2").reshape(2, 8, 8)
    uuids = ["urn:uuid:00000000-0000-0000-0000-00000000000" + digit for digit in "12"]
    parts = "".join(
        f'<TiffData FirstT="{t}" IFD="0" PlaneCount="1"><UUID FileName="{t}.ome.tif">{uuid}</UUID></TiffData>'
        for t, uuid in enumerate(uuids)
    )
    for t, uuid in enumerate(uuids):
        xml = (
            '<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" '
            f'UUID="{uuid}"><Image ID="Image:0"><Pixels ID="Pixels:0" DimensionOrder="XYCZT" Type="uint16" '
            f'SizeX="8" SizeY="8" SizeC="1" SizeZ="1" SizeT="2">{parts}</Pixels></Image></OME>'
        )
        tifffile.imwrite(
            tmp_path / f"{t}.ome.tif", stack[t], description=xml, metadata=None, photometric="minisblack"
        )
    refs = write_references(tmp_path / "0.ome.tif", tmp_path / "refs")
    report = verify_rfs(refs, mode="full")
    assert report.equal, report.summary()
    assert report.counts["bytes"] == stack.nbytes
    with RangeServer(tmp_path) as server, pytest.raises(UsageError, match="one of 2 files of an OME-TIFF"):
        verify_rfs(refs, server.url("0.ome.tif"))
