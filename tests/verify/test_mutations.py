"""Verification sees: each change to a document is reported, at the right place, and nothing else is.

Every change is made to the document as it lies on disk, in the form of one file and in that of a
directory where both have the part that is changed.
"""

import struct

import numpy as np
import pytest

from shadowzarr import generate_rfs, verify_rfs, write_rfs

from .mutations import Document
from .sample_file import MANY, SLAB, write_sample

FORMS = ("one.json", "folder")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The sample file and its references in both forms."""
    folder = tmp_path_factory.mktemp("sample")
    original = write_sample(folder / "sample.h5")
    rfs = generate_rfs(original, chunk_index_threshold=MANY, contiguous_chunk_bytes=SLAB)
    for form in FORMS:
        write_rfs(rfs, folder / form)
    return folder


@pytest.mark.parametrize("mode", ["full", "sample"])
@pytest.mark.parametrize("form", FORMS)
def test_untouched_references_are_equal(made, form, mode):
    report = verify_rfs(made / form, mode=mode)
    assert report.differences == []
    assert {each.path for each in report.left_out} == {"/swapped"}


def shifted_offset(doc):
    doc.refs["plain/c/1"][1] += 2


def swapped_chunks(doc):
    refs = doc.refs
    refs["packed/c/0/1"], refs["packed/c/1/1"] = refs["packed/c/1/1"], refs["packed/c/0/1"]


def wrong_length(doc):
    doc.refs["plain/c/2"][2] -= 2


def missing_chunk(doc):
    del doc.refs["plain/c/1"]


def stray_chunk(doc):
    doc.refs["plain/c/9"] = doc.refs["plain/c/1"]


def wrong_fill_value(doc):
    doc.change("sparse", lambda metadata: metadata.update(fill_value=-2.0))


def negative_zero_fill(doc):
    doc.change("slabs", lambda metadata: metadata.update(fill_value=-0.0))


def lost_attribute(doc):
    doc.change_attributes("packed", lambda attributes: attributes.pop("unit"))


def extra_attribute(doc):
    doc.change_attributes("packed", lambda attributes: attributes.update(more=1))


def changed_attribute(doc):
    doc.change_attributes("packed", lambda attributes: attributes.update(unit="V"))


def attribute_of_another_type(doc):
    doc.change_attributes("packed", lambda attributes: attributes.update(count=3.0))


def attribute_through_a_float(doc):
    doc.change_attributes("packed", lambda attributes: attributes.update(large=2**64 - 2048))


def number_became_text(doc):
    doc.change_attributes("packed", lambda attributes: attributes.update(count="3"))


def list_became_scalar(doc):
    doc.change_attributes("packed", lambda attributes: attributes.update(one=7))


def scalar_became_list(doc):
    doc.change_attributes("packed", lambda attributes: attributes.update(scale=[2.0]))


def nan_replaced(doc):
    doc.change_attributes("packed", lambda attributes: attributes.update(resolution=0.0))


def nan_as_null(doc):
    doc.change_attributes("packed", lambda attributes: attributes.update(resolution=None))


def bytes_changed(doc):
    doc.change_attributes("packed", lambda attributes: attributes.update(digest="base64:AP8C"))


def bare_nan(doc):
    metadata = doc.metadata("group")
    metadata["attributes"]["kind"] = float("nan")
    doc.set_metadata("group", metadata)


def wrong_byte_order(doc):
    doc.change("square", lambda metadata: metadata["codecs"][0]["configuration"].update(endian="big"))


def dropped_codec(doc):
    doc.change("packed", lambda metadata: metadata["codecs"].pop())


def dropped_shuffle(doc):
    doc.change("packed", lambda metadata: metadata["codecs"].pop(1))


def reordered_axis(doc):
    transpose = {"name": "transpose", "configuration": {"order": [1, 0]}}
    doc.change("square", lambda metadata: metadata["codecs"].insert(0, transpose))


def truncated_string(doc):
    count, length = struct.unpack_from("<II", data := doc.inline("text/c/0"))
    assert (count, length) == (3, 5)
    doc.set_inline("text/c/0", struct.pack("<II", 3, 4) + data[8:12] + data[13:])


def wrong_shape(doc):
    doc.change("plain", lambda metadata: metadata.update(shape=[2999]))


def scalar_became_array(doc):
    chunk = doc.refs.pop("number/c")
    doc.refs["number/c/0"] = chunk
    grid = {"name": "regular", "configuration": {"chunk_shape": [1]}}
    doc.change("number", lambda metadata: metadata.update(shape=[1], chunk_grid=grid))


def array_became_scalar(doc):
    chunk = doc.refs.pop("one_word/c/0")
    doc.refs["one_word/c"] = chunk
    grid = {"name": "regular", "configuration": {"chunk_shape": []}}
    doc.change("one_word", lambda metadata: metadata.update(shape=[], chunk_grid=grid))


def wrong_data_type(doc):
    doc.change("plain", lambda metadata: metadata.update(data_type="uint16"))


def bool_became_integer(doc):
    doc.change("flags", lambda metadata: metadata.update(data_type="uint8", fill_value=0))


def wrong_dtype_name(doc):
    doc.change_attributes("plain", lambda attributes: attributes.update(_DTYPE="uint16"))


def lost_dtype_name(doc):
    doc.change_attributes("plain", lambda attributes: attributes.pop("_DTYPE"))


def lost_reference_fields(doc):
    doc.change_attributes("table", lambda attributes: attributes.pop("_REFERENCE_FIELDS"))


def _relink(doc, name, path):
    def change(attributes):
        next(link for link in attributes["_LINKS"] if link["name"] == name)["path"] = path

    doc.change_attributes("", change)


def lost_soft_link(doc):
    def change(attributes):
        attributes["_LINKS"] = [link for link in attributes["_LINKS"] if link["name"] != "link"]

    doc.change_attributes("", change)


def lost_hard_link(doc):
    def change(attributes):
        attributes["_LINKS"] = [link for link in attributes["_LINKS"] if link["name"] != "same_group"]

    doc.change_attributes("", change)


def extra_link(doc):
    entry = {"name": "new", "source": ".", "path": "/packed"}
    doc.change_attributes("", lambda attributes: attributes["_LINKS"].append(entry))


def retargeted_soft_link(doc):
    _relink(doc, "link", "/plain")


def link_to_nothing(doc):
    _relink(doc, "link", "/nothing")


def retargeted_hard_link(doc):
    _relink(doc, "same_group", "/")


def retargeted_reference(doc):
    data = doc.inline("references/c/0")
    assert b"/packed" in data
    doc.set_inline("references/c/0", data.replace(b"/packed", b"/square"))


def reference_instead_of_null(doc):
    data = doc.inline("references/c/0")
    assert data.endswith(struct.pack("<I", 0))
    doc.set_inline("references/c/0", data[:-4] + struct.pack("<I", 1) + b"/")


def retargeted_reference_in_a_table(doc):
    metadata = doc.metadata("table")
    key = "table/c/0"
    if metadata["codecs"][-1]["name"] == "zstd":
        from numcodecs import Zstd

        data = Zstd().decode(doc.inline(key))
        wanted = Zstd().encode(
            bytes(data).replace("/packed".encode("utf-32-le"), "/square".encode("utf-32-le"))
        )
        doc.set_inline(key, bytes(wanted))
    else:
        data = doc.inline(key)
        doc.set_inline(key, data.replace("/packed".encode("utf-32-le"), "/square".encode("utf-32-le")))


def retargeted_attribute_reference(doc):
    def change(attributes):
        attributes["target"]["_REFERENCE"]["path"] = "/packed"

    doc.change_attributes("packed", change)


def dropped_array(doc):
    doc.drop("plain")


def dropped_group(doc):
    doc.change_attributes("", lambda attributes: attributes)
    doc.drop("group")


def renamed_array(doc):
    for key in [key for key in doc.refs if key.startswith("plain/")]:
        doc.refs["other" + key.removeprefix("plain")] = doc.refs.pop(key)


def extra_array(doc):
    for key in [key for key in doc.refs if key.startswith("square/")]:
        doc.refs["new" + key.removeprefix("square")] = doc.refs[key]


def extra_group(doc):
    doc.set_metadata("group/new", {"zarr_format": 3, "node_type": "group", "attributes": {}})


def array_became_group(doc):
    doc.drop("flags")
    doc.set_metadata("flags", {"zarr_format": 3, "node_type": "group", "attributes": {}})


def second_copy_instead_of_a_link(doc):
    names = {link["name"] for link in doc.metadata("")["attributes"]["_LINKS"]}
    name = "link"
    assert name in names
    lost_soft_link(doc)
    for key in [key for key in doc.refs if key.startswith("packed/")]:
        doc.refs[name + key.removeprefix("packed")] = doc.refs[key]


def nan_payload_lost(doc):
    doc.drop_payload = None
    key = "odd_floats/c/0"
    doc.set_inline(key, np.resize([np.nan, 0.0, -0.0], 300).astype("<f8").tobytes())


def sign_of_zero_lost(doc):
    bits = np.array([0x7FF8000000000001, 0, 0], "<u8")
    doc.set_inline("odd_floats/c/0", np.resize(bits, 300).tobytes())


def last_bit_of_the_last_value(doc):
    import pathlib

    url, offset, size = _expanded(doc, "plain/c/2")
    data = bytearray(pathlib.Path(url).read_bytes()[offset : offset + size])
    data[-2] ^= 1
    doc.set_inline("plain/c/2", bytes(data))


def _expanded(doc, key):
    url, offset, size = doc.refs[key]
    for name, text in doc.rfs.get("templates", {}).items():
        url = url.replace("{{" + name + "}}", text)
    return url, offset, size


def skipped_although_there(doc):
    doc.rfs["skipped"].append({"path": "/plain", "kind": "dataset", "reason": "a lie"})


def skipped_that_never_was(doc):
    doc.rfs["skipped"].append({"path": "/never", "kind": "dataset", "reason": "a lie"})


def skipped_attribute_that_never_was(doc):
    doc.rfs["skipped"].append({"path": "/plain@never", "kind": "attribute", "reason": "a lie"})


def not_named_as_skipped(doc):
    doc.rfs["skipped"] = [entry for entry in doc.rfs["skipped"] if entry["path"].strip("/") != "swapped"]


def unreadable_file(doc):
    doc.refs["plain/c/1"] = ["/nowhere/at/all.h5", 10, 2000]


def unknown_codec(doc):
    doc.change(
        "packed", lambda metadata: metadata["codecs"].append({"name": "unheard_of", "configuration": {}})
    )


def generated_chunks_shifted(doc):
    entry = doc.gen_entry("slabs")
    entry["offset"] = entry["offset"].replace("{{", "{{8 + ", 1)


def generated_stride(doc):
    entry = doc.gen_entry("slabs")
    assert "i * " in entry["offset"]
    stride = entry["offset"].split("i * ")[1].split("}")[0].strip()
    entry["offset"] = entry["offset"].replace(f"i * {stride}", f"i * {int(stride) - 8}")


def index_entry_shifted(doc):
    index = doc.index("many")
    index[63, 0] = index[63, 0] + np.uint64(2)


def index_entries_swapped(doc):
    index = doc.index("many")
    first, last = index[0], index[63]
    index[0], index[63] = last, first


def index_entry_lost(doc):
    doc.index("many")[63] = np.uint64(2**64 - 1)


BOTH = [
    (shifted_offset, {"/plain": "values"}),
    (swapped_chunks, {"/packed": "values"}),
    (wrong_length, {"/plain": None}),
    (missing_chunk, {"/plain": "values"}),
    (stray_chunk, {"/plain": "stray chunks"}),
    (wrong_fill_value, {"/sparse": None}),
    (negative_zero_fill, {"/slabs": "fill value"}),
    (lost_attribute, {"/packed@unit": "attribute"}),
    (extra_attribute, {"/packed@more": "extra attribute"}),
    (changed_attribute, {"/packed@unit": "attribute"}),
    (attribute_of_another_type, {"/packed@count": "attribute"}),
    (attribute_through_a_float, {"/packed@large": "attribute"}),
    (number_became_text, {"/packed@count": "attribute"}),
    (list_became_scalar, {"/packed@one": "attribute"}),
    (scalar_became_list, {"/packed@scale": "attribute"}),
    (nan_replaced, {"/packed@resolution": "attribute", "/packed": "zarr_conventions"}),
    (nan_as_null, {"/packed@resolution": "attribute", "/packed": "zarr_conventions"}),
    (bytes_changed, {"/packed@digest": "attribute"}),
    (bare_nan, {"/group": "strict JSON", "/group@kind": None}),
    (wrong_byte_order, {"/square": "values"}),
    (dropped_codec, {"/packed": None}),
    (dropped_shuffle, {"/packed": "values"}),
    (reordered_axis, {"/square": "values"}),
    (truncated_string, {"/text": "values"}),
    (wrong_shape, {"/plain": "shape"}),
    (scalar_became_array, {"/number": "shape"}),
    (array_became_scalar, {"/one_word": "shape"}),
    (wrong_data_type, {"/plain": "data type"}),
    (bool_became_integer, {"/flags": "data type"}),
    (wrong_dtype_name, {"/plain@_DTYPE": "convention attribute"}),
    (lost_dtype_name, {"/plain@_DTYPE": "convention attribute"}),
    (lost_reference_fields, {"/table@_REFERENCE_FIELDS": "convention attribute"}),
    (lost_soft_link, {"/link": "missing"}),
    (lost_hard_link, {"/same_group": "missing"}),
    (extra_link, {"/new": "extra link"}),
    (retargeted_soft_link, {"/link": "link"}),
    (link_to_nothing, {"/link": "link"}),
    (retargeted_hard_link, {"/same_group": "link"}),
    (retargeted_reference, {"/references": "reference"}),
    (reference_instead_of_null, {"/references": "reference"}),
    (retargeted_reference_in_a_table, {"/table": "values"}),
    (retargeted_attribute_reference, {"/packed@target": "attribute"}),
    (dropped_array, {"/plain": "missing"}),
    (renamed_array, {"/plain": "missing", "/other": "extra"}),
    (extra_array, {"/new": "extra"}),
    (extra_group, {"/group/new": "extra"}),
    (array_became_group, {"/flags": None, "/flags@_DTYPE": None}),
    (second_copy_instead_of_a_link, {"/link": None}),
    (nan_payload_lost, {"/odd_floats": "values"}),
    (sign_of_zero_lost, {"/odd_floats": "values"}),
    (last_bit_of_the_last_value, {"/plain": "values"}),
    (skipped_although_there, {"/plain": "skipped"}),
    (skipped_that_never_was, {"/never": "skipped"}),
    (skipped_attribute_that_never_was, {"/plain@never": "skipped"}),
    (not_named_as_skipped, {"/swapped": "missing"}),
    (unreadable_file, {"/plain": "unreadable references"}),
    (unknown_codec, {"/packed": "unreadable references"}),
]

DIRECTORY_ONLY = [
    (generated_chunks_shifted, {"/slabs": "values"}),
    (generated_stride, {"/slabs": "values"}),
    (index_entry_shifted, {"/many": "values"}),
    (index_entries_swapped, {"/many": "values"}),
    (index_entry_lost, {"/many": "values"}),
]

CASES = [(form, change, where) for change, where in BOTH for form in FORMS] + [
    ("folder", change, where) for change, where in DIRECTORY_ONLY
]


@pytest.mark.parametrize(("form", "change", "where"), CASES, ids=[f"{c.__name__}-{f}" for f, c, _ in CASES])
def test_each_change_is_reported_and_nothing_else(made, tmp_path, form, change, where):
    doc = Document.copy(made / form, tmp_path / form)
    change(doc)
    report = verify_rfs(doc.save(), mode="full")
    assert not report.equal
    found = {(each.path, each.kind) for each in report.differences}
    for place, kind in where.items():
        assert any(at == place and kind in (None, what) for at, what in found), found
    assert {at for at, _ in found} == set(where)
    assert {each.path for each in report.left_out} <= {"/swapped"}


def test_a_sample_sees_the_last_chunk(made, tmp_path):
    doc = Document.copy(made / "folder", tmp_path / "folder")
    index_entry_shifted(doc)
    report = verify_rfs(doc.save(), mode="sample", sampled_chunks=1)
    assert [(each.path, each.kind) for each in report.differences] == [("/many", "values")]


def test_there_are_enough_kinds_of_change():
    assert len(BOTH) + len(DIRECTORY_ONLY) >= 20
