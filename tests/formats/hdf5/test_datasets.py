"""Layouts, filters and types: values through references equal h5py's, and are where they should be."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

from shadowzarr.errors import UnsupportedError

MANY = np.arange(4000)


def equal(made: Any, path: Path, name: str = "d") -> None:
    with h5py.File(path, "r") as f:
        np.testing.assert_array_equal(made[name], f[name][()])


@pytest.mark.parametrize(
    "dtype", ["<i1", "<u2", ">i2", ">u4", "<i8", ">u8", "<f2", ">f2", "<f4", ">f8", "?", "<c8", ">c16", "V7"]
)
@pytest.mark.parametrize("layout", ["contiguous", "chunked", "packed"])
def test_plain_types_are_referenced(path: Path, generate: Callable, dtype: str, layout: str) -> None:
    options = {
        "contiguous": {},
        "chunked": {"chunks": (300,)},
        "packed": {"chunks": (300,), "compression": "gzip", "shuffle": True},
    }
    values = np.frombuffer(np.random.default_rng(1).bytes(4000 * np.dtype(dtype).itemsize), dtype)
    if dtype == "?":
        values = np.arange(4000) % 3 == 0
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=values, **options[layout])
    made = generate()
    assert not made.is_inline("d")
    assert made["d"].tobytes() == values.astype(values.dtype.newbyteorder("=")).tobytes()
    assert made.attributes("d")["_DTYPE"] == values.dtype.newbyteorder("=").name


def test_small_and_compact_values_are_held(path: Path, generate: Callable, add_low_level: Callable) -> None:
    compact = h5p.create(h5p.DATASET_CREATE)
    compact.set_layout(h5d.COMPACT)
    add_low_level(
        "compact", h5t.STD_I32BE, (2000,), raw=np.arange(2000).astype(">i4").tobytes(), dcpl=compact
    )
    with h5py.File(path, "a") as f:
        f["small"], f["scalar"] = np.arange(100, dtype=">i2"), np.float32(0.5)
        f["large"] = np.arange(1000, dtype="u1").repeat(2)
        f.create_dataset("sparse", (9,), "i4", chunks=(3,), fillvalue=-1)[3:6] = 5
    made = generate()
    for name in ("compact", "small", "scalar", "sparse"):
        assert made.is_inline(name), name
        equal(made, path, name)
    assert made.metadata("scalar")["shape"] == []
    assert list(made.chunks("scalar")) == [""]
    assert made.metadata("sparse")["fill_value"] == -1
    assert not made.is_inline("large")


def test_one_chunk_or_slabs(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["whole"] = np.arange(500, dtype="<f8")
        f["even"] = MANY.reshape(1000, 4)
        f["prime"] = np.arange(997 * 3).reshape(997, 3)
        f["row"] = MANY.reshape(1, 1, 4000)
    made = generate(contiguous_chunk_bytes=4096)
    assert made.metadata("even")["chunk_grid"]["configuration"]["chunk_shape"] == [125, 4]
    assert made.metadata("prime")["chunk_grid"]["configuration"]["chunk_shape"] == [170, 3]
    assert made.metadata("row")["chunk_grid"]["configuration"]["chunk_shape"] == [1, 1, 500]
    assert [entry["key"] for entry in made.rfs["gen"]] == [
        "even/c/{{i}}/0",
        "prime/c/{{i}}/0",
        "row/c/0/0/{{i}}",
    ]
    with h5py.File(path, "r") as f:
        assert made.chunks("whole")["0"][1:] == [f["whole"].id.get_offset(), 4000]
    for name in ("whole", "even", "prime", "row"):
        equal(made, path, name)


def test_what_was_never_written_has_no_chunks(path: Path, generate: Callable) -> None:
    never = h5p.create(h5p.DATASET_CREATE)
    never.set_fill_value(np.array(7, "i4"))
    never.set_fill_time(h5d.FILL_TIME_NEVER)
    never.set_chunk((10,))
    with h5py.File(path, "w") as f:
        f.create_dataset("contiguous", (4000,), "f8", fillvalue=np.nan)
        f.create_dataset("chunked", (4000,), ">i2", chunks=(10,), fillvalue=258)
        f.create_dataset("text", (4000,), h5py.string_dtype(), fillvalue="n/a")
        f.create_dataset(
            "table",
            (4,),
            np.dtype([("a", "<i4"), ("s", "S3")]),
            fillvalue=np.array((3, b"ab"), [("a", "<i4"), ("s", "S3")]),
        )
        h5d.create(f.id, b"never", h5t.STD_I32LE, h5s.create_simple((4000,)), never)
        f.create_dataset("empty", (0, 5), "i2")
        f.create_dataset("growing", (0,), "f4", chunks=(16,), maxshape=(None,))
    made = generate()
    for name in ("contiguous", "chunked", "text", "table", "never", "empty", "growing"):
        assert made.chunks(name) == {}, name
    for name in ("contiguous", "chunked", "never", "empty"):
        equal(made, path, name)
    assert made.metadata("contiguous")["fill_value"] == "NaN"
    assert set(made["text"].tolist()) == {"n/a"}
    assert made["table"][0].tolist() == (3, "ab")
    assert made.metadata("empty")["chunk_grid"]["configuration"]["chunk_shape"] == [1, 5]


@pytest.mark.parametrize("threshold", [10, 1000, None])
def test_index_above_the_threshold(path: Path, generate: Callable, threshold: int | None) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", (60, 40), "i4", chunks=(7, 9), compression="gzip")[:50] = np.arange(
            2000
        ).reshape(50, 40)
    made = generate(chunk_index_threshold=threshold)
    assert ("indexes" in made.rfs) is (threshold == 10)
    equal(made, path)


@pytest.mark.parametrize(
    "filters",
    [{"fletcher32": True}, {"shuffle": True}, {"compression": 9, "shuffle": True, "fletcher32": True}],
)
def test_filters_with_codecs_are_referenced(path: Path, generate: Callable, filters: dict[str, Any]) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=MANY.reshape(100, 40).astype(">i4"), chunks=(30, 13), **filters)
    made = generate()
    assert not made.is_inline("d")
    equal(made, path)


@pytest.mark.parametrize(
    "filters",
    [
        {"compression": "lzf"},
        {"compression": "szip"},
        {"scaleoffset": 0},
        {"compression": "lzf", "shuffle": True},
    ],
)
def test_other_filters_of_hdf5_are_referenced_too(
    path: Path, generate: Callable, filters: dict[str, Any]
) -> None:
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (6000,), "<i4", chunks=(1000,), fillvalue=9, **filters)
        d[:4000] = MANY
    made = generate()
    assert not made.is_inline("d")
    assert made.codecs("d") == ["bytes", "shadowzarr.hdf5_filters"]
    assert made.converted() == {}
    equal(made, path)


def test_plug_ins(path: Path, generate: Callable) -> None:
    hdf5plugin = pytest.importorskip("hdf5plugin")
    plugins = {
        "blosc": hdf5plugin.Blosc(cname="zstd"),
        "zstd": hdf5plugin.Zstd(),
        "bzip2": hdf5plugin.BZip2(),
        "lz4": hdf5plugin.LZ4(),
        "bitshuffle": hdf5plugin.Bitshuffle(),
        "blosc2": hdf5plugin.Blosc2(),
        "snappy": hdf5plugin.Blosc(cname="snappy"),
    }
    with h5py.File(path, "w") as f:
        for name, compression in plugins.items():
            f.create_dataset(name, data=MANY.astype("<i4"), chunks=(1500,), compression=compression)
    made = generate()
    for name in plugins:
        equal(made, path, name)
    assert not {name for name in plugins if made.is_inline(name)}
    own = {name for name in plugins if made.codecs(name) == ["bytes", "shadowzarr.hdf5_filters"]}
    assert own >= {"bitshuffle", "blosc2", "snappy"}
    assert not own & {"blosc", "zstd", "bzip2", "lz4"}


def test_filters_in_an_unusual_order_are_looked_at(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        for name, setters in {
            "d": ("set_fletcher32", "set_shuffle"),
            "e": ("set_deflate", "set_shuffle"),
        }.items():
            made = h5p.create(h5p.DATASET_CREATE)
            made.set_chunk((1000,))
            for setter in setters:
                getattr(made, setter)()
            dataset = h5d.create(f.id, name.encode(), h5t.STD_I64LE, h5s.create_simple((4000,)), made)
            dataset.write(h5s.ALL, h5s.ALL, MANY)
    made = generate()
    equal(made, path, "d")
    equal(made, path, "e")


def test_chunks_that_skipped_filters(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (4000,), "<i4", chunks=(600,), compression="gzip", shuffle=True)
        d[...] = MANY
        d.id.write_direct_chunk((600,), np.arange(600, dtype="<i4").tobytes(), filter_mask=0b11)
        bare = f.create_dataset("bare", (4000,), "<i4", chunks=(4000,), compression="gzip")
        bare.id.write_direct_chunk((0,), MANY.astype("<i4").tobytes(), filter_mask=1)
    made = generate()
    equal(made, path)
    equal(made, path, "bare")
    assert made.codecs("bare") == ["bytes"]
    kinds = {key: type(value) for key, value in made.chunks("d").items()}
    assert [key for key, kind in kinds.items() if kind is str] == ["1"]
    assert "1" in made.converted()["/d"]


def test_edge_chunks_that_are_not_filtered(path: Path, generate: Callable) -> None:
    """H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS, imitated by a mask of zero over raw bytes of a shuffled chunk."""
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (3999,), "<i4", chunks=(1000,), shuffle=True)
        d[...] = MANY[:3999]
    equal(generate(), path)


def test_types_that_are_not_the_bytes_are_copied(
    path: Path, generate: Callable, add_low_level: Callable
) -> None:
    twelve = h5t.STD_U16LE.copy()
    twelve.set_precision(12)
    padded = h5t.create(h5t.COMPOUND, 16)
    padded.insert(b"a", 0, h5t.STD_I16BE)
    padded.insert(b"b", 8, h5t.IEEE_F64LE)
    add_low_level("twelve", twelve, (3,), raw=np.array([1, 4095, 0xF001], "<u2").tobytes())
    add_low_level(
        "padded",
        padded,
        (2,),
        raw=np.array(
            [(1, 0.5), (-2, 1.5)],
            {"names": ["a", "b"], "formats": [">i2", "<f8"], "offsets": [0, 8], "itemsize": 16},
        ).tobytes(),
    )
    add_low_level("long", h5t.NATIVE_LDOUBLE, (2,), raw=np.array([0.5, 1e10], "g").tobytes())
    made = generate()
    equal(made, path, "twelve")
    assert made["padded"].tolist() == [(1, 0.5), (-2, 1.5)]
    assert made["long"].tolist() == [0.5, 1e10]
    assert set(made.converted()) == {"/twelve", "/padded", "/long"}


def test_opaque_with_a_tag_is_referenced(path: Path, generate: Callable, add_low_level: Callable) -> None:
    tagged = h5t.create(h5t.OPAQUE, 1000)
    tagged.set_tag(b"picture")
    raw = bytes(range(250)) * 12
    add_low_level("d", tagged, (3,), raw=raw)
    made = generate()
    assert made["d"].tobytes() == raw
    assert not made.is_inline("d")


def test_array_types_add_axes(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", (100,), np.dtype((">i2", (2, 3))), chunks=(30,), compression="gzip")[...] = (
            np.arange(600).reshape(100, 2, 3)
        )
        f.create_dataset("flat", (100,), np.dtype(("<i4", (5,))))[...] = np.arange(500).reshape(100, 5)
    made = generate()
    assert made.metadata("d")["shape"] == [100, 2, 3]
    assert set(made.chunks("d")) == {"0/0/0", "1/0/0", "2/0/0", "3/0/0"}
    equal(made, path)
    equal(made, path, "flat")


def test_null_dataspaces_are_empty_and_marked(path: Path, generate: Callable) -> None:
    kinds = {
        "i": "i4",
        "s": h5py.string_dtype(),
        "t": np.dtype([("a", "<i2")]),
        "r": h5py.ref_dtype,
        "f": "S4",
    }
    with h5py.File(path, "w") as f:
        for name, kind in kinds.items():
            f[name] = h5py.Empty(kind)
        f["i"].attrs["unit"] = "V"
    made = generate()
    for name in kinds:
        assert made[name].shape == (0,)
        assert made.attributes(name)["_NULL_DATASPACE"] is True
    assert made.attributes("i") == {"unit": "V", "_DTYPE": "int32", "_NULL_DATASPACE": True}


def test_bytes_after_the_end_of_the_file_are_refused(
    path: Path, generate: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    with h5py.File(path, "w") as f:
        f["contiguous"], f["good"] = MANY, 1
        f.create_dataset("chunked", data=MANY, chunks=(1000,))
    import shadowzarr.formats.hdf5.opening as opening

    real = opening.describe
    monkeypatch.setattr(
        opening, "describe", lambda source: type(real(source))(url=str(path), size=9000, etag=None)
    )
    made = generate()
    assert "end of the file" in made.skipped()["/chunked"] + made.skipped()["/contiguous"]
    assert made["good"] == 1


@pytest.mark.parametrize("mode", ["skip", "error"])
def test_instead_of_copying(path: Path, generate: Callable, mode: str) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=MANY.astype(np.longdouble), chunks=(1000,))
        f["text"] = "held all the same"
    if mode == "error":
        with pytest.raises(UnsupportedError, match="/d: floating-point numbers of 80 bits"):
            generate(on_unsupported=mode)
        return
    made = generate(on_unsupported=mode)
    assert list(made.skipped()) == ["/d"]
    assert made["text"] == "held all the same"


def test_what_does_not_fit_is_named(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset(
            "d", data=np.random.default_rng(1).normal(size=4000).astype(np.longdouble), chunks=(1000,)
        )
        f["e"] = "fits"
    made = generate(inline_limit=1000)
    assert "inline_limit" in made.skipped()["/d"]
    assert made["e"] == "fits"
