"""The hdf5 section: nothing for what Zarr says already, and in the REST document's words what it does not."""

import json

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

from shadowzarr import generate_rfs
from shadowzarr.formats.hdf5.description.section import VALUES_LIMIT
from shadowzarr.testing.sample_nwb import write_recording


@pytest.fixture
def path(tmp_path):
    return tmp_path / "f.h5"


def section(path, **options):
    return generate_rfs(path, **options)["hdf5"]


def entry(path, name):
    return section(path).get("objects", {}).get(name, {})


def test_what_h5py_writes_by_default_needs_no_words(path):
    with h5py.File(path, "w") as file:
        file["numbers"] = np.arange(400.0)
        file["text"] = "hello"
        file["numbers"].attrs["unit"] = "mV"
        file["numbers"].attrs["gain"] = 2.5
        file["flags"] = np.array([True, False])
        file["where"] = np.array([file["text"].ref], h5py.ref_dtype)
        file["group/link"] = h5py.SoftLink("/text")
        file["group"].attrs["target"] = file["text"].ref
        file["table"] = np.zeros(2, [("a", "<i4"), ("b", "<f8")])
    found = section(path)
    assert set(map(tuple, found["objects"].values())) == {("creation",)}  # h5py's own, of text
    assert "types" not in found


def test_it_can_be_left_out(path):
    h5py.File(path, "w").close()
    assert "hdf5" not in generate_rfs(path, hdf5_section=False)


def test_it_is_strict_json(path):
    with h5py.File(path, "w") as file:
        file.attrs["odd"] = np.float32("nan")
        file.create_dataset("x", shape=(3,), dtype="f4", fillvalue=np.inf)
    json.dumps(section(path), allow_nan=False)


def test_types_are_stored_once_and_referred_to(path):
    with h5py.File(path, "w") as file:
        for number in range(3):
            file[f"d{number}"] = np.arange(3)
            file[f"d{number}"].attrs.create("MATLAB_class", np.bytes_("double"))
    found = section(path)
    assert found["types"] == [
        {"class": "H5T_STRING", "charSet": "H5T_CSET_ASCII", "strPad": "H5T_STR_NULLPAD", "length": 6}
    ]
    assert all(found["objects"][f"/d{n}"] == {"attributes": {"MATLAB_class": 0}} for n in range(3))


def test_limits_of_the_shape_and_creation_properties(path):
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "x", data=np.zeros((4000, 4), "i2"), maxshape=(None, 4), chunks=(500, 4), shuffle=True
        )
    found = section(path)
    assert found["objects"]["/x"] == {
        "maxdims": ["H5S_UNLIMITED", 4],
    }
    creation = found["creations"][found["usualCreations"]["dataset"]]
    assert creation["layout"] == {"class": "H5D_CHUNKED"}
    assert creation["filters"] == [{"class": "H5Z_FILTER_SHUFFLE", "id": 2, "values": [2], "flags": 1}]


def test_links_that_zarr_does_not_tell(path):
    with h5py.File(path, "w") as file:
        file["a/x"] = 1
        file["b"] = file["a/x"]
        file["relative"] = h5py.SoftLink("a/x")
        file["dangling"] = h5py.SoftLink("/nowhere")
        file["outside"] = h5py.ExternalLink("other.h5", "/y")
    assert entry(path, "/")["links"] == {
        "dangling": {"class": "H5L_TYPE_SOFT", "h5path": "/nowhere"},
        "outside": {"class": "H5L_TYPE_EXTERNAL", "h5path": "/y", "file": "other.h5"},
        "relative": {"class": "H5L_TYPE_SOFT", "h5path": "a/x"},
    }
    assert entry(path, "/a")["links"] == {"x": {"class": "H5L_TYPE_HARD", "h5path": "/b"}}


def test_the_order_in_which_things_were_made(path):
    with h5py.File(path, "w", track_order=True) as file:
        for name in "zyx":
            file.create_group(name)
            file.attrs[name] = 1
    found = section(path)
    assert found["orders"] == [["z", "y", "x"]]
    assert found["objects"]["/"]["linkOrder"] == 0
    assert found["objects"]["/"]["attributeOrder"] == 0


def test_names_that_are_not_utf8(path):
    with h5py.File(path, "w") as file:
        h5d.create(file.id, b"caf\xe9", h5t.STD_I8LE, h5s.create(h5s.SCALAR)).write(
            h5s.ALL, h5s.ALL, np.array(5, "i1")
        )
        file["x"] = 1
        file.id.links.create_hard(b"\xff", file.id, b"x")
    found = section(path)["objects"]
    assert found["/hex:636166e9"]["class"] == "dataset"
    assert found["/hex:636166e9"]["value"] == 5
    assert found["/"]["links"] == {"hex:ff": {"class": "H5L_TYPE_HARD", "h5path": "/x"}}


