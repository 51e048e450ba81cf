"""References to a raw binary file, compared with what numpy maps of it: each change is reported, alone."""

import numpy as np
import pytest

from shadowzarr import load_rfs, verify_rfs
from shadowzarr.errors import UnknownFormatError, UsageError

from .mutations import Document
from .raw_sample import write_raw


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return write_raw(tmp_path_factory.mktemp("raw"))


@pytest.mark.parametrize("mode", ["full", "sample"])
def test_untouched_references_are_equal(made, mode):
    refs, arrays = made
    report = verify_rfs(refs, arrays, mode=mode)
    assert report.differences == []
    assert [(each.path, each.reason) for each in report.left_out] == [("/odd", "it has no form")]
    assert (report.counts["arrays"], report.counts["groups"]) == (5, 2)
    assert report.original == "arrays in memory"
    if mode == "full":
        assert report.counts["bytes"] == sum(
            array.size * array.itemsize for path, array in arrays.items() if path != "odd"
        )


def test_references_in_memory_and_other_forms_of_arrays_are_taken(made):
    refs, arrays = made
    given = {f"/{path}": array.astype(array.dtype.newbyteorder(">")) for path, array in arrays.items()}
    assert verify_rfs(load_rfs(refs), given, mode="full").equal


def change_gen(doc, path, part, old, new):
    entry = doc.gen_entry(path)
    assert old in entry[part], entry
    entry[part] = entry[part].replace(old, new, 1)


def shifted_offset(doc):
    change_gen(doc, "samples", "offset", "{{", "{{2 + ")


def changed_stride(doc):
    change_gen(doc, "samples", "offset", "* 1600", "* 1598")


def swapped_chunks(doc):
    refs = doc.refs
    refs["image/c/0/0"], refs["image/c/0/1"] = refs["image/c/0/1"], refs["image/c/0/0"]


def cut_chunk(doc):
    doc.refs["image/c/0/1"][2] -= 3


def wrong_fill_value(doc):
    doc.change("more/gaps", lambda metadata: metadata.update(fill_value=0))


def wrong_byte_order(doc):
    doc.change("image", lambda metadata: metadata["codecs"][0]["configuration"].update(endian="little"))


def dropped_codec(doc):
    doc.change("image", lambda metadata: metadata["codecs"].pop())


def changed_selection(doc):
    doc.rfs["selections"]["kept"]["keep"] = [[2, 14]]


def reordered_selection(doc):
    doc.rfs["selections"]["kept"]["keep"] = [[6, 12], [0, 6]]


def changed_record_size(doc):
    doc.rfs["selections"]["kept"]["record_size"] = 14


def lost_selection(doc):
    del doc.rfs["selections"]["kept"]


def wrong_shape(doc):
    doc.change("samples", lambda metadata: metadata.update(shape=[599, 8]))


def wrong_data_type(doc):
    doc.change("samples", lambda metadata: metadata.update(data_type="uint16"))


def lost_array(doc):
    doc.drop("more/gaps")


def lost_group(doc):
    del doc.refs["more/zarr.json"]


def extra_array(doc):
    for key in [key for key in doc.refs if key.startswith("image/")]:
        doc.refs["new" + key.removeprefix("image")] = doc.refs[key]


def extra_group(doc):
    doc.set_metadata("new", {"zarr_format": 3, "node_type": "group", "attributes": {}})


def array_became_group(doc):
    doc.drop("more/gaps")
    doc.set_metadata("more/gaps", {"zarr_format": 3, "node_type": "group", "attributes": {}})


def reordered_axis(doc):
    transpose = {"name": "transpose", "configuration": {"order": [1, 0]}}
    doc.change("samples", lambda metadata: metadata["codecs"].insert(0, transpose))


def index_entry_shifted(doc):
    index = doc.index("more/counts")
    index[9, 0] = index[9, 0] - np.uint64(4)


def index_entry_lost(doc):
    doc.index("more/counts")[9] = np.uint64(2**64 - 1)


def index_entries_swapped(doc):
    index = doc.index("more/counts")
    first, last = index[0], index[9]
    index[0], index[9] = last, first


def stray_chunk(doc):
    doc.refs["image/c/1/0"] = doc.refs["image/c/0/0"]


def changed_bit(doc):
    data = bytearray(doc.inline("more/gaps/c/1"))
    data[-1] ^= 1
    doc.set_inline("more/gaps/c/1", bytes(data))


def another_file(doc):
    doc.refs["image/c/0/0"] = ["/nowhere/at/all.bin", *doc.refs["image/c/0/0"][1:]]


