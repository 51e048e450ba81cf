import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5a, h5s, h5t

from shadowzarr import generate_rfs, verify_rfs


def items(made: object, name: str) -> list[list]:
    values, offsets = made[f"{name}/values"], made[f"{name}/offsets"]  # type: ignore[index]
    return [values[a:b].tolist() for a, b in pairwise(offsets)]


@pytest.mark.parametrize("dtype", ["<i4", "<f8", "u1", "?"])
def test_sequences_of_numbers(path: Path, generate: Callable, dtype: str) -> None:
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (3,), h5py.vlen_dtype(np.dtype(dtype)))
        d[0], d[2] = np.array([1, 0, 1], dtype), np.array([0], dtype)
        d.attrs["unit"] = "V"
    made = generate()
    assert items(made, "d") == [[1, 0, 1], [], [0]]
    assert made.attributes("d") == {"unit": "V", "_RAGGED": {"shape": [3]}}
    assert made["d/values"].dtype == np.dtype(dtype).newbyteorder("=")


def test_two_dimensions_chunked_and_partly_written(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (2, 3), h5py.vlen_dtype("i8"), chunks=(1, 2))
        d[1, 1] = [5, 6]
    assert items(generate(), "d") == [[], [], [], [], [5, 6], []]


def test_a_scalar_and_none_at_all(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("scalar", (), h5py.vlen_dtype("i4"))[()] = np.array([1, 2], "i4")
        f.create_dataset("unwritten", (2,), h5py.vlen_dtype("i4"))
        f.create_dataset("empty", (0,), h5py.vlen_dtype("i4"))
    made = generate()
    assert items(made, "scalar") == [[1, 2]]
    assert made.attributes("scalar")["_RAGGED"] == {"shape": []}
    assert items(made, "unwritten") == [[], []]
    assert items(made, "empty") == []


def test_sequences_of_references(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["x"] = 1
        d = f.create_dataset("d", (2,), h5py.vlen_dtype(h5py.ref_dtype))
        references = np.empty(2, object)
        references[:] = [f["x"].ref, f.ref]
        d[1] = references
    made = generate()
    assert items(made, "d") == [[], ["/x", "/"]]
    assert made.attributes("d/values") == {"_DTYPE": "object_reference"}


def test_many_values_are_cut(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (2,), h5py.vlen_dtype("f8"))
        d[0], d[1] = np.arange(400_000), np.arange(300_000)
    made = generate()
    assert len(made.chunks("d/values")) == 2
    assert made["d/values"][-1] == 299_999


def test_sequences_that_h5py_misreads_are_named(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", (2,), h5py.vlen_dtype(np.dtype(">f8")))[0] = np.array([1.0], ">f8")
        f.attrs.create("a", f["d"][()], dtype=h5py.vlen_dtype(np.dtype(">f8")))
    skipped = generate().skipped()
    assert "big-endian" in skipped["/d"]
    assert "big-endian" in skipped["/@a"]


def test_sequences_of_text_and_of_sequences(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        texts = f.create_dataset("texts", (2,), h5py.vlen_dtype(h5py.string_dtype()))
        texts[0] = np.array(["a", "µ"], object)
        deep = f.create_dataset("deep", (2,), h5py.vlen_dtype(h5py.vlen_dtype("i4")))
        inner = np.empty(2, object)
        inner[:] = [np.array([1, 2], "i4"), np.array([3], "i4")]
        deep[1] = inner
    made = generate()
    assert items(made, "texts") == [["a", "µ"], []]
    assert made.attributes("texts/values") == {"_DTYPE": "str"}
    assert made["deep/offsets"].tolist() == [0, 0, 2]
    assert items(made, "deep/values") == [[1, 2], [3]]
    assert made.attributes("deep/values") == {"_RAGGED": {"shape": [2]}}


def test_sequences_of_compounds_and_of_arrays(
    path: Path, generate: Callable, add_low_level: Callable
) -> None:
    dtype = np.dtype([("a", ">i2"), ("b", "<f8", 2)])
    with h5py.File(path, "w") as f:
        d = f.create_dataset("rows", (2,), h5py.vlen_dtype(dtype))
        d[0] = np.array([(1, [0.5, 1.5]), (2, [2.5, 3.5])], dtype)
    add_low_level("arrays", h5t.vlen_create(h5t.array_create(h5t.STD_I32LE, (3,))), (2,))
    made = generate()
    assert made["rows/values"]["a"].tolist() == [1, 2]
    assert made["rows/values"]["b"]["1"].tolist() == [1.5, 3.5]
    assert made.attributes("rows/values") == {"_ARRAY_FIELDS": [{"field": ["b"], "shape": [2]}]}
    assert made["arrays/values"].shape == (0, 3)


def test_an_array_datatype_of_sequences(path: Path, generate: Callable, add_low_level: Callable) -> None:
    add_low_level("d", h5t.array_create(h5t.vlen_create(h5t.STD_I32LE), (2,)), (3,))
    with h5py.File(path, "a") as f:
        pair = np.empty(2, object)
        pair[:] = [np.array([1, 2], "i4"), np.array([3], "i4")]
        f["d"][1] = pair
    made = generate()
    assert made.attributes("d") == {"_RAGGED": {"shape": [3, 2]}}
    assert items(made, "d") == [[], [], [1, 2], [3], [], []]


TABLE = np.dtype(
    [
        ("n", "<i2"),
        ("v", h5py.vlen_dtype("f4")),
        ("t", h5py.string_dtype(), (2,)),
        ("in", [("s", h5py.string_dtype()), ("x", "<f8", 2)]),
    ]
)


def write_table(path: Path) -> None:
    with h5py.File(path, "w") as f:
        rows = np.zeros((2, 1), TABLE)
        rows["n"] = [[1], [2]]
        rows["v"][0, 0], rows["v"][1, 0] = np.array([0.5], "f4"), np.zeros(0, "f4")
        rows["t"] = [[["a", "b"]], [["c", "é"]]]
        rows["in"]["s"] = [["in"], ["side"]]
        rows["in"]["x"] = [[[1, 2]], [[3, 4]]]
        f["d"] = rows
        f["d"].attrs["unit"] = "V"


def test_a_compound_by_its_fields(path: Path, generate: Callable) -> None:
    write_table(path)
    made = generate()
    fields = [{"name": name, "member": name} for name in ("n", "v", "t", "in")]
    assert made.attributes("d") == {"unit": "V", "_COLUMNS": {"shape": [2, 1], "fields": fields}}
    assert made["d/n"].tolist() == [[1], [2]]
    assert items(made, "d/v") == [[0.5], []]
    assert made["d/t"].tolist() == [[["a", "b"]], [["c", "é"]]]
    assert made["d/in/s"].tolist() == [["in"], ["side"]]
    assert made["d/in/x"].tolist() == [[[1, 2]], [[3, 4]]]
    assert made.attributes("d/in")["_COLUMNS"]["shape"] == [2, 1]


def test_fields_whose_names_are_no_node_names(path: Path, generate: Callable) -> None:
    dtype = np.dtype([("a/b", "<i4"), ("..", h5py.vlen_dtype("i4"))])
    with h5py.File(path, "w") as f:
        f.create_dataset("d", (1,), dtype)
    made = generate()
    assert made.attributes("d")["_COLUMNS"]["fields"] == [
        {"name": "a/b", "member": "0"},
        {"name": "..", "member": "1"},
    ]
    assert made["d/0"].tolist() == [0]


def test_a_wide_compound_is_held_by_its_fields(path: Path, generate: Callable) -> None:
    rows = np.zeros(2, [("image", "<u2", (64, 65)), ("n", "<i4")])
    rows["image"][1, 3, 4] = 7
    with h5py.File(path, "w") as f:
        f["d"] = rows
    made = generate()
    assert made["d/image"].shape == (2, 64, 65)
    assert made["d/image"][1, 3, 4] == 7
    assert "more than 4,096" in made.converted()["/d"]


def test_what_was_never_written_is_the_fill_value(path: Path, generate: Callable) -> None:
    dtype = np.dtype([("n", "<i4"), ("v", h5py.vlen_dtype("i4"))])
    with h5py.File(path, "w") as f:
        f.create_dataset("d", (3,), dtype, chunks=(1,))[1] = np.array((5, np.array([6], "i4")), dtype)
    made = generate()
    assert made["d/n"].tolist() == [0, 5, 0]
    assert items(made, "d/v") == [[], [6], []]


def test_region_references(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["x"] = np.arange(12).reshape(3, 4)
        d = f.create_dataset("d", (2,), h5py.regionref_dtype)
        d[0] = f["x"].regionref[0:3:2, 1:3]
        scalar = f.create_dataset("scalar", (), h5py.regionref_dtype)
        scalar[()] = f["x"].regionref[...]
    made = generate()
    assert made.attributes("d") == {"_DTYPE": "region_reference"}
    first, second = made["d"].tolist()
    assert json.loads(first) == {
        "id": "/x",
        "select_type": "H5S_SEL_HYPERSLABS",
        "selection": [[[0, 1], [0, 2]], [[2, 1], [2, 2]]],
    }
    assert second == ""
    assert json.loads(made["scalar"])["id"] == "/x"


def test_null_dataspaces(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["ragged"] = h5py.Empty(h5py.vlen_dtype("i4"))
        f["regions"] = h5py.Empty(h5py.regionref_dtype)
        f["table"] = h5py.Empty(TABLE)
    made = generate()
    assert made.skipped() == {}
    assert made.attributes("ragged") == {"_RAGGED": {"shape": [0]}, "_NULL_DATASPACE": True}
    assert made.attributes("regions") == {"_DTYPE": "region_reference", "_NULL_DATASPACE": True}
    assert made.attributes("table")["_COLUMNS"]["shape"] == [0]
    assert made["table/n"].shape == (0,)


def test_sequences_of_region_references_are_not_read(
    path: Path, generate: Callable, add_low_level: Callable
) -> None:
    add_low_level("d", h5t.vlen_create(h5t.STD_REF_DSETREG), (1,))
    with h5py.File(path, "a") as f:
        h5a.create(f.id, b"a", h5t.vlen_create(h5t.STD_REF_DSETREG), h5s.create_simple((1,)))
    skipped = generate().skipped()
    assert "region references" in skipped["/d"]
    assert "region references" in skipped["/@a"]


def test_room_is_asked_for_before_anything_is_read(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("huge", (2**40,), h5py.vlen_dtype("i4"), chunks=(1024,))
    assert "inline_limit" in generate().skipped()["/huge"]


@pytest.mark.parametrize("kind", ["table", "regions", "rows"])
def test_verification_agrees(path: Path, kind: str) -> None:
    write_table(path)
    with h5py.File(path, "a") as f:
        if kind == "regions":
            f.create_dataset("r", (3,), h5py.regionref_dtype)[1] = f["d"].regionref[:1]
        if kind == "rows":
            dtype = np.dtype([("a", ">i4", (2,))])
            f["rows"] = np.array([([1, 2],)], dtype)
    rfs = generate_rfs(path)
    assert verify_rfs(rfs, mode="full").differences == []
    assert not rfs.get("skipped")


def test_values_that_h5py_reads_over_one_another_are_not_read(
    path: Path, generate: Callable, add_low_level: Callable
) -> None:
    short = h5t.IEEE_F32LE.copy()
    short.set_fields(15, 7, 8, 0, 7)
    short.set_precision(16)
    short.set_size(2)
    tid = h5t.create(h5t.COMPOUND, 4)
    tid.insert(b"a", 0, short)
    tid.insert(b"b", 2, h5t.STD_I16LE)
    add_low_level("d", tid, (3,), raw=bytes(12))
    with h5py.File(path, "a") as f:
        h5a.create(f.id, b"a", tid, h5s.create_simple((3,)))
    made = generate()
    assert "over the next one" in made.skipped()["/d"]
    assert "over the next one" in made.skipped()["/@a"]
    assert verify_rfs(made.rfs, path).differences == []


def test_arrays_of_arrays_in_a_compound(path: Path, generate: Callable, add_low_level: Callable) -> None:
    inner = h5t.array_create(h5t.array_create(h5t.STD_I16LE, (2,)), (3,))
    for name, gap in (("packed", 0), ("copied", 1)):
        tid = h5t.create(h5t.COMPOUND, 12 + gap)
        tid.insert(b"m", gap, inner)
        raw = b"".join(bytes(gap) + np.arange(6 * n, 6 * n + 6, dtype="<i2").tobytes() for n in range(2))
        add_low_level(name, tid, (2,), raw=raw)
    made = generate()
    for name in ("packed", "copied"):
        assert made[name]["m"]["5"].tolist() == [5, 11]
        assert made.attributes(name) == {"_ARRAY_FIELDS": [{"field": ["m"], "shape": [3, 2]}]}
    assert verify_rfs(made.rfs, path, mode="full").differences == []


def test_what_h5py_cannot_read_is_left_out_also_when_nothing_was_written(
    path: Path, generate: Callable, add_low_level: Callable
) -> None:
    row = h5t.py_create(np.dtype([("a", "<i4"), ("s", h5py.string_dtype())]), logical=True)
    add_low_level("d", h5t.vlen_create(row), (2,))
    made = generate()
    assert "h5py cannot read it" in made.skipped()["/d"]
    assert verify_rfs(made.rfs, path).differences == []