def test_committed_types_are_objects_with_attributes(path):
    with h5py.File(path, "w") as file:
        file["t"] = np.dtype("<i2")
        file["t"].attrs["about"] = "a type"
        file.create_dataset("x", data=np.arange(3, dtype="<i2"), dtype=file["t"])
    found = section(path)
    assert found["objects"]["/t"]["class"] == "datatype"
    assert found["objects"]["/t"]["attributes"]["about"]["value"] == "a type"
    assert found["objects"]["/x"] == {"type": "datatypes/t"}


@pytest.mark.parametrize(
    ("tid", "value", "described"),
    [
        (h5t.UNIX_D32LE, np.array([1], "<u4"), ["base64:AQAAAA=="]),
        (h5t.vlen_create(h5t.vlen_create(h5t.STD_I8LE)), None, None),
    ],
)
def test_values_that_have_no_node_are_held_here(path, tid, value, described):
    with h5py.File(path, "w") as file:
        made = h5d.create(file.id, b"x", tid, h5s.create_simple((1,)))
        if value is not None:
            made.write(h5s.ALL, h5s.ALL, value, tid)
    assert entry(path, "/x").get("value") == described


def test_an_attribute_that_zarr_keeps_otherwise_has_its_value_here(path):
    with h5py.File(path, "w") as file:
        file["x"] = 1
        file.attrs["regions"] = file["x"].ref
        h5py.h5a.create(file.id, b"time", h5t.UNIX_D32LE, h5s.create(h5s.SCALAR)).write(
            np.array(7, "<u4"), mtype=h5t.UNIX_D32LE
        )
    assert entry(path, "/")["attributes"]["time"]["value"] == "base64:BwAAAA=="
    assert "regions" not in entry(path, "/")["attributes"]


def test_fill_values(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", shape=(3,), dtype="f4", fillvalue=np.nan)
    (creation,) = [entry for entry in section(path)["creations"] if "fillValue" in entry]
    assert creation["fillValue"] == {"value": "0x7fc00000"}


def test_the_user_block(tmp_path):
    path = tmp_path / "u.h5"
    h5py.File(path, "w", userblock_size=512).close()
    with path.open("r+b") as file:
        file.write(b"MATLAB")
    assert section(path)["file"]["userblock"] == {"size": 512, "bytes": "base64:TUFUTEFC"}


def test_values_beyond_the_limit_are_named(path):
    tid = h5t.UNIX_D64LE
    count = VALUES_LIMIT // 8 + 1
    with h5py.File(path, "w") as file:
        made = h5d.create(file.id, b"x", tid, h5s.create_simple((count,)))
        made.write(h5s.ALL, h5s.ALL, np.zeros(count, "<u8"), tid)
    (lost,) = section(path)["notDescribed"]
    assert (lost["path"], lost["what"]) == ("/x", "values")
    assert "more than the section holds" in lost["reason"]


def test_values_that_were_never_written_are_not_held(path):
    with h5py.File(path, "w") as file:
        h5d.create(file.id, b"x", h5t.UNIX_D64LE, h5s.create_simple((2**40,)), dcpl=chunked())
    found = section(path)
    assert "value" not in found["objects"]["/x"]
    assert "notDescribed" not in found


def chunked():
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_chunk((1024,))
    return properties


def test_nans_that_numpy_cannot_hold_are_kept_by_their_bits(path):
    tid = h5t.IEEE_F16LE.copy()
    tid.set_fields(15, 7, 8, 0, 7)  # bfloat16
    tid.set_ebias(127)
    with h5py.File(path, "w") as file:
        made = h5d.create(file.id, b"x", tid, h5s.create_simple((2,)))
        made.write(h5s.ALL, h5s.ALL, np.array([0x3F80, 0x7F81], "<u2"), tid)
    assert entry(path, "/x")["value"] == ["base64:gD8=", "base64:gX8="]


def test_an_nwb_file_needs_little(tmp_path):
    path = tmp_path / "sample.nwb"
    write_recording(path)
    rfs = generate_rfs(path)
    assert len(json.dumps(rfs["hdf5"])) < 6000
    assert "notDescribed" not in rfs["hdf5"]


@pytest.mark.parametrize(
    "name", ["blosc.h5", "bad_compound.h5", "bad_offset.h5", "corrupt_stab_msg.h5", "tbogus.h5", "th5s.h5"]
)
def test_a_damaged_file_is_described_as_far_as_it_goes(shared, name):
    path = shared / "corpus" / "bad" / name
    with_section = generate_rfs(path)
    section = with_section.pop("hdf5")
    assert with_section == generate_rfs(path, hdf5_section=False)
    assert section["notDescribed"] or section["objects"]
    assert all(entry["reason"] for entry in section["notDescribed"])