def skipped_although_there(doc):
    doc.rfs["skipped"].append({"path": "/image", "kind": "dataset", "reason": "a lie"})


def skipped_that_never_was(doc):
    doc.rfs["skipped"].append({"path": "/never", "kind": "dataset", "reason": "a lie"})


def not_named_as_skipped(doc):
    doc.rfs["skipped"] = []


CASES = [
    (shifted_offset, {"/samples": "values"}),
    (changed_stride, {"/samples": "values"}),
    (swapped_chunks, {"/image": "values"}),
    (cut_chunk, {"/image": None}),
    (wrong_fill_value, {"/more/gaps": "values"}),
    (wrong_byte_order, {"/image": "values"}),
    (dropped_codec, {"/image": None}),
    (changed_selection, {"/kept": "values"}),
    (reordered_selection, {"/kept": "values"}),
    (changed_record_size, {"/kept": None}),
    (lost_selection, {"/kept": None}),
    (wrong_shape, {"/samples": None}),
    (wrong_data_type, {"/samples": "data type"}),
    (lost_array, {"/more/gaps": "missing"}),
    (lost_group, {"/more": "missing"}),
    (extra_array, {"/new": "extra"}),
    (extra_group, {"/new": "extra"}),
    (array_became_group, {"/more/gaps": "node type"}),
    (reordered_axis, {"/samples": "values"}),
    (index_entry_shifted, {"/more/counts": "values"}),
    (index_entry_lost, {"/more/counts": "values"}),
    (index_entries_swapped, {"/more/counts": "values"}),
    (stray_chunk, {"/image": "stray chunks"}),
    (changed_bit, {"/more/gaps": "values"}),
    (another_file, {"/image": "unreadable references"}),
    (skipped_although_there, {"/image": "skipped"}),
    (skipped_that_never_was, {"/never": "skipped"}),
    (not_named_as_skipped, {"/odd": "missing"}),
]


@pytest.mark.parametrize(("change", "where"), CASES, ids=[change.__name__ for change, _ in CASES])
def test_each_change_is_reported_and_nothing_else(made, tmp_path, change, where):
    refs, arrays = made
    doc = Document.copy(refs, tmp_path / "refs")
    change(doc)
    report = verify_rfs(doc.save(), arrays, mode="full")
    assert not report.equal
    found = {(each.path, each.kind) for each in report.differences}
    for place, kind in where.items():
        assert any(at == place and kind in (None, what) for at, what in found), found
    assert {at for at, _ in found} == set(where)
    assert {each.path for each in report.left_out} <= {"/odd"}


def test_a_difference_says_where_it_is_and_what_both_sides_have(made, tmp_path):
    refs, arrays = made
    doc = Document.copy(refs, tmp_path / "refs")
    changed_bit(doc)
    (difference,) = verify_rfs(doc.save(), arrays).differences
    assert (difference.path, difference.kind) == ("/more/gaps", "values")
    assert difference.original == "3 at (7,), 1 of 4"
    assert difference.references == str(3 + (1 << 24))


def test_a_sample_sees_the_first_and_the_last_chunk(made, tmp_path):
    refs, arrays = made
    for key in ("samples/c/0/0", "samples/c/5/0"):
        doc = Document.copy(refs, tmp_path / key.replace("/", "-"))
        doc.set_inline(key, bytes(1600))
        report = verify_rfs(doc.save(), arrays, sampled_chunks=1)
        assert [(each.path, each.kind) for each in report.differences] == [("/samples", "values")]


def test_the_seed_chooses_the_chunks(made, tmp_path):
    refs, arrays = made
    doc = Document.copy(refs, tmp_path / "refs")
    doc.set_inline("samples/c/2/0", bytes(1600))
    path = doc.save()
    seen = [verify_rfs(path, arrays, seed=seed, sampled_chunks=1).equal for seed in range(12)]
    assert set(seen) == {True, False}
    assert seen == [verify_rfs(path, arrays, seed=seed, sampled_chunks=1).equal for seed in range(12)]


def test_a_raw_file_needs_arrays(made):
    refs, _ = made
    with pytest.raises(UnknownFormatError, match=r"run\.bin is of no format.*\(refs, {path: array}\)"):
        verify_rfs(refs)


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ({}, "holds no arrays"),
        ({"a": np.zeros(1), "/a": np.zeros(1)}, "twice"),
        ({"a": [1, 2]}, "is a list"),
        ({"a": np.array([None])}, "array of object"),
    ],
)
def test_what_is_no_array_is_refused(made, against, message):
    with pytest.raises(UsageError, match=message):
        verify_rfs(made[0], against)
