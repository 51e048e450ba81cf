from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

WORDS = ["", "a", "naïve µV", "日本語", "x" * 3000]


@pytest.mark.parametrize("options", [{}, {"chunks": (2,)}, {"chunks": (2,), "compression": "gzip"}])
def test_variable_length_text(path: Path, generate: Callable, options: dict) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=WORDS, dtype=h5py.string_dtype(), **options)
    made = generate()
    assert made["d"].tolist() == WORDS
    assert made.attributes("d") == {"_DTYPE": "str"}
    assert made.codecs("d")[0] == "vlen-utf8"


@pytest.mark.parametrize("padding", [h5py.h5t.STR_NULLTERM, h5py.h5t.STR_NULLPAD, h5py.h5t.STR_SPACEPAD])
def test_fixed_text_of_every_padding(
    path: Path, generate: Callable, add_low_level: Callable, padding: int
) -> None:
    tid = h5py.h5t.C_S1.copy()
    tid.set_size(5)
    tid.set_strpad(padding)
    blank = b" " if padding == h5py.h5t.STR_SPACEPAD else b"\0"
    add_low_level("d", tid, (3,), raw=b"".join(word.ljust(5, blank) for word in (b"ab", b"", b"a b")))
    assert generate()["d"].tolist() == ["ab", "", "a b"]


def test_sparse_text_costs_what_was_written(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (10**9,), h5py.string_dtype(), chunks=(1000,))
        d[5], d[10**9 - 1] = "first", "last"
    made = generate()
    array = made.root["d"]
    assert (array[5], array[10**9 - 1], array[10**6]) == ("first", "last", "")
    assert len(made.chunks("d")) == 2


def test_text_that_is_not_utf8_is_bytes_and_said_so(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["fixed"] = np.array([b"caf\xe9", b"plain"], "S6")
        f.create_dataset("vlen", (3,), h5py.string_dtype())[:2] = np.array([b"caf\xe9", b""], object)
    made = generate()
    assert made["fixed"].tolist() == [b"caf\xe9", b"plain"]
    assert made["vlen"].tolist() == [b"caf\xe9", b"", b""]
    assert set(made.converted()) == {"/fixed", "/vlen"}


def test_text_in_an_array_type(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", (2,), np.dtype(("S3", (2,))))[...] = np.array([[b"a", b"bc"], [b"", b"def"]])
    assert generate()["d"].tolist() == [["a", "bc"], ["", "def"]]


def test_object_references(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["g/x"] = 1
        d = f.create_dataset("d", (2, 2), h5py.ref_dtype, chunks=(1, 2))
        d[0, 0], d[0, 1], d[1, 1] = f["g/x"].ref, f.ref, f["g"].ref
        f["scalar"] = f["g"].ref
        f["gone"] = 1
        f["dangling"] = f["gone"].ref
        del f["gone"]
    made = generate()
    assert made["d"].tolist() == [["/g/x", "/"], ["", "/g"]]
    assert made["scalar"] == "/g"
    assert made.attributes("d") == {"_DTYPE": "object_reference"}
    assert made["dangling"] == ""
    assert "1" in made.converted()["/dangling"]


ROW = np.dtype(
    [
        ("id", ">i4"),
        ("name", h5py.string_dtype()),
        ("code", "S4"),
        ("to", h5py.ref_dtype),
        ("in", [("ok", "?"), ("v", "<f8")]),
    ]
)


def test_tables_with_text_and_references(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        group = f.create_group("g")
        d = f.create_dataset("d", (3,), ROW, chunks=(2,))
        d[0] = (1, "näh", b"ab", group.ref, (True, 0.5))
        d[2] = (3, "long " * 200, b"wxyz", h5py.Reference(), (False, 2.5))
    made = generate()
    rows = made["d"]
    assert rows["id"].tolist() == [1, 0, 3]
    assert rows["name"].tolist() == ["näh", "", "long " * 200]
    assert rows["code"].tolist() == ["ab", "", "wxyz"]
    assert rows["to"].tolist() == ["/g", "", ""]
    assert rows["in"]["ok"].tolist() == [True, False, False]
    assert rows["in"]["v"].tolist() == [0.5, 0.0, 2.5]
    assert made.attributes("d") == {"_REFERENCE_FIELDS": ["to"]}
    fields = {
        field["name"]: field["data_type"]
        for field in made.metadata("d")["data_type"]["configuration"]["fields"]
    }
    assert fields["to"] == {"name": "fixed_length_utf32", "configuration": {"length_bytes": 2048}}
    assert fields["name"]["configuration"]["length_bytes"] == 4000
    assert made.converted() == {}


def test_a_table_field_that_is_not_utf8_is_bytes(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["d"] = np.array([(1, b"caf\xe9"), (2, b"ok")], [("i", "<i4"), ("s", "S6")])
    assert generate()["d"].tolist() == [(1, b"caf\xe9"), (2, b"ok")]


def test_plain_tables_are_referenced_and_nested_ones_too(path: Path, generate: Callable) -> None:
    dtype = np.dtype([("a", "<i4"), ("in", [("x", "<f4"), ("y", "<u1")])])
    values = np.zeros(500, dtype)
    values["a"], values["in"]["y"] = np.arange(500), 7
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=values, chunks=(200,), compression="gzip", shuffle=True)
    made = generate()
    assert not made.is_inline("d")
    assert (made["d"] == values).all()


def test_numbers_beside_text_in_a_table(path: Path, generate: Callable) -> None:
    dtype = np.dtype([("a", ">i4", (2,)), ("in", [("x", "<f4"), ("y", "u1")], 2), ("s", "S2")])
    rows = np.array([([1, 2], [(0.5, 1), (1.5, 2)], b"st")], dtype)
    with h5py.File(path, "w") as f:
        f["d"] = rows
    made = generate()
    assert made["d"]["a"]["1"].tolist() == [2]
    assert made["d"]["in"]["1"]["x"].tolist() == [1.5]
    assert made["d"]["s"].tolist() == ["st"]
    assert made.attributes("d") == {
        "_ARRAY_FIELDS": [{"field": ["a"], "shape": [2]}, {"field": ["in"], "shape": [2]}]
    }


@pytest.mark.parametrize(("value", "is_kept"), [(np.longdouble(0.5), True), (np.longdouble(1) / 3, False)])
def test_long_doubles_beside_text(
    path: Path, generate: Callable, value: np.longdouble, is_kept: bool
) -> None:
    if np.dtype("g").itemsize == 8:
        pytest.skip("long doubles are doubles here")
    with h5py.File(path, "w") as f:
        f["d"] = np.array([(value, b"st")], [("x", "g"), ("s", "S2")])
    made = generate()
    assert ("/d" in made.skipped()) is not is_kept
    if is_kept:
        assert made["d"]["x"].tolist() == [0.5]


def test_large_text_is_compressed(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["d"] = "spam " * 20_000
    made = generate()
    assert made.codecs("d") == ["vlen-utf8", "zstd"]
    assert len(made.chunks("d")[""]) < 1000
